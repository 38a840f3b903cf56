/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Method direct: pacing. In each turn every rank serves one peer, all at the same distance, so that no two
 * serve the same: in the turns 0, 1, 2, ... of an execution the distances are 1, 2, ..., P - 1, 1, 2, ...
 * An execution over whole arrays has P - 1 turns, one in tiles as many rounds of P - 1 as it needs, which
 * need not be as many on every rank.
 *
 * A turn may begin when this rank and the one that served the same peer in the turn before have ended that
 * turn: then no peer has more than one sender. Or, so that the engines need not wait for the host, when they
 * have ended the turn before that one.
 */
#include "direct.h"

static void tell(const struct redist__direct *state, uint32_t ended) {
    struct redist__line *mine = redist__direct_line(state, state->problem->schedule->context->rank);
    redist__tell_count(&mine->turns, state->number, ended);
}

static int distance_in(const struct redist__direct *state, int turn) {
    return turn % (state->problem->schedule->context->size - 1) + 1;
}

/* Whether the rank that serves one turn earlier whom this rank serves next has ended so many turns. */
static int has_ended(const struct redist__direct *state, int turns) {
    const struct redist__context *context = state->problem->schedule->context;
    int peer = redist__direct_peer(state, distance_in(state, state->turn));
    int server = (peer - distance_in(state, state->turn - 1) + context->size) % context->size;
    uint64_t told =
        atomic_load_explicit(&redist__direct_line(state, server)->turns, memory_order_acquire);
    return redist__is_counted(told, state->number, (uint32_t)turns);
}

/* How many turns may stand by. In tiles, turns begin when something is there for them, which is not at the same
 * time on all ranks: what stands by would soon begin too early. Two ranks are in nobody's way. */
static int count_ahead(const struct redist__direct *state) {
    if (state->problem->tiles == REDIST_WHOLE)
        return state->traits->paced - 1;
    return !state->traits->paced || state->problem->schedule->context->size == 2;
}

int redist__direct_has_turn(const struct redist__direct *state) {
    int turns = state->turn - count_ahead(state); /* that must have ended */
    if (turns <= 0 || state->ended < turns)
        return turns <= 0;
    return !state->traits->paced || has_ended(state, turns);
}

void redist__direct_end_turn(struct redist__direct *state) {
    tell(state, (uint32_t)++state->ended);
}

void redist__direct_end_turns(const struct redist__direct *state) {
    tell(state, UINT32_MAX);
}
