/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for CUDA memory in a copy of libredist: shared memory of the host, with streams of stand_in_streams.c. */
#include "stand_in_space.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../libredist/copy/copy.h"
#include "../libredist/runtime/space.h"
#include "stand_in_graphs.h"
#include "stand_in_places.h"
#include "stand_in_streams.h"
#include "stream_device.h"

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
    stand_in_end_streams(context);
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
    REDIST_TRY(stand_in_ask(NULL, "allocating memory"));
    *memory = malloc(bytes + 1);
    memset(*memory, 0xff, bytes);
    note_memory(*memory, bytes, 0);
    return REDIST_OK;
}

/* Memory of a context that is gone is gone with it. */
static void release(void *memory) {
    if (memory == NULL || stand_in_ask(NULL, "freeing memory") != REDIST_OK)
        return;
    if (find_memory(memory).begin == NULL) {
        fprintf(stderr, "stand-in: memory is freed that there is not, or not any more\n");
        abort();
    }
    stand_in_drain();
    forget_memory(memory, 0);
}

static int allocate_pinned(size_t bytes, void **memory) {
    *memory = NULL;
    REDIST_TRY(stand_in_ask(NULL, "allocating pinned memory"));
    *memory = calloc(1, bytes);
    return REDIST_OK;
}

/* In truth it is gone with its context, too. */
static void release_pinned(void *memory) {
    (void)stand_in_forbids("freeing pinned memory");
    stand_in_drain();
    free(memory);
}

static int clear(void *memory, size_t bytes) {
    REDIST_TRY(stand_in_ask(NULL, "clearing memory"));
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
    return stand_in_ask(NULL, "pinning memory") == REDIST_OK;
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
    stand_in_drain();
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
    stand_in_drain();
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

/* Runs backwards the boxes that are added beside each other, as their order must not matter. */
static int batch_run(struct redist__batch *batch, int first, int count, void *stream) {
    for (int i = first, next = first; i < first + count; i = next) {
        for (next = i + 1; next < first + count && batch->copies[next].beside;)
            next++;
        for (int j = next - 1; j >= i; j--)
            (void)copy(&batch->copies[j], batch->sources[j], batch->destinations[j], REDIST__KERNEL,
                       stream);
    }
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
    .stream = stand_in_stream,
    .stream_create = stand_in_stream_create,
    .stream_create_urgent = stand_in_stream_create,
    .stream_destroy = stand_in_stream_destroy,
    .stream_is_idle = stand_in_stream_is_idle,
    .stream_check = stand_in_stream_check,
    .stream_wait = stand_in_stream_wait,
    .stream_follow = stand_in_stream_follow,
    .drain = stand_in_drain,
    .event_create = stand_in_event_create,
    .event_destroy = stand_in_event_destroy,
    .event_record = stand_in_event_record,
    .event_is_reached = stand_in_event_is_reached,
    .event_wait = stand_in_event_wait,
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
