/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Method direct: tiles that are put when it is their turn. The copy engines of a device would take all
 * tiles at once, but the copies of different ranks then meet at the receivers. A round serves each peer in
 * turn with the same tiles: as many as there are, up to what makes a turn long enough.
 */
#include "direct.h"

#include <string.h>

/* Bytes for one peer: some ten times as long as it takes to tell the others that a turn has ended. */
enum { TURN_BYTES = 8 << 20 };

int redist__direct_is_queued(const struct redist__direct *state) {
    return state->traits->paced && state->problem->tiles == REDIST_PUT &&
           state->problem->schedule->context->size > 1;
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
    put->bytes /= (size_t)schedule->context->size;
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

int redist__direct_add_put(struct redist__direct *state, const struct redist__tile *tile) {
    struct redist__put put;
    int code = make_put(state, tile, &put);
    if (code != REDIST_OK)
        return code;
    redist__direct_lock();
    code = make_room(&state->puts);
    if (code == REDIST_OK)
        state->puts.list[state->puts.count++] = put;
    else
        redist_release(put.held);
    redist__direct_unlock();
    redist__direct_advance_all(state);
    return code;
}

static void release_tiles(struct redist__puts *puts, int first, int last) {
    for (int i = first; i < last; i++) {
        redist_release(puts->list[i].held);
        puts->list[i].held = NULL;
    }
}

void redist__direct_free_puts(struct redist__puts *puts) {
    release_tiles(puts, 0, puts->count);
    redist_release(puts->list);
    *puts = (struct redist__puts){0};
}

/* ---------------------------------------------------------------- turns */

/* In host memory, where turns are there to be tested, each tile has a round of its own. */
static int begin_round(const struct redist__direct *state, struct redist__puts *puts) {
    size_t bytes = 0, enough = state->problem->space->asynchronous ? TURN_BYTES : 1;
    puts->first = puts->last;
    while (puts->last < puts->count && bytes < enough)
        bytes += puts->list[puts->last++].bytes;
    return puts->last > puts->first;
}

static int copy_round(struct redist__direct *state, int peer) {
    const struct redist__puts *puts = &state->puts;
    const struct redist__space *space = state->problem->space;
    int code = REDIST_OK;
    for (int i = puts->first; i < puts->last && code == REDIST_OK; i++) {
        const struct redist__put *put = &puts->list[i];
        const struct redist__tile tile = {put->start, put->count, put->data, put->stride};
        code = redist__direct_copy_part(state, &tile, peer);
    }
    int marked =
        space->mark_lane(state->marks[state->turn % state->problem->schedule->context->size], 1);
    return code == REDIST_OK ? marked : code;
}

/* Begins the next turn if it may begin. */
static int issue_turn(struct redist__direct *state) {
    int npeers = state->problem->schedule->context->size - 1, place = state->turn % npeers;
    int peer = redist__direct_peer(state, place + 1);
    if (!redist__direct_has_turn(state) || !redist__direct_is_ready(state, peer) ||
        (place == 0 && !begin_round(state, &state->puts)))
        return REDIST_OK;
    int code = copy_round(state, peer);
    state->turn++;
    if (place == npeers - 1 && !state->problem->space->asynchronous)
        release_tiles(&state->puts, state->puts.first, state->puts.last);
    return code;
}

/* Turns end in their order; after a failure too, so that peers go on. */
static int try_to_end(struct redist__direct *state) {
    int size = state->problem->schedule->context->size, reached = 1, code = REDIST_OK;
    if (state->ended < state->turn)
        code = state->problem->space->mark_reached(state->marks[state->ended % size], &reached);
    if (state->ended < state->turn && (reached || code != REDIST_OK))
        redist__direct_end_turn(state);
    return code;
}

/* Does what can be done without waiting. */
int redist__direct_advance_puts(struct redist__direct *state) {
    int npeers = state->problem->schedule->context->size - 1, code = REDIST_OK, before;
    do {
        before = state->turn + state->ended;
        int issued = issue_turn(state), ended = try_to_end(state);
        int failed = issued != REDIST_OK ? issued : ended;
        code = code == REDIST_OK ? failed : code;
    } while (state->turn + state->ended > before);
    state->left = state->puts.count - state->puts.last + (state->turn % npeers != 0) +
                  (state->turn - state->ended);
    return code;
}

void redist__direct_open_puts(struct redist__direct *state) {
    state->failed = REDIST_OK;
    state->turn = state->ended = state->left = 0;
    state->puts.count = state->puts.first = state->puts.last = 0;
    redist__direct_begin(state);
}

int redist__direct_close_puts(struct redist__direct *state) {
    const struct redist__context *context = state->problem->schedule->context;
    for (unsigned poll = 0; redist__direct_advance_all(state) != 0; poll++)
        redist__pause(context, poll);
    redist__direct_end(state);
    redist__direct_end_turns(state);
    return state->failed;
}
