/* SPDX-License-Identifier: BSD-3-Clause */
/* Method direct: executions in tiles, which are copied straight to or from the peers' arrays. */
#include "direct.h"

/* Waiting calls MPI, which only this thread may do: the others are to find all arrays ready. */
static void wait_for_arrays(const struct redist__direct *state) {
    const struct redist__context *context = state->problem->schedule->context;
    int side = state->problem->tiles == REDIST_GET;
    for (int peer = 0; peer < context->size; peer++)
        if (peer != context->rank && redist__direct_has_part(state, side, peer))
            redist__direct_note(state, redist__wait_for(&redist__direct_line(state, peer)->ready,
                                                        state->number, context));
}

/* Peers may use the array as soon as the user's stream does not. */
void redist__direct_open(void *data, void *array) {
    struct redist__direct *state = data;
    const struct redist__problem *problem = state->problem;
    int put = problem->tiles == REDIST_PUT;
    redist__direct_wait_stream(state);
    redist__direct_announce(state, REDIST_FORWARD, put ? NULL : array, put ? array : NULL);
    if (problem->concurrent)
        wait_for_arrays(state);
    state->elements = 0;
    state->own = REDIST__WAITS;
    if (redist__direct_is_queued(state))
        redist__direct_open_puts(state);
    else if (redist__direct_all_put(state))
        redist__direct_tell_pieces(state, problem->partitions);
}

/* The array that exists and the strides in it, of a peer or of this rank itself. */
static int far_box(const struct redist__direct *state, int side, int peer, char **base,
                   ptrdiff_t stride[]) {
    const struct redist__schedule *schedule = state->problem->schedule;
    int ndims = schedule->ndims;
    if (peer == schedule->context->rank) {
        const struct redist__side *mine = &schedule->side[side];
        const char *array = side == 0 ? state->source : state->destination;
        *base = (char *)(size_t)array + mine->parts[peer].offset;
        for (int i = 0; i < ndims; i++)
            stride[i] = mine->stride[i];
        return REDIST_OK;
    }
    const struct redist__remote *remote = &state->routes[REDIST_FORWARD].remotes[peer];
    int code = redist__wait_for(&redist__direct_line(state, peer)->ready, state->number,
                                schedule->context);
    if (code == REDIST_OK)
        code = redist__direct_array(state, peer, base);
    if (code != REDIST_OK)
        return code;
    *base += remote->offset;
    for (int i = 0; i < ndims; i++)
        stride[i] = (ptrdiff_t)remote->stride[i];
    return REDIST_OK;
}

int redist__direct_copy_part(const struct redist__direct *state, const struct redist__tile *tile,
                             int peer, int first, int last) {
    const struct redist__schedule *schedule = state->problem->schedule;
    int put = state->problem->tiles == REDIST_PUT;
    const struct redist__part *part = &schedule->side[!put].parts[peer];
    int start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    const int *from = part->start, *extent = part->count;
    int piece_start[REDIST_MAX_NDIMS], piece_count[REDIST_MAX_NDIMS];
    if (last - first < state->problem->partitions) {
        redist__direct_pieces(state, peer, first, last, piece_start, piece_count);
        from = piece_start, extent = piece_count;
    }
    if (!redist__intersect(schedule->ndims, tile->start, tile->count, from, extent, start, count))
        return REDIST_OK;
    char *far, *near = tile->data;
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    int code = far_box(state, put, peer, &far, stride);
    if (code != REDIST_OK)
        return code;
    for (int i = 0; i < schedule->ndims; i++) {
        near += (start[i] - tile->start[i]) * tile->stride[i];
        far += (start[i] - part->start[i]) * stride[i];
    }
    struct redist__copy copy;
    redist__copy_prepare(&copy, schedule->ndims, count, schedule->item, put ? tile->stride : stride,
                         put ? stride : tile->stride);
    int distance = redist__direct_distance(state, peer);
    const struct redist__space *space = state->problem->space;
    int lane = redist__direct_is_queued(state) && distance != 0 ? 1 : distance;
    if (space->asynchronous)
        return space->copy(&copy, near, far, distance == 0 ? REDIST__KERNEL : state->traits->copier,
                           space->stream(lane));
    if (put)
        redist__copy_run(&copy, near, far, state->traits->copier == REDIST__STREAMING);
    else
        redist__copy_run(&copy, far, near, 0); /* a tile is to stay in the caches */
    return REDIST_OK;
}

/* To all peers at once, or, where tiles wait, to this rank itself. */
static int copy_parts(const struct redist__direct *state, const struct redist__tile *tile) {
    const struct redist__context *context = state->problem->schedule->context;
    int n = redist__direct_is_queued(state) ? 1 : context->size, code = REDIST_OK;
    for (int i = 0; i < n && code == REDIST_OK; i++) {
        redist__enter(state->problem->watch, i == 0 ? REDIST__OWN_PART : REDIST__COMMUNICATE);
        code = redist__direct_copy_part(state, tile, redist__direct_peer(state, i), 0,
                                        state->problem->partitions);
    }
    return code;
}

/* Whether this was the last tile. */
static void note_copied(struct redist__direct *state, const struct redist__tile *tile) {
    redist__direct_lock();
    redist__direct_note_tile(state, tile);
    if (redist__direct_all_put(state))
        redist__direct_tell_pieces(state, state->problem->partitions);
    redist__direct_unlock();
}

void redist__direct_tile(void *data, const struct redist__tile *tile) {
    struct redist__direct *state = data;
    const struct redist__problem *problem = state->problem;
    int streams = state->traits->copier == REDIST__STREAMING;
    if (redist__direct_failed(state))
        return;
    int code = copy_parts(state, tile);
    redist__direct_note(state, code);
    if (problem->tiles == REDIST_PUT && streams && (problem->concurrent || problem->partitions > 1))
        redist__stream_fence(); /* a thread has to do this for its own stores */
    if (code != REDIST_OK || problem->tiles != REDIST_PUT)
        return;
    if (redist__direct_is_queued(state)) {
        redist__enter(problem->watch, REDIST__COMMUNICATE);
        redist__direct_note(state, redist__direct_add_put(state, tile));
    } else if (problem->partitions > 1)
        note_copied(state, tile);
}

void redist__direct_progress(void *data) {
    const struct redist__direct *state = data;
    if (redist__direct_is_queued(state))
        redist__direct_advance_all(state);
}

/* Waits until the copies of all tiles are done. */
static int finish_lanes(const struct redist__direct *state) {
    const struct redist__context *context = state->problem->schedule->context;
    int n = redist__direct_is_queued(state) ? 1 : context->size, code = REDIST_OK;
    for (int i = 0; i < n; i++) {
        int failed = redist__finish_stream(state->problem->space, state->marks[i],
                                           state->problem->space->stream(i), context);
        code = code == REDIST_OK ? failed : code;
    }
    return code;
}

/* A rank that has failed leaves the rest of its tiles out, and says at once that it has delivered all
 * pieces: others may wait for these before they close the execution. */
void redist__direct_close(void *data) {
    struct redist__direct *state = data;
    if (redist__direct_is_queued(state))
        redist__direct_close_puts(state);
    redist__direct_note(state, finish_lanes(state));
    redist__direct_tell_pieces(state, state->problem->partitions);
    redist__direct_finish(state);
}
