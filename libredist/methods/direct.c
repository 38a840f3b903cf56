/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One strided copy per peer, straight from the source array into the destination array: no packing,
 * no messages. Each execution tells the peers through shared flags where this rank's array is (see
 * direct_control.h), so any array that peers can map will do.
 *
 *   push   into the peers' destination arrays, when these are mapped
 *   pull   out of the peers' source arrays, when those are mapped
 *   stage  when neither is: each rank copies its source array into shared memory of the plan, and
 * the peers pull from there; in host memory only
 *
 * On a device the copies run beside the host, each peer's on a lane of its own. The host waits for the
 * work of the user's stream, tells the peers, and issues a copy once the peer is ready: waiting on the
 * device itself makes the copies much slower. What could not be issued at the start of an execution is
 * issued as soon as this or another execution is started or waited for.
 */
#include "../box.h"
#include "../direct_control.h"
#include "../method.h"
#include "../pack.h"
#include "../segment.h"

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
    struct redist__batch batch; /* one copy for each peer: this rank's share of the work */
    struct remote *remotes;     /* the peers' boxes that the copies end or begin in */
};

/* Where the copy with a peer is. */
enum progress { WAITS, RUNS, DONE };

struct state {
    const struct redist__problem *problem;
    const struct traits *traits;
    struct route routes[2];
    struct redist__slot slot;
    void *stage; /* shared memory of the plan for mode STAGE, else NULL */
    size_t stage_bytes;
    void **marks;          /* for each peer */
    enum progress *copies; /* of the execution under way, for each peer */
    int left;              /* copies that are not done */
    int turn, ended;       /* of a paced execution: turns that were issued, and that are done */
    uint64_t number;       /* of the execution under way */
    int direction;
    const char *source;
    char *destination;
    int failed; /* the first failure of the execution */
    struct state *next_pending;
};

/* What a variant does: `space`, where it works (AUTO = everywhere). */
struct traits {
    const char *name;
    enum redist_space space;
    enum redist__copier copier;
    int push;      /* where it could also pull */
    int paced;     /* every receiver has one sender at a time; 2: the next one stands by */
    int by_kernel; /* one kernel for all peers */
};

static const struct traits traits[] = {
    {"stream", REDIST_SPACE_HOST, REDIST__STREAMING, 0, 0, 0},
    {"cached", REDIST_SPACE_HOST, REDIST__CACHED, 0, 0, 0},
    {"push-stream", REDIST_SPACE_HOST, REDIST__STREAMING, 1, 0, 0},
    {"push-cached", REDIST_SPACE_HOST, REDIST__CACHED, 1, 0, 0},
    {"engines", REDIST_SPACE_CUDA, REDIST__ENGINES, 1, 0, 0},
    {"kernel", REDIST_SPACE_CUDA, REDIST__KERNEL, 1, 0, 1},
    {"paced", REDIST_SPACE_AUTO, REDIST__ENGINES, 1, 2, 0},
    {"lockstep", REDIST_SPACE_AUTO, REDIST__ENGINES, 1, 1, 0},
};
static const char *const variants[] = {"stream", "cached", "push-stream", "push-cached", "engines",
                                       "kernel", "paced",  "lockstep",    NULL};

/* ---------------------------------------------------------------- what it can serve */

static int check_mapped(const struct redist__problem *problem, int variant) {
    const int *mapped = problem->mapped;
    int alone = problem->schedule->context->size == 1;
    if (problem->space->asynchronous && !mapped[0] && !mapped[1] && !alone)
        return redist__fail(
            REDIST_ERR_METHOD,
            "method direct needs device memory that peers can map: of redist_alloc_in "
            "or cudaMalloc, given when the plan is made, on devices that reach each "
            "other");
    if (!problem->space->asynchronous && traits[variant].push && !(mapped[0] && mapped[1]))
        return redist__fail(
            REDIST_ERR_METHOD,
            "method direct:%s is a choice only if both arrays are from redist_alloc",
            variants[variant]);
    if (problem->tiles == REDIST_PUT && !mapped[1] && !alone)
        return redist__fail(REDIST_ERR_METHOD,
                            "method direct puts tiles into an array of redist_alloc only");
    return REDIST_OK;
}

static int applies(const struct redist__problem *problem, int variant) {
    const struct redist__context *context = problem->schedule->context;
    const struct traits *chosen = &traits[variant];
    int code = redist__check_copyable(problem->schedule, "direct");
    if (code == REDIST_OK && context->node_size != context->size)
        code =
            redist__fail(REDIST_ERR_METHOD,
                         "method direct works within a node, but only %d of %d ranks are on this "
                         "one",
                         context->node_size, context->size);
    if (code == REDIST_OK && chosen->space != REDIST_SPACE_AUTO &&
        redist__space_at((int)chosen->space) != problem->space)
        code = redist__fail(REDIST_ERR_METHOD, "method direct:%s is not for %s memory",
                            chosen->name, problem->space->name);
    return code == REDIST_OK ? check_mapped(problem, variant) : code;
}

/* Staging costs more than MPI's own copies, so it is for those who ask for it or measure it. In host
 * memory pacing has no use but to be tested there. */
static int preference(const struct redist__problem *problem, int variant) {
    if (problem->space->asynchronous)
        return 1 + (traits[variant].copier == REDIST__ENGINES && !traits[variant].paced);
    if (traits[variant].paced)
        return REDIST__BY_NAME;
    if (!problem->mapped[0] && !problem->mapped[1])
        return -1;
    int streams = traits[variant].copier == REDIST__STREAMING;
    return 1 + (streams == (problem->largest_bytes > problem->stream_bytes));
}

/* Without peers any mode will do. */
static enum mode choose_mode(const struct state *state, int direction) {
    if (state->problem->schedule->context->size == 1)
        return PULL;
    const int *mapped = state->problem->mapped;
    if (mapped[direction] && !(state->traits->push && mapped[!direction]))
        return PULL;
    return mapped[!direction] ? PUSH : STAGE;
}

static int create_route(struct state *state, int direction) {
    size_t size = (size_t)state->problem->schedule->context->size;
    struct route *route = &state->routes[direction];
    route->mode = choose_mode(state, direction);
    route->remotes = redist_calloc(size, sizeof *route->remotes);
    if (route->remotes == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the boxes of %zu ranks", size);
    return redist__batch_create(&route->batch, state->problem->space, (int)size);
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method direct");
    state->problem = problem;
    state->traits = &traits[variant];
    size_t size = (size_t)problem->schedule->context->size;
    state->marks = redist_calloc(size, sizeof *state->marks);
    state->copies = redist_calloc(size, sizeof *state->copies);
    if (state->marks == NULL || state->copies == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the copies to %zu ranks", size);
    int code = REDIST_OK;
    for (size_t i = 0; i < size && code == REDIST_OK; i++)
        code = problem->space->mark_create(&state->marks[i]);
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = create_route(state, direction);
    return code;
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
    redist__copy_prepare(&route->batch.copies[peer], schedule->ndims, local->parts[peer].count,
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

static int is_streaming(const struct state *state) {
    return state->traits->copier == REDIST__STREAMING;
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
                         is_streaming(state));
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
    mine->place = state->routes[direction].mode == STAGE
                      ? redist__segment_place(state->stage, 1)
                      : state->problem->space->place(shared_array(state), 1);
    atomic_store_explicit(&mine->ready, state->number, memory_order_release);
}

static int is_ready(const struct state *state, int peer) {
    return atomic_load_explicit(&line_of(state, peer)->ready, memory_order_acquire) >=
           state->number;
}

/* The first byte of the array of a peer that is ready. */
static int peer_array(const struct state *state, int peer, char **base) {
    const struct redist__place *place = &line_of(state, peer)->place;
    const struct redist__space *space = state->problem->space;
    int staged = state->routes[state->direction].mode == STAGE;
    *base = staged ? redist__segment_address(place) : space->address(place);
    if (*base != NULL)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD, "the array of rank %d of the plan is not mapped here",
                        peer);
}

/* The side of the exchange that this rank copies from or to in its own array. */
static int near_side(const struct state *state) {
    return !remote_side(&state->routes[state->direction], state->direction);
}

/* The own part of a staged exchange has no need of the stage. */
static int find_addresses(struct state *state, int peer) {
    const struct redist__schedule *schedule = state->problem->schedule;
    struct route *route = &state->routes[state->direction];
    const char **source = &route->batch.sources[peer];
    char **destination = &route->batch.destinations[peer], *base = NULL;
    int direction = state->direction, own = peer == schedule->context->rank;
    *source = state->source + schedule->side[direction].parts[peer].offset;
    *destination = state->destination + schedule->side[!direction].parts[peer].offset;
    int code = own ? REDIST_OK : peer_array(state, peer, &base);
    if (own || code != REDIST_OK)
        return code;
    if (route->mode == PUSH)
        *destination = base + route->remotes[peer].offset;
    else
        *source = base + route->remotes[peer].offset;
    return REDIST_OK;
}

static int distance(const struct state *state, int peer) {
    const struct redist__context *context = state->problem->schedule->context;
    return (peer - context->rank + context->size) % context->size;
}

static int peer_at(const struct state *state, int far) {
    const struct redist__context *context = state->problem->schedule->context;
    return (context->rank + far) % context->size;
}

/* ---------------------------------------------------------------- issuing copies */

static int issue_one(struct state *state, int peer) {
    const struct redist__batch *batch = &state->routes[state->direction].batch;
    const struct redist__space *space = state->problem->space;
    int far = distance(state, peer), own = far == 0, lane = state->traits->paced && !own ? 1 : far;
    enum redist__copier copier =
        own && space->asynchronous ? REDIST__KERNEL : state->traits->copier;
    state->copies[peer] = RUNS;
    state->turn += !own;
    int code = batch->copies[peer].run != 0 ? find_addresses(state, peer) : REDIST_OK;
    if (code == REDIST_OK && batch->copies[peer].run != 0)
        code = space->copy(&batch->copies[peer], batch->sources[peer], batch->destinations[peer],
                           copier, lane);
    if (code == REDIST_OK && space->asynchronous)
        code = space->mark_lane(state->marks[peer], lane);
    return code;
}

/* In turn i every rank serves the i-th rank after it, so that no two serve the same. Who served my next
 * peer before me is always the rank after me. A turn may begin when that rank and this one have ended
 * the turn before; or, so that the engines need not wait for the host, the one before that. */
static int has_turn(const struct state *state, int peer) {
    int turn = distance(state, peer), ahead = state->traits->paced - 1;
    if (!state->traits->paced || turn == 0)
        return 1;
    if (turn != state->turn + 1 || state->ended < turn - 1 - ahead)
        return 0;
    uint64_t size = (uint64_t)state->problem->schedule->context->size;
    uint64_t before = state->number * size + (uint64_t)turn - 1 - (uint64_t)ahead;
    return turn <= 1 + ahead || atomic_load_explicit(&line_of(state, peer_at(state, 1))->turns,
                                                     memory_order_acquire) >= before;
}

static int may_issue(const struct state *state, int peer) {
    return state->copies[peer] == WAITS && has_turn(state, peer) &&
           (distance(state, peer) == 0 || is_ready(state, peer));
}

static void end_turn(struct state *state) {
    const struct redist__context *context = state->problem->schedule->context;
    state->ended++;
    uint64_t turns = state->number * (uint64_t)context->size + (uint64_t)state->ended;
    atomic_store_explicit(&line_of(state, context->rank)->turns, turns, memory_order_release);
}

/* Whether a copy that was issued is done. After a failure it counts as done, so that peers go on. */
static int try_to_end(struct state *state, int peer, int failed) {
    int reached = 1, code = failed;
    if (state->problem->space->asynchronous && failed == REDIST_OK)
        code = state->problem->space->mark_reached(state->marks[peer], &reached);
    if (code == REDIST_OK && !reached)
        return REDIST_OK;
    state->copies[peer] = DONE;
    state->left--;
    if (state->traits->paced && distance(state, peer) != 0)
        end_turn(state);
    return code;
}

/* Parts that are empty take part in the turns too. */
static int advance_peer(struct state *state, int peer) {
    int code = REDIST_OK;
    if (may_issue(state, peer))
        code = issue_one(state, peer);
    return state->copies[peer] == RUNS ? try_to_end(state, peer, code) : code;
}

/* One kernel for all peers, as soon as all are ready. */
static int advance_kernel(struct state *state) {
    struct redist__batch *batch = &state->routes[state->direction].batch;
    const struct redist__space *space = state->problem->space;
    int size = batch->count, code = REDIST_OK;
    if (state->copies[0] == RUNS)
        return try_to_end(state, 0, REDIST_OK);
    for (int peer = 0; peer < size; peer++)
        if (state->copies[peer] == WAITS && distance(state, peer) != 0 && !is_ready(state, peer))
            return REDIST_OK;
    for (int peer = 0; peer < size && code == REDIST_OK; peer++)
        if (state->copies[peer] == WAITS)
            code = find_addresses(state, peer);
    if (code == REDIST_OK)
        code = space->batch_run(batch, 0, size, 0);
    if (code == REDIST_OK)
        code = space->mark_lane(state->marks[0], 0);
    state->left = 1;
    state->copies[0] = RUNS;
    return code == REDIST_OK ? code : try_to_end(state, 0, code);
}

/* Does what can be done without waiting. */
static int advance(struct state *state) {
    int code = REDIST_OK;
    if (state->left != 0 && state->traits->by_kernel)
        return advance_kernel(state);
    for (int i = 1; i <= state->problem->schedule->context->size && state->left != 0; i++) {
        int failed = advance_peer(state, peer_at(state, i));
        code = code == REDIST_OK ? failed : code;
    }
    return code;
}

/* Copies of empty parts are done before they begin, except for the turns that they take. */
static void expect_copies(struct state *state) {
    int side = near_side(state), size = state->problem->schedule->context->size;
    state->left = 0;
    state->turn = state->ended = 0;
    for (int peer = 0; peer < size; peer++) {
        int waits = has_part(state, side, peer) || state->traits->paced;
        state->copies[peer] = waits ? WAITS : DONE;
        state->left += waits;
    }
}

/* ---------------------------------------------------------------- execution */

/* Executions on devices that are under way in this thread, the oldest first. */
static _Thread_local struct state *pending;

static void add_pending(struct state *state) {
    struct state **link = &pending;
    while (*link != NULL)
        link = &(*link)->next_pending;
    state->next_pending = NULL;
    *link = state;
}

static void remove_pending(const struct state *state) {
    struct state **link = &pending;
    while (*link != NULL && *link != state)
        link = &(*link)->next_pending;
    if (*link != NULL)
        *link = state->next_pending;
}

static void advance_pending(void) {
    for (struct state *state = pending; state != NULL; state = state->next_pending) {
        int code = advance(state);
        state->failed = state->failed == REDIST_OK ? code : state->failed;
    }
}

static int start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    int code = redist__finish_stream(problem->space, state->marks[0], problem->stream,
                                     problem->schedule->context);
    announce(state, direction, source, destination);
    expect_copies(state);
    state->failed = code;
    if (!problem->space->asynchronous)
        return REDIST_OK;
    add_pending(state);
    advance_pending();
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
    if (!state->problem->space->asynchronous)
        add_pending(state);
    for (unsigned poll = 0; state->left != 0; poll++) {
        int left = state->left;
        advance_pending();
        if (state->left == left)
            redist__pause(context, poll);
    }
    remove_pending(state);
    finish(state);
    return state->failed;
}

/* ---------------------------------------------------------------- tiles */

static int open_tiles(void *data, void *array) {
    struct state *state = data;
    int put = state->problem->tiles == REDIST_PUT;
    announce(state, REDIST_FORWARD, put ? NULL : array, put ? array : NULL);
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
    redist__wait_for(&line_of(state, peer)->ready, state->number, schedule->context);
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
        redist__copy_run(&copy, near, far, is_streaming(state));
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
        redist__batch_free(&state->routes[direction].batch);
        redist_release(state->routes[direction].remotes);
    }
    for (int i = 0; state->marks != NULL && i < state->problem->schedule->context->size; i++)
        state->problem->space->mark_destroy(state->marks[i]);
    redist_release(state->marks);
    redist_release(state->copies);
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
    .workspace = workspace,
    .destroy = destroy,
};
