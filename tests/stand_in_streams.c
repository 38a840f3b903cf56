/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams that are threads, and their events. Each stream does its work in order, now and then late, beside the other
 * streams and the host; one that waits for a signal of another rank, or for an event, holds up nothing else.
 */
#include "stand_in_streams.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "redist_support.h"
#include "stand_in_graphs.h"
#include "stand_in_places.h"
#include "stream_device.h"

struct work {
    void (*run)(void *data);
    struct work *next;
    _Alignas(16) char data[];
};

struct stream {
    pthread_t thread;
    struct work *first, **end;
    int busy, ends;
    unsigned state;             /* of random numbers */
    unsigned long long context; /* which it is of, */
    int index;                  /* and which of the streams that it has for all */
};

/* Streams of one user, and the default stream of a context. */
enum { OF_USER = -2, DEFAULT = -1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
enum { STREAMS = 32, MOST = 1024 };
static struct stream *all_streams[MOST];

/* A kernel of the user's has failed: no work is done any more, though it may be given, and nothing waits for any. */
static _Atomic int is_lost;

/* A graph is being made: as CUDA may, it waits for all streams, and no other thread gives them work meanwhile. */
static int is_settling;

int stand_in_is_lost(void) {
    return atomic_load(&is_lost);
}

int stand_in_check(void) {
    return stand_in_is_lost() ? redist_fail_in("stand-in", REDIST_ERR_DEVICE, "a kernel has failed")
                              : REDIST_OK;
}

static void nap(struct stream *stream) {
    stream->state = stream->state * 1664525U + 1013904223U;
    if ((stream->state >> 8) % 8 == 0)
        usleep((stream->state >> 16) % 100);
}

static void *work_on(void *data) {
    struct stream *stream = data;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (stream->first == NULL && !stream->ends)
            pthread_cond_wait(&changed, &lock);
        struct work *work = stream->first;
        if (work == NULL)
            break;
        stream->first = work->next;
        stream->end = stream->first != NULL ? stream->end : &stream->first;
        stream->busy = 1;
        pthread_mutex_unlock(&lock);
        nap(stream);
        if (!stand_in_is_lost())
            work->run(work->data);
        free(work);
        pthread_mutex_lock(&lock);
        stream->busy = 0;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static struct stream *start_stream(int index) {
    static unsigned made;
    struct stream *stream = calloc(1, sizeof(*stream));
    stream->end = &stream->first;
    stream->state = ++made * 7919U;
    stream->context = stand_in_context();
    stream->index = index;
    for (int i = 0; i < MOST; i++)
        if (all_streams[i] == NULL) {
            all_streams[i] = stream;
            break;
        }
    pthread_create(&stream->thread, NULL, work_on, stream);
    return stream;
}

/* That of the current context, with the lock held. */
static struct stream *common_stream(int index) {
    for (int i = 0; i < MOST; i++)
        if (all_streams[i] != NULL && all_streams[i]->index == index &&
            all_streams[i]->context == stand_in_context())
            return all_streams[i];
    return start_stream(index);
}

/* With the lock held. */
static struct stream *find_stream(void *given) {
    struct stream *stream = given;
    if (stream == NULL)
        return common_stream(DEFAULT);
    stand_in_use(stream->context, "a stream");
    return stream;
}

unsigned long long stand_in_context_of(const void *stream) {
    return ((const struct stream *)stream)->context;
}

static int check_device(const struct stream *stream) {
    return stream->context == stand_in_context()
               ? REDIST_OK
               : redist_fail_in("stand-in", REDIST_ERR_DEVICE,
                                "a stream of device %d is used while device %d is current",
                                stand_in_device_of(stream->context), stream_device_current());
}

static void append(struct stream *stream, void (*run)(void *data), const void *data, size_t bytes) {
    struct work *work = malloc(sizeof(*work) + bytes);
    work->run = run;
    work->next = NULL;
    if (bytes > 0)
        memcpy(work->data, data, bytes);
    *stream->end = work;
    stream->end = &work->next;
    pthread_cond_broadcast(&changed);
}

int stand_in_give(void *given, void (*run)(void *data), const void *data, size_t bytes) {
    pthread_mutex_lock(&lock);
    while (is_settling)
        pthread_cond_wait(&changed, &lock);
    struct stream *stream = find_stream(given);
    int is_kept = stand_in_is_capturing(), code = check_device(stream);
    if (code == REDIST_OK && is_kept)
        code = stand_in_keep(stream, run, data, bytes);
    else if (code == REDIST_OK && !stand_in_is_watched(stream, 0))
        append(stream, run, data, bytes);
    pthread_mutex_unlock(&lock);
    return code;
}

int stand_in_stream_create(void **made) {
    pthread_mutex_lock(&lock);
    *made = start_stream(OF_USER);
    pthread_mutex_unlock(&lock);
    return REDIST_OK;
}

static int is_idle(const struct stream *stream) {
    return stream->first == NULL && !stream->busy;
}

/* Whether what a stream has done may be asked now. */
int stand_in_ask(const void *stream, const char *what) {
    if (redist_place_is_gone())
        return redist_fail_in("stand-in", REDIST_ERR_DEVICE, "the context is gone");
    if (stand_in_is_watched(stream, 1))
        return redist_fail_in("stand-in", REDIST_ERR_DEVICE, "the stream is captured");
    return stand_in_forbids(what);
}

int stand_in_stream_wait(void *given) {
    REDIST_TRY(stand_in_ask(given, "waiting for a stream"));
    pthread_mutex_lock(&lock);
    const struct stream *stream = find_stream(given);
    while (!is_idle(stream) && !stand_in_is_lost())
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return stand_in_check();
}

int stand_in_stream_is_idle(void *given, int *idle) {
    REDIST_TRY(stand_in_ask(given, "asking a stream"));
    pthread_mutex_lock(&lock);
    *idle = is_idle(find_stream(given));
    pthread_mutex_unlock(&lock);
    return stand_in_check();
}

int stand_in_stream_check(void *given) {
    (void)given;
    return stand_in_check();
}

static void end_stream(struct stream *stream) {
    pthread_mutex_lock(&lock);
    stream->ends = 1;
    pthread_cond_broadcast(&changed);
    for (int i = 0; i < MOST; i++)
        all_streams[i] = all_streams[i] == stream ? NULL : all_streams[i];
    pthread_mutex_unlock(&lock);
    pthread_join(stream->thread, NULL);
}

void stand_in_stream_destroy(void *given) {
    struct stream *stream = given;
    if (stream == NULL || redist_place_is_gone())
        return;
    stand_in_use(stream->context, "a stream");
    end_stream(stream);
    free(stream);
}

void *stand_in_stream(int index) {
    if (redist_place_is_gone())
        return NULL;
    pthread_mutex_lock(&lock);
    struct stream *stream = common_stream(index % STREAMS);
    pthread_mutex_unlock(&lock);
    return stream;
}

void stand_in_drain(void) {
    for (int i = 0; i < MOST && !redist_place_is_gone(); i++) {
        pthread_mutex_lock(&lock);
        while (all_streams[i] != NULL && !is_idle(all_streams[i]) && !stand_in_is_lost())
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
}

void stand_in_settle(void) {
    pthread_mutex_lock(&lock);
    is_settling = 1;
    pthread_mutex_unlock(&lock);
    stand_in_drain();
    pthread_mutex_lock(&lock);
    is_settling = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void lose(void *data) {
    (void)data;
    pthread_mutex_lock(&lock);
    atomic_store(&is_lost, 1);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void stream_device_fault(void *stream) {
    (void)stand_in_give(stream, lose, NULL, 0);
}

/* ---------------------------------------------------------------- events */

/* An event is reached when the last work that set it is done. Who follows it waits for the work that had set it until
 * then, while other streams may set it again, and be done sooner. */
enum { RECENT = 256 };
struct event {
    long set;
    long reached[RECENT]; /* the last one of those that share a place */
    unsigned long long context;
};

static int is_reached(const struct event *event, long version) {
    return event->reached[version % RECENT] >= version;
}

int stand_in_event_create(void **made) {
    struct event *event = *made = calloc(1, sizeof(*event));
    event->context = stand_in_context();
    return REDIST_OK;
}

void stand_in_event_destroy(void *data) {
    const struct event *event = data;
    if (event != NULL && !redist_place_is_gone())
        stand_in_use(event->context, "an event");
    free(data);
}

struct turn {
    struct event *event;
    long version;
};

static void reach(void *data) {
    const struct turn *turn = data;
    pthread_mutex_lock(&lock);
    if (!is_reached(turn->event, turn->version))
        turn->event->reached[turn->version % RECENT] = turn->version;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void follow(void *data) {
    const struct turn *turn = data;
    pthread_mutex_lock(&lock);
    while (!is_reached(turn->event, turn->version) && !stand_in_is_lost())
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* With each replay an event gets another version, as it does with each call. */
static int give_turn(void *given, void (*run)(void *data), struct event *event) {
    if (redist_place_is_gone())
        return redist_fail_in("stand-in", REDIST_ERR_DEVICE, "the context is gone");
    stand_in_use(event->context, "an event");
    REDIST_TRY(stand_in_check());
    pthread_mutex_lock(&lock);
    struct stream *stream = find_stream(given);
    int is_kept = stand_in_is_capturing(), code = check_device(stream);
    int is_given = code == REDIST_OK && !is_kept && !stand_in_is_watched(stream, 0);
    if (run == reach && is_given)
        event->set++;
    const struct turn turn = {event, event->set};
    if (code == REDIST_OK && is_kept)
        code = stand_in_keep_event(stream, event, run == reach);
    else if (is_given)
        append(stream, run, &turn, sizeof(turn));
    pthread_mutex_unlock(&lock);
    return code;
}

int stand_in_event_record(void *event, void *stream) {
    return give_turn(stream, reach, event);
}

int stand_in_stream_follow(void *stream, void *event) {
    return give_turn(stream, follow, event);
}

static int ask_event(const struct event *event) {
    if (!redist_place_is_gone())
        stand_in_use(event->context, "an event");
    return stand_in_ask(NULL, "asking an event");
}

int stand_in_event_is_reached(void *data, int *reached) {
    const struct event *event = data;
    REDIST_TRY(ask_event(event));
    pthread_mutex_lock(&lock);
    *reached = is_reached(event, event->set);
    pthread_mutex_unlock(&lock);
    return stand_in_check();
}

int stand_in_event_wait(void *data) {
    const struct event *event = data;
    REDIST_TRY(ask_event(event));
    pthread_mutex_lock(&lock);
    while (!is_reached(event, event->set) && !stand_in_is_lost())
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return stand_in_check();
}

void stand_in_end_streams(unsigned long long context) {
    stand_in_drain();
    for (int i = 0; i < MOST; i++)
        if (all_streams[i] != NULL && all_streams[i]->context == context)
            end_stream(all_streams[i]); /* the handle says later that its context is gone */
}
