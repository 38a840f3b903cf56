/* SPDX-License-Identifier: BSD-3-Clause */
#include "pack.h"

#include <limits.h>
#include <string.h>

static int allocate(struct redist__packing *packing, int size) {
    packing->position = redist_calloc((size_t)size, sizeof *packing->position);
    packing->in_array = redist_calloc((size_t)size, 1);
    if (packing->position == NULL || packing->in_array == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory to describe messages of %d ranks", size);
    int code = redist__batch_create(&packing->pack, packing->space, size);
    return code == REDIST_OK ? redist__batch_create(&packing->unpack, packing->space, size) : code;
}

static void prepare_peer(struct redist__packing *packing, const struct redist__schedule *schedule,
                         int peer) {
    const struct redist__part *part = &packing->side->parts[peer];
    const ptrdiff_t *stride = packing->side->stride;
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    redist__strides(schedule->ndims, part->count, schedule->item, packed);
    redist__copy_prepare(&packing->pack.copies[peer], schedule->ndims, part->count, schedule->item,
                         stride, packed);
    redist__copy_prepare(&packing->unpack.copies[peer], schedule->ndims, part->count,
                         schedule->item, packed, stride);
    packing->in_array[peer] = packing->pack.copies[peer].ndims == 0;
}

static void find_all_in_array(struct redist__packing *packing,
                              const struct redist__context *context) {
    packing->all_in_array = 1;
    for (int peer = 0; peer < context->size; peer++)
        if (peer != context->rank)
            packing->all_in_array &= packing->in_array[peer];
}

/* Gives each message its place, and returns the bytes of the buffer. */
static size_t place_messages(struct redist__packing *packing,
                             const struct redist__schedule *schedule) {
    size_t bytes = 0;
    for (int peer = 0; peer < schedule->context->size; peer++) {
        const struct redist__part *part = &packing->side->parts[peer];
        packing->position[peer] = packing->in_array[peer] ? part->offset : bytes;
        if (!packing->in_array[peer] && peer != schedule->context->rank)
            bytes += part->elements * schedule->item;
    }
    return bytes;
}

/* What lies in the array needs no copy, and the own part has no message. */
static void drop_copies(struct redist__packing *packing, const struct redist__context *context) {
    for (int peer = 0; peer < context->size; peer++)
        if (packing->in_array[peer] || peer == context->rank) {
            packing->pack.copies[peer] = (struct redist__copy){0};
            packing->unpack.copies[peer] = (struct redist__copy){0};
        }
}

static int allocate_buffer(struct redist__packing *packing) {
    const struct redist__space *space = packing->space;
    void **buffer = (void **)&packing->buffer;
    return packing->staged ? space->allocate_pinned(packing->buffer_bytes, buffer)
                           : space->allocate(packing->buffer_bytes, buffer);
}

int redist__packing_create(struct redist__packing *packing, const struct redist__problem *problem,
                           int side, enum redist__in_array in_array, int staged) {
    const struct redist__schedule *schedule = problem->schedule;
    *packing = (struct redist__packing){
        .side = &schedule->side[side], .space = problem->space, .staged = staged};
    int code = allocate(packing, schedule->context->size);
    if (code != REDIST_OK)
        return code;
    for (int peer = 0; peer < schedule->context->size; peer++)
        prepare_peer(packing, schedule, peer);
    find_all_in_array(packing, schedule->context);
    packing->all_in_array &= in_array != REDIST__NONE_IN_ARRAY;
    if (in_array != REDIST__EACH_IN_ARRAY && !packing->all_in_array)
        memset(packing->in_array, 0, (size_t)schedule->context->size);
    drop_copies(packing, schedule->context);
    packing->buffer_bytes = place_messages(packing, schedule);
    return allocate_buffer(packing);
}

void redist__packing_free(struct redist__packing *packing) {
    if (packing->buffer != NULL)
        (packing->staged ? packing->space->release_pinned
                         : packing->space->release)(packing->buffer);
    redist_release(packing->position);
    redist_release(packing->in_array);
    redist__batch_free(&packing->pack);
    redist__batch_free(&packing->unpack);
    *packing = (struct redist__packing){0};
}

char *redist__packing_message(const struct redist__packing *packing, int peer, const void *array) {
    char *base = packing->in_array[peer] ? (char *)(size_t)array : packing->buffer;
    return base + packing->position[peer];
}

static int pack(struct redist__packing *packing, int first, int count, const void *array,
                int lane) {
    for (int peer = first; peer < first + count; peer++) {
        packing->pack.sources[peer] = (const char *)array + packing->side->parts[peer].offset;
        packing->pack.destinations[peer] = packing->buffer + packing->position[peer];
    }
    return packing->space->batch_run(&packing->pack, first, count, packing->space->stream(lane));
}

static int unpack(struct redist__packing *packing, int first, int count, void *array, int lane) {
    for (int peer = first; peer < first + count; peer++) {
        packing->unpack.sources[peer] = packing->buffer + packing->position[peer];
        packing->unpack.destinations[peer] = (char *)array + packing->side->parts[peer].offset;
    }
    return packing->space->batch_run(&packing->unpack, first, count, packing->space->stream(lane));
}

int redist__packing_pack(struct redist__packing *packing, int peer, const void *array, int lane) {
    return packing->pack.copies[peer].run != 0 ? pack(packing, peer, 1, array, lane) : REDIST_OK;
}

int redist__packing_unpack(struct redist__packing *packing, int peer, void *array, int lane) {
    return packing->unpack.copies[peer].run != 0 ? unpack(packing, peer, 1, array, lane)
                                                 : REDIST_OK;
}

int redist__packing_pack_all(struct redist__packing *packing, const void *array, int lane) {
    return pack(packing, 0, packing->pack.count, array, lane);
}

int redist__packing_unpack_all(struct redist__packing *packing, void *array, int lane) {
    return unpack(packing, 0, packing->unpack.count, array, lane);
}

int redist__element_type(const struct redist__schedule *schedule, MPI_Datatype *element) {
    if (schedule->item > INT_MAX)
        return redist__fail(REDIST_ERR_LIMIT, "one element has %zu bytes, more than MPI's int",
                            schedule->item);
    int result = MPI_Type_contiguous((int)schedule->item, MPI_BYTE, element);
    if (result == MPI_SUCCESS)
        result = MPI_Type_commit(element);
    return redist_check_mpi(result);
}

void redist__own_copy_prepare(struct redist__copy *copy, const struct redist__schedule *schedule,
                              int direction) {
    const struct redist__side *source = &schedule->side[direction];
    const struct redist__side *destination = &schedule->side[!direction];
    redist__copy_prepare(copy, schedule->ndims, source->parts[schedule->context->rank].count,
                         schedule->item, source->stride, destination->stride);
}

int redist__packings_create(struct redist__packing packing[2], struct redist__copy own[2],
                            const struct redist__problem *problem,
                            const enum redist__in_array in_array[2], int staged) {
    int code = REDIST_OK;
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        redist__own_copy_prepare(&own[side], problem->schedule, side);
        code = redist__packing_create(&packing[side], problem, side, in_array[side], staged);
    }
    return code;
}

void redist__packings_free(struct redist__packing packing[2]) {
    redist__packing_free(&packing[0]);
    redist__packing_free(&packing[1]);
}

size_t redist__packings_bytes(const struct redist__packing packing[2]) {
    return packing[0].buffer_bytes + packing[1].buffer_bytes;
}

int redist__own_copy_run(const struct redist__copy *copy, const struct redist__problem *problem,
                         int direction, const void *source, void *destination, int lane) {
    const struct redist__schedule *schedule = problem->schedule;
    int rank = schedule->context->rank;
    if (copy->run == 0)
        return REDIST_OK;
    const char *from = (const char *)source + schedule->side[direction].parts[rank].offset;
    char *to = (char *)destination + schedule->side[!direction].parts[rank].offset;
    return problem->space->copy(copy, from, to, REDIST__KERNEL, problem->space->stream(lane));
}

int redist__check_copyable(const struct redist__schedule *schedule, const char *method) {
    if (redist__schedule_copyable(schedule))
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD,
                        "method %s copies elements as bytes, but datatype has data outside of its "
                        "extent or a lower bound that is not 0",
                        method);
}

int redist__check_counts(const struct redist__schedule *schedule, const char *method, int total) {
    for (int s = 0; s < 2; s++) {
        const struct redist__side *side = &schedule->side[s];
        size_t largest = total ? side->bytes / schedule->item : 0;
        for (int peer = 0; peer < schedule->context->size; peer++)
            if (side->parts[peer].elements > largest)
                largest = side->parts[peer].elements;
        if (largest > INT_MAX)
            return redist__fail(REDIST_ERR_LIMIT,
                                "method %s counts in MPI's int, but %zu elements are %s", method,
                                largest, total ? "exchanged in one call" : "sent in one message");
    }
    return REDIST_OK;
}
