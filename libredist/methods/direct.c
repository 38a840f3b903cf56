/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One strided copy per peer, straight from the source array into the destination array: no packing,
 * no messages. Each execution tells the peers through shared flags where this rank's array is (see
 * direct_control.h), so any array of redist_alloc will do.
 *
 *   push   into the peers' destination arrays, when these are mapped
 *   pull   out of the peers' source arrays, when those are mapped
 *   stage  when neither is: each rank copies its source array into shared memory of the plan, and
 * the peers pull from there
 */
#include "../box.h"
#include "../direct_control.h"
#include "../method.h"
#include "../pack.h"

enum mode { PUSH, PULL, STAGE };

/* What a peer says of the box that it exchanges with this rank: where in its array, in which
 * strides. */
struct remote {
    uint64_t offset;
    int64_t stride[REDIST_MAX_NDIMS];
};

/* One direction of an exchange. */
struct route {
    enum mode mode;
    struct redist__copy *copies; /* one for each peer: this rank's share of the work */
    struct remote *remotes;      /* the peers' boxes that the copies end or begin in */
};

struct state {
    const struct redist__problem *problem;
    int stream;
    int prefers_push;
    struct route routes[2];
    struct redist__slot slot;
    void *stage; /* shared memory of the plan for mode STAGE, else NULL */
    size_t stage_bytes;
    uint64_t number; /* of the execution under way */
    int direction;
    const char *source;
    char *destination;
};

static const struct { int stream, push; } traits[] = {{1, 0}, {0, 0}, {1, 1}, {0, 1}};
static const char *const variants[] = {"stream", "cached", "push-stream", "push-cached", NULL};

static int applies(const struct redist__problem *problem, int variant) {
    const struct redist__context *context = problem->schedule->context;
    int code = redist__check_copyable(problem->schedule, "direct");
    if (code == REDIST_OK && context->node_size != context->size)
        code =
            redist__fail(REDIST_ERR_METHOD,
                         "method direct works within a node, but only %d of %d ranks are on this "
                         "one",
                         context->node_size, context->size);
    if (code == REDIST_OK && traits[variant].push && !(problem->mapped[0] && problem->mapped[1]))
        code =
            redist__fail(REDIST_ERR_METHOD,
                         "method direct:%s is a choice only if both arrays are from redist_alloc",
                         variants[variant]);
    int hidden = problem->tiles == REDIST_PUT && !problem->mapped[1] && context->size > 1;
    if (code == REDIST_OK && hidden)
        code = redist__fail(REDIST_ERR_METHOD,
                            "method direct puts tiles into an array of redist_alloc only");
    return code;
}

/* Staging costs more than MPI's own copies, so it is for those who ask for it or measure it. */
static int preference(const struct redist__problem *problem, int variant) {
    if (!problem->mapped[0] && !problem->mapped[1])
        return -1;
    return 1 + (traits[variant].stream == (problem->largest_bytes > problem->stream_bytes));
}

/* Without peers any mode will do. */
static enum mode choose_mode(const struct state *state, int direction) {
    if (state->problem->schedule->context->size == 1)
        return PULL;
    const int *mapped = state->problem->mapped;
    if (mapped[direction] && !(state->prefers_push && mapped[!direction]))
        return PULL;
    return mapped[!direction] ? PUSH : STAGE;
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method direct");
    state->problem = problem;
    state->stream = traits[variant].stream;
    state->prefers_push = traits[variant].push;
    size_t size = (size_t)problem->schedule->context->size;
    for (int direction = 0; direction < 2; direction++) {
        struct route *route = &state->routes[direction];
        route->mode = choose_mode(state, direction);
        route->copies = redist_calloc(size, sizeof *route->copies);
        route->remotes = redist_calloc(size, sizeof *route->remotes);
        if (route->copies == NULL || route->remotes == NULL)
            return redist__fail(REDIST_ERR_MEMORY, "no memory for the copies to %zu ranks", size);
    }
    return REDIST_OK;
}

/* ---------------------------------------------------------------- what peers have to know */

/* The side of the exchange that a peer's array is on, and the one that this rank's array is on. */
static int remote_side(const struct route *route, int direction) {
    return route->mode == PUSH ? !direction : direction;
}

static int tell_boxes(const struct redist__schedule *schedule, const struct redist__side *mine,
                      struct remote remotes[]) {
    const struct redist__context *context = schedule->context;
    struct remote *told = redist_calloc((size_t)context->size, sizeof *told);
    int code =
        told != NULL ? REDIST_OK : redist__fail(REDIST_ERR_MEMORY, "no memory to tell boxes");
    code = redist_agree(context->comm, code);
    for (int peer = 0; peer < context->size && code == REDIST_OK; peer++) {
        told[peer].offset = mine->parts[peer].offset;
        for (int i = 0; i < schedule->ndims; i++)
            told[peer].stride[i] = mine->stride[i];
    }
    if (code == REDIST_OK)
        code = redist_check_mpi(MPI_Alltoall(told, sizeof *told, MPI_BYTE, remotes, sizeof *remotes,
                                             MPI_BYTE, context->comm));
    redist_release(told);
    return code;
}

static void prepare_copy(const struct redist__schedule *schedule, const struct route *route,
                         int direction, int peer) {
    int remote = remote_side(route, direction);
    const struct redist__side *local = &schedule->side[!remote];
    ptrdiff_t far[REDIST_MAX_NDIMS];
    for (int i = 0; i < schedule->ndims; i++)
        far[i] = (ptrdiff_t)route->remotes[peer].stride[i];
    int push = route->mode == PUSH;
    redist__copy_prepare(&route->copies[peer], schedule->ndims, local->parts[peer].count,
                         schedule->item, push ? local->stride : far, push ? far : local->stride);
}

static int connect_route(struct state *state, int direction) {
    const struct redist__schedule *schedule = state->problem->schedule;
    struct route *route = &state->routes[direction];
    int side = remote_side(route, direction);
    int code = tell_boxes(schedule, &schedule->side[side], route->remotes);
    for (int peer = 0; peer < schedule->context->size && code == REDIST_OK; peer++)
        prepare_copy(schedule, route, direction, peer);
    if (route->mode == STAGE && schedule->side[side].bytes > state->stage_bytes)
        state->stage_bytes = schedule->side[side].bytes;
    return code;
}

static int connect(void *data) {
    struct state *state = data;
    struct redist__context *context = state->problem->schedule->context;
    int code = connect_route(state, REDIST_FORWARD);
    if (code == REDIST_OK)
        code = connect_route(state, REDIST_BACKWARD);
    if (code == REDIST_OK)
        code = redist__slot_take(context, &state->slot);
    int staged = state->routes[0].mode == STAGE || state->routes[1].mode == STAGE;
    if (code == REDIST_OK && staged)
        code = redist__segment_create(context, state->stage_bytes, &state->stage);
    return code;
}

/* ---------------------------------------------------------------- execution */

static struct redist__line *line_of(const struct state *state, int rank) {
    return redist__slot_line(&state->slot, state->problem->schedule->context->node_ranks[rank]);
}

/* The array of this rank that peers copy into or out of. */
static const void *shared_array(const struct state *state) {
    switch (state->routes[state->direction].mode) {
    case PUSH:
        return state->destination;
    case PULL:
        return state->source;
    default:
        return state->stage;
    }
}

static int has_part(const struct state *state, int side, int peer) {
    return state->problem->schedule->side[side].parts[peer].elements != 0;
}

/* Copies the boxes for the peers to where these can read them. */
static void stage_source(const struct state *state) {
    const struct redist__schedule *schedule = state->problem->schedule;
    const struct redist__side *side = &schedule->side[state->direction];
    for (int peer = 0; peer < schedule->context->size; peer++) {
        const struct redist__part *part = &side->parts[peer];
        if (peer == schedule->context->rank || part->elements == 0)
            continue;
        struct redist__copy copy;
        redist__copy_prepare(&copy, schedule->ndims, part->count, schedule->item, side->stride,
                             side->stride);
        redist__copy_run(&copy, state->source + part->offset, (char *)state->stage + part->offset,
                         state->stream);
    }
    redist__stream_fence();
}

/* Tells the peers where this rank's array is and that they may use it. */
static void announce(struct state *state, int direction, const void *source, void *destination) {
    state->direction = direction;
    state->source = source;
    state->destination = destination;
    state->number = redist__slot_next(&state->slot);
    if (state->routes[direction].mode == STAGE)
        stage_source(state);
    struct redist__line *mine = line_of(state, state->problem->schedule->context->rank);
    mine->place = redist__segment_place(shared_array(state), 1);
    atomic_store_explicit(&mine->ready, state->number, memory_order_release);
}

static int start(void *data, int direction, const void *source, void *destination) {
    announce(data, direction, source, destination);
    return REDIST_OK;
}

/* The first byte of the peer's array, once it may be used. */
static int peer_array(const struct state *state, int peer, char **base) {
    struct redist__line *theirs = line_of(state, peer);
    redist__wait_for(&theirs->ready, state->number, state->problem->schedule->context);
    *base = redist__segment_address(&theirs->place);
    if (*base != NULL)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD, "the array of rank %d of the plan is not mapped here",
                        peer);
}

static int copy_peer(const struct state *state, int peer) {
    const struct redist__schedule *schedule = state->problem->schedule;
    const struct route *route = &state->routes[state->direction];
    int remote = remote_side(route, state->direction);
    if (!has_part(state, !remote, peer))
        return REDIST_OK;
    char *base;
    int code = peer_array(state, peer, &base);
    if (code != REDIST_OK)
        return code;
    char *far = base + route->remotes[peer].offset;
    size_t near = schedule->side[!remote].parts[peer].offset;
    if (route->mode == PUSH)
        redist__copy_run(&route->copies[peer], state->source + near, far, state->stream);
    else
        redist__copy_run(&route->copies[peer], far, state->destination + near, state->stream);
    return REDIST_OK;
}

/* The own part of a staged exchange has no need of the stage. */
static int copy_own(const struct state *state) {
    const struct redist__schedule *schedule = state->problem->schedule;
    int rank = schedule->context->rank;
    const struct redist__part *from = &schedule->side[state->direction].parts[rank];
    const struct redist__part *to = &schedule->side[!state->direction].parts[rank];
    redist__copy_run(&state->routes[state->direction].copies[rank], state->source + from->offset,
                     state->destination + to->offset, state->stream);
    return REDIST_OK;
}

/* Tells the peers that this rank has copied all it has to, and waits until they have. */
static void finish(const struct state *state) {
    const struct redist__context *context = state->problem->schedule->context;
    redist__stream_fence();
    struct redist__line *mine = line_of(state, context->rank);
    atomic_store_explicit(&mine->done, state->number, memory_order_release);
    for (int peer = 0; peer < context->size; peer++)
        if (has_part(state, 0, peer) || has_part(state, 1, peer))
            redist__wait_for(&line_of(state, peer)->done, state->number, context);
}

static int wait(void *data) {
    struct state *state = data;
    const struct redist__context *context = state->problem->schedule->context;
    int code = copy_own(state);
    for (int i = 1; i < context->size; i++) {
        int failed = copy_peer(state, (context->rank + i) % context->size);
        code = code == REDIST_OK ? failed : code;
    }
    finish(state);
    return code;
}

/* ---------------------------------------------------------------- tiles */

/* Waiting calls MPI, which only this thread may do: the others are to find all arrays ready. */
static void wait_for_arrays(const struct state *state) {
    const struct redist__context *context = state->problem->schedule->context;
    int side = state->problem->tiles == REDIST_GET;
    for (int peer = 0; peer < context->size; peer++)
        if (peer != context->rank && has_part(state, side, peer))
            redist__wait_for(&line_of(state, peer)->ready, state->number, context);
}

static int open_tiles(void *data, void *array) {
    struct state *state = data;
    int put = state->problem->tiles == REDIST_PUT;
    announce(state, REDIST_FORWARD, put ? NULL : array, put ? array : NULL);
    if (state->problem->concurrent)
        wait_for_arrays(state);
    return REDIST_OK;
}

/* The array that exists and the strides in it, of a peer or of this rank itself. */
static int far_box(const struct state *state, int side, int peer, char **base, ptrdiff_t stride[]) {
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
    const struct remote *remote = &state->routes[REDIST_FORWARD].remotes[peer];
    int code = peer_array(state, peer, base);
    if (code != REDIST_OK)
        return code;
    *base += remote->offset;
    for (int i = 0; i < ndims; i++)
        stride[i] = (ptrdiff_t)remote->stride[i];
    return REDIST_OK;
}

/* What a tile and the part of one peer have in common. */
static int copy_tile_part(const struct state *state, const struct redist__tile *tile, int peer) {
    const struct redist__schedule *schedule = state->problem->schedule;
    int put = state->problem->tiles == REDIST_PUT;
    const struct redist__part *part = &schedule->side[!put].parts[peer];
    int start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    if (!redist__intersect(schedule->ndims, tile->start, tile->count, part->start, part->count,
                           start, count))
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
    if (put)
        redist__copy_run(&copy, near, far, state->stream);
    else
        redist__copy_run(&copy, far, near, 0); /* a tile is to stay in the caches */
    return REDIST_OK;
}

static int copy_tile(void *data, const struct redist__tile *tile) {
    const struct state *state = data;
    const struct redist__context *context = state->problem->schedule->context;
    int code = REDIST_OK;
    for (int i = 0; i < context->size && code == REDIST_OK; i++)
        code = copy_tile_part(state, tile, (context->rank + i) % context->size);
    if (state->problem->concurrent && state->problem->tiles == REDIST_PUT && state->stream)
        redist__stream_fence(); /* a thread has to do this for its own stores */
    return code;
}

static int close_tiles(void *data) {
    finish(data);
    return REDIST_OK;
}

static size_t workspace(const void *data) {
    return ((const struct state *)data)->stage_bytes;
}

static void destroy(void *data) {
    struct state *state = data;
    if (state->stage != NULL)
        redist__segment_remove(state->stage);
    redist__slot_give(&state->slot);
    for (int direction = 0; direction < 2; direction++) {
        redist_release(state->routes[direction].copies);
        redist_release(state->routes[direction].remotes);
    }
    redist_release(state);
}

const struct redist__method redist__method_direct = {
    .name = "direct",
    .summary = "one strided copy per peer from array to array through shared memory; within a node",
    .variants = variants,
    .applies = applies,
    .preference = preference,
    .create = create,
    .connect = connect,
    .start = start,
    .wait = wait,
    .open = open_tiles,
    .put = copy_tile,
    .get = copy_tile,
    .close = close_tiles,
    .concurrent = 1,
    .workspace = workspace,
    .destroy = destroy,
};
