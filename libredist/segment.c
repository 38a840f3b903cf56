/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redist_alloc: one MPI shared-memory window per allocation on each node. Every process keeps a
 * list of the allocations that it takes part in, so that "rank r's memory in allocation k, plus an
 * offset" can be turned into an address of its own.
 */
#include "segment.h"
#include "error.h"
#include "waiting.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { ALIGNMENT = 4096 };

#ifndef MADV_POPULATE_WRITE
enum { MADV_POPULATE_WRITE = 23 }; /* of Linux 5.14; the C library's headers may be older */
#endif

struct segment {
    uint64_t key; /* 0 = peers cannot map it */
    struct redist__context *context;
    MPI_Win window; /* MPI_WIN_NULL = memory of aligned_alloc */
    char *base;
    size_t bytes;
    char **bases; /* of each rank of the node, as this process sees them */
    struct segment *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct segment *segments;

struct redist__place redist__segment_place(const void *array, size_t bytes) {
    struct redist__place place = {0};
    const char *address = array;
    pthread_mutex_lock(&lock);
    for (const struct segment *s = segments; s != NULL; s = s->next)
        if (address >= s->base && address + bytes <= s->base + s->bytes) {
            place.key = s->key;
            place.offset = (uint64_t)(address - s->base);
            place.rank = s->context->node_rank;
            break;
        }
    pthread_mutex_unlock(&lock);
    return place;
}

char *redist__segment_address(const struct redist__place *place) {
    char *address = NULL;
    pthread_mutex_lock(&lock);
    for (const struct segment *s = segments; s != NULL; s = s->next)
        if (s->key == place->key && place->rank < s->context->node_size) {
            address = s->bases[place->rank] + place->offset;
            break;
        }
    pthread_mutex_unlock(&lock);
    return address;
}

/* A number that no other allocation of this machine has: the leader's process and its counter. */
static int agree_on_key(struct segment *segment) {
    static uint32_t counter;
    uint64_t key = (uint64_t)getpid() << 32 | ++counter;
    int result = MPI_Bcast(&key, 1, MPI_UINT64_T, 0, segment->context->node);
    segment->key = key;
    return redist_check_mpi(result);
}

/* MPI aligns a window's parts to 8 bytes only. Processes map the window at pages, so that rounding up
 * to a page leads all of them to the same byte. */
static char *next_page(char *address) {
    return address + (ALIGNMENT - (uintptr_t)address % ALIGNMENT) % ALIGNMENT;
}

/* Whether the files behind windows have room for this one: Open MPI waits for ever where they have not.
 * What the node's first rank sees counts for all. */
static int has_room(const struct segment *segment) {
    MPI_Comm node = segment->context->node;
    double bytes = (double)segment->bytes + ALIGNMENT, all = 0;
    struct statvfs files;
    MPI_Reduce(&bytes, &all, 1, MPI_DOUBLE, MPI_SUM, 0, node);
    int room = segment->context->node_rank != 0 || statvfs("/dev/shm", &files) != 0 ||
               all <= (double)files.f_bavail * (double)files.f_frsize;
    MPI_Bcast(&room, 1, MPI_INT, 0, node);
    return room;
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
    int result = MPI_Win_allocate_shared((MPI_Aint)bytes, 1, info, segment->context->node,
                                         &segment->base, &segment->window);
    MPI_Info_free(&info);
    int code = redist_check_mpi(result);
    if (code != REDIST_OK)
        segment->window = MPI_WIN_NULL;
    return redist_agree(segment->context->node, code);
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

/* SimGrid's MPI (3.32) places the parts as if all were as large as the own one, and then says that all
 * are where that of rank 0 is: there they have to be equal, and each rank tells where its own begins. */
static int correct_bases(struct segment *segment) {
    const struct redist__context *context = segment->context;
    uint64_t bytes = segment->bytes + ALIGNMENT;
    int code = redist_check_mpi(
        MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_MAX, context->node));
    MPI_Win_free(&segment->window);
    if (code == REDIST_OK)
        code = create_window(segment, bytes);
    if (code == REDIST_OK)
        code = find_bases(segment);
    for (int rank = 0; rank < context->node_size && code == REDIST_OK; rank++) {
        int64_t behind = segment->base - segment->bases[0];
        code = redist_check_mpi(MPI_Bcast(&behind, 1, MPI_INT64_T, rank, context->node));
        segment->bases[rank] = segment->bases[0] + behind;
    }
    return code;
}

/* Each part has room to begin on a page. */
static int allocate_window(struct segment *segment) {
    const struct redist__context *context = segment->context;
    int code = create_window(segment, segment->bytes + ALIGNMENT);
    if (code != REDIST_OK)
        return code;
    code = find_bases(segment);
    int seen[2] = {code, segment->bases[context->node_rank] != segment->base};
    int result = MPI_Allreduce(MPI_IN_PLACE, seen, 2, MPI_INT, MPI_MAX, context->node);
    code = result == MPI_SUCCESS ? seen[0] : redist_check_mpi(result);
    if (code == REDIST_OK && seen[1])
        code = correct_bases(segment);
    for (int rank = 0; rank < context->node_size && code == REDIST_OK; rank++)
        segment->bases[rank] = next_page(segment->bases[rank]);
    segment->base = segment->bases[context->node_rank];
    if (code == REDIST_OK && !seen[1])
        code = redist_agree(context->node, take_pages(segment));
    if (code != REDIST_OK && segment->window != MPI_WIN_NULL)
        MPI_Win_free(&segment->window);
    return code;
}

static int allocate_plain(struct segment *segment) {
    segment->base = aligned_alloc(ALIGNMENT, segment->bytes);
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
    int code = redist_agree(context->node, allocate_plain(segment));
    if (code == REDIST_OK && context->node_size == 1)
        code = agree_on_key(segment);
    return code;
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
    struct segment *segment = redist_calloc(1, sizeof *segment);
    char **bases = redist_calloc((size_t)context->node_size, sizeof *bases);
    if (segment == NULL || bases == NULL) {
        redist_release(segment);
        redist_release(bases);
        return NULL;
    }
    size_t pages = bytes / ALIGNMENT + (bytes % ALIGNMENT != 0 || bytes == 0);
    *segment = (struct segment){
        .context = context, .window = MPI_WIN_NULL, .bytes = pages * ALIGNMENT, .bases = bases};
    return segment;
}

static void destroy_segment(struct segment *segment) {
    if (segment != NULL)
        redist_release(segment->bases);
    redist_release(segment);
}

int redist__segment_create(struct redist__context *context, size_t bytes, void **array) {
    struct segment *segment = create_segment(context, bytes);
    int code =
        segment != NULL ? REDIST_OK : redist_fail(REDIST_ERR_MEMORY, "no memory to note an array");
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK) {
        int mine = allocate_memory(segment);
        code = redist_agree(context->comm, mine);
        if (code != REDIST_OK && mine == REDIST_OK)
            free_memory(segment);
    }
    if (code != REDIST_OK) {
        destroy_segment(segment);
        return code;
    }
    pthread_mutex_lock(&lock);
    segment->next = segments;
    segments = segment;
    pthread_mutex_unlock(&lock);
    *array = segment->base;
    return REDIST_OK;
}

static struct segment *unlink_segment(const void *array) {
    pthread_mutex_lock(&lock);
    struct segment **link = &segments;
    while (*link != NULL && (*link)->base != array)
        link = &(*link)->next;
    struct segment *segment = *link;
    if (segment != NULL)
        *link = segment->next;
    pthread_mutex_unlock(&lock);
    return segment;
}

struct redist__context *redist__segment_remove(const void *array) {
    struct segment *segment = unlink_segment(array);
    if (segment == NULL)
        return NULL;
    struct redist__context *context = segment->context;
    free_memory(segment);
    destroy_segment(segment);
    return context;
}
