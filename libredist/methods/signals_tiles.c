/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Method signals, array A in tiles. Each tile is copied behind the work that is in the user's stream when it is put,
 * beside the user's later work: to the peers in one stream, what stays on this rank in another. The first half of the
 * array goes as it comes, since the link has nothing else to do. Of the tiles in the second half only the first half of
 * the partitions does; what is left goes with the last tile, partition by partition. The peers are told of each, so
 * that their next work begins with the first of them while the others are on their way.
 */
#include "signals.h"

/* Also where there is nothing to put. */
static int all_put(const struct redist__signalled *state) {
    return state->elements == state->problem->transfer->side[0].elements;
}

/* Copies what a tile and the partitions `first` to `last` - 1 of a peer's array have in common. */
static int copy_part(const struct redist__signalled *state, const struct redist__tile *tile,
                     int peer, int first, int last, void *stream) {
    const struct redist__problem *problem = state->problem;
    const struct redist__remote *remote = &state->remotes[peer].of[1];
    int by_kernel = state->by_kernel || peer == problem->transfer->rank;
    char *base = state->paths[REDIST_FORWARD].destinations[peer] - remote->offset;
    struct redist__tile far = redist__tile_of_remote(problem, 0, peer, remote, base, first, last);
    struct redist__copy copy;
    const char *from;
    char *to;
    if (!redist__tile_copy(problem->transfer, tile, &far, &copy, &from, &to))
        return REDIST_OK;
    return problem->space->copy(&copy, from, to, by_kernel ? REDIST__KERNEL : REDIST__ENGINES,
                                stream);
}

/* To all peers, one after the other. */
static int sweep(struct redist__signalled *state, const struct redist__tile *tile, int first,
                 int last) {
    for (int distance = 1; distance < state->signals.size; distance++) {
        REDIST_TRY(copy_part(state, tile, redist__rank_at(state->problem->transfer, distance),
                             first, last, state->copy_stream));
        REDIST_TRY(redist__signals_step(state, state->copy_stream, REDIST_FORWARD, distance));
    }
    return REDIST_OK;
}

static int tell_partitions(const struct redist__signalled *state, int partitions) {
    const struct redist__gate gate = {.actions = REDIST__TELL_ARRIVED,
                                      .direction = REDIST_FORWARD,
                                      .partitions = (uint32_t)partitions};
    return redist__signals_gate(state, state->copy_stream, &gate);
}

/* Others may have more tiles than this rank, and need not wait for more steps of it. */
static int end_steps(const struct redist__signalled *state) {
    const struct redist__gate gate = {
        .actions = REDIST__TELL_STEPS, .steps = REDIST__MOST_COUNT, .steps_to = -1};
    return state->signals.size > 2 ? redist__signals_gate(state, state->copy_stream, &gate)
                                   : REDIST_OK;
}

/* Partitions of tiles in the second half that go at once. */
static int count_early(const struct redist__signalled *state) {
    return state->problem->partitions / 2;
}

static int send_partition(struct redist__signalled *state, const struct redist__tile *last,
                          int partition) {
    for (int i = 0; i < state->nheld && partition >= count_early(state); i++)
        REDIST_TRY(sweep(state, &state->held[i], partition, partition + 1));
    return sweep(state, last, partition, partition + 1);
}

static int send_last(struct redist__signalled *state, const struct redist__tile *tile) {
    for (int i = 0; i < state->problem->partitions; i++) {
        REDIST_TRY(send_partition(state, tile, i));
        REDIST_TRY(tell_partitions(state, i + 1));
    }
    return end_steps(state);
}

static int send(struct redist__signalled *state, const struct redist__tile *tile) {
    int holds = state->problem->partitions > 1 && state->nheld < REDIST__MOST_HELD &&
                state->elements > state->problem->transfer->side[0].elements / 2;
    if (!holds)
        return sweep(state, tile, 0, state->problem->partitions);
    state->held[state->nheld++] = *tile;
    return count_early(state) > 0 ? sweep(state, tile, 0, count_early(state)) : REDIST_OK;
}

/* Both streams go on from where the user's is. */
static int fork_streams(const struct redist__signalled *state) {
    const struct redist__space *space = state->problem->space;
    REDIST_TRY(space->event_record(state->forked, state->problem->stream));
    REDIST_TRY(space->stream_follow(state->copy_stream, state->forked));
    return space->stream_follow(state->own_stream, state->forked);
}

static int put(struct redist__signalled *state, const struct redist__tile *tile) {
    const struct redist__transfer *transfer = state->problem->transfer;
    size_t before = state->elements;
    for (int peer = 0; peer < transfer->nranks; peer++)
        state->elements += redist__tile_elements(transfer, tile, 0, peer);
    if (state->elements == before)
        return REDIST_OK;
    REDIST_TRY(fork_streams(state));
    REDIST_TRY(
        copy_part(state, tile, transfer->rank, 0, state->problem->partitions, state->own_stream));
    return (all_put(state) ? send_last : send)(state, tile);
}

/* The user's stream goes on when one of the others is through. */
static int join(const struct redist__signalled *state, void *event, void *stream) {
    const struct redist__space *space = state->problem->space;
    REDIST_TRY(space->event_record(event, stream));
    return space->stream_follow(state->problem->stream, event);
}

static int open(struct redist__signalled *state) {
    const struct redist__gate tell = {.actions = REDIST__TELL_READY, .direction = REDIST_FORWARD},
                              await = {.actions = REDIST__AWAIT_READY, .direction = REDIST_FORWARD};
    REDIST_TRY(redist__signals_gate(state, state->problem->stream, &tell));
    REDIST_TRY(fork_streams(state));
    REDIST_TRY(redist__signals_gate(state, state->copy_stream, &await));
    return all_put(state) ? end_steps(state) : REDIST_OK;
}

void redist__signals_open(void *data, void *array) {
    struct redist__signalled *state = data;
    (void)array; /* the one of the plan */
    state->elements = 0;
    state->steps = 0;
    state->nheld = 0;
    redist__signals_query(state);
    redist__attempt(state->problem, open(state));
}

void redist__signals_put(void *data, const struct redist__tile *tile) {
    struct redist__signalled *state = data;
    redist__attempt(state->problem, put(state, tile));
}

static int await(const struct redist__signalled *state, int partitions) {
    const struct redist__gate gate = {.actions = REDIST__AWAIT_ARRIVED,
                                      .direction = REDIST_FORWARD,
                                      .partitions = (uint32_t)partitions};
    REDIST_TRY(join(state, state->owned, state->own_stream));
    return redist__signals_gate(state, state->problem->stream, &gate);
}

int redist__signals_await(void *data, int partitions) {
    const struct redist__signalled *state = data;
    if (!redist__has_failed(state->problem) && !all_put(state))
        return redist__fail(REDIST_ERR_STATE, "a stream cannot wait for partitions before this "
                                              "rank has put all its tiles");
    redist__attempt(state->problem, await(state, partitions));
    return REDIST_OK;
}

static int close_tiles(const struct redist__signalled *state) {
    const struct redist__gate last = {.actions = REDIST__AWAIT_ARRIVED | REDIST__END,
                                      .direction = REDIST_FORWARD,
                                      .partitions = (uint32_t)state->problem->partitions};
    if (!all_put(state))
        return redist__fail(REDIST_ERR_STATE, "tiles of array A were left out");
    return redist__signals_gate(state, state->problem->stream, &last);
}

/* The user's stream waits for the others also after a failure. */
void redist__signals_close(void *data) {
    struct redist__signalled *state = data;
    int copied = join(state, state->copied, state->copy_stream);
    int owned = join(state, state->owned, state->own_stream);
    redist__note(state->problem, copied != REDIST_OK ? copied : owned);
    redist__attempt(state->problem, close_tiles(state));
    if (redist__has_failed(state->problem))
        redist__signals_fail(state);
}
