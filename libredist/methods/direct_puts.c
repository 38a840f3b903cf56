/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Method direct: tiles that wait. Copy engines take what they get in its order; so that pieces which are
 * needed first can overtake others, each peer's lane gets one copy to run and one that stands by, and what
 * comes next is decided when there is room. A round is what all peers get next: of the oldest tile that has
 * something of the first piece that is not complete, that piece, or so many as make a copy worth while. Lanes
 * go through the rounds each at its own pace; the ranks do not wait for each other.
 */
#include "direct.h"

#include <string.h>

/* Bytes for one peer: a copy of so many takes longer than it takes the host to begin the next one. */
enum { ROUND_BYTES = 8 << 20 };

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
    put->bytes /= (size_t)schedule->context->size * (size_t)state->problem->pieces;
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

/* What nobody else gets anything of is done with. */
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
    redist_release(puts->lanes);
    *puts = (struct redist__puts){0};
}

/* ---------------------------------------------------------------- rounds */

/* The tile of which a piece comes next: the lowest piece, the oldest tile. NULL = none. */
static struct redist__put *choose_put(struct redist__puts *puts, int pieces) {
    struct redist__put *best = NULL;
    while (puts->oldest < puts->count && puts->list[puts->oldest].taken == pieces)
        puts->oldest++;
    for (int i = puts->oldest; i < puts->count; i++)
        if (puts->list[i].taken < (best != NULL ? best->taken : pieces))
            best = &puts->list[i];
    return best;
}

static struct redist__round *round_at(struct redist__puts *puts, int number) {
    return &puts->rounds[number % REDIST__ROUNDS];
}

/* Decides what all peers get next; 0 if there is nothing, or too much under way. */
static int begin_round(struct redist__direct *state) {
    struct redist__puts *puts = &state->puts;
    int pieces = state->problem->pieces;
    struct redist__put *put = choose_put(puts, pieces), *next;
    if (put == NULL || puts->begun - puts->ended == REDIST__ROUNDS)
        return 0;
    struct redist__round *round = round_at(puts, puts->begun++);
    round->put = (int)(put - puts->list);
    round->first = put->taken;
    for (size_t bytes = 0; put->taken < pieces && bytes < ROUND_BYTES; bytes += put->bytes)
        put->taken++;
    round->last = put->taken;
    next = choose_put(puts, pieces);
    round->complete = redist__direct_all_put(state) ? (next != NULL ? next->taken : pieces) : 0;
    return 1;
}

/* All peers have what is in the round. */
static void end_round(struct redist__direct *state) {
    struct redist__puts *puts = &state->puts;
    const struct redist__round *round = round_at(puts, puts->ended++);
    if (round->last == state->problem->pieces)
        release_tile(&puts->list[round->put]);
    redist__direct_tell_pieces(state, round->complete);
}

static int copy_round(const struct redist__direct *state, const struct redist__round *round,
                      int peer) {
    const struct redist__put *put = &state->puts.list[round->put];
    const struct redist__tile tile = {put->start, put->count, put->data, put->stride};
    int code = REDIST_OK;
    for (int piece = round->first; piece < round->last && code == REDIST_OK; piece++)
        code = redist__direct_copy_part(state, &tile, peer, piece);
    return code;
}

/* ---------------------------------------------------------------- lanes */

/* Of a copy in the lane of the peer at a distance: two are under way at most. */
static void *mark_of(const struct redist__direct *state, int distance, int round) {
    return state->marks[REDIST__LANE_COPIES * distance + round % REDIST__LANE_COPIES];
}

/* Begins the next copy of a lane if it may begin. */
static int issue(struct redist__direct *state, int distance) {
    struct redist__puts *puts = &state->puts;
    struct redist__lane *lane = &puts->lanes[distance];
    int peer = redist__direct_peer(state, distance);
    if (lane->issued - lane->ended == REDIST__LANE_COPIES ||
        !redist__direct_is_ready(state, peer) ||
        (lane->issued == puts->begun && !begin_round(state)))
        return REDIST_OK;
    int code = copy_round(state, round_at(puts, lane->issued), peer);
    int marked = state->problem->space->mark_lane(mark_of(state, distance, lane->issued), distance);
    lane->issued++;
    return code == REDIST_OK ? marked : code;
}

/* Copies end in their order; after a failure too, so that peers go on. */
static int try_to_end(struct redist__direct *state, int distance) {
    struct redist__lane *lane = &state->puts.lanes[distance];
    int reached = 0, code = REDIST_OK;
    if (lane->ended == lane->issued)
        return REDIST_OK;
    code = state->problem->space->mark_reached(mark_of(state, distance, lane->ended), &reached);
    lane->ended += reached || code != REDIST_OK;
    return code;
}

/* How many rounds all lanes have ended. */
static int count_ended(const struct redist__direct *state) {
    const struct redist__puts *puts = &state->puts;
    int ended = puts->begun;
    for (int distance = 1; distance < state->problem->schedule->context->size; distance++)
        if (puts->lanes[distance].ended < ended)
            ended = puts->lanes[distance].ended;
    return ended;
}

static int advance_lanes(struct redist__direct *state) {
    int code = REDIST_OK;
    for (int distance = 1; distance < state->problem->schedule->context->size; distance++) {
        int ended = try_to_end(state, distance), issued = issue(state, distance);
        int failed = ended != REDIST_OK ? ended : issued;
        code = code == REDIST_OK ? failed : code;
    }
    for (int ended = count_ended(state); state->puts.ended < ended;)
        end_round(state);
    return code;
}

/* All that lanes have done. */
static long long count_steps(const struct redist__direct *state) {
    long long steps = 0;
    for (int distance = 1; distance < state->problem->schedule->context->size; distance++)
        steps += state->puts.lanes[distance].issued + state->puts.lanes[distance].ended;
    return steps;
}

/* Rounds that are under way and tiles that are not in rounds. */
static int count_left(const struct redist__direct *state) {
    const struct redist__puts *puts = &state->puts;
    int left = puts->begun - puts->ended;
    for (int i = puts->oldest; i < puts->count; i++)
        left += puts->list[i].taken < state->problem->pieces;
    return left;
}

/* Does what can be done without waiting. */
int redist__direct_advance_puts(struct redist__direct *state) {
    int code = REDIST_OK;
    long long before, steps = count_steps(state);
    do {
        before = steps;
        int failed = advance_lanes(state);
        code = code == REDIST_OK ? failed : code;
        steps = count_steps(state);
    } while (steps > before);
    state->left = count_left(state);
    if (state->left == 0 && redist__direct_all_put(state))
        redist__direct_tell_pieces(state, state->problem->pieces);
    return code;
}

void redist__direct_open_puts(struct redist__direct *state) {
    struct redist__puts *puts = &state->puts;
    for (int distance = 0; distance < state->problem->schedule->context->size; distance++)
        puts->lanes[distance] = (struct redist__lane){0};
    puts->count = puts->oldest = puts->begun = puts->ended = state->left = 0;
    redist__direct_begin(state);
    redist__direct_advance_all(state);
}

void redist__direct_close_puts(struct redist__direct *state) {
    const struct redist__context *context = state->problem->schedule->context;
    for (unsigned poll = 0; redist__direct_advance_all(state) != 0; poll++)
        redist__pause(context, poll);
    redist__direct_end(state);
}
