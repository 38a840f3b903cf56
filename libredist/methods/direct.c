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
 * issued as soon as this or another execution is started or waited for. With `paced` and `lockstep` the
 * copies take turns, and those of tiles do so with both.
 */
#include "direct.h"
#include "../copy/pack.h"

static const struct redist__traits traits[] = {
    {"nontemporal", REDIST_SPACE_HOST, REDIST__STREAMING, 0, 0, 0},
    {"cached", REDIST_SPACE_HOST, REDIST__CACHED, 0, 0, 0},
    {"push-nontemporal", REDIST_SPACE_HOST, REDIST__STREAMING, 1, 0, 0},
    {"push-cached", REDIST_SPACE_HOST, REDIST__CACHED, 1, 0, 0},
    {"engines", REDIST_SPACE_CUDA, REDIST__ENGINES, 1, 0, 0},
    {"kernel", REDIST_SPACE_CUDA, REDIST__KERNEL, 1, 0, 1},
    {"paced", REDIST_SPACE_AUTO, REDIST__ENGINES, 1, 2, 0},
    {"lockstep", REDIST_SPACE_AUTO, REDIST__ENGINES, 1, 1, 0},
};
static const char *const variants[] = {"nontemporal", "cached",   "push-nontemporal",
                                       "push-cached", "engines",  "kernel",
                                       "paced",       "lockstep", NULL};

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
    int puts =
        traits[variant].paced && problem->tiles == REDIST_PUT; /* array A need not be there */
    if (!problem->space->asynchronous && traits[variant].push && !puts && !(mapped[0] && mapped[1]))
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
    const struct redist__traits *chosen = &traits[variant];
    int code = redist__check_copyable(problem->schedule, "direct");
    if (code == REDIST_OK && context->node_size != context->size)
        code =
            redist__fail(REDIST_ERR_METHOD,
                         "method direct works within a node, but only %d of %d ranks are on this "
                         "one",
                         context->node_size, context->size);
    if (code == REDIST_OK && chosen->space != REDIST_SPACE_AUTO &&
        redist_space_at(chosen->space) != problem->space)
        code = redist__fail(REDIST_ERR_METHOD, "method direct:%s is not for %s memory",
                            chosen->name, problem->space->name);
    return code == REDIST_OK ? check_mapped(problem, variant) : code;
}

/* Staging whole arrays costs less than MPI's own copies, staging tiles does not. In host memory pacing has no
 * use but to be tested there. */
static int preference(const struct redist__problem *problem, int variant) {
    if (problem->space->asynchronous)
        return 1 + (traits[variant].paced > 1);
    if (traits[variant].paced)
        return REDIST__BY_NAME;
    int staged = !problem->mapped[0] && !problem->mapped[1];
    if (staged && problem->tiles != REDIST_WHOLE)
        return -1;
    int streams = traits[variant].copier == REDIST__STREAMING;
    size_t share =
        problem->nontemporal_bytes / (staged ? 2 : 1); /* twice as much goes through the caches */
    return 1 + (streams == (problem->largest_bytes > share));
}

/* Without peers any mode will do. */
static enum redist__mode choose_mode(const struct redist__direct *state, int direction) {
    if (state->problem->schedule->context->size == 1)
        return REDIST__PULL;
    const int *mapped = state->problem->mapped;
    if (mapped[direction] && !(state->traits->push && mapped[!direction]))
        return REDIST__PULL;
    return mapped[!direction] ? REDIST__PUSH : REDIST__STAGE;
}

static int create_route(struct redist__direct *state, int direction) {
    size_t size = (size_t)state->problem->schedule->context->size;
    struct redist__route *route = &state->routes[direction];
    route->mode = choose_mode(state, direction);
    route->remotes = redist_calloc(size, sizeof *route->remotes);
    if (route->remotes == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the boxes of %zu ranks", size);
    /* only kernels need the batch on the device */
    const struct redist__space *space =
        state->traits->by_kernel ? state->problem->space : redist_space_at(REDIST_SPACE_HOST);
    return redist__batch_create(&route->batch, space, (int)size);
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    struct redist__direct *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method direct");
    state->problem = problem;
    state->traits = &traits[variant];
    size_t size = (size_t)problem->schedule->context->size;
    state->marks = redist_calloc(size + 1, sizeof *state->marks);
    state->copies = redist_calloc(size, sizeof *state->copies);
    if (state->marks == NULL || state->copies == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the copies to %zu ranks", size);
    int code = REDIST_OK;
    for (size_t i = 0; i <= size && code == REDIST_OK; i++)
        code = problem->space->event_create(&state->marks[i]);
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = create_route(state, direction);
    return code;
}

/* ---------------------------------------------------------------- what peers have to know */

int redist__direct_remote_side(const struct redist__route *route, int direction) {
    return route->mode == REDIST__PUSH ? !direction : direction;
}

static int tell_boxes(const struct redist__problem *problem, const struct redist__side *mine,
                      struct redist__remote remotes[]) {
    const struct redist__schedule *schedule = problem->schedule;
    const struct redist__context *context = schedule->context;
    struct redist__remote *told = redist_calloc((size_t)context->size, sizeof *told);
    int code =
        told != NULL ? REDIST_OK : redist__fail(REDIST_ERR_MEMORY, "no memory to tell boxes");
    code = redist_agree(context->comm, code);
    for (int peer = 0; peer < context->size && code == REDIST_OK; peer++) {
        told[peer].offset = mine->parts[peer].offset;
        told[peer].start = mine->parts[peer].start[problem->partition_axis];
        told[peer].extent = mine->extent[problem->partition_axis];
        for (int i = 0; i < schedule->ndims; i++)
            told[peer].stride[i] = mine->stride[i];
    }
    if (code == REDIST_OK)
        code = redist_check_mpi(redist_insist(MPI_Alltoall(
            told, sizeof *told, MPI_BYTE, remotes, sizeof *remotes, MPI_BYTE, context->comm)));
    redist_release(told);
    return code;
}

static void prepare_copy(const struct redist__schedule *schedule, const struct redist__route *route,
                         int direction, int peer) {
    int remote = redist__direct_remote_side(route, direction);
    const struct redist__side *local = &schedule->side[!remote];
    ptrdiff_t far[REDIST_MAX_NDIMS];
    for (int i = 0; i < schedule->ndims; i++)
        far[i] = (ptrdiff_t)route->remotes[peer].stride[i];
    int push = route->mode == REDIST__PUSH;
    redist__copy_prepare(&route->batch.copies[peer], schedule->ndims, local->parts[peer].count,
                         schedule->item, push ? local->stride : far, push ? far : local->stride);
}

static int connect_route(struct redist__direct *state, int direction) {
    const struct redist__schedule *schedule = state->problem->schedule;
    struct redist__route *route = &state->routes[direction];
    int side = redist__direct_remote_side(route, direction);
    int code = tell_boxes(state->problem, &schedule->side[side], route->remotes);
    for (int peer = 0; peer < schedule->context->size && code == REDIST_OK; peer++)
        prepare_copy(schedule, route, direction, peer);
    if (route->mode == REDIST__STAGE && schedule->side[side].bytes > state->stage_bytes)
        state->stage_bytes = schedule->side[side].bytes;
    return code;
}

static int connect(void *data) {
    struct redist__direct *state = data;
    struct redist__context *context = state->problem->schedule->context;
    int code = connect_route(state, REDIST_FORWARD);
    if (code == REDIST_OK)
        code = connect_route(state, REDIST_BACKWARD);
    if (code == REDIST_OK)
        code = redist__slot_take(context, &state->slot);
    int staged = state->routes[0].mode == REDIST__STAGE || state->routes[1].mode == REDIST__STAGE;
    if (code == REDIST_OK && staged)
        code = redist__space_host.create(context, state->stage_bytes, &state->stage);
    if (code == REDIST_OK && staged && context->size > 1 &&
        redist__space_host.export_memory(state->stage, 1).key ==
            0) /* on all ranks: they are on one node */
        code = redist__fail(REDIST_ERR_METHOD,
                            "method direct finds no shared memory for arrays that are not from "
                            "redist_alloc");
    return code;
}

/* ---------------------------------------------------------------- execution */

struct redist__line *redist__direct_line(const struct redist__direct *state, int rank) {
    return redist__slot_line(&state->slot, state->problem->schedule->context->node_ranks[rank]);
}

int redist__direct_has_part(const struct redist__direct *state, int side, int peer) {
    return state->problem->schedule->side[side].parts[peer].elements != 0;
}

/* The array of this rank that peers copy into or out of. */
static const void *shared_array(const struct redist__direct *state) {
    switch (state->routes[state->direction].mode) {
    case REDIST__PUSH:
        return state->destination;
    case REDIST__PULL:
        return state->source;
    default:
        return state->stage;
    }
}

/* Copies the boxes for the peers to where these can read them. */
static void stage_source(const struct redist__direct *state) {
    const struct redist__schedule *schedule = state->problem->schedule;
    const struct redist__side *side = &schedule->side[state->direction];
    redist__enter(state->problem->watch, REDIST__PACK);
    for (int peer = 0; peer < schedule->context->size; peer++) {
        const struct redist__part *part = &side->parts[peer];
        if (peer == schedule->context->rank || part->elements == 0)
            continue;
        struct redist__copy copy;
        redist__copy_prepare(&copy, schedule->ndims, part->count, schedule->item, side->stride,
                             side->stride);
        redist__copy_run(&copy, state->source + part->offset, (char *)state->stage + part->offset,
                         state->traits->copier == REDIST__STREAMING);
    }
    redist__stream_fence();
}

void redist__direct_note(const struct redist__direct *state, int code) {
    redist__failure_note(state->problem->failure, code);
}

int redist__direct_failed(const struct redist__direct *state) {
    return redist__failed(state->problem->failure);
}

static int shares_box(const struct redist__direct *state, int peer) {
    return redist__direct_has_part(state, 0, peer) || redist__direct_has_part(state, 1, peer);
}

/* Waits until a rank has done an execution; meanwhile other executions go on. Then its failures are known.
 * Another rank that is gone is no reason to leave: this one may still copy. */
static void wait_done(const struct redist__direct *state, int peer, uint64_t number) {
    const struct redist__context *context = state->problem->schedule->context;
    const struct redist__line *line = redist__direct_line(state, peer);
    int code = REDIST_OK;
    for (unsigned poll = 0;
         code == REDIST_OK && atomic_load_explicit(&line->done, memory_order_acquire) < number;
         poll++) {
        if (state->problem->space->asynchronous)
            redist__direct_advance_all(state);
        code = redist__pause_for(context, context->node_ranks[peer], poll);
    }
    redist__direct_note(state, code);
    uint64_t failed = atomic_load_explicit(&line->failed, memory_order_relaxed);
    if (code == REDIST_OK && failed >= redist__failed_word(state->slot.born + 1, 0))
        redist__failure_note_peer(state->problem->failure, peer, (int)(failed & 255));
}

/* Ranks that share no box do not wait for each other in an execution; the next one begins when they have
 * done this one, so that a failure is known everywhere by then. */
static void wait_for_strangers(const struct redist__direct *state) {
    const struct redist__context *context = state->problem->schedule->context;
    for (int peer = 0; peer < context->size; peer++)
        if (peer != context->rank && !shares_box(state, peer))
            wait_done(state, peer, state->number - 1);
}

void redist__direct_announce(struct redist__direct *state, int direction, const void *source,
                             void *destination) {
    state->direction = direction;
    state->source = source;
    state->destination = destination;
    state->number = redist__slot_next(&state->slot);
    wait_for_strangers(state);
    if (state->routes[direction].mode == REDIST__STAGE && !redist__direct_failed(state))
        stage_source(state);
    redist__enter(state->problem->watch, REDIST__FIRST_MESSAGE);
    struct redist__line *mine = redist__direct_line(state, state->problem->schedule->context->rank);
    mine->place = state->routes[direction].mode == REDIST__STAGE
                      ? redist__space_host.export_memory(state->stage, 1)
                      : state->problem->space->export_memory(shared_array(state), 1);
    atomic_store_explicit(&mine->ready, state->number, memory_order_release);
}

void redist__direct_wait_stream(const struct redist__direct *state) {
    const struct redist__space *space = state->problem->space;
    void *mark = state->marks[0], *stream = state->problem->stream;
    int reached, code = space->stream_is_idle(stream, &reached);
    if (code == REDIST_OK && !reached)
        code = space->event_record(mark, stream);
    for (unsigned poll = 0; code == REDIST_OK && !reached; poll++) {
        redist__direct_advance_all(state);
        (void)redist__pause(state->problem->schedule->context, poll);
        code = space->event_is_reached(mark, &reached);
    }
    if (code != REDIST_OK)
        space->drain();
    redist__direct_note(state, code);
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct redist__direct *state = data;
    redist__direct_wait_stream(state);
    redist__direct_announce(state, direction, source, destination);
    redist__direct_expect(state);
    if (!state->problem->space->asynchronous)
        return;
    redist__direct_begin(state);
    redist__direct_advance_all(state);
}

void redist__direct_finish(const struct redist__direct *state) {
    const struct redist__context *context = state->problem->schedule->context;
    struct redist__watch *watch = state->problem->watch;
    redist__enter(watch, REDIST__FIRST_MESSAGE);
    redist__stream_fence();
    struct redist__line *mine = redist__direct_line(state, context->rank);
    int code = redist__direct_failed(state);
    if (code != REDIST_OK)
        atomic_store_explicit(&mine->failed, redist__failed_word(state->number, code),
                              memory_order_relaxed);
    atomic_store_explicit(&mine->done, state->number, memory_order_release);
    for (int peer = 0; peer < context->size; peer++)
        if (peer != context->rank && shares_box(state, peer)) {
            wait_done(state, peer, state->number);
            redist__arrived(watch);
        }
}

/* In host memory every execution is its thread's own. */
static int advance(struct redist__direct *state) {
    if (state->problem->space->asynchronous)
        return redist__direct_advance_all(state);
    redist__direct_advance(state);
    return state->left;
}

static void wait(void *data) {
    struct redist__direct *state = data;
    const struct redist__context *context = state->problem->schedule->context;
    int before = state->left, left = before, code = REDIST_OK;
    redist__enter(state->problem->watch, REDIST__FIRST_MESSAGE);
    for (unsigned poll = 0; left != 0 && code == REDIST_OK; poll++) {
        left = advance(state);
        if (left == before)
            code = redist__pause(context, poll);
        before = left;
    }
    redist__direct_note(state, code);
    if (state->problem->space->asynchronous)
        redist__direct_end(state);
    if (redist__direct_failed(state))
        redist__direct_drop(state);
    redist__direct_finish(state);
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    return ((const struct redist__direct *)data)->stage_bytes;
}

static void destroy(void *data) {
    struct redist__direct *state = data;
    redist__direct_free_puts(&state->puts);
    if (state->stage != NULL)
        redist__space_host.remove(state->stage);
    redist__slot_give(&state->slot);
    for (int direction = 0; direction < 2; direction++) {
        redist__batch_free(&state->routes[direction].batch);
        redist_release(state->routes[direction].remotes);
    }
    for (int i = 0; state->marks != NULL && i <= state->problem->schedule->context->size; i++)
        state->problem->space->event_destroy(state->marks[i]);
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
    .open = redist__direct_open,
    .put = redist__direct_tile,
    .get = redist__direct_tile,
    .progress = redist__direct_progress,
    .arrived = redist__direct_arrived,
    .close = redist__direct_close,
    .concurrent = 1,
    .workspace = workspace,
    .destroy = destroy,
};
