/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Method direct: tiles that are put when it is their turn. The copy engines of a device would take all
 * tiles at once, but the copies of different ranks then meet at the receivers. A round serves each peer in
 * turn with the same tiles: as many as there are, up to what makes a turn long enough. If the destination is
 * to be completed in pieces, it takes of all tiles what belongs to the first piece, then to the next one.
 */
#include "direct.h"

#include <string.h>

/* Bytes for one peer that make a turn long enough: it takes some 10 us until others know that one has ended,
 * but what is sent in many turns is complete the sooner piece by piece. */
enum { TURN_BYTES = 24 << 20, MANY_TURNS = 16 };

int redist__direct_is_queued(const struct redist__direct *state) {
    return state->problem->tiles == REDIST_PUT && state->problem->schedule->context->size > 1 &&
           (state->problem->space->asynchronous || state->traits->paced);
}

/* ---------------------------------------------------------------- the list */

/* The user may use a tile in host memory again at once. */
static int hold_tile(const struct redist__direct *state, struct redist__put *put) {
    const struct redist__schedule *schedule = state->problem->schedule;
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    struct redist__copy copy;
    redist__copy_prepare(&copy, schedule->ndims, put->count, schedule->item, put->stride,
                         put->stride);
    if (copy.run == 0)
        return REDIST_OK;
    put->held = redist_calloc(1, redist__copy_bytes(&copy));
    if (put->held == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory to keep a tile of %zu bytes",
                            redist__copy_bytes(&copy));
    redist__strides(schedule->ndims, put->count, schedule->item, stride);
    redist__copy_prepare(&copy, schedule->ndims, put->count, schedule->item, put->stride, stride);
    redist__copy_run(&copy, put->data, put->held, 0);
    memcpy(put->stride, stride, sizeof put->stride);
    put->data = put->held;
    return REDIST_OK;
}

static int make_put(const struct redist__direct *state, const struct redist__tile *tile,
                    struct redist__put *put) {
    const struct redist__schedule *schedule = state->problem->schedule;
    *put = (struct redist__put){.data = tile->data};
    put->bytes = schedule->item;
    for (int i = 0; i < schedule->ndims; i++) {
        put->start[i] = tile->start[i];
        put->count[i] = tile->count[i];
        put->stride[i] = tile->stride[i];
        put->bytes *= (size_t)tile->count[i];
    }
    put->bytes /= (size_t)schedule->context->size * (size_t)state->problem->partitions;
    return state->problem->space->asynchronous ? REDIST_OK : hold_tile(state, put);
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

/* What nobody else gets anything of needs no turn. */
int redist__direct_add_put(struct redist__direct *state, const struct redist__tile *tile) {
    struct redist__put put;
    int code = make_put(state, tile, &put);
    if (code != REDIST_OK)
        return code;
    redist__direct_lock();
    code = make_room(&state->puts);
    if (redist__direct_note_tile(state, tile) && code == REDIST_OK)
        state->puts.list[state->puts.count++] = put;
    else
        redist_release(put.held);
    redist__direct_unlock();
    redist__direct_advance_all(state);
    return code;
}

static void release_tile(struct redist__put *put) {
    redist_release(put->held);
    put->held = NULL;
}

void redist__direct_free_puts(struct redist__puts *puts) {
    for (int i = 0; i < puts->count; i++)
        release_tile(&puts->list[i]);
    redist_release(puts->list);
    *puts = (struct redist__puts){0};
}

/* ---------------------------------------------------------------- rounds */

/* The tile of which a piece comes next: the lowest piece, the oldest tile. NULL = none. */
static struct redist__put *choose_put(const struct redist__direct *state) {
    const struct redist__puts *puts = &state->puts;
    struct redist__put *best = NULL;
    int lowest = state->problem->partitions;
    for (int i = puts->oldest; i < puts->count; i++)
        if (puts->list[i].last < lowest) {
            best = &puts->list[i];
            lowest = best->last;
        }
    return best;
}

static int count_peers(const struct redist__direct *state) {
    return state->problem->schedule->context->size - 1;
}

/* Notes what will be complete when the round is done. */
static void note_complete(struct redist__direct *state) {
    const struct redist__put *next = choose_put(state);
    int lowest = next != NULL ? next->last : state->problem->partitions;
    state->puts.complete[state->turn / count_peers(state) % 2] =
        redist__direct_all_put(state) ? lowest : 0;
}

/* In host memory, where turns are there to be tested, they are short. */
static size_t long_enough(const struct redist__problem *problem) {
    const struct redist__schedule *schedule = problem->schedule;
    size_t share = schedule->side[0].bytes / (size_t)schedule->context->size / MANY_TURNS;
    if (!problem->space->asynchronous)
        return 1;
    return share > TURN_BYTES ? share : TURN_BYTES;
}

/* Nonzero if there is anything for it. */
static int begin_round(struct redist__direct *state) {
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
    }
    note_complete(state);
    return n;
}

static void end_round(struct redist__direct *state) {
    int round = state->ended / count_peers(state) - 1;
    redist__direct_tell_pieces(state, state->puts.complete[round % 2]);
}

/* Tiles in host memory are done with when the last peer has been served. */
static void release_round(const struct redist__direct *state) {
    const struct redist__puts *puts = &state->puts;
    for (int i = puts->oldest; i < puts->count; i++)
        if (puts->list[i].last == state->problem->partitions)
            release_tile(&puts->list[i]);
}

static int copy_round(const struct redist__direct *state, int peer) {
    const struct redist__puts *puts = &state->puts;
    int ndims = state->problem->schedule->ndims, code = REDIST_OK;
    for (int i = puts->oldest, next; i < puts->count && code == REDIST_OK; i = next) {
        struct redist__put put = puts->list[i];
        for (next = i + 1;
             next < puts->count && redist__direct_join(&put, &puts->list[next], ndims);)
            next++;
        const struct redist__tile tile = {put.start, put.count, put.data, put.stride};
        if (put.first < put.last)
            code = redist__direct_copy_part(state, &tile, peer, put.first, put.last);
    }
    return code;
}

/* ---------------------------------------------------------------- turns */

/* Of the copies of a turn: two are under way at most. */
static void *mark_of(const struct redist__direct *state, int turn) {
    return state->marks[turn % 2];
}

/* Begins the next turn if it may begin. */
static int issue_turn(struct redist__direct *state) {
    int place = state->turn % count_peers(state), peer = redist__direct_peer(state, place + 1);
    if (!redist__direct_has_turn(state) || !redist__direct_is_ready(state, peer) ||
        (place == 0 && !begin_round(state)))
        return REDIST_OK;
    int code = copy_round(state, peer);
    int marked = state->problem->space->event_record(mark_of(state, state->turn),
                                                     state->problem->space->stream(1));
    state->turn++;
    if (state->turn % count_peers(state) == 0)
        release_round(state);
    return code == REDIST_OK ? marked : code;
}

/* Turns end in their order; after a failure too, so that peers go on. */
static int try_to_end(struct redist__direct *state) {
    int reached, code;
    if (state->ended == state->turn)
        return REDIST_OK;
    code = state->problem->space->event_is_reached(mark_of(state, state->ended), &reached);
    if (code == REDIST_OK && !reached)
        return REDIST_OK;
    redist__direct_end_turn(state);
    if (state->ended % count_peers(state) == 0)
        end_round(state);
    return code;
}

static int count_left(const struct redist__direct *state) {
    const struct redist__puts *puts = &state->puts;
    int left = state->turn - state->ended + (state->turn % count_peers(state) != 0);
    for (int i = puts->oldest; i < puts->count; i++)
        left += puts->list[i].last < state->problem->partitions;
    return left;
}

/* A rank that has no more to put says so, lest others wait for its turns until it closes the execution. */
static void tell_end(struct redist__direct *state) {
    redist__direct_end_turns(state);
    redist__direct_tell_pieces(state, state->problem->partitions);
}

/* Does what can be done without waiting. */
int redist__direct_advance_puts(struct redist__direct *state) {
    int code = REDIST_OK, before;
    do {
        before = state->turn + state->ended;
        int issued = issue_turn(state), ended = try_to_end(state);
        int failed = issued != REDIST_OK ? issued : ended;
        code = code == REDIST_OK ? failed : code;
    } while (state->turn + state->ended > before);
    state->left = count_left(state);
    if (state->left == 0 && redist__direct_all_put(state))
        tell_end(state);
    return code;
}

void redist__direct_open_puts(struct redist__direct *state) {
    state->turn = state->ended = state->left = 0;
    for (int i = 0; i < state->puts.count; i++) /* of an execution that failed */
        release_tile(&state->puts.list[i]);
    state->puts.count = state->puts.oldest = 0;
    redist__direct_begin(state);
    redist__direct_advance_all(state);
}

void redist__direct_close_puts(struct redist__direct *state) {
    const struct redist__context *context = state->problem->schedule->context;
    for (unsigned poll = 0; !redist__direct_failed(state) && redist__direct_advance_all(state) != 0;
         poll++)
        redist__direct_note(state, redist__pause(context, poll));
    redist__direct_end(state);
    if (redist__direct_failed(state))
        redist__direct_drop(state);
    tell_end(state);
}
