/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in for CUDA memory in a copy of libredist: shared memory of the host, whose streams are threads. Each does
 * its work in order, now and then late, beside the other streams and the host; a stream that waits for a signal of
 * another rank, or for an event, holds up nothing else.
 */
#include "stand_in_space.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../libredist/copy/copy.h"
#include "../libredist/runtime/space.h"
#include "stand_in_graphs.h"
#include "stand_in_places.h"
#include "stream_device.h"

/* ---------------------------------------------------------------- streams */

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

static int stream_create(void **made) {
    pthread_mutex_lock(&lock);
    *made = start_stream(OF_USER);
    pthread_mutex_unlock(&lock);
    return REDIST_OK;
}

static int is_idle(const struct stream *stream) {
    return stream->first == NULL && !stream->busy;
}

/* Whether what a stream has done may be asked now. */
static int ask(const void *stream, const char *what) {
    if (redist_place_is_gone())
        return redist_fail_in("stand-in", REDIST_ERR_DEVICE, "the context is gone");
    if (stand_in_is_watched(stream, 1))
        return redist_fail_in("stand-in", REDIST_ERR_DEVICE, "the stream is captured");
    return stand_in_forbids(what);
}

static int stream_wait(void *given) {
    REDIST_TRY(ask(given, "waiting for a stream"));
    pthread_mutex_lock(&lock);
    const struct stream *stream = find_stream(given);
    while (!is_idle(stream) && !stand_in_is_lost())
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return stand_in_check();
}

static int stream_is_idle(void *given, int *idle) {
    REDIST_TRY(ask(given, "asking a stream"));
    pthread_mutex_lock(&lock);
    *idle = is_idle(find_stream(given));
    pthread_mutex_unlock(&lock);
    return stand_in_check();
}

static int stream_check(void *given) {
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

static void stream_destroy(void *given) {
    struct stream *stream = given;
    if (stream == NULL || redist_place_is_gone())
        return;
    stand_in_use(stream->context, "a stream");
    end_stream(stream);
    free(stream);
}

static void *own_stream(int index) {
    if (redist_place_is_gone())
        return NULL;
    pthread_mutex_lock(&lock);
    struct stream *stream = common_stream(index % STREAMS);
    pthread_mutex_unlock(&lock);
    return stream;
}

static void drain(void) {
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
    drain();
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

static int event_create(void **made) {
    struct event *event = *made = calloc(1, sizeof(*event));
    event->context = stand_in_context();
    return REDIST_OK;
}

static void event_destroy(void *data) {
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

static int event_record(void *event, void *stream) {
    return give_turn(stream, reach, event);
}

static int stream_follow(void *stream, void *event) {
    return give_turn(stream, follow, event);
}

static int ask_event(const struct event *event) {
    if (!redist_place_is_gone())
        stand_in_use(event->context, "an event");
    return ask(NULL, "asking an event");
}

static int event_is_reached(void *data, int *reached) {
    const struct event *event = data;
    REDIST_TRY(ask_event(event));
    pthread_mutex_lock(&lock);
    *reached = is_reached(event, event->set);
    pthread_mutex_unlock(&lock);
    return stand_in_check();
}

static int event_wait(void *data) {
    const struct event *event = data;
    REDIST_TRY(ask_event(event));
    pthread_mutex_lock(&lock);
    while (!is_reached(event, event->set) && !stand_in_is_lost())
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return stand_in_check();
}

/* ---------------------------------------------------------------- memory */

/* Memory of this space; what the host has freed meanwhile has another key. */
struct memory {
    const char *begin, *end;
    uint64_t key;
    unsigned long long context;
    int is_shared;
    struct memory *next;
};
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory *memories;

static void note_memory(const void *begin, size_t bytes, int is_shared) {
    struct memory *memory = malloc(sizeof(*memory));
    pthread_mutex_lock(&memory_lock);
    *memory = (struct memory){begin,
                              (const char *)begin + bytes + 1,
                              redist__space_host.export_memory(begin, 1).key,
                              stand_in_context(),
                              is_shared,
                              memories};
    memories = memory;
    pthread_mutex_unlock(&memory_lock);
}

/* With a beginning of NULL if there is none. */
static struct memory find_memory(const void *array) {
    struct memory found = {0};
    pthread_mutex_lock(&memory_lock);
    for (const struct memory *memory = memories; memory != NULL && found.begin == NULL;
         memory = memory->next)
        if ((const char *)array >= memory->begin && (const char *)array < memory->end &&
            redist__space_host.export_memory(memory->begin, 1).key == memory->key)
            found = *memory;
    pthread_mutex_unlock(&memory_lock);
    return found;
}

/* The first that fits, or all of a context. */
static void forget_memory(const void *begin, unsigned long long context) {
    pthread_mutex_lock(&memory_lock);
    for (struct memory **link = &memories; *link != NULL;) {
        struct memory *found = *link;
        if (found->begin != begin && found->context != context) {
            link = &found->next;
            continue;
        }
        *link = found->next;
        if (!found->is_shared)
            free((void *)(uintptr_t)found->begin);
        free(found);
    }
    pthread_mutex_unlock(&memory_lock);
}

/* What is shared goes with redist_free, on all ranks. */
void stand_in_forget(unsigned long long context) {
    drain();
    for (int i = 0; i < MOST; i++)
        if (all_streams[i] != NULL && all_streams[i]->context == context)
            end_stream(all_streams[i]); /* the handle says later that its context is gone */
    forget_memory(NULL, context);
}

static int recognises(const void *array) {
    return find_memory(array).begin != NULL;
}

static int check_array(const char *function, const char *name, const void *array) {
    const struct memory memory = find_memory(array);
    if (memory.begin == NULL)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT, "%s = %p is no memory of the stand-in",
                              name, array);
    if (memory.context == stand_in_context())
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                          "%s = %p is on device %d, but the plan's device is %d", name, array,
                          stand_in_device_of(memory.context), stream_device_current());
}

static int check_call(int error, const char *what) {
    return error == 0 ? REDIST_OK : redist_fail(REDIST_ERR_DEVICE, "%s", what);
}

static const char *absent(void) {
    return NULL;
}

static int find_free(size_t *bytes, unsigned long long *identity) {
    *bytes = (size_t)1 << 30;
    *identity = 7;
    return REDIST_OK;
}

static int allocate(size_t bytes, void **memory) {
    *memory = NULL;
    REDIST_TRY(ask(NULL, "allocating memory"));
    *memory = malloc(bytes + 1);
    memset(*memory, 0xff, bytes);
    note_memory(*memory, bytes, 0);
    return REDIST_OK;
}

/* Memory of a context that is gone is gone with it. */
static void release(void *memory) {
    if (memory == NULL || ask(NULL, "freeing memory") != REDIST_OK)
        return;
    if (find_memory(memory).begin == NULL) {
        fprintf(stderr, "stand-in: memory is freed that there is not, or not any more\n");
        abort();
    }
    drain();
    forget_memory(memory, 0);
}

static int allocate_pinned(size_t bytes, void **memory) {
    *memory = NULL;
    REDIST_TRY(ask(NULL, "allocating pinned memory"));
    *memory = calloc(1, bytes);
    return REDIST_OK;
}

/* In truth it is gone with its context, too. */
static void release_pinned(void *memory) {
    (void)stand_in_forbids("freeing pinned memory");
    drain();
    free(memory);
}

static int clear(void *memory, size_t bytes) {
    REDIST_TRY(ask(NULL, "clearing memory"));
    memset(memory, 0, bytes);
    return REDIST_OK;
}

struct raising {
    _Atomic uint64_t *word;
    const uint64_t *to;
};

static void run_raise(void *data) {
    const struct raising *raising = data;
    if (*raising->to > atomic_load(raising->word))
        atomic_store(raising->word, *raising->to);
}

static int raise_word(uint64_t *word, const uint64_t *to, void *stream) {
    const struct raising raising = {(_Atomic uint64_t *)word, to};
    return stand_in_give(stream, run_raise, &raising, sizeof raising);
}

static int pin(void *array, size_t bytes) {
    (void)array, (void)bytes;
    return ask(NULL, "pinning memory") == REDIST_OK;
}

static void unpin(void *array) {
    (void)array;
    (void)stand_in_forbids("unpinning memory");
}

static int is_pinned(const void *array, size_t bytes) {
    (void)array, (void)bytes;
    return 1;
}

/* As for CUDA (shares.c): in the place that is current, and in that where the array was made. */
static int create(struct redist__context *context, size_t bytes, void **array) {
    redist_place place = {.space = &redist__space_cuda};
    redist_visit visit;
    (void)stand_in_find_place(&place);
    (void)redist_enter(&place, &visit);
    int code = stand_in_forbids("allocating memory");
    if (code == REDIST_OK)
        code = redist__space_host.create(context, bytes, array);
    if (code == REDIST_OK)
        note_memory(*array, bytes, 1);
    redist_leave(&visit);
    return code;
}

static struct redist__context *remove_array(const void *array) {
    const struct memory found = find_memory(array);
    redist_place place = {.space = NULL};
    redist_visit visit;
    if (found.begin != NULL)
        place = (redist_place){.space = &redist__space_cuda,
                               .device = stand_in_device_of(found.context),
                               .is_primary = 1,
                               .context = found.context};
    (void)redist_enter(&place, &visit);
    (void)stand_in_forbids("freeing memory");
    drain();
    redist_leave(&visit);
    return redist__space_host.remove(array);
}

static struct redist__memory_handle export_memory(const void *array, size_t bytes) {
    return redist__space_host.export_memory(array, bytes);
}

static char *map(const struct redist__memory_handle *handle, struct redist__mappings *mappings) {
    return redist__space_host.map(handle, mappings);
}

static void unmap(struct redist__mappings *mappings) {
    (void)mappings;
    drain();
}

/* ---------------------------------------------------------------- copies */

struct copying {
    struct redist__copy copy;
    const void *source;
    void *destination;
};

static void run_copy(void *data) {
    const struct copying *copying = data;
    redist__copy_run(&copying->copy, copying->source, copying->destination, 0);
}

static _Atomic long copied;

long stream_device_copied(void) {
    return atomic_load(&copied);
}

static int copy(const struct redist__copy *box, const void *source, void *destination,
                enum redist__copier copier, void *stream) {
    const struct copying copying = {*box, source, destination};
    size_t bytes = box->run;
    (void)copier;
    for (int i = 0; i < box->ndims; i++)
        bytes *= (size_t)box->count[i];
    atomic_fetch_add(&copied, (long)bytes);
    if (box->run != 0)
        return stand_in_give(stream, run_copy, &copying, sizeof(copying));
    return REDIST_OK;
}

static int batch_run(struct redist__batch *batch, int first, int count, void *stream) {
    for (int i = first; i < first + count; i++)
        (void)copy(&batch->copies[i], batch->sources[i], batch->destinations[i], REDIST__KERNEL,
                   stream);
    return REDIST_OK;
}

const struct redist__space redist__space_cuda = {
    .name = "stand-in",
    .id = REDIST_SPACE_CUDA,
    .asynchronous = 1,
    .find_place = stand_in_find_place,
    .enter = stand_in_enter,
    .leave = stand_in_leave,
    .check_stream = stand_in_check_stream,
    .find_capture = stand_in_find_capture,
    .absent = absent,
    .recognises = recognises,
    .check_array = check_array,
    .check_call = check_call,
    .find_free = find_free,
    .allocate = allocate,
    .release = release,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .clear = clear,
    .raise = raise_word,
    .pin = pin,
    .unpin = unpin,
    .is_pinned = is_pinned,
    .stream = own_stream,
    .stream_create = stream_create,
    .stream_create_urgent = stream_create,
    .stream_destroy = stream_destroy,
    .stream_is_idle = stream_is_idle,
    .stream_check = stream_check,
    .stream_wait = stream_wait,
    .stream_follow = stream_follow,
    .drain = drain,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_is_reached = event_is_reached,
    .event_wait = event_wait,
    .create = create,
    .remove = remove_array,
    .export_memory = export_memory,
    .map = map,
    .unmap = unmap,
    .copy = copy,
    .batch_run = batch_run,
    .stream_can_keep = stand_in_stream_can_keep,
    .graph_begin = stand_in_graph_begin,
    .graph_end = stand_in_graph_end,
    .graph_replay = stand_in_graph_replay,
    .graph_free = stream_device_free,
};
