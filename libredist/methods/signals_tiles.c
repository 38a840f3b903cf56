/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Method signals, array A in tiles. Each tile is copied after the work that is in the user's stream when it is put,
 * concurrently with later work: to the peers in one stream, own parts in another. Tiles of the first half of the array
 * are copied at once, since the link is idle. Of the tiles in the second half only the first half of the partitions is;
 * the rest follows with the last tile, partition by partition. Each partition is signalled to the peers, so that their
 * next work begins with the first one while the others are being sent. A direct store goes to all peers at once; if it
 * is the whole array, in the user's stream, without joins.
 */
#include "signals.h"

/* Returns whether all elements were put, also if there are none. */
static int all_put(const struct redist__signalled *state) {
    return state->elements == state->problem->transfer->side[state->direction].elements;
}

/* Counts and returns the elements of a tile. */
static int note_tile(struct redist__signalled *state, const struct redist__tile *tile) {
    size_t elements = redist__tile_sent(state->problem->transfer, tile);
    state->elements += elements;
    return elements != 0;
}

/* Finds the part of a peer's array in the partitions `first` to `last` - 1. */
static struct redist__tile find_far(const struct redist__signalled *state, int peer, int first,
                                    int last) {
    const struct redist__remote *remote = &state->remotes[peer].of[1];
    char *base = state->paths[REDIST_FORWARD].far[peer] - remote->offset;
    return redist__tile_of_remote(state->problem, 0, peer, remote, base, first, last);
}

/* Copies the intersection of a tile with the partitions `first` to `last` - 1 of a peer's array. */
static int copy_part(const struct redist__signalled *state, const struct redist__tile *tile,
                     int peer, int first, int last, void *stream) {
    const struct redist__problem *problem = state->problem;
    int by_kernel = state->by_kernel || peer == problem->transfer->rank;
    struct redist__copy copy;
    const char *from;
    char *to;
    if (redist__tile_elements(problem->transfer, tile, 0, peer) == 0)
        return REDIST_OK;
    struct redist__tile far = find_far(state, peer, first, last);
    if (!redist__tile_copy(problem->transfer, tile, &far, &copy, &from, &to))
        return REDIST_OK;
    return problem->space->copy(&copy, from, to, by_kernel ? REDIST__KERNEL : REDIST__ENGINES,
                                stream);
}

/* Copies to all peers, one after the other. */
static int sweep(struct redist__signalled *state, const struct redist__tile *tile, int first,
                 int last) {
    for (int distance = 1; distance < state->signals.size; distance++) {
        REDIST_TRY(copy_part(state, tile, redist__rank_at(state->problem->transfer, distance),
                             first, last, state->copy_stream));
        REDIST_TRY(redist__signals_step(state, state->copy_stream, REDIST_FORWARD, distance));
    }
    return REDIST_OK;
}

/*
 * Ranks may have different numbers of tiles. So steps are counted in stretches, one for each partition and one for the
 * tiles before the last, alike on all ranks: a rank without steps left in a stretch signals its end, and no rank waits
 * for steps after its own.
 */
static uint32_t end_of_stretch(const struct redist__signalled *state, int stretch) {
    return REDIST__MOST_COUNT / ((uint32_t)state->problem->partitions + 1) *
           ((uint32_t)stretch + 1);
}

static void begin_stretch(struct redist__signalled *state, int stretch) {
    state->steps = stretch > 0 ? end_of_stretch(state, stretch - 1) : 0;
    state->most_steps = end_of_stretch(state, stretch) - 1;
}

static struct redist__gate tell_stretch(const struct redist__signalled *state, int stretch) {
    return (struct redist__gate){.actions = state->signals.size > 2 ? REDIST__TELL_STEPS : 0,
                                 .direction = REDIST_FORWARD,
                                 .steps = end_of_stretch(state, stretch),
                                 .steps_to = -1};
}

/* Records that a stream has signalled partitions, or that there is nothing to signal. */
static int note_told(struct redist__signalled *state, int partitions, void *stream) {
    struct redist__told *told = &state->told;
    for (; told->count < partitions; told->count++)
        REDIST_TRY(state->problem->space->event_record(told->events[told->count], stream));
    return REDIST_OK;
}

/* Signals the last of the partitions sent. */
static int tell_partitions(struct redist__signalled *state, int partitions) {
    struct redist__gate gate = tell_stretch(state, partitions);
    gate.actions |= REDIST__TELL_ARRIVED;
    gate.partitions = (uint32_t)partitions;
    REDIST_TRY(redist__signals_gate(state, state->copy_stream, &gate));
    return note_told(state, partitions, state->copy_stream);
}

/* Counts the partitions of tiles in the second half that are sent at once. */
static int count_early(const struct redist__signalled *state) {
    return state->problem->partitions / 2;
}

/* Holds a tile for its remaining partitions. */
static void hold(struct redist__signalled *state, const struct redist__tile *tile) {
    if (state->nheld == 0 || state->problem->reuses ||
        !redist__tile_join(state->problem->transfer->ndims, &state->held[state->nheld - 1], tile))
        state->held[state->nheld++] = *tile;
}

static int send_partition(struct redist__signalled *state, const struct redist__tile *last,
                          int partition) {
    if (partition < count_early(state))
        return last != NULL ? sweep(state, last, partition, partition + 1) : REDIST_OK;
    for (int i = 0; i < state->nheld; i++)
        REDIST_TRY(sweep(state, &state->held[i], partition, partition + 1));
    return REDIST_OK;
}

/* Sends what is held, with the last tile unless that is stored. */
static int send_last(struct redist__signalled *state, const struct redist__tile *tile) {
    const struct redist__gate before = tell_stretch(state, 0);
    if (before.actions != 0)
        REDIST_TRY(redist__signals_gate(state, state->copy_stream, &before));
    if (tile != NULL)
        hold(state, tile);
    for (int i = 0; i < state->problem->partitions; i++) {
        begin_stretch(state, i + 1);
        REDIST_TRY(send_partition(state, tile, i));
        REDIST_TRY(tell_partitions(state, i + 1));
    }
    return REDIST_OK;
}

static int send(struct redist__signalled *state, const struct redist__tile *tile) {
    int holds = state->problem->partitions > 1 && state->nheld < REDIST__MOST_HELD - 1 &&
                state->elements > state->problem->transfer->side[0].elements / 2;
    if (!holds)
        return sweep(state, tile, 0, state->problem->partitions);
    hold(state, tile);
    return count_early(state) > 0 ? sweep(state, tile, 0, count_early(state)) : REDIST_OK;
}

/* Forks the stream of the copies from the user's. */
static int fork_stream(struct redist__signalled *state) {
    const struct redist__space *space = state->problem->space;
    state->has_forked = 1;
    REDIST_TRY(space->event_record(state->forked, state->problem->stream));
    return space->stream_follow(state->copy_stream, state->forked);
}

/* Copies the own part in a stream forked likewise. */
static int copy_own(struct redist__signalled *state, const struct redist__tile *tile) {
    const struct redist__problem *problem = state->problem;
    state->has_own = 1;
    REDIST_TRY(problem->space->stream_follow(state->own_stream, state->forked));
    return copy_part(state, tile, problem->transfer->rank, 0, problem->partitions,
                     state->own_stream);
}

/* Records when the memory of a tile may be written again. */
static int note_sent(struct redist__signalled *state, const struct redist__tile *tile) {
    const struct redist__space *space = state->problem->space;
    struct redist__sent *sent = &state->sent[state->nsent++ % state->problem->segments];
    sent->memory = tile->data;
    REDIST_TRY(space->event_record(sent->events[0], state->copy_stream));
    return state->has_own ? space->event_record(sent->events[1], state->own_stream) : REDIST_OK;
}

static int put(struct redist__signalled *state, const struct redist__tile *tile) {
    if (!note_tile(state, tile))
        return REDIST_OK;
    REDIST_TRY(fork_stream(state));
    if (!tile->kept)
        REDIST_TRY(copy_own(state, tile));
    REDIST_TRY((all_put(state) ? send_last : send)(state, tile));
    return state->problem->reuses ? note_sent(state, tile) : REDIST_OK;
}

/* Sends the rest of all tiles that are held, if one of them is at an address; that is found. */
static int send_held(struct redist__signalled *state, const char *memory, int *is_held) {
    *is_held = 0;
    for (int i = 0; i < state->nheld; i++)
        *is_held |= state->held[i].data == memory;
    for (int i = 0; *is_held && i < state->nheld; i++)
        REDIST_TRY(sweep(state, &state->held[i], count_early(state), state->problem->partitions));
    state->nheld = *is_held ? 0 : state->nheld;
    return REDIST_OK;
}

/* The stream of the user goes on when a tile is sent. */
static int follow_sent(const struct redist__signalled *state, const struct redist__sent *sent) {
    const struct redist__space *space = state->problem->space;
    REDIST_TRY(space->stream_follow(state->problem->stream, sent->events[0]));
    return state->has_own ? space->stream_follow(state->problem->stream, sent->events[1])
                          : REDIST_OK;
}

static int release(struct redist__signalled *state, const char *memory) {
    int count = state->nsent < state->problem->segments ? state->nsent : state->problem->segments;
    int was_held;
    REDIST_TRY(send_held(state, memory, &was_held));
    for (int i = 0; i < count; i++) {
        const struct redist__sent *sent = &state->sent[i];
        if (sent->memory != memory)
            continue;
        if (was_held)
            REDIST_TRY(state->problem->space->event_record(sent->events[0], state->copy_stream));
        REDIST_TRY(follow_sent(state, sent));
    }
    return REDIST_OK;
}

int redist__signals_release(void *data, const char *memory) {
    struct redist__signalled *state = data;
    redist__attempt(state->problem, release(state, memory));
    return REDIST_OK;
}

/* ---------------------------------------------------------------- direct stores */

int redist__signals_own(const void *data, const struct redist__tile *tile, redist_target *target) {
    const struct redist__signalled *state = data;
    const struct redist__problem *problem = state->problem;
    const int rank = problem->transfer->rank;
    if (redist__tile_elements(problem->transfer, tile, 0, rank) == 0) /* there may be no array */
        return 0;
    const struct redist__tile own = find_far(state, rank, 0, problem->partitions);
    return redist__tile_target(problem->transfer, tile, &own, target);
}

static int list_targets(const struct redist__signalled *state, const struct redist__tile *tile) {
    const struct redist__problem *problem = state->problem;
    int n = 0;
    for (int peer = 0; peer < problem->transfer->nranks; peer++)
        if (redist__tile_elements(problem->transfer, tile, 0, peer) != 0) {
            struct redist__tile far = find_far(state, peer, 0, problem->partitions);
            n += redist__tile_target(problem->transfer, tile, &far, &state->targets[n]);
        }
    return n;
}

/* Stores a whole array, without the other streams, since nothing else is sent. */
static int store_whole(struct redist__signalled *state, int ntargets, redist_store *by,
                       void *data) {
    REDIST_TRY(by(data, ntargets, state->targets, state->problem->stream));
    state->tells_last = 1;
    return REDIST_OK;
}

static int store_part(struct redist__signalled *state, int ntargets, redist_store *by, void *data) {
    REDIST_TRY(fork_stream(state));
    REDIST_TRY(by(data, ntargets, state->targets, state->copy_stream));
    if (!all_put(state))
        return REDIST_OK;
    return state->nheld > 0 ? send_last(state, NULL)
                            : tell_partitions(state, state->problem->partitions);
}

static int store(struct redist__signalled *state, const struct redist__tile *tile, redist_store *by,
                 void *data) {
    int is_first = state->elements == 0;
    if (!note_tile(state, tile))
        return REDIST_OK;
    int is_whole = is_first && all_put(state) && state->problem->partitions == 1;
    return (is_whole ? store_whole : store_part)(state, list_targets(state, tile), by, data);
}

/* ---------------------------------------------------------------- an execution */

/* Makes the user's stream wait for one of the others. */
static int join(const struct redist__signalled *state, void *event, void *stream) {
    const struct redist__space *space = state->problem->space;
    REDIST_TRY(space->event_record(event, stream));
    return space->stream_follow(state->problem->stream, event);
}

/* Opens with one gate instead of two, although the first transform begins a little later. */
static int open(struct redist__signalled *state) {
    int ends_steps = all_put(state) ? REDIST__TELL_STEPS : 0;
    const struct redist__gate first = {.actions =
                                           REDIST__TELL_READY | REDIST__AWAIT_READY | ends_steps,
                                       .direction = REDIST_FORWARD,
                                       .steps = REDIST__MOST_COUNT,
                                       .steps_to = -1};
    REDIST_TRY(redist__signals_gate(state, state->problem->stream, &first));
    return all_put(state) ? note_told(state, state->problem->partitions, state->problem->stream)
                          : REDIST_OK;
}

void redist__signals_open(void *data, void *array) {
    struct redist__signalled *state = data;
    (void)array; /* that of the plan */
    state->direction = REDIST_FORWARD;
    state->elements = 0;
    state->nheld = 0;
    state->nsent = 0;
    state->told.count = 0;
    begin_stretch(state, 0);
    state->has_forked = state->has_own = state->tells_last = 0;
    redist__signals_read(state);
    redist__attempt(state->problem, open(state));
}

void redist__signals_put(void *data, const struct redist__tile *tile) {
    struct redist__signalled *state = data;
    redist__attempt(state->problem, put(state, tile));
}

void redist__signals_store(void *data, const struct redist__tile *tile, redist_store *by,
                           void *given) {
    struct redist__signalled *state = data;
    redist__attempt(state->problem, store(state, tile, by, given));
}

/* Waits for partitions, after this rank's own. A graph may serialise the work of all streams in any order that its
 * edges allow: so no rank waits for a partition before it has sent its own, and the last sender waits only for steps of
 * the same stretch. */
static int await(const struct redist__signalled *state, int partitions) {
    const struct redist__problem *problem = state->problem;
    const struct redist__gate gate = {.actions = REDIST__AWAIT_ARRIVED,
                                      .direction = REDIST_FORWARD,
                                      .partitions = (uint32_t)partitions};
    if (state->has_own)
        REDIST_TRY(join(state, state->owned, state->own_stream));
    if (state->has_forked)
        REDIST_TRY(
            problem->space->stream_follow(problem->stream, state->told.events[partitions - 1]));
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
    int tells = state->tells_last ? REDIST__TELL_ARRIVED | REDIST__TELL_STEPS : 0;
    const struct redist__gate last = {.actions = tells | REDIST__AWAIT_ARRIVED | REDIST__END,
                                      .direction = state->direction,
                                      .partitions = (uint32_t)state->problem->partitions,
                                      .steps = REDIST__MOST_COUNT,
                                      .steps_to = -1};
    if (!all_put(state))
        return redist__fail(REDIST_ERR_STATE, "tiles of array A were left out");
    return redist__signals_gate(state, state->problem->stream, &last);
}

/* Closes the execution; the user's stream waits for the others also after a failure. */
void redist__signals_close(void *data) {
    struct redist__signalled *state = data;
    int copied = state->has_forked ? join(state, state->copied, state->copy_stream) : REDIST_OK;
    int owned = state->has_own ? join(state, state->owned, state->own_stream) : REDIST_OK;
    redist__note(state->problem, copied != REDIST_OK ? copied : owned);
    redist__attempt(state->problem, close_tiles(state));
    if (redist__has_failed(state->problem))
        redist__signals_fail(state);
}
