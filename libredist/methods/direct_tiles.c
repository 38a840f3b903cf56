/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles are copied to or from all peers at once. On a device tiles that are put wait for their steps, since else the
 * copies of different ranks would meet at the receivers. A sweep serves each peer in one step with the same tiles: all
 * that are waiting, up to the least length of a step. If the destination is completed in partitions, a sweep takes from
 * all tiles the elements of the first incomplete partition; else all partitions are complete with the last tile. A rank
 * publishes the number of partitions that all others have from it. A tile whose memory is to be used again is sent
 * before the others.
 */
#include "../comm/comm.h"
#include "../copy/copy.h"
#include "direct.h"

#include <string.h>

/* Bytes for one peer in a step. The end of a step takes some 10 us to reach the others, but with many steps the first
 * partitions are complete earlier. Two ranks do not wait for each other's steps, so that these may be shorter. */
enum { STEP_BYTES = 24 << 20, MANY_STEPS = 16, PAIR_STEP_BYTES = 8 << 20 };

static int is_queued(const struct redist__direct *state) {
    return state->problem->tiles == REDIST_PUT && state->problem->context->size > 1 &&
           state->problem->space->asynchronous;
}

/* ---------------------------------------------------------------- partitions */

/* Counts a tile that was put; nonzero if other ranks have a part of it. */
static int note_tile(struct redist__direct *state, const struct redist__tile *tile) {
    const struct redist__transfer *transfer = state->problem->transfer;
    size_t elements = redist__tile_sent(transfer, tile);
    state->elements += elements;
    return elements > redist__tile_elements(transfer, tile, 0, transfer->rank);
}

/* Returns whether all tiles were put. */
static int all_put(const struct redist__direct *state) {
    return state->elements == state->problem->transfer->side[0].elements;
}

static void publish_partitions(const struct redist__direct *state, int partitions) {
    if (state->problem->partitions > 1)
        redist__flags_publish_partitions(&state->flags, partitions);
}

/* ---------------------------------------------------------------- one tile */

/* Finds this rank's own part in the array that exists. */
static struct redist__tile find_own(const struct redist__direct *state) {
    const struct redist__transfer *transfer = state->problem->transfer;
    int put = state->problem->tiles == REDIST_PUT;
    const struct redist__side *there = &transfer->side[put];
    const char *array = put ? state->destination : state->source;
    return redist__tile_of_part(transfer, !put, transfer->rank,
                                (char *)(size_t)array + there->parts[transfer->rank].offset,
                                there->stride);
}

/* Finds the part of a peer, or this rank's own, in the array that exists. */
static int find_far(const struct redist__direct *state, int peer, int first, int last,
                    struct redist__tile *far) {
    int put = state->problem->tiles == REDIST_PUT;
    if (peer == state->problem->transfer->rank) {
        *far = find_own(state);
        return REDIST_OK;
    }
    char *base;
    REDIST_TRY(redist__flags_wait_ready(&state->flags, peer));
    REDIST_TRY(redist__direct_array(state, peer, &base));
    *far = redist__tile_of_remote(state->problem, !put, peer, &state->remotes[REDIST_FORWARD][peer],
                                  base, first, last);
    return REDIST_OK;
}

/* Copies the intersection of a tile with the partitions `first` to `last` - 1 of a peer's array. */
static int copy_part(const struct redist__direct *state, const struct redist__tile *tile, int peer,
                     int first, int last) {
    const struct redist__transfer *transfer = state->problem->transfer;
    const struct redist__space *space = state->problem->space;
    int put = state->problem->tiles == REDIST_PUT;
    int nontemporal = state->traits->copier == REDIST__NONTEMPORAL;
    int distance = redist__distance_of(state->problem->transfer, peer);
    struct redist__tile far;
    struct redist__copy copy;
    const char *from;
    char *to;
    if (redist__tile_elements(transfer, tile, !put, peer) == 0)
        return REDIST_OK;
    REDIST_TRY(find_far(state, peer, first, last, &far));
    if (!redist__tile_copy(transfer, put ? tile : &far, put ? &far : tile, &copy, &from, &to))
        return REDIST_OK;
    if (space->asynchronous)
        return space->copy(&copy, from, to, distance == 0 ? REDIST__KERNEL : state->traits->copier,
                           space->stream(is_queued(state) && distance != 0 ? 1 : distance));
    redist__copy_run(&copy, from, to,
                     !put          ? REDIST__COPY_LOAD
                     : nontemporal ? REDIST__COPY_STORE_NONTEMPORAL
                                   : REDIST__COPY_STORE);
    return REDIST_OK;
}

int redist__direct_join(struct redist__put *put, const struct redist__put *next, int ndims) {
    return put->first == next->first && put->last == next->last &&
           redist__tile_join(ndims, &put->tile, &next->tile);
}

/* ---------------------------------------------------------------- tiles that wait */

static struct redist__put make_put(const struct redist__direct *state,
                                   const struct redist__tile *tile) {
    const struct redist__transfer *transfer = state->problem->transfer;
    struct redist__put put = {.tile = *tile, .bytes = transfer->item};
    for (int i = 0; i < transfer->ndims; i++)
        put.bytes *= (size_t)tile->count[i];
    put.bytes /= (size_t)transfer->nranks * (size_t)state->problem->partitions;
    return put;
}

static int make_room(struct redist__puts *puts) {
    if (puts->count < puts->room)
        return REDIST_OK;
    int room = puts->room > 0 ? 2 * puts->room : 16;
    struct redist__put *list = redist_calloc((size_t)room, sizeof *list);
    if (list == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for a list of %d tiles", room);
    if (puts->count > 0)
        memcpy(list, puts->list, (size_t)puts->count * sizeof *list);
    redist_release(puts->list);
    puts->list = list;
    puts->room = room;
    return REDIST_OK;
}

/* Adds a tile to the waiting ones, unless no other rank has a part of it. */
static int add_put(struct redist__direct *state, const struct redist__tile *tile) {
    pthread_mutex_lock(&redist__direct_lock);
    int code = make_room(&state->puts);
    if (note_tile(state, tile) && code == REDIST_OK)
        state->puts.list[state->puts.count++] = make_put(state, tile);
    pthread_mutex_unlock(&redist__direct_lock);
    redist__direct_advance_all(state);
    return code;
}

/* ---------------------------------------------------------------- sweeps */

/* Chooses the next tile: the first urgent one, else of the lowest partition, the oldest tile; NULL = none. */
static struct redist__put *choose_put(const struct redist__direct *state) {
    const struct redist__puts *puts = &state->puts;
    struct redist__put *best = NULL;
    int partitions = state->problem->partitions, lowest = partitions;
    for (int i = puts->oldest; i < puts->count; i++) {
        struct redist__put *put = &puts->list[i];
        if (put->is_urgent && put->last < partitions)
            return put;
        if (put->last < lowest) {
            best = put;
            lowest = put->last;
        }
    }
    return best;
}

static int count_peers(const struct redist__direct *state) {
    return state->problem->context->size - 1;
}

/* Records the partitions that will be complete after the sweep. */
static void note_complete(struct redist__direct *state) {
    const struct redist__puts *puts = &state->puts;
    int lowest = state->problem->partitions;
    for (int i = puts->oldest; i < puts->count; i++)
        lowest = puts->list[i].last < lowest ? puts->list[i].last : lowest;
    state->puts.complete[state->steps.begun / count_peers(state) % 2] = all_put(state) ? lowest : 0;
}

/* Returns the least length of a step. */
static size_t long_enough(const struct redist__problem *problem) {
    const struct redist__transfer *transfer = problem->transfer;
    size_t step_bytes = transfer->side[0].bytes / (size_t)problem->context->size / MANY_STEPS;
    if (problem->context->size == 2)
        return PAIR_STEP_BYTES;
    return step_bytes > STEP_BYTES ? step_bytes : STEP_BYTES;
}

/* Begins a sweep; nonzero if it has any tiles. */
static int begin_sweep(struct redist__direct *state) {
    struct redist__puts *puts = &state->puts;
    size_t bytes = 0, enough = long_enough(state->problem);
    int n = 0;
    while (puts->oldest < puts->count &&
           puts->list[puts->oldest].last == state->problem->partitions)
        puts->oldest++;
    for (int i = puts->oldest; i < puts->count; i++)
        puts->list[i].first = puts->list[i].last;
    for (struct redist__put *put = choose_put(state); put != NULL && bytes < enough;
         put = choose_put(state), n++) {
        bytes += put->bytes;
        put->last++;
        put->steps = state->steps.begun + count_peers(state);
    }
    note_complete(state);
    return n;
}

static void end_sweep(struct redist__direct *state) {
    int sweep = state->steps.ended / count_peers(state) - 1;
    publish_partitions(state, state->puts.complete[sweep % 2]);
}

static int copy_sweep(const struct redist__direct *state, int peer) {
    const struct redist__puts *puts = &state->puts;
    int ndims = state->problem->transfer->ndims, code = REDIST_OK;
    for (int i = puts->oldest, next; i < puts->count && code == REDIST_OK; i = next) {
        struct redist__put put = puts->list[i];
        for (next = i + 1;
             next < puts->count && redist__direct_join(&put, &puts->list[next], ndims);)
            next++;
        if (put.first < put.last)
            code = copy_part(state, &put.tile, peer, put.first, put.last);
    }
    return code;
}

/* ---------------------------------------------------------------- steps */

/* Returns the event of a step's copies, of which at most two are pending. */
static void *event_of(const struct redist__direct *state, int step) {
    return state->events[step % 2];
}

/* Begins the next step if it may begin. */
static int begin_step(struct redist__direct *state) {
    int distance = redist__steps_distance(&state->steps, state->steps.begun);
    int peer = redist__rank_at(state->problem->transfer, distance);
    if (!redist__steps_may_begin(&state->steps) || !redist__flags_is_ready(&state->flags, peer) ||
        (distance == 1 && !begin_sweep(state)))
        return REDIST_OK;
    int code = copy_sweep(state, peer);
    const struct redist__space *space = state->problem->space;
    int recorded = space->event_record(event_of(state, state->steps.begun), space->stream(1));
    state->steps.begun++;
    return code == REDIST_OK ? recorded : code;
}

/* Ends steps in their order, also after a failure, so that peers continue. */
static int try_to_end(struct redist__direct *state) {
    int reached, code;
    if (state->steps.ended == state->steps.begun)
        return REDIST_OK;
    code = state->problem->space->event_is_reached(event_of(state, state->steps.ended), &reached);
    if (code == REDIST_OK && !reached)
        return REDIST_OK;
    redist__steps_end(&state->steps);
    if (state->steps.ended % count_peers(state) == 0)
        end_sweep(state);
    return code;
}

static int count_left(const struct redist__direct *state) {
    const struct redist__puts *puts = &state->puts;
    int left =
        state->steps.begun - state->steps.ended + (state->steps.begun % count_peers(state) != 0);
    for (int i = puts->oldest; i < puts->count; i++)
        left += puts->list[i].last < state->problem->partitions;
    return left;
}

/* Publishes that this rank has no more tiles: others need not wait for its steps until it closes. */
static void publish_end(struct redist__direct *state) {
    redist__steps_end_all(&state->steps);
    publish_partitions(state, state->problem->partitions);
}

/* Advances the sweeps without waiting. */
int redist__direct_advance_tiles(struct redist__direct *state) {
    int code = REDIST_OK, before;
    do {
        before = state->steps.begun + state->steps.ended;
        int issued = begin_step(state), ended = try_to_end(state);
        int failed = issued != REDIST_OK ? issued : ended;
        code = code == REDIST_OK ? failed : code;
    } while (state->steps.begun + state->steps.ended > before);
    state->left = count_left(state);
    if (state->left == 0 && all_put(state))
        publish_end(state);
    return code;
}

static void open_puts(struct redist__direct *state) {
    state->steps.begun = state->steps.ended = state->left = 0;
    state->puts.count = state->puts.oldest = 0;
    redist__direct_begin(state);
    redist__direct_advance_all(state);
}

static void close_puts(struct redist__direct *state) {
    for (unsigned poll = 0;
         !redist__has_failed(state->problem) && redist__direct_advance_all(state) != 0; poll++)
        redist__note(state->problem, redist__flags_pause(&state->flags, poll));
    redist__direct_end(state);
    if (redist__has_failed(state->problem))
        redist__direct_drop(state);
    publish_end(state);
}

/* ---------------------------------------------------------------- an execution */

/* Waits for all arrays in this thread, the only one that may call MPI. */
static void wait_for_arrays(const struct redist__direct *state) {
    const struct redist__context *context = state->problem->context;
    int side = state->problem->tiles == REDIST_GET;
    for (int peer = 0; peer < context->size; peer++)
        if (peer != context->rank && redist__direct_has_part(state, side, peer))
            redist__note(state->problem, redist__flags_wait_ready(&state->flags, peer));
}

/* Opens an execution. Peers may use the array once the user's stream has finished with it. */
void redist__direct_open(void *data, void *array) {
    struct redist__direct *state = data;
    const struct redist__problem *problem = state->problem;
    int put = problem->tiles == REDIST_PUT;
    redist__direct_wait_stream(state);
    redist__direct_announce(state, REDIST_FORWARD, put ? NULL : array, put ? array : NULL);
    if (problem->concurrent)
        wait_for_arrays(state);
    state->elements = 0;
    state->stores_in_user = 0;
    state->own = REDIST__WAITS;
    if (is_queued(state))
        open_puts(state);
    else if (all_put(state))
        publish_partitions(state, problem->partitions);
}

/* Copies to all peers at once, or, if tiles wait, only this rank's own part. */
static int copy_parts(const struct redist__direct *state, const struct redist__tile *tile) {
    const struct redist__context *context = state->problem->context;
    int n = is_queued(state) ? 1 : context->size, code = REDIST_OK;
    for (int i = tile->kept; i < n && code == REDIST_OK; i++) {
        redist__enter(state->problem->timer, i == 0 ? REDIST__OWN_PART : REDIST__COMMUNICATE);
        code = copy_part(state, tile, redist__rank_at(state->problem->transfer, i), 0,
                         state->problem->partitions);
    }
    return code;
}

/* Counts a copied tile, and publishes all partitions after the last one. */
static void note_copied(struct redist__direct *state, const struct redist__tile *tile) {
    pthread_mutex_lock(&redist__direct_lock);
    note_tile(state, tile);
    if (all_put(state))
        publish_partitions(state, state->problem->partitions);
    pthread_mutex_unlock(&redist__direct_lock);
}

void redist__direct_tile(void *data, const struct redist__tile *tile) {
    struct redist__direct *state = data;
    const struct redist__problem *problem = state->problem;
    int nontemporal = state->traits->copier == REDIST__NONTEMPORAL;
    if (redist__has_failed(state->problem))
        return;
    int code = copy_parts(state, tile);
    redist__note(state->problem, code);
    if (problem->tiles == REDIST_PUT && nontemporal &&
        (problem->concurrent || problem->partitions > 1))
        redist__copy_fence(); /* each thread for its own stores */
    if (code != REDIST_OK || problem->tiles != REDIST_PUT)
        return;
    if (is_queued(state)) {
        redist__enter(problem->timer, REDIST__COMMUNICATE);
        redist__note(state->problem, add_put(state, tile));
    } else if (problem->partitions > 1)
        note_copied(state, tile);
}

/* Returns whether all tiles at an address are sent, and makes them urgent. */
static int is_sent(struct redist__direct *state, const char *memory) {
    struct redist__puts *puts = &state->puts;
    int sent = 1;
    pthread_mutex_lock(&redist__direct_lock);
    for (int i = 0; i < puts->count; i++)
        if (puts->list[i].tile.data == memory) {
            puts->list[i].is_urgent = 1;
            sent &= puts->list[i].last == state->problem->partitions &&
                    puts->list[i].steps <= state->steps.ended;
        }
    pthread_mutex_unlock(&redist__direct_lock);
    return sent;
}

/* Own parts are copied in a stream of their own. */
int redist__direct_release(void *data, const char *memory) {
    struct redist__direct *state = data;
    const struct redist__problem *problem = state->problem;
    redist__enter(problem->timer, REDIST__COMMUNICATE);
    for (unsigned poll = 0;
         is_queued(state) && !redist__has_failed(problem) && !is_sent(state, memory); poll++) {
        redist__direct_advance_all(state);
        redist__note(problem, redist__flags_pause(&state->flags, poll));
    }
    redist__finish(problem, state->events[problem->context->size], problem->space->stream(0));
    return REDIST_OK;
}

int redist__direct_own(const void *data, const struct redist__tile *tile, redist_target *target) {
    const struct redist__direct *state = data;
    const struct redist__tile own = find_own(state);
    return redist__tile_target(state->problem->transfer, tile, &own, target);
}

/* Waits for a peer; meanwhile other executions advance. */
static int await_peer(struct redist__direct *state, int peer) {
    for (unsigned poll = 0; !redist__flags_is_ready(&state->flags, peer); poll++) {
        redist__direct_advance_all(state);
        REDIST_TRY(redist__flags_pause(&state->flags, poll));
    }
    return REDIST_OK;
}

static int list_targets(struct redist__direct *state, const struct redist__tile *tile, int *n) {
    const struct redist__transfer *transfer = state->problem->transfer;
    struct redist__tile far;
    *n = 0;
    if (state->targets == NULL)
        state->targets = redist_calloc((size_t)transfer->nranks, sizeof *state->targets);
    if (state->targets == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the parts of a tile");
    for (int peer = 0; peer < transfer->nranks; peer++) {
        if (redist__tile_elements(transfer, tile, 0, peer) == 0)
            continue;
        if (peer != transfer->rank)
            REDIST_TRY(await_peer(state, peer));
        REDIST_TRY(find_far(state, peer, 0, state->problem->partitions, &far));
        *n += redist__tile_target(transfer, tile, &far, &state->targets[*n]);
    }
    return REDIST_OK;
}

/* Chooses the stream of a direct store: the user's for a whole array, else one that is forked from it. */
static int choose_stream(struct redist__direct *state, int is_whole, void **stream) {
    const struct redist__space *space = state->problem->space;
    void *event = state->events[state->problem->context->size];
    *stream = is_whole ? state->problem->stream : space->stream(0);
    state->stores_in_user |= is_whole;
    if (is_whole)
        return REDIST_OK;
    REDIST_TRY(space->event_record(event, state->problem->stream));
    return space->stream_follow(*stream, event);
}

/* Stores a tile. Partitions are published when the last tile is counted, after its store. */
static int store_tile(struct redist__direct *state, const struct redist__tile *tile,
                      redist_store *store, void *given) {
    const struct redist__problem *problem = state->problem;
    size_t all = problem->transfer->side[0].elements,
           n = redist__tile_sent(problem->transfer, tile);
    int ntargets;
    void *stream;
    if (n == 0)
        return REDIST_OK;
    REDIST_TRY(list_targets(state, tile, &ntargets));
    REDIST_TRY(choose_stream(state, n == all && problem->partitions == 1, &stream));
    REDIST_TRY(store(given, ntargets, state->targets, stream));
    return problem->partitions > 1 ? problem->space->stream_wait(stream) : REDIST_OK;
}

void redist__direct_store(void *data, const struct redist__tile *tile, redist_store *store,
                          void *given) {
    struct redist__direct *state = data;
    if (redist__has_failed(state->problem))
        return;
    redist__enter(state->problem->timer, REDIST__COMMUNICATE);
    redist__attempt(state->problem, store_tile(state, tile, store, given));
    if (!redist__has_failed(state->problem))
        note_copied(state, tile);
}

void redist__direct_progress(void *data) {
    const struct redist__direct *state = data;
    if (is_queued(state))
        redist__direct_advance_all(state);
}

/* Waits for the copies of all tiles. */
static void finish_streams(const struct redist__direct *state) {
    const struct redist__problem *problem = state->problem;
    for (int i = 0; i < (is_queued(state) ? 1 : problem->context->size); i++)
        redist__finish(problem, state->events[i], problem->space->stream(i));
    if (state->stores_in_user)
        redist__finish(problem, state->events[0], problem->stream);
}

/* Closes an execution. A failed rank drops the rest of its tiles, and publishes at once that it has delivered all
 * partitions: others may wait for these before they close the execution. */
void redist__direct_close(void *data) {
    struct redist__direct *state = data;
    if (is_queued(state))
        close_puts(state);
    finish_streams(state);
    publish_partitions(state, state->problem->partitions);
    redist__direct_finish(state);
}

/* Checks whether the own parts of all tiles are copied. */
static int check_own(struct redist__direct *state, int *reached) {
    const struct redist__space *space = state->problem->space;
    void *event = state->events[state->problem->context->size]; /* steps have other events */
    int code = REDIST_OK;
    pthread_mutex_lock(&redist__direct_lock);
    if (all_put(state) && state->own == REDIST__WAITS) {
        code = space->event_record(event, space->stream(0));
        state->own = code == REDIST_OK ? REDIST__RUNS : REDIST__WAITS;
    }
    if (state->own == REDIST__RUNS) {
        code = space->event_is_reached(event, reached);
        state->own = code == REDIST_OK && *reached ? REDIST__DONE : REDIST__RUNS;
    }
    *reached = state->own == REDIST__DONE;
    pthread_mutex_unlock(&redist__direct_lock);
    return code;
}

void redist__direct_arrived(void *data, int *partitions) {
    struct redist__direct *state = data;
    const struct redist__context *context = state->problem->context;
    int reached = 0;
    redist__direct_progress(state);
    redist__note(state->problem, check_own(state, &reached));
    int least = reached ? state->problem->partitions : 0;
    for (int peer = 0; peer < context->size; peer++)
        if (peer != context->rank && redist__direct_has_part(state, 1, peer)) {
            int there = redist__flags_partitions(&state->flags, peer, state->problem->partitions);
            least = there < least ? there : least;
        }
    *partitions = least;
}
