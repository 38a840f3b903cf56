/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host memory: work is complete on return, so that the only stream, and the only event, is NULL.
 *
 * Peers map memory of redist_alloc: one memory file per allocation on each node, in which each rank has a part. Every
 * process lists its allocations by address and by key, so that "rank r's memory in allocation k, plus an offset"
 * becomes an address of its own. Memory of redist_alloc_local is mapped by local.c.
 *
 * MPI has windows for this (MPI_Win_allocate_shared). With too little memory Open MPI 4.1 waits for ever, parts have no
 * alignment, and only all ranks together can free them.
 */
#include "../comm/comm.h"
#include "../copy/copy.h"
#include "local.h"
#include "memory_file.h"
#include "space.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
enum { MADV_POPULATE_WRITE = 23 }; /* since Linux 5.14; the C library's headers may be older */
#endif

enum { PAGE = REDIST__FILE_PAGE, LINE = 256 };

/* Rounds up to at least one unit. */
static size_t round_up(size_t bytes, size_t unit) {
    return (bytes / unit + (bytes % unit != 0 || bytes == 0)) * unit;
}

struct segment {
    uint64_t key; /* 0 = not mappable */
    struct redist__context *context;
    char *base;
    size_t bytes;
    char *file;        /* all parts, mapped here; NULL = memory of aligned_alloc */
    uint64_t begins[]; /* of each rank's part in it, and the end */
};

/* ---------------------------------------------------------------- all segments of this process */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *placed, *keyed; /* trees: all segments by address; those with a key by key */

/* Compares; overlapping segments are equal, so that a byte finds its segment. */
static int compare_addresses(const void *left, const void *right) {
    const struct segment *a = left, *b = right;
    if ((uintptr_t)a->base + a->bytes <= (uintptr_t)b->base)
        return -1;
    return (uintptr_t)b->base + b->bytes <= (uintptr_t)a->base;
}

static int compare_keys(const void *left, const void *right) {
    uint64_t a = ((const struct segment *)left)->key, b = ((const struct segment *)right)->key;
    return (a > b) - (a < b);
}

/* Finds a segment, or NULL. Called with the lock held. */
static struct segment *find_placed(const void *address) {
    const struct segment byte = {.base = (char *)(size_t)address, .bytes = 1};
    struct segment **found = tfind(&byte, &placed, compare_addresses);
    return found != NULL ? *found : NULL;
}

static int is_known(uint64_t key) {
    const struct segment sought = {.key = key};
    pthread_mutex_lock(&lock);
    int known = tfind(&sought, &keyed, compare_keys) != NULL;
    pthread_mutex_unlock(&lock);
    return known;
}

/* Adds a segment; 0 without memory, or if its place is taken. */
static int add_to_tree(struct segment *segment, void **tree, __compar_fn_t compare) {
    struct segment **found = tsearch(segment, tree, compare);
    return found != NULL && *found == segment;
}

static int add_segment(struct segment *segment) {
    pthread_mutex_lock(&lock);
    int added = add_to_tree(segment, &placed, compare_addresses);
    if (added && segment->key != 0 && !add_to_tree(segment, &keyed, compare_keys)) {
        tdelete(segment, &placed, compare_addresses);
        added = 0;
    }
    pthread_mutex_unlock(&lock);
    return added ? REDIST_OK : redist__fail(REDIST_ERR_MEMORY, "no memory to record an array");
}

/* Removes the segment that begins at an address, or returns NULL. */
static struct segment *remove_segment(const void *array) {
    pthread_mutex_lock(&lock);
    struct segment *segment = find_placed(array);
    if (segment != NULL && segment->base != array)
        segment = NULL;
    if (segment != NULL) {
        tdelete(segment, &placed, compare_addresses);
        if (segment->key != 0)
            tdelete(segment, &keyed, compare_keys);
    }
    pthread_mutex_unlock(&lock);
    return segment;
}

static struct redist__memory_handle export_memory(const void *array, size_t bytes) {
    struct redist__memory_handle handle = {0};
    pthread_mutex_lock(&lock);
    const struct segment *s = find_placed(array);
    size_t offset = s != NULL ? (size_t)((const char *)array - s->base) : 0;
    if (s != NULL && bytes <= s->bytes - offset) {
        handle.key = s->key;
        handle.offset = offset;
        handle.rank = s->context->node_rank;
    }
    pthread_mutex_unlock(&lock);
    return s != NULL ? handle : redist__local_export(array, bytes);
}

static int has(const void *array) {
    pthread_mutex_lock(&lock);
    int found = find_placed(array) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Maps shared memory: that of a communicator was mapped when it was allocated. */
static char *map(const struct redist__memory_handle *handle, struct redist__mappings *mappings) {
    const struct segment key = {.key = handle->key};
    if (handle->owner.number != 0)
        return redist__local_map(handle, mappings);
    pthread_mutex_lock(&lock);
    struct segment *const *found = tfind(&key, &keyed, compare_keys);
    char *address = NULL;
    if (found != NULL && handle->rank < (*found)->context->node_size)
        address = (*found)->file != NULL ? (*found)->file + (*found)->begins[handle->rank]
                                         : (*found)->base;
    pthread_mutex_unlock(&lock);
    return address != NULL ? address + handle->offset : NULL;
}

/* ---------------------------------------------------------------- shared memory */

static void free_file(struct segment *segment) {
    if (segment->file != NULL)
        munmap(segment->file, segment->begins[segment->context->node_size]);
    segment->file = NULL;
    segment->key = 0;
}

/* Agrees on a key that no rank has yet: keys of different processes may be equal, if rarely, and confuse arrays. */
static int agree_on_key(struct segment *segment) {
    uint64_t key = redist__process_key();
    int code = redist_broadcast(segment->context->node, &key, sizeof key, 0);
    segment->key = key;
    if (code == REDIST_OK && is_known(key))
        code = redist__fail(REDIST_ERR_MEMORY, "another array has the key of this one");
    return code;
}

/* Agrees on the parts; all ranks take part also after a failure. */
static int agree_on_parts(struct segment *segment) {
    const struct redist__context *context = segment->context;
    uint64_t mine = segment->bytes = round_up(segment->bytes, PAGE);
    int code = agree_on_key(segment);
    redist__keep_first(&code,
                       redist_all_gather(context->node, &mine, sizeof mine, segment->begins + 1));
    for (int rank = 0; rank < context->node_size; rank++)
        segment->begins[rank + 1] += segment->begins[rank];
    return code;
}

/* Creates the file, after checking the free memory: to take all pages would leave none to the programs of the node. */
static int create_file(const struct redist__context *context, uint64_t bytes, int *descriptor) {
    if (context->node_rank != 0)
        return REDIST_OK;
    if (!redist__memory_has_room(bytes))
        return redist__fail(REDIST_ERR_MEMORY, "no room for %llu bytes of shared memory",
                            (unsigned long long)bytes);
    *descriptor = redist__memory_file_create("redist_alloc");
    return REDIST_OK;
}

static int map_file(struct segment *segment, int descriptor) {
    const struct redist__context *context = segment->context;
    const uint64_t *mine = &segment->begins[context->node_rank];
    uint64_t end = segment->begins[context->node_size];
    if (redist__memory_file_may_end(end) && redist__memory_file_take(descriptor, mine[0], mine[1]))
        segment->file = redist__memory_file_map(descriptor, 0, end);
    if (segment->file == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no room for %zu bytes of shared memory",
                            segment->bytes);
    segment->base = segment->file + mine[0];
    (void)madvise(segment->base, segment->bytes, MADV_POPULATE_WRITE);
    return REDIST_OK;
}

static int allocate_file(struct segment *segment) {
    const struct redist__context *context = segment->context;
    int descriptor = -1, code = agree_on_parts(segment);
    if (code == REDIST_OK)
        code = create_file(context, segment->begins[context->node_size], &descriptor);
    code = redist__memory_file_share(context, code, &descriptor);
    if (code == REDIST_OK)
        code = map_file(segment, descriptor);
    code = redist_agree(context->node, code);
    if (descriptor >= 0)
        close(descriptor);
    if (code != REDIST_OK)
        free_file(segment);
    return code;
}

static int allocate_plain(struct segment *segment) {
    segment->base = aligned_alloc(segment->bytes < PAGE ? LINE : PAGE, segment->bytes);
    if (segment->base == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for an array of %zu bytes",
                            segment->bytes);
    return REDIST_OK;
}

/* Allocates shared memory for several ranks of a node; plain memory for a rank alone on its node, whose only peer there
 * is itself, or on all ranks if a node has no shared memory, so that all know the array's kind. */
static int allocate_memory(struct segment *segment) {
    const struct redist__context *context = segment->context;
    int is_alone = context->node_size == 1;
    int shared = is_alone ? REDIST_OK : allocate_file(segment);
    if (context->nnodes > 1)
        shared = redist_agree(context->comm, shared);
    if (shared == REDIST_OK && !is_alone)
        return REDIST_OK;
    free_file(segment);
    REDIST_TRY(redist_agree(context->node, allocate_plain(segment)));
    if (is_alone && (shared != REDIST_OK || agree_on_key(segment) != REDIST_OK))
        segment->key = 0;
    return REDIST_OK;
}

/* Frees memory; not after the loss of a peer, whose message may still arrive. */
static void free_memory(struct segment *segment) {
    if (segment->file == NULL)
        free(segment->base);
    else if (redist__peers_look_now(segment->context) == REDIST_OK)
        free_file(segment);
}

static struct segment *create_segment(struct redist__context *context, size_t bytes) {
    size_t nbegins = (size_t)context->node_size + 1;
    struct segment *segment =
        redist_calloc(1, sizeof *segment + nbegins * sizeof segment->begins[0]);
    if (segment == NULL)
        return NULL;
    segment->context = context;
    segment->bytes = round_up(bytes, bytes < PAGE ? LINE : PAGE);
    return segment;
}

/* Creates a segment, or frees it if any rank failed. */
static int create(struct redist__context *context, size_t bytes, void **array) {
    struct segment *segment = create_segment(context, bytes);
    int code = redist__agree_memory(context->comm, segment, "to record an array");
    if (code == REDIST_OK) {
        int mine = allocate_memory(segment);
        mine = mine == REDIST_OK ? add_segment(segment) : mine;
        code = redist_agree(context->comm, mine);
        if (code == REDIST_OK) {
            *array = segment->base;
            return REDIST_OK;
        }
        if (mine == REDIST_OK)
            remove_segment(segment->base);
        free_memory(segment);
    }
    redist_release(segment);
    return code;
}

static struct redist__context *remove_array(const void *array) {
    struct segment *segment = remove_segment(array);
    if (segment == NULL)
        return NULL;
    struct redist__context *context = segment->context;
    free_memory(segment);
    redist_release(segment);
    return context;
}

/* ---------------------------------------------------------------- memory of this rank */

static const char *absent(void) {
    return NULL;
}

/* Returns nonzero for all memory, as other spaces are checked first. */
static int recognises(const void *array) {
    (void)array;
    return 1;
}

static int check_array(const char *function, const char *name, const void *array) {
    (void)function, (void)name, (void)array;
    return REDIST_OK;
}

static int find_free(size_t *bytes, unsigned long long *identity) {
    *bytes = *identity = 0;
    return REDIST_OK;
}

static int allocate(size_t bytes, void **memory) {
    *memory = redist_calloc(1, bytes);
    return *memory != NULL ? REDIST_OK
                           : redist__fail(REDIST_ERR_MEMORY, "no memory for %zu bytes", bytes);
}

static int clear(void *memory, size_t bytes) {
    memset(memory, 0, bytes);
    return REDIST_OK;
}

static int pin(void *array, size_t bytes) {
    (void)array, (void)bytes;
    return 1;
}

static void unpin(void *array) {
    (void)array;
}

static int is_pinned(const void *array, size_t bytes) {
    (void)array, (void)bytes;
    return 0;
}

/* ---------------------------------------------------------------- streams, events and copies */

static void *stream(int index) {
    (void)index;
    return NULL;
}

static int make(void **stream_or_event) {
    *stream_or_event = NULL;
    return REDIST_OK;
}

static void destroy(void *stream_or_event) {
    (void)stream_or_event;
}

static int wait(void *stream_or_event) {
    (void)stream_or_event;
    return REDIST_OK;
}

static int is_done(void *stream_or_event, int *done) {
    (void)stream_or_event;
    *done = 1;
    return REDIST_OK;
}

static int order(void *stream_or_event, void *event_or_stream) {
    (void)stream_or_event, (void)event_or_stream;
    return REDIST_OK;
}

static void drain(void) {
}

static int copy(const struct redist__copy *box, const void *source, void *destination,
                enum redist__copier copier, void *in_stream) {
    (void)in_stream;
    redist__copy_run(box, source, destination,
                     copier == REDIST__NONTEMPORAL ? REDIST__COPY_NONTEMPORAL
                                                   : REDIST__COPY_CACHED);
    return REDIST_OK;
}

static int batch_run(struct redist__batch *batch, int first, int n, void *in_stream) {
    (void)in_stream;
    redist__copy_run_together(n, batch->copies + first, batch->sources + first,
                              batch->destinations + first, (enum redist__copy_use)batch->use);
    redist__copy_fence();
    return REDIST_OK;
}

const struct redist__space redist__space_host = {
    .name = "host",
    .id = REDIST_SPACE_HOST,
    .absent = absent,
    .recognises = recognises,
    .check_array = check_array,
    .find_free = find_free,
    .allocate = allocate,
    .release = redist_release,
    .allocate_pinned = allocate,
    .release_pinned = redist_release,
    .clear = clear,
    .pin = pin,
    .unpin = unpin,
    .is_pinned = is_pinned,
    .stream = stream,
    .stream_create = make,
    .stream_create_urgent = make,
    .stream_destroy = destroy,
    .stream_is_idle = is_done,
    .stream_wait = wait,
    .stream_follow = order,
    .drain = drain,
    .event_create = make,
    .event_destroy = destroy,
    .event_record = order,
    .event_is_reached = is_done,
    .event_wait = wait,
    .create = create,
    .remove = remove_array,
    .has = has,
    .export_memory = export_memory,
    .map = map,
    .unmap = redist__local_unmap,
    .copy = copy,
    .batch_run = batch_run,
};
