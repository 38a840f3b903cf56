/* SPDX-License-Identifier: BSD-3-Clause */
/* Waves of method nccl: which part of each message is in which, the same at both ends, and their buffers. */
#include "nccl.h"

enum { LEAST_BYTES = 32 << 20 }; /* of a message that is cut unless it is told how */

static void cut_part(struct redist__part *part, const struct redist__side *side, int axis, int n,
                     int i) {
    redist_index count, start;
    if (part->elements == 0 || n <= 1)
        return;
    redist_decompose(part->count[axis], n, i, &count, &start);
    part->elements = part->elements / (size_t)part->count[axis] * (size_t)count;
    part->start[axis] += start;
    part->count[axis] = count;
    part->offset += (size_t)start * (size_t)side->stride[axis];
}

/* Chooses the slowest axis that can be cut in all waves, else the longest: the same at both ends of a message. */
static int choose_axis(const struct redist__part *part, int ndims, int nwaves) {
    int longest = 0;
    for (int i = 0; i < ndims; i++) {
        if (part->count[i] >= nwaves)
            return i;
        if (part->count[i] > part->count[longest])
            longest = i;
    }
    return longest;
}

/* Cuts as the user says how tiles come and partitions go: segments, the last of them by partitions. */
static void cut_as_told(const struct redist__nccl *state, struct redist__part *part,
                        const struct redist__side *side, int which) {
    const struct redist__problem *problem = state->problem;
    int last = state->nsegments - 1, segment = which < last ? which : last;
    cut_part(part, side, problem->segment_axis, state->nsegments, segment);
    if (segment == last)
        cut_part(part, side, problem->partition_axis, problem->partitions, which - last);
}

static void cut_freely(const struct redist__nccl *state, struct redist__part *part,
                       const struct redist__side *side, int which) {
    const struct redist__transfer *transfer = state->problem->transfer;
    if (part->elements * transfer->item >= LEAST_BYTES)
        cut_part(part, side, choose_axis(part, transfer->ndims, state->nwaves), state->nwaves,
                 which);
    else if (which > 0)
        part->elements = 0, part->count[0] = 0;
}

/* Cuts a peer's boxes, and gives a wave what it has of them. */
static int cut_list(const struct redist__nccl *state, struct redist__wave *wave, int side, int peer,
                    int which) {
    const struct redist__transfer *transfer = state->problem->transfer;
    redist_index numbers[2 * REDIST_MAX_NDIMS];
    struct redist__part cut = {.start = numbers, .count = numbers + REDIST_MAX_NDIMS};
    for (const struct redist__part *part = &transfer->side[side].parts[peer]; part != NULL;
         part = part->next) {
        redist__part_copy(transfer, &cut, part);
        (state->nsegments > 0 ? cut_as_told : cut_freely)(state, &cut, &transfer->side[side],
                                                          which);
        if (cut.elements == 0)
            continue;
        REDIST_TRY(redist__part_append(&wave->transfer, side, peer, &cut));
        wave->is_empty &= peer == transfer->rank;
    }
    return REDIST_OK;
}

int redist__nccl_count_waves(struct redist__nccl *state, int waves) {
    const struct redist__problem *problem = state->problem;
    if (problem->transfer->adds != NULL)
        return 1;
    int is_told = waves > 1 && (problem->segments > 0 || problem->partitions > 1);
    state->nsegments = !is_told ? 0 : problem->segments > 1 ? problem->segments : 1;
    return is_told ? state->nsegments - 1 + problem->partitions : waves;
}

/* Makes exact messages of tiles, which may be parts of rows of the format. */
static int create_exact(struct redist__wave *wave, const struct redist__problem *problem) {
    struct redist__problem exact = *problem;
    struct redist__batch *narrow = &wave->packing[0].pack;
    exact.format = NULL;
    REDIST_TRY(redist__packing_create(&wave->exact, &exact, 0, REDIST__NONE_IN_ARRAY, 0));
    for (int peer = 0; peer < problem->transfer->nranks; peer++) {
        if (narrow->copies[peer].run == 0)
            continue;
        narrow->copies[peer] = (struct redist__copy){.run = wave->exact.bytes[peer],
                                                     .format = narrow->copies[peer].format};
        narrow->sources[peer] = redist__packing_message(&wave->exact, peer, NULL);
        narrow->destinations[peer] = redist__packing_message(&wave->packing[0], peer, NULL);
    }
    return REDIST_OK;
}

int redist__nccl_narrow(const struct redist__nccl *state, struct redist__wave *wave) {
    const struct redist__problem *problem = state->problem;
    return wave->exact.space == NULL
               ? REDIST_OK
               : problem->space->batch_run(&wave->packing[0].pack, 0, problem->transfer->nranks,
                                           state->streams[REDIST__PACKS]);
}

int redist__nccl_create_wave(struct redist__nccl *state, int which) {
    const struct redist__problem *problem = state->problem;
    const struct redist__transfer *transfer = problem->transfer;
    struct redist__wave *wave = &state->waves[which];
    struct redist__problem part_of = *problem;
    part_of.transfer = &wave->transfer;
    wave->is_empty = 1;
    REDIST_TRY(
        redist__transfer_derive(&wave->transfer, transfer, transfer->rank, transfer->nranks));
    for (int side = 0; side < 2; side++) {
        for (int peer = 0; peer < transfer->nranks; peer++)
            REDIST_TRY(cut_list(state, wave, side, peer, which));
        int apart =
            redist__added_to(transfer, side) != NULL || (side == 0 && problem->tiles == REDIST_PUT);
        REDIST_TRY(redist__packing_create(&wave->packing[side], &part_of, side,
                                          apart ? REDIST__NONE_IN_ARRAY : REDIST__EACH_IN_ARRAY,
                                          0));
    }
    if (problem->tiles == REDIST_PUT && problem->format != NULL)
        REDIST_TRY(create_exact(wave, &part_of));
    REDIST_TRY(problem->space->event_create(&wave->packed));
    REDIST_TRY(problem->space->event_create(&wave->moved));
    return problem->space->event_create(&wave->unpacked);
}

void redist__nccl_free_wave(const struct redist__nccl *state, struct redist__wave *wave) {
    const struct redist__space *space = state->problem->space;
    for (int side = 0; side < 2; side++)
        if (wave->packing[side].space != NULL)
            redist__packing_free(&wave->packing[side]);
    if (wave->exact.space != NULL)
        redist__packing_free(&wave->exact);
    redist__transfer_free(&wave->transfer);
    space->event_destroy(wave->packed);
    space->event_destroy(wave->moved);
    space->event_destroy(wave->unpacked);
}
