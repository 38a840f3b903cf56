/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host memory: work is done on return, so that there is one stream and one event, NULL.
 *
 * Peers map memory of redist_alloc: one MPI shared-memory window per allocation on each node. Every process keeps
 * the allocations that it takes part in, by address and by key, so that "rank r's memory in allocation k, plus an
 * offset" can be turned into an address of its own. Memory of redist_alloc_local is mapped by local.c.
 */
#include "../comm/comm.h"
#include "../copy/copy.h"
#include "local.h"
#include "space.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
enum { MADV_POPULATE_WRITE = 23 }; /* of Linux 5.14; the C library's headers may be older */
#endif

struct segment {
    uint64_t key; /* 0 = peers cannot map it */
    struct redist__context *context;
    MPI_Win window; /* MPI_WIN_NULL = memory of aligned_alloc */
    char *base;
    size_t bytes;
    char **bases;   /* of each rank of the node, as this process sees them */
    int64_t *leads; /* bytes of each rank's part of the window before its base */
};

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---------------------------------------------------------------- all segments of this process */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *placed, *keyed; /* trees: of all segments by address, of those with a key by that */

/* Those that overlap count as equal: a byte finds the segment that it lies in. */
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

/* NULL if there is none. Called with the lock held. */
static struct segment *find_placed(const void *address) {
    const struct segment byte = {.base = (char *)(size_t)address, .bytes = 1};
    struct segment **found = tfind(&byte, &placed, compare_addresses);
    return found != NULL ? *found : NULL;
}

static int add_segment(struct segment *segment) {
    pthread_mutex_lock(&lock);
    int added = tsearch(segment, &placed, compare_addresses) != NULL;
    if (added && segment->key != 0 && tsearch(segment, &keyed, compare_keys) == NULL) {
        tdelete(segment, &placed, compare_addresses);
        added = 0;
    }
    pthread_mutex_unlock(&lock);
    return added ? REDIST_OK : redist_fail(REDIST_ERR_MEMORY, "no memory to note an array");
}

/* Takes out the segment that begins there; NULL if none does. */
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

/* The ranks of a communicator map its shared memory when it is allocated. */
static char *map(const struct redist__memory_handle *handle, struct redist__mappings *mappings) {
    const struct segment key = {.key = handle->key};
    if (handle->owner.number != 0)
        return redist__local_map(handle, mappings);
    pthread_mutex_lock(&lock);
    struct segment *const *found = tfind(&key, &keyed, compare_keys);
    char *address = found != NULL && handle->rank < (*found)->context->node_size
                        ? (*found)->bases[handle->rank] + handle->offset
                        : NULL;
    pthread_mutex_unlock(&lock);
    return address;
}

/* ---------------------------------------------------------------- shared memory */

static int agree_on_key(struct segment *segment) {
    uint64_t key = redist__process_key();
    int result = redist_insist(MPI_Bcast(&key, 1, MPI_UINT64_T, 0, segment->context->node));
    segment->key = key;
    return redist_check_mpi(result);
}

/* MPI aligns a window's parts to 8 bytes only. */
static int64_t bytes_to_page(const char *address) {
    size_t page = page_bytes();
    return (int64_t)((page - (uintptr_t)address % page) % page);
}

/* The largest file that this rank may make, and on the node's first rank how much room is left for files. */
static double room_for_files(const struct segment *segment) {
    struct rlimit limit;
    struct statvfs files;
    double most = HUGE_VAL, free_bytes = HUGE_VAL;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        most = (double)limit.rlim_cur;
    if (segment->context->node_rank == 0 && statvfs("/dev/shm", &files) == 0)
        free_bytes = (double)files.f_bavail * (double)files.f_frsize;
    return most < free_bytes ? most : free_bytes;
}

/* Whether the file behind the window has room: Open MPI waits for ever where it has not. All ranks take part
 * whatever failed; one that does not know the sum says no. */
static int has_room(const struct segment *segment) {
    MPI_Comm node = segment->context->node;
    double bytes = (double)(segment->bytes + 2 * page_bytes()), all = HUGE_VAL;
    if (redist_insist(MPI_Allreduce(&bytes, &all, 1, MPI_DOUBLE, MPI_SUM, node)) != MPI_SUCCESS)
        all = HUGE_VAL;
    int fits = all < room_for_files(segment), fit = 0;
    (void)redist_insist(MPI_Allreduce(&fits, &fit, 1, MPI_INT, MPI_MIN, node));
    return fit;
}

/* Takes the pages now: a window is a file that may turn out to have no room for them when they are first used,
 * which ends the program. Kernels before 5.14 cannot do this. */
static int take_pages(const struct segment *segment) {
    if (madvise(segment->base, segment->bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL)
        return REDIST_OK;
    return redist_fail(REDIST_ERR_MEMORY, "no room for %zu bytes of shared memory", segment->bytes);
}

/* The window's memory is spread over the ranks. */
static int create_window(struct segment *segment, size_t bytes) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    int result = redist_insist(MPI_Win_allocate_shared(
        (MPI_Aint)bytes, 1, info, segment->context->node, &segment->base, &segment->window));
    MPI_Info_free(&info);
    if (result != MPI_SUCCESS)
        segment->window = MPI_WIN_NULL;
    int code = redist_agree(segment->context->node, redist_check_mpi(result));
    if (code != REDIST_OK && segment->window != MPI_WIN_NULL)
        MPI_Win_free(&segment->window); /* sets it to MPI_WIN_NULL */
    return code;
}

static int find_bases(struct segment *segment) {
    int code = REDIST_OK;
    for (int rank = 0; rank < segment->context->node_size && code == REDIST_OK; rank++) {
        MPI_Aint bytes;
        int unit;
        code = redist_check_mpi(
            MPI_Win_shared_query(segment->window, rank, &bytes, &unit, &segment->bases[rank]));
    }
    return code;
}

enum { WRONG = -1 };

/* Each rank publishes how far behind the beginning of its part the first page begins, or that it has not
 * found its own part where it is. */
static int gather_leads(struct segment *segment) {
    const struct redist__context *context = segment->context;
    int found = segment->bases[context->node_rank] == segment->base;
    int64_t mine = found ? bytes_to_page(segment->base) : WRONG;
    return redist_check_mpi(redist_insist(
        MPI_Allgather(&mine, 1, MPI_INT64_T, segment->leads, 1, MPI_INT64_T, context->node)));
}

static int are_bases_wrong(const struct segment *segment) {
    for (int rank = 0; rank < segment->context->node_size; rank++)
        if (segment->leads[rank] == WRONG)
            return 1;
    return 0;
}

/* SimGrid's MPI (3.32) places the parts as if all were as large as the own one, and then says that all
 * are where that of rank 0 is: there they have to be equal, and each rank publishes where its own begins. */
static int correct_bases(struct segment *segment) {
    const struct redist__context *context = segment->context;
    uint64_t mine = segment->bytes + page_bytes(), bytes = mine;
    int code = redist_check_mpi(
        redist_insist(MPI_Allreduce(&mine, &bytes, 1, MPI_UINT64_T, MPI_MAX, context->node)));
    MPI_Win_free(&segment->window);
    code = redist_agree(context->node, code);
    if (code == REDIST_OK)
        code = create_window(segment, bytes);
    if (code == REDIST_OK)
        code = redist_agree(context->node, find_bases(segment));
    for (int rank = 0; rank < context->node_size && code == REDIST_OK; rank++) {
        int64_t behind = segment->base - segment->bases[0];
        code = redist_check_mpi(
            redist_insist(MPI_Bcast(&behind, 1, MPI_INT64_T, rank, context->node)));
        segment->bases[rank] = segment->bases[0] + behind;
    }
    return code;
}

/* Each part begins on a page of its owner. */
static int settle_window(struct segment *segment) {
    const struct redist__context *context = segment->context;
    int code = redist_agree(context->node, find_bases(segment));
    if (code == REDIST_OK)
        code = redist_agree(context->node, gather_leads(segment));
    int wrong = code == REDIST_OK && are_bases_wrong(segment);
    if (wrong)
        code = redist_agree(context->node, correct_bases(segment));
    if (wrong && code == REDIST_OK)
        code = gather_leads(segment);
    for (int rank = 0; rank < context->node_size && code == REDIST_OK; rank++)
        segment->bases[rank] += segment->leads[rank];
    segment->base = segment->bases[context->node_rank];
    return code == REDIST_OK && !wrong ? take_pages(segment) : code;
}

static int allocate_window(struct segment *segment) {
    REDIST_TRY(create_window(segment, segment->bytes + page_bytes()));
    int code = redist_agree(segment->context->node, settle_window(segment));
    if (code != REDIST_OK && segment->window != MPI_WIN_NULL)
        MPI_Win_free(&segment->window);
    return code;
}

static int allocate_plain(struct segment *segment) {
    segment->base = aligned_alloc(page_bytes(), segment->bytes);
    if (segment->base == NULL)
        return redist_fail(REDIST_ERR_MEMORY, "no memory for an array of %zu bytes",
                           segment->bytes);
    segment->bases[segment->context->node_rank] = segment->base;
    return REDIST_OK;
}

/* Shared memory among several ranks of a node; plain memory alone, or where there is none to share.
 * A rank that is alone on its node is its only peer there, and plain memory is mapped already. */
static int allocate_memory(struct segment *segment) {
    struct redist__context *context = segment->context;
    if (context->node_size > 1 && has_room(segment) && allocate_window(segment) == REDIST_OK)
        return agree_on_key(segment);
    REDIST_TRY(redist_agree(context->node, allocate_plain(segment)));
    if (context->node_size == 1)
        REDIST_TRY(agree_on_key(segment));
    return REDIST_OK;
}

/* A window is freed by all ranks of the node together: it stays where one of them is gone. */
static void free_memory(struct segment *segment) {
    if (segment->window != MPI_WIN_NULL && redist__peers_gone(segment->context))
        return;
    if (segment->window != MPI_WIN_NULL)
        MPI_Win_free(&segment->window);
    else
        free(segment->base);
}

static struct segment *create_segment(struct redist__context *context, size_t bytes) {
    size_t n = (size_t)context->node_size, page = page_bytes();
    struct segment *segment =
        redist_calloc(1, sizeof *segment + n * (sizeof(char *) + sizeof(int64_t)));
    if (segment == NULL)
        return NULL;
    size_t pages = bytes / page + (bytes % page != 0 || bytes == 0);
    char **bases = (char **)(segment + 1);
    *segment = (struct segment){.context = context,
                                .window = MPI_WIN_NULL,
                                .bytes = pages * page,
                                .bases = bases,
                                .leads = (int64_t *)(bases + n)};
    return segment;
}

/* Takes the segment apart again if making it failed on any rank. */
static int create(struct redist__context *context, size_t bytes, void **array) {
    struct segment *segment = create_segment(context, bytes);
    int added = 0, code = redist__agree_memory(context->comm, segment, "to note an array");
    if (code == REDIST_OK)
        code = allocate_memory(segment);
    else {
        redist_release(segment);
        return code;
    }
    if (code == REDIST_OK) {
        code = add_segment(segment);
        added = code == REDIST_OK;
    }
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK) {
        *array = segment->base;
        return REDIST_OK;
    }
    if (added)
        remove_segment(segment->base);
    free_memory(segment);
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

/* What no other space recognises is host memory. */
static int recognises(const void *array) {
    (void)array;
    return 1;
}

static int check_array(const char *function, const char *name, const void *array) {
    (void)function, (void)name, (void)array;
    return REDIST_OK;
}

static int check_call(int error, const char *what) {
    (void)what;
    return error;
}

static int find_free(size_t *bytes, unsigned long long *identity) {
    *bytes = *identity = 0;
    return REDIST_OK;
}

static int find_address(int device, size_t bytes, char text[]) {
    (void)device, (void)bytes, (void)text;
    return 0;
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

static int batch_open(struct redist__batch *batch) {
    (void)batch;
    return REDIST_OK;
}

static int batch_run(struct redist__batch *batch, int first, int n, void *in_stream) {
    (void)in_stream;
    redist__copy_run_together(n, batch->copies + first, batch->sources + first,
                              batch->destinations + first, (enum redist__copy_use)batch->use);
    redist__copy_fence();
    return REDIST_OK;
}

static void batch_close(struct redist__batch *batch) {
    (void)batch;
}

const struct redist__space redist__space_host = {
    .name = "host",
    .id = REDIST_SPACE_HOST,
    .absent = absent,
    .recognises = recognises,
    .check_array = check_array,
    .check_call = check_call,
    .find_free = find_free,
    .find_address = find_address,
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
    .export_memory = export_memory,
    .map = map,
    .unmap = redist__local_unmap,
    .copy = copy,
    .batch_open = batch_open,
    .batch_run = batch_run,
    .batch_close = batch_close,
};
