/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Method nccl, array A in tiles. A tile is packed for all peers by one kernel, or stored by its transform where it
 * would be packed. A wave leaves when its last tile was put, and all waves before it have left. With a format its tiles
 * are packed as they are, and the whole wave is narrowed by one kernel: a row may have numbers of several tiles.
 */
#include "nccl.h"

/* ---------------------------------------------------------------- waves */

static void count_missing(struct redist__wave *wave) {
    wave->missing = 0;
    for (int peer = 0; peer < wave->transfer.nranks; peer++)
        if (peer != wave->transfer.rank)
            wave->missing += wave->transfer.side[0].parts[peer].elements;
}

/* Counts the partitions that the other half of the exchange signals before a wave leaves: all earlier ones, since a
 * graph may do one thing after the other, and this wave may wait for ranks that wait for them. */
static int told_before(const struct redist__nccl *state, int which) {
    int earlier = which - state->nsegments + 1;
    return state->problem->told != NULL && earlier > 0 ? earlier : 0;
}

static int may_leave(const struct redist__nccl *state, int which) {
    int earlier = told_before(state, which);
    return state->waves[which].missing == 0 &&
           (earlier == 0 || earlier <= state->problem->told->count);
}

static void send_wave(struct redist__nccl *state, int which) {
    const struct redist__problem *problem = state->problem;
    int earlier = told_before(state, which);
    if (earlier > 0 && earlier <= problem->told->count)
        redist__attempt(problem, problem->space->stream_follow(state->streams[REDIST__MOVES],
                                                               problem->told->events[earlier - 1]));
    redist__attempt(problem, redist__nccl_narrow(state, &state->waves[which]));
    redist__nccl_move_wave(state, &state->waves[which], REDIST_FORWARD, NULL, state->destination);
}

/* Sends complete waves, in their order, or all of them. */
static void send_waves(struct redist__nccl *state, int all) {
    while (state->next < state->nwaves && (all || may_leave(state, state->next)))
        send_wave(state, state->next++);
    if (state->next == state->nwaves)
        redist__nccl_post(state);
}

/* Returns whether this rank has put and sent everything. */
static int all_put(const struct redist__nccl *state) {
    return state->missing == 0 && state->next == state->nwaves;
}

/* A peer's part of a wave, packed for its message. */
static struct redist__tile message_of(const struct redist__wave *wave, int peer) {
    const struct redist__transfer *transfer = &wave->transfer;
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    redist__strides(transfer->ndims, transfer->side[0].parts[peer].count, transfer->item, packed);
    return redist__tile_of_part(
        transfer, 0, peer, redist__packing_message(redist__nccl_put_in(wave), peer, NULL), packed);
}

/* This rank's part, in array B. */
static struct redist__tile own_part(const struct redist__nccl *state) {
    const struct redist__transfer *transfer = state->problem->transfer;
    const struct redist__side *side = &transfer->side[1];
    return redist__tile_of_part(transfer, 0, transfer->rank,
                                state->destination + side->parts[transfer->rank].offset,
                                side->stride);
}

/* ---------------------------------------------------------------- tiles */

static int copy_own(const struct redist__nccl *state, const struct redist__tile *tile) {
    const struct redist__problem *problem = state->problem;
    const struct redist__tile part = own_part(state);
    struct redist__copy copy;
    const char *from;
    char *to;
    if (!redist__tile_copy(problem->transfer, tile, &part, &copy, &from, &to))
        return REDIST_OK;
    return problem->space->copy(&copy, from, to, REDIST__KERNEL, state->streams[REDIST__OWN]);
}

/* Packs what a tile has of a wave. */
static int pack(const struct redist__nccl *state, struct redist__wave *wave,
                const struct redist__tile *tile) {
    const struct redist__transfer *transfer = &wave->transfer;
    struct redist__batch batch = redist__nccl_put_in(wave)->pack;
    size_t elements = 0;
    for (int peer = 0; peer < transfer->nranks; peer++) {
        size_t common = peer == transfer->rank ? 0 : redist__tile_elements(transfer, tile, 0, peer);
        batch.copies[peer] = (struct redist__copy){0};
        if (common == 0)
            continue;
        const struct redist__tile message = message_of(wave, peer);
        (void)redist__tile_copy(transfer, tile, &message, &batch.copies[peer], &batch.sources[peer],
                                &batch.destinations[peer]);
        elements += common;
    }
    wave->missing -= elements;
    return elements > 0 ? state->problem->space->batch_run(&batch, 0, transfer->nranks,
                                                           state->streams[REDIST__PACKS])
                        : REDIST_OK;
}

/* In a user's stream a tile is complete after the work that is there now, on the host when it is put. */
static int follow_tile(const struct redist__nccl *state) {
    const struct redist__problem *problem = state->problem;
    const struct redist__space *space = problem->space;
    if (!problem->asynchronous)
        return REDIST_OK;
    REDIST_TRY(
        redist__nccl_follow(state, problem->stream, state->forked, state->streams[REDIST__PACKS]));
    return space->stream_follow(state->streams[REDIST__OWN], state->forked);
}

void redist__nccl_put(void *data, const struct redist__tile *tile) {
    struct redist__nccl *state = data;
    const struct redist__problem *problem = state->problem;
    if (state->number == 0 || redist__has_failed(problem))
        return;
    int had_all = all_put(state); /* arrivals may have been counted */
    state->missing -= redist__tile_sent(problem->transfer, tile);
    redist__note(problem, follow_tile(state));
    for (int i = state->next; i < state->nwaves; i++)
        redist__attempt(problem, pack(state, &state->waves[i], tile));
    send_waves(state, 0);
    if (!tile->kept)
        redist__attempt(problem, copy_own(state, tile));
    if (!had_all && all_put(state))
        redist__attempt(problem, problem->space->event_record(state->joined[REDIST__OWN],
                                                              state->streams[REDIST__OWN]));
}

/* ---------------------------------------------------------------- direct stores */

int redist__nccl_own(const void *data, const struct redist__tile *tile, redist_target *target) {
    const struct redist__nccl *state = data;
    const struct redist__tile own = own_part(state);
    return redist__tile_target(state->problem->transfer, tile, &own, target);
}

static int list_targets(struct redist__nccl *state, const struct redist__tile *tile) {
    const struct redist__transfer *transfer = state->problem->transfer;
    int n = redist__nccl_own(state, tile, &state->targets[0]);
    for (int i = state->next; i < state->nwaves; i++)
        for (int peer = 0; peer < transfer->nranks; peer++) {
            struct redist__wave *wave = &state->waves[i];
            size_t elements =
                peer == transfer->rank ? 0 : redist__tile_elements(&wave->transfer, tile, 0, peer);
            if (elements == 0)
                continue;
            const struct redist__tile message = message_of(wave, peer);
            n += redist__tile_target(transfer, tile, &message, &state->targets[n]);
            wave->missing -= elements;
        }
    return n;
}

/* Stores in the user's stream, where the transform's other axes are. */
void redist__nccl_store(void *data, const struct redist__tile *tile, redist_store *by,
                        void *given) {
    struct redist__nccl *state = data;
    const struct redist__problem *problem = state->problem;
    if (state->number == 0 || redist__has_failed(problem))
        return;
    state->missing -= redist__tile_sent(problem->transfer, tile);
    int n = list_targets(state, tile);
    redist__note(problem, n > 0 ? by(given, n, state->targets, problem->stream) : REDIST_OK);
    redist__attempt(problem, redist__nccl_follow(state, problem->stream, state->forked,
                                                 state->streams[REDIST__PACKS]));
    send_waves(state, 0);
}

void redist__nccl_progress(void *data) {
    struct redist__nccl *state = data;
    if (state->number != 0)
        send_waves(state, 0);
}

/* ---------------------------------------------------------------- arrivals */

/* The last wave with elements of a partition or of those before it, and that of the partition's number, which the half
 * inside a node counts on; of a whole array, in either direction, the last one of all. */
static int wave_of(const struct redist__nccl *state, int partition) {
    const struct redist__problem *problem = state->problem;
    int axis = problem->partition_axis, last = state->nsegments - 1 + partition;
    redist_index count, start;
    if (partition == problem->partitions - 1)
        return state->nwaves - 1;
    redist_decompose(problem->transfer->side[1].extent[axis], problem->partitions, partition,
                     &count, &start);
    for (int i = last + 1; i < state->nwaves; i++) {
        const struct redist__transfer *transfer = &state->waves[i].transfer;
        for (int peer = 0; peer < transfer->nranks; peer++) {
            const struct redist__part *part = &transfer->side[1].parts[peer];
            if (peer != transfer->rank && part->elements > 0 && part->start[axis] < start + count)
                last = i;
        }
    }
    return last;
}

static int has_arrived(const struct redist__nccl *state, int partition) {
    const struct redist__problem *problem = state->problem;
    const struct redist__space *space = problem->space;
    int reached = 0;
    if (!all_put(state))
        return 0;
    redist__attempt(problem, space->event_is_reached(
                                 state->waves[wave_of(state, partition)].unpacked, &reached));
    if (reached)
        redist__attempt(problem, space->event_is_reached(state->joined[REDIST__OWN], &reached));
    return reached;
}

/* Counts arrivals once all waves were sent. Nothing more arrives if the kernels of a peer are missing. */
void redist__nccl_arrived(void *data, int *partitions) {
    struct redist__nccl *state = data;
    const struct redist__problem *problem = state->problem;
    *partitions = 0;
    if (state->number == 0 || redist__has_failed(problem))
        return;
    if (redist__nccl_is_over(state))
        redist__note(problem, redist__fail(REDIST_ERR_PEER, "a rank did not send its messages"));
    else
        redist__attempt(problem, redist__nccl_check(state->link, state->number));
    while (!redist__has_failed(problem) && *partitions < problem->partitions &&
           has_arrived(state, *partitions))
        ++*partitions;
}

static int await(const struct redist__nccl *state, int partitions) {
    const struct redist__problem *problem = state->problem;
    REDIST_TRY(redist__nccl_follow(state, state->streams[REDIST__OWN], state->joined[REDIST__OWN],
                                   problem->stream));
    return problem->space->stream_follow(problem->stream,
                                         state->waves[wave_of(state, partitions - 1)].unpacked);
}

int redist__nccl_await(void *data, int partitions) {
    const struct redist__nccl *state = data;
    if (redist__has_failed(state->problem) || state->number == 0)
        return REDIST_OK;
    if (!all_put(state))
        return redist__fail(REDIST_ERR_STATE, "a stream cannot wait for partitions before this "
                                              "rank has put all its tiles");
    redist__attempt(state->problem, await(state, partitions));
    return REDIST_OK;
}

/* ---------------------------------------------------------------- an execution */

/* A rank with nothing to send sends at once. */
void redist__nccl_open(void *data, void *array) {
    struct redist__nccl *state = data;
    state->next = state->nwaves;
    state->destination = array;
    if (!redist__nccl_begin(state))
        return;
    state->next = 0;
    state->missing = state->problem->transfer->side[0].elements;
    for (int i = 0; i < state->nwaves; i++)
        count_missing(&state->waves[i]);
    send_waves(state, 0);
}

/* Sends all waves, for which the peers' kernels wait, also those not put as a whole. */
void redist__nccl_close(void *data) {
    struct redist__nccl *state = data;
    if (state->number != 0) {
        send_waves(state, 1);
        redist__nccl_end(state);
    }
    if (!state->problem->asynchronous)
        redist__nccl_wait(state);
}
