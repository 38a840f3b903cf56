/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Method direct: executions in tiles whose destinations are completed piece by piece. Where tiles have their
 * turns, a round takes what there is of the first piece that is not complete; else all pieces are complete
 * with the last tile. A rank tells the others how many pieces all of them have from it.
 */
#include "direct.h"

void redist__direct_pieces(const struct redist__direct *state, int peer, int first, int last,
                           int start[], int count[]) {
    const struct redist__problem *problem = state->problem;
    const struct redist__part *part = &problem->schedule->side[0].parts[peer];
    const struct redist__remote *remote = &state->routes[REDIST_FORWARD].remotes[peer];
    int axis = problem->partition_axis, extent, low, high;
    for (int i = 0; i < problem->schedule->ndims; i++) {
        start[i] = part->start[i];
        count[i] = part->count[i];
    }
    redist_decompose((int)remote->extent, problem->partitions, first, &extent, &low);
    redist_decompose((int)remote->extent, problem->partitions, last - 1, &extent, &high);
    low -= (int)remote->start; /* within the part */
    high += extent - (int)remote->start;
    low = low > 0 ? low : 0;
    high = high < count[axis] ? high : count[axis];
    start[axis] += low;
    count[axis] = high > low ? high - low : 0;
}

static size_t count_common(const struct redist__direct *state, const struct redist__tile *tile,
                           int peer) {
    const struct redist__schedule *schedule = state->problem->schedule;
    const struct redist__part *part = &schedule->side[0].parts[peer];
    int start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    size_t elements = 1;
    if (!redist__intersect(schedule->ndims, tile->start, tile->count, part->start, part->count,
                           start, count))
        return 0;
    for (int i = 0; i < schedule->ndims; i++)
        elements *= (size_t)count[i];
    return elements;
}

int redist__direct_note_tile(struct redist__direct *state, const struct redist__tile *tile) {
    const struct redist__context *context = state->problem->schedule->context;
    size_t others = 0;
    for (int peer = 0; peer < context->size; peer++) {
        size_t common = count_common(state, tile, peer);
        state->elements += common;
        others += peer != context->rank ? common : 0;
    }
    return others > 0;
}

int redist__direct_all_put(const struct redist__direct *state) {
    return state->elements == state->problem->schedule->side[0].elements;
}

void redist__direct_tell_pieces(const struct redist__direct *state, int pieces) {
    struct redist__line *mine = redist__direct_line(state, state->problem->schedule->context->rank);
    if (state->problem->partitions > 1)
        redist__tell_count(&mine->pieces, state->number, (uint32_t)pieces);
}

static int from_peer(const struct redist__direct *state, int peer) {
    int pieces = state->problem->partitions;
    uint64_t told =
        atomic_load_explicit(&redist__direct_line(state, peer)->pieces, memory_order_acquire);
    if (!redist__is_counted(told, state->number, 0))
        return 0;
    return redist__is_counted(told, state->number, (uint32_t)pieces) ? pieces : (int)(uint32_t)told;
}

/* Whether this rank has copied the own parts of all tiles. */
static int check_own(struct redist__direct *state, int *reached) {
    const struct redist__space *space = state->problem->space;
    void *mark = state->marks[state->problem->schedule->context->size]; /* turns have others */
    int code = REDIST_OK;
    redist__direct_lock();
    if (redist__direct_all_put(state) && state->own == REDIST__WAITS) {
        code = space->event_record(mark, space->stream(0));
        state->own = code == REDIST_OK ? REDIST__RUNS : REDIST__WAITS;
    }
    if (state->own == REDIST__RUNS) {
        code = space->event_is_reached(mark, reached);
        state->own = code == REDIST_OK && *reached ? REDIST__DONE : REDIST__RUNS;
    }
    *reached = state->own == REDIST__DONE;
    redist__direct_unlock();
    return code;
}

void redist__direct_arrived(void *data, int *pieces) {
    struct redist__direct *state = data;
    const struct redist__context *context = state->problem->schedule->context;
    int reached = 0;
    redist__direct_progress(state);
    redist__direct_note(state, check_own(state, &reached));
    int least = reached ? state->problem->partitions : 0;
    for (int peer = 0; peer < context->size; peer++)
        if (peer != context->rank && redist__direct_has_part(state, 1, peer)) {
            int there = from_peer(state, peer);
            least = there < least ? there : least;
        }
    *pieces = least;
}
