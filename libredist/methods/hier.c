/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several nodes: the exchange is cut in two halves: one among the ranks of each node by `direct`, and one between nodes
 * by a packed message for each pair of ranks, by `p2p`, on a device `p2p-streams`. In tiles both halves take each of
 * them, and a partition has arrived when both halves of it have.
 */
#include "method.h"
#include "packing.h"

/* A half of the exchange: a description with fewer parts, and its method. */
struct half {
    struct redist__transfer transfer;
    struct redist__problem problem;
    struct redist__transport transport;
};

struct state {
    const struct redist__problem *problem;
    struct redist__context *node; /* the context of this node's ranks */
    struct half inside, between;
};

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    (void)candidate;
    REDIST_TRY(redist__check_copyable(problem->transfer, "hier"));
    REDIST_TRY(redist__check_single(problem->transfer, "hier"));
    if (problem->space->asynchronous && problem->tiles == REDIST_GET)
        return redist__fail(REDIST_ERR_METHOD, "method hier gets tiles in host memory only");
    if (problem->space->asynchronous && !problem->mapped[0] && !problem->mapped[1])
        return redist__fail(REDIST_ERR_METHOD,
                            "method hier needs device memory that the ranks of a node can map");
    if (problem->tiles == REDIST_PUT && !problem->mapped[1] && problem->context->node_size > 1)
        return redist__fail(REDIST_ERR_METHOD,
                            "method hier puts tiles into an array of redist_alloc only");
    return redist__check_counts(problem->transfer, "hier", 0);
}

/* Ranks the method: on one node it is direct; on devices it moves tiles inside a node faster than MPI. */
static int preference(const struct redist__problem *problem,
                      const struct redist__candidate *candidate) {
    const struct redist__context *context = problem->context;
    int usual = problem->space->asynchronous && problem->tiles != REDIST_WHOLE ? 1 : -1;
    (void)candidate;
    return context->node_size == context->size ? REDIST__BY_NAME : usual;
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    struct state *state = *result = redist_calloc(1, sizeof *state);
    (void)candidate;
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method hier");
    state->problem = problem;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- halves */

/* Describes the parts exchanged among the ranks of this node, or those with other nodes. */
static int describe_half(struct half *half, const struct redist__problem *problem,
                         struct redist__context *context, int inside) {
    const int *node_ranks = problem->context->node_ranks;
    half->problem = *problem;
    half->problem.context = context;
    half->problem.transfer = &half->transfer;
    REDIST_TRY(
        redist__transfer_derive(&half->transfer, problem->transfer, context->rank, context->size));
    for (int rank = 0; rank < problem->context->size; rank++)
        for (int side = 0; side < 2 && (node_ranks[rank] >= 0) == inside; side++) {
            const struct redist__part *part = &problem->transfer->side[side].parts[rank];
            redist__part_copy(&half->transfer,
                              &half->transfer.side[side].parts[inside ? node_ranks[rank] : rank],
                              part);
            half->transfer.side[side].elements += part->elements;
        }
    return REDIST_OK;
}

/* Chooses the candidate of a name with the highest preference. */
static int choose(const struct half *half, const char *method,
                  struct redist__candidate *candidate) {
    struct redist__candidate candidates[REDIST__MOST_CANDIDATES];
    int n = redist__candidates(method, REDIST__MOST_CANDIDATES, candidates), reason = REDIST_OK;
    for (int i = 0; i < n; i++) {
        int code = candidates[i].method->applies(&half->problem, &candidates[i]);
        reason = reason == REDIST_OK ? code : reason;
        if (code == REDIST_OK &&
            (candidate->method == NULL || redist__preference(&half->problem, &candidates[i]) >
                                              redist__preference(&half->problem, candidate)))
            *candidate = candidates[i];
    }
    return candidate->method != NULL ? REDIST_OK : reason;
}

/* Connects a half by the method of this name. Collective on the half's communicator. */
static int connect_half(struct half *half, const struct redist__problem *problem,
                        struct redist__context *context, int inside, const char *method) {
    struct redist__candidate candidate = {NULL, 0};
    REDIST_TRY(redist_agree(context->comm, describe_half(half, problem, context, inside)));
    REDIST_TRY(redist_agree(context->comm, choose(half, method, &candidate)));
    return redist__transport_create(&half->problem, &candidate, &half->transport);
}

static int connect_inside(struct state *state) {
    int code = redist__context_get(state->problem->context->node, &state->node);
    if (code != REDIST_OK) {
        state->node = NULL;
        return code;
    }
    return connect_half(&state->inside, state->problem, state->node, 1, "direct");
}

static int connect(void *data) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    int whole = problem->tiles == REDIST_WHOLE;
    const char *messages = problem->space->asynchronous && whole ? "p2p-streams" : "p2p";
    REDIST_TRY(redist_agree(problem->context->comm, connect_inside(state)));
    return connect_half(&state->between, problem, problem->context, 0, messages);
}

/* ---------------------------------------------------------------- execution */

static const struct redist__method *method_of(const struct half *half) {
    return half->transport.candidate.method;
}

static void start_half(struct half *half, int direction, const void *source, void *destination) {
    method_of(half)->start(half->transport.state, direction, source, destination);
}

static void wait_half(struct half *half) {
    method_of(half)->wait(half->transport.state);
}

/* Starts the messages first: they travel while the ranks of the node copy. Both halves record failures in the same
 * plan: other nodes learn of a failure inside a node at the next execution. */
static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    start_half(&state->between, direction, source, destination);
    start_half(&state->inside, direction, source, destination);
}

static void wait(void *data) {
    struct state *state = data;
    wait_half(&state->inside);
    wait_half(&state->between);
}

/* ---------------------------------------------------------------- tiles */

static void open_tiles(void *data, void *array) {
    struct state *state = data;
    method_of(&state->between)->open(state->between.transport.state, array);
    method_of(&state->inside)->open(state->inside.transport.state, array);
}

static void put_tile(void *data, const struct redist__tile *tile) {
    struct state *state = data;
    method_of(&state->between)->put(state->between.transport.state, tile);
    method_of(&state->inside)->put(state->inside.transport.state, tile);
}

static void get_tile(void *data, const struct redist__tile *tile) {
    struct state *state = data;
    method_of(&state->inside)->get(state->inside.transport.state, tile);
    method_of(&state->between)->get(state->between.transport.state, tile);
}

static void progress_half(struct half *half) {
    if (method_of(half)->progress != NULL)
        method_of(half)->progress(half->transport.state);
}

static void progress(void *data) {
    struct state *state = data;
    progress_half(&state->between);
    progress_half(&state->inside);
}

static void arrived(void *data, int *partitions) {
    struct state *state = data;
    int inside = 0;
    method_of(&state->between)->arrived(state->between.transport.state, partitions);
    method_of(&state->inside)->arrived(state->inside.transport.state, &inside);
    *partitions = inside < *partitions ? inside : *partitions;
}

/* Closes the half inside the node first, whose ranks wait for each other's steps. */
static void close_tiles(void *data) {
    struct state *state = data;
    method_of(&state->inside)->close(state->inside.transport.state);
    method_of(&state->between)->close(state->between.transport.state);
}

/* ---------------------------------------------------------------- the method */

static size_t half_workspace(const struct half *half) {
    const struct redist__transport *transport = &half->transport;
    return transport->candidate.method->workspace(transport->state);
}

static size_t workspace(const void *data) {
    const struct state *state = data;
    return half_workspace(&state->inside) + half_workspace(&state->between);
}

static void destroy_half(struct half *half) {
    redist__transport_destroy(&half->transport);
    redist__transfer_free(&half->transfer);
}

static void destroy(void *data) {
    struct state *state = data;
    destroy_half(&state->between);
    destroy_half(&state->inside);
    if (state->node != NULL)
        redist__context_release(state->node);
    redist_release(state);
}

const struct redist__method redist__method_hier = {
    .name = "hier",
    .summary = "direct copies inside each node, packed messages between nodes",
    .applies = applies,
    .preference = preference,
    .create = create,
    .connect = connect,
    .start = start,
    .wait = wait,
    .open = open_tiles,
    .put = put_tile,
    .get = get_tile,
    .progress = progress,
    .arrived = arrived,
    .close = close_tiles,
    .workspace = workspace,
    .destroy = destroy,
};
