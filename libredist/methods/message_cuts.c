/* SPDX-License-Identifier: BSD-3-Clause */
#include "tiled_messages.h"

/* Limits of the messages for one peer, each with its own tag. */
enum { USUAL_PIECES = 8, MOST_MESSAGES = REDIST__MESSAGE_TAGS };

/* Bytes of a piece in host memory in a format: it is packed, narrowed and sent while it is in the caches. */
static const size_t narrowed_bytes = (size_t)1 << 20;

/* Bytes of a piece on a device, as far as MOST_MESSAGES allows: 1, 16 and 64 MiB took longer for 256^3, and for
 * 512^3 from 9 % less to 4 % more (docs/performance-notebook.md, "Staged messages in pieces"). */
static const size_t usual_bytes = (size_t)4 << 20;

int redist__has_segments(const struct redist__problem *problem) {
    return problem->space->asynchronous && problem->tiles != REDIST_WHOLE && problem->segments > 1;
}

/* Returns the pieces of a part, without those of groups: on a device, and in a format, by its bytes, a multiple of the
 * segments. */
static int pieces_of(const struct redist__message_cuts *cuts, const struct redist__part *part) {
    const struct redist__problem *problem = cuts->problem;
    int most = MOST_MESSAGES / cuts->groups,
        step = redist__has_segments(problem) ? problem->segments : 1;
    size_t bytes = part->elements * problem->transfer->item;
    size_t pieces = bytes / cuts->piece_bytes + (bytes % cuts->piece_bytes != 0);
    int by_bytes = problem->space->asynchronous
                       ? problem->tiles == REDIST_WHOLE || problem->segments != 0
                       : problem->format != NULL;
    if (!by_bytes)
        pieces = USUAL_PIECES;
    pieces = pieces < (size_t)most ? pieces : (size_t)most;
    int steps = ((int)pieces + step - 1) / step * step;
    return steps < most ? steps : most;
}

/* Counts the pieces of the largest part for a peer. */
static int count_pieces(const struct redist__message_cuts *cuts) {
    const struct redist__transfer *transfer = cuts->problem->transfer;
    int most = 1;
    for (int i = 1; i < transfer->nranks; i++)
        for (int side = 0; side < 2; side++) {
            int peer = redist__rank_at(transfer, i);
            int pieces = pieces_of(cuts, &transfer->side[side].parts[peer]);
            most = pieces > most ? pieces : most;
        }
    return most;
}

int redist__message_cuts_create(struct redist__message_cuts *cuts,
                                const struct redist__problem *problem, size_t piece_bytes) {
    size_t boxes = (size_t)redist__box_count(problem);
    int partitions = problem->tiles == REDIST_PUT ? problem->partitions : 1;
    *cuts = (struct redist__message_cuts){
        .problem = problem,
        .piece_bytes = piece_bytes != 0               ? piece_bytes
                       : problem->space->asynchronous ? usual_bytes
                                                      : narrowed_bytes,
        .groups = partitions < MOST_MESSAGES ? partitions : MOST_MESSAGES,
        .remotes = redist_calloc(boxes, sizeof *cuts->remotes)};
    cuts->each = count_pieces(cuts) * cuts->groups;
    return cuts->remotes != NULL
               ? REDIST_OK
               : redist__fail(REDIST_ERR_MEMORY, "no memory for %zu boxes", boxes);
}

int redist__message_cuts_connect(struct redist__message_cuts *cuts) {
    return cuts->groups == 1 ? REDIST_OK
                             : redist__remotes_exchange(cuts->problem, NULL, NULL, cuts->remotes);
}

void redist__message_cuts_free(struct redist__message_cuts *cuts) {
    redist_release(cuts->remotes);
}

/* Cuts an axis to `count` indices from `start` on, relative to the box. */
static void cut(struct redist__message_box *box, int axis, redist_index start, redist_index count) {
    size_t across = box->elements / (size_t)box->tile.count[axis];
    box->first += across * (size_t)start;
    box->elements = across * (size_t)count;
    box->tile.start[axis] += start;
    box->tile.count[axis] = count;
}

/* Returns the axis of the segments, of host memory in a format only, else the first one with more than one element:
 * exact messages may be slabs of the destination. */
static int axis_of(const struct redist__message_cuts *cuts, const struct redist__tile *tile) {
    const struct redist__problem *problem = cuts->problem;
    int axis = 0;
    if (problem->tiles == REDIST_PUT && problem->segments > 1 &&
        (problem->space->asynchronous || problem->format != NULL))
        return problem->segment_axis;
    while (axis < cuts->problem->transfer->ndims - 1 && tile->count[axis] == 1)
        axis++;
    return axis;
}

int redist__first_partition(const struct redist__message_cuts *cuts, int group) {
    return (int)((long long)group * cuts->problem->partitions / cuts->groups);
}

/* Cuts to a group of the receiver's partitions. */
static void cut_group(const struct redist__message_cuts *cuts, int side, int peer, int group,
                      struct redist__message_box *box) {
    const struct redist__problem *problem = cuts->problem;
    const struct redist__remote remote =
        side == 1 ? redist__remote_describe(problem, 1, &problem->transfer->side[1].parts[peer])
                  : cuts->remotes[peer].of[1];
    int axis = problem->partition_axis;
    const struct redist__part *part = &problem->transfer->side[side].parts[peer];
    redist_index begin = remote.start + box->tile.start[axis] - part->start[axis];
    redist_index n = box->tile.count[axis], low, high, count;
    redist_decompose(remote.extent, problem->partitions, redist__first_partition(cuts, group),
                     &count, &low);
    redist_decompose(remote.extent, problem->partitions,
                     redist__first_partition(cuts, group + 1) - 1, &count, &high);
    low = low > begin ? low - begin : 0;
    high = high + count - begin < n ? high + count - begin : n;
    cut(box, axis, low < n ? low : n, high > low ? high - low : 0);
}

struct redist__message_box redist__message_cut(const struct redist__message_cuts *cuts, int side,
                                               int peer, int i) {
    const struct redist__transfer *transfer = cuts->problem->transfer;
    static const ptrdiff_t none[REDIST_MAX_NDIMS];
    const struct redist__part *part = &transfer->side[side].parts[peer];
    struct redist__message_box box = {
        .elements = part->elements, .tile = redist__tile_of_part(transfer, side, peer, NULL, none)};
    if (box.elements == 0)
        return box;
    int axis = axis_of(cuts, &box.tile), piece = i / cuts->groups;
    int pieces = pieces_of(cuts, part);
    redist_index n = box.tile.count[axis], count = 0, start = 0;
    pieces = n < pieces ? (int)n : pieces;
    if (piece < pieces)
        redist_decompose(n, pieces, piece, &count, &start);
    cut(&box, axis, start, count);
    if (cuts->groups > 1 && box.elements != 0)
        cut_group(cuts, side, peer, i % cuts->groups, &box);
    redist__strides(transfer->ndims, box.tile.count, transfer->item, box.tile.stride);
    return box;
}
