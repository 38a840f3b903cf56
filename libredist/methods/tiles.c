/* SPDX-License-Identifier: BSD-3-Clause */
#include "tiles.h"

#include <string.h>

/* ---------------------------------------------------------------- the peers' boxes */

struct redist__remote redist__remote_describe(const struct redist__problem *problem, int side,
                                              const struct redist__part *part) {
    const struct redist__side *mine = &problem->transfer->side[side];
    struct redist__remote box = {.offset = part->offset,
                                 .start = part->start[problem->partition_axis],
                                 .extent = mine->extent[problem->partition_axis]};
    memcpy(box.stride, mine->stride, (size_t)problem->transfer->ndims * sizeof *box.stride);
    return box;
}

static struct redist__remote describe_side(void *data, int side, int peer, int position) {
    const struct redist__problem *problem = data;
    const struct redist__part *list = &problem->transfer->side[side].parts[peer];
    const struct redist__part *part = redist__part_at(list, position);
    return part != NULL ? redist__remote_describe(problem, side, part)
                        : (struct redist__remote){.offset = 0};
}

int redist__remotes_exchange(const struct redist__problem *problem,
                             redist__describe_remote *describe, void *data,
                             struct redist__remotes remotes[]) {
    struct redist__context *context = problem->context;
    int size = context->size;
    struct redist__remotes *own = redist_calloc((size_t)size, sizeof *own);
    int code = redist__agree_memory(context->comm, own, "to publish boxes");
    for (int position = 0; position < problem->transfer->longest && code == REDIST_OK; position++) {
        for (int i = 0; i < 2 * size; i++)
            own[i / 2].of[i % 2] =
                describe != NULL ? describe(data, i % 2, i / 2, position)
                                 : describe_side((void *)(size_t)problem, i % 2, i / 2, position);
        code = redist_agree(context->comm, redist__all_to_all(context, own, sizeof *own,
                                                              remotes + position * size));
    }
    redist_release(own);
    return code;
}

size_t redist__stage_part(const struct redist__transfer *transfer, const struct redist__part *part,
                          ptrdiff_t stride[]) {
    size_t bytes = transfer->item;
    for (int i = transfer->ndims - 1; i >= 0; i--) {
        stride[i] = (ptrdiff_t)bytes;
        bytes *= (size_t)part->count[i];
    }
    return (bytes + REDIST__STAGE_ALIGNMENT - 1) / REDIST__STAGE_ALIGNMENT *
           REDIST__STAGE_ALIGNMENT;
}

int redist__check_one_node(const struct redist__problem *problem, const char *method) {
    const struct redist__context *context = problem->context;
    if (context->node_size == context->size)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD,
                        "method %s works within a node, but only %d of %d ranks are on this one",
                        method, context->node_size, context->size);
}

/* ---------------------------------------------------------------- tiles */

struct redist__tile redist__tile_of_part(const struct redist__transfer *transfer, int side,
                                         int peer, char *data, const ptrdiff_t stride[]) {
    const struct redist__part *part = &transfer->side[side].parts[peer];
    struct redist__tile tile = {.data = data};
    for (int i = 0; i < transfer->ndims; i++) {
        tile.start[i] = part->start[i];
        tile.count[i] = part->count[i];
        tile.stride[i] = stride[i];
    }
    return tile;
}

struct redist__tile redist__tile_of_remote(const struct redist__problem *problem, int side,
                                           int peer, const struct redist__remote *remote,
                                           char *base, int first, int last) {
    struct redist__tile tile =
        redist__tile_of_part(problem->transfer, side, peer, base + remote->offset, remote->stride);
    redist_index *count = &tile.count[problem->partition_axis], extent, low, high;
    if (last - first == problem->partitions)
        return tile;
    redist_decompose(remote->extent, problem->partitions, first, &extent, &low);
    redist_decompose(remote->extent, problem->partitions, last - 1, &extent, &high);
    low -= remote->start; /* within the box */
    high += extent - remote->start;
    low = low > 0 ? low : 0;
    high = high < *count ? high : *count;
    *count = high > low ? high - low : 0;
    tile.start[problem->partition_axis] += low;
    tile.data += low * tile.stride[problem->partition_axis];
    return tile;
}

int redist__tile_copy(const struct redist__transfer *transfer, const struct redist__tile *source,
                      const struct redist__tile *destination, struct redist__copy *copy,
                      const char **from, char **to) {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    if (redist_intersect(transfer->ndims, source->start, source->count, destination->start,
                         destination->count, start, count) == 0)
        return 0;
    *from = source->data;
    *to = destination->data;
    for (int i = 0; i < transfer->ndims; i++) {
        *from += (start[i] - source->start[i]) * source->stride[i];
        *to += (start[i] - destination->start[i]) * destination->stride[i];
    }
    redist__copy_prepare(copy, transfer->ndims, count, transfer->item, source->stride,
                         destination->stride);
    return 1;
}

int redist__tile_join(int ndims, struct redist__tile *tile, const struct redist__tile *next) {
    int axis = -1;
    for (int i = 0; i < ndims; i++) {
        int alike = tile->start[i] == next->start[i] && tile->count[i] == next->count[i];
        if (tile->stride[i] != next->stride[i] || (!alike && axis >= 0))
            return 0;
        axis = alike ? axis : i;
    }
    if (axis < 0 || next->start[axis] != tile->start[axis] + tile->count[axis] ||
        next->data != tile->data + tile->count[axis] * tile->stride[axis])
        return 0;
    tile->count[axis] += next->count[axis];
    return 1;
}

int redist__tile_target(const struct redist__transfer *transfer, const struct redist__tile *tile,
                        const struct redist__tile *far, redist_target *target) {
    if (redist_intersect(transfer->ndims, tile->start, tile->count, far->start, far->count,
                         target->start, target->count) == 0)
        return 0;
    target->memory = far->data;
    for (int i = 0; i < transfer->ndims; i++) {
        target->stride[i] = far->stride[i];
        target->memory += (target->start[i] - far->start[i]) * far->stride[i];
    }
    return 1;
}

size_t redist__tile_elements(const struct redist__transfer *transfer,
                             const struct redist__tile *tile, int side, int peer) {
    const struct redist__part *part = &transfer->side[side].parts[peer];
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    return redist_intersect(transfer->ndims, tile->start, tile->count, part->start, part->count,
                            start, count);
}

size_t redist__tile_sent(const struct redist__transfer *transfer, const struct redist__tile *tile) {
    size_t elements = 0;
    for (int peer = 0; peer < transfer->nranks; peer++)
        elements += redist__tile_elements(transfer, tile, 0, peer);
    return elements;
}
