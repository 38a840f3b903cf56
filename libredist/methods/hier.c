/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several nodes: the exchange is cut in two halves: one among the ranks of each node, and one between nodes. In tiles
 * both halves take each of them, and a partition has arrived when both halves of it have.
 *
 *   hier        `direct`, and a packed message for each pair of ranks, by `p2p`, on a device `p2p-streams`
 *   hier:nccl   `direct`, in a user's stream `signals`, and `nccl`: both links of a device at once
 *
 * In a user's stream the half inside the node begins with a gate, which waits for the destinations of the node's ranks,
 * and ends with another one, which waits for their copies. NCCL's messages are enqueued between both, beside the
 * copies. So all ranks wait for each other in one order, even where a graph does one thing after the other: at the
 * first gate, in the waves of messages, at the last gate, in NCCL's reduction of failures. Therefore no copy waits for
 * a step of a peer, as those of `signals` do elsewhere. With partitions there is a gate for each: it comes after the
 * wave of that partition, and the next wave after the signal of this rank. Both halves fail by one word in host memory.
 */
#include "method.h"
#include "packing.h"

#include <string.h>

/* A half of the exchange: a description with fewer parts, and its method. */
struct half {
    struct redist__transfer transfer;
    struct redist__problem problem;
    struct redist__transport transport;
};

/* Data by which the methods of this file differ. */
struct kind {
    const char *inside, *inside_enqueued; /* the methods of the halves; NULL = none */
    const char *between, *between_tiles;
    int opens_inside; /* inside first, as the host waits there for the user's stream, or the stream for the gate */
};

struct state {
    const struct redist__problem *problem;
    const struct kind *kind;
    struct redist__context *node; /* the context of this node's ranks, */
    int *ranks;                   /* and these in the plan's communicator */
    struct half inside, between;
    void *event;            /* of a direct store, */
    redist_target *targets; /* in which both halves store, */
    int room;               /* and how many can be listed */
    void *word;             /* asynchronous: by which both fail */
};

/* Checks that messages within nodes may be exact. */
static int check_exact(const struct redist__problem *problem, const char *name) {
    if (problem->format == NULL || !problem->formats_all)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD,
                        "method %s is exact within nodes, which REDIST_WIRE_EVERYWHERE excludes",
                        name);
}

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    const char *name = candidate->method->name;
    REDIST_TRY(redist__check_copyable(problem->transfer, name));
    REDIST_TRY(redist__check_single(problem->transfer, name));
    REDIST_TRY(check_exact(problem, name));
    if (problem->space->asynchronous && problem->tiles == REDIST_GET)
        return redist__fail(REDIST_ERR_METHOD, "method %s gets tiles in host memory only", name);
    if (problem->space->asynchronous && !problem->mapped[0] && !problem->mapped[1])
        return redist__fail(REDIST_ERR_METHOD,
                            "method %s needs device memory that the ranks of a node can map", name);
    if (problem->tiles == REDIST_PUT && !problem->mapped[1] && problem->context->node_size > 1)
        return redist__fail(REDIST_ERR_METHOD,
                            "method %s puts tiles into an array of redist_alloc only", name);
    return redist__check_counts(problem, name, 0);
}

/* Ranks the method: on one node it is direct; on devices it moves tiles inside a node faster than MPI. */
static int preference(const struct redist__problem *problem,
                      const struct redist__candidate *candidate) {
    const struct redist__context *context = problem->context;
    int usual = problem->space->asynchronous && problem->tiles != REDIST_WHOLE ? 1 : -1;
    (void)candidate;
    return context->node_size == context->size ? REDIST__BY_NAME : usual;
}

/* Checks the half inside of enqueued exchanges, whose ranks know the destination when the plan is made. */
static int check_enqueued(const struct redist__problem *problem) {
    if (!problem->bound[1] || !problem->mapped[1])
        return redist__fail(REDIST_ERR_METHOD,
                            "method hier:nccl needs an array b that the ranks of a node can map "
                            "(of redist_alloc_in or cudaMalloc), given when the plan is made");
    return REDIST_OK;
}

static int applies_with_nccl(const struct redist__problem *problem,
                             const struct redist__candidate *candidate) {
    struct redist__candidate nccl;
    (void)redist__candidates("nccl", 1, &nccl);
    REDIST_TRY(nccl.method->applies(problem, &nccl));
    REDIST_TRY(redist__check_single(problem->transfer, candidate->method->name));
    REDIST_TRY(check_exact(problem, candidate->method->name));
    return problem->asynchronous ? check_enqueued(problem) : applies(problem, candidate);
}

/* Competes with NCCL alone where some ranks share a node and others do not; in a user's stream only if it has all
 * directions that NCCL has, too. */
static int preference_with_nccl(const struct redist__problem *problem,
                                const struct redist__candidate *candidate) {
    const struct redist__context *context = problem->context;
    int lacks_backward = problem->asynchronous && problem->tiles == REDIST_WHOLE &&
                         !problem->transfer->one_way && !(problem->bound[0] && problem->mapped[0]);
    (void)candidate;
    return context->nnodes > 1 && context->nnodes < context->size && !lacks_backward
               ? 1
               : REDIST__BY_NAME;
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method hier");
    state->problem = problem;
    state->kind = candidate->method->kind;
    state->ranks = redist_calloc((size_t)problem->context->node_size, sizeof *state->ranks);
    if (state->ranks == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method hier");
    for (int rank = 0; rank < problem->context->size; rank++)
        if (problem->context->node_ranks[rank] >= 0)
            state->ranks[problem->context->node_ranks[rank]] = rank;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- halves */

/* Describes the parts exchanged among the ranks of this node, or those with other nodes. */
static int describe_half(const struct state *state, struct half *half,
                         struct redist__context *context, int inside) {
    const struct redist__problem *problem = state->problem;
    const int *node_ranks = problem->context->node_ranks;
    half->problem = *problem;
    half->problem.context = context;
    half->problem.transfer = &half->transfer;
    half->problem.is_half = problem->asynchronous;
    half->problem.word = state->word;
    half->problem.ranks = inside ? state->ranks : NULL;
    half->problem.format = inside ? NULL : problem->format;
    if (problem->asynchronous && problem->partitions > 1 && !inside)
        half->problem.told = state->inside.transport.method->told(state->inside.transport.state);
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

static int serves(const struct redist__problem *problem,
                  const struct redist__candidate *candidate) {
    return candidate->method->applies(problem, candidate);
}

/* Connects a half by the method of this name. Collective on the half's communicator. */
static int connect_half(struct state *state, struct half *half, struct redist__context *context,
                        int inside, const char *method) {
    struct redist__candidate candidate;
    REDIST_TRY(redist_agree(context->comm, describe_half(state, half, context, inside)));
    REDIST_TRY(
        redist_agree(context->comm, redist__find_best(&half->problem, method, serves, &candidate)));
    return redist__transport_create(&half->problem, &candidate, &half->transport);
}

static int connect_inside(struct state *state) {
    const struct kind *kind = state->kind;
    int code = redist__context_get(state->problem->context->node, &state->node);
    if (code != REDIST_OK) {
        state->node = NULL;
        return code;
    }
    return connect_half(state, &state->inside, state->node, 1,
                        state->problem->asynchronous ? kind->inside_enqueued : kind->inside);
}

/* Makes what both halves share. */
static int create_common(struct state *state) {
    const struct redist__space *space = state->problem->space;
    if (state->problem->asynchronous) {
        REDIST_TRY(space->allocate_pinned(sizeof(uint64_t), &state->word));
        *(uint64_t *)state->word = 0;
    }
    return space->event_create(&state->event);
}

static int connect(void *data) {
    struct state *state = data;
    const struct redist__context *context = state->problem->context;
    int is_whole = state->problem->space->asynchronous && state->problem->tiles == REDIST_WHOLE;
    REDIST_TRY(redist_agree(context->comm, create_common(state)));
    REDIST_TRY(redist_agree(context->comm, connect_inside(state)));
    return connect_half(state, &state->between, state->problem->context, 0,
                        is_whole ? state->kind->between : state->kind->between_tiles);
}

/* ---------------------------------------------------------------- execution */

/* Returns the half that begins first, or the other one. */
static const struct redist__transport *half_at(const struct state *state, int position) {
    return position != state->kind->opens_inside ? &state->inside.transport
                                                 : &state->between.transport;
}

/* Passes on what may change after the plan was made. */
static void refresh(struct state *state) {
    state->inside.problem.rehearses = state->between.problem.rehearses = state->problem->rehearses;
}

/* Ends what is enqueued: the last gate inside the node comes after the messages, the reduction of failures after it. */
static void end_enqueued(struct state *state) {
    redist__note(state->problem, state->between.transport.method->await(
                                     state->between.transport.state, state->problem->partitions));
    state->inside.transport.method->close(state->inside.transport.state);
    state->between.transport.method->close(state->between.transport.state);
}

/* Starts messages over MPI first: they travel while the ranks of the node copy. Both halves record failures in the same
 * plan: other nodes learn of a failure inside a node at the next execution, or by the reduction of enqueued ones. */
static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    refresh(state);
    redist__transport_start(half_at(state, 0), direction, source, destination);
    redist__transport_start(half_at(state, 1), direction, source, destination);
    if (state->problem->asynchronous)
        end_enqueued(state);
}

/* In a user's stream NCCL's messages come first, which the host aborts where a peer is gone. */
static void wait(void *data) {
    struct state *state = data;
    int asynchronous = state->problem->asynchronous;
    redist__transport_wait(asynchronous ? &state->between.transport : &state->inside.transport);
    redist__transport_wait(asynchronous ? &state->inside.transport : &state->between.transport);
}

static void query(void *data) {
    struct state *state = data;
    refresh(state);
    redist__transport_query(&state->inside.transport);
    redist__transport_query(&state->between.transport);
}

static void leave(void *data) {
    const struct state *state = data;
    redist__transport_leave(&state->between.transport);
    redist__transport_leave(&state->inside.transport);
}

static uint64_t *word(const void *data) {
    const struct half *between = &((const struct state *)data)->between;
    return between->transport.method->word(between->transport.state);
}

static void join(void *data, uint64_t *other) {
    struct state *state = data;
    state->between.transport.method->join(state->between.transport.state, other);
    state->inside.transport.method->join(state->inside.transport.state, other);
}

/* ---------------------------------------------------------------- tiles */

static void open_tiles(void *data, void *array) {
    struct state *state = data;
    refresh(state);
    for (int i = 0; i < 2; i++)
        half_at(state, i)->method->open(half_at(state, i)->state, array);
}

static void progress(void *data) {
    struct state *state = data;
    redist__transport_progress(&state->between.transport);
    redist__transport_progress(&state->inside.transport);
}

/* Sends the messages that waited until the half inside had signalled. */
static void send_held(struct state *state) {
    if (state->problem->asynchronous)
        redist__transport_progress(&state->between.transport);
}

static void put_tile(void *data, const struct redist__tile *tile) {
    struct state *state = data;
    state->between.transport.method->put(state->between.transport.state, tile);
    state->inside.transport.method->put(state->inside.transport.state, tile);
    send_held(state);
}

static void get_tile(void *data, const struct redist__tile *tile) {
    struct state *state = data;
    state->inside.transport.method->get(state->inside.transport.state, tile);
    state->between.transport.method->get(state->between.transport.state, tile);
}

static int own(const void *data, const struct redist__tile *tile, redist_target *target) {
    const struct half *inside = &((const struct state *)data)->inside;
    return inside->transport.method->own(inside->transport.state, tile, target);
}

static void arrived(void *data, int *partitions) {
    struct state *state = data;
    int inside = 0;
    state->between.transport.method->arrived(state->between.transport.state, partitions);
    state->inside.transport.method->arrived(state->inside.transport.state, &inside);
    *partitions = inside < *partitions ? inside : *partitions;
}

/* Waits for the messages first, as the other ranks do. */
static int await(void *data, int partitions) {
    const struct state *state = data;
    REDIST_TRY(state->between.transport.method->await(state->between.transport.state, partitions));
    return state->inside.transport.method->await(state->inside.transport.state, partitions);
}

/* Closes the half inside the node first, whose ranks wait for each other's steps. */
static void close_tiles(void *data) {
    struct state *state = data;
    if (state->problem->asynchronous) {
        end_enqueued(state);
        return;
    }
    state->inside.transport.method->close(state->inside.transport.state);
    state->between.transport.method->close(state->between.transport.state);
}

/* ---------------------------------------------------------------- direct stores */

/* One store for both halves. */
struct store {
    struct state *state;
    const struct redist__tile *tile;
    redist_store *by;
    void *data;
    int ninside; /* targets, the first ones */
    int is_given, is_done;
};

/* Makes room for targets behind the `kept` first ones. */
static int make_room(struct state *state, int kept, int more) {
    size_t count = (size_t)(kept + more);
    if (state->room >= kept + more)
        return REDIST_OK;
    redist_target *targets = redist_calloc(count, sizeof *targets);
    if (targets == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %zu targets of a store", count);
    if (kept > 0)
        memcpy(targets, state->targets, (size_t)kept * sizeof *targets);
    redist_release(state->targets);
    state->targets = targets;
    state->room = kept + more;
    return REDIST_OK;
}

/* Adds targets to those of the half inside the node, and stores in all of them. */
static int store_in_both(void *data, int ntargets, const redist_target targets[], void *stream) {
    struct store *store = data;
    struct state *state = store->state;
    REDIST_TRY(make_room(state, store->ninside, ntargets));
    memcpy(&state->targets[store->ninside], targets, (size_t)ntargets * sizeof *targets);
    store->is_done = 1;
    return store->by(store->data, store->ninside + ntargets, state->targets, stream);
}

static void give_to_between(struct store *store) {
    const struct half *between = &store->state->between;
    store->is_given = 1;
    between->transport.method->store(between->transport.state, store->tile, store_in_both, store);
}

/* Keeps the targets inside the node, and lets the other half store in the user's stream. The stream that the half
 * inside goes on in follows that. */
static int store_with_between(void *data, int ntargets, const redist_target targets[],
                              void *stream) {
    struct store *store = data;
    struct state *state = store->state;
    const struct redist__problem *problem = state->problem;
    REDIST_TRY(make_room(state, 0, ntargets));
    memcpy(state->targets, targets, (size_t)ntargets * sizeof *targets);
    store->ninside = ntargets;
    give_to_between(store);
    REDIST_TRY(redist__has_failed(problem));
    if (!store->is_done)
        REDIST_TRY(store->by(store->data, ntargets, state->targets, problem->stream));
    if (stream == problem->stream)
        return REDIST_OK;
    REDIST_TRY(problem->space->event_record(state->event, problem->stream));
    return problem->space->stream_follow(stream, state->event);
}

static void store_tile(void *data, const struct redist__tile *tile, redist_store *by, void *given) {
    struct state *state = data;
    struct store store = {.state = state, .tile = tile, .by = by, .data = given};
    state->inside.transport.method->store(state->inside.transport.state, tile, store_with_between,
                                          &store);
    if (!store.is_given)
        give_to_between(&store);
    send_held(state);
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    const struct state *state = data;
    return redist__transport_workspace(&state->inside.transport) +
           redist__transport_workspace(&state->between.transport);
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
    state->problem->space->event_destroy(state->event);
    state->problem->space->release_pinned(state->word);
    redist_release(state->targets);
    redist_release(state->ranks);
    redist_release(state);
}

#define METHOD(id, sentence)                                                                       \
    .name = id, .summary = sentence, .formats = 1, .create = create, .connect = connect,           \
    .start = start, .wait = wait, .open = open_tiles, .put = put_tile, .arrived = arrived,         \
    .close = close_tiles, .workspace = workspace, .destroy = destroy

const struct redist__method redist__method_hier = {
    METHOD("hier", "direct copies inside each node, packed messages between nodes"),
    .kind = &(const struct kind){"direct", NULL, "p2p-streams", "p2p", 0},
    .applies = applies,
    .preference = preference,
    .get = get_tile,
    .progress = progress,
};

const struct redist__method redist__method_hier_nccl = {
    METHOD("hier:nccl", "direct copies inside each node beside messages by NCCL between nodes, for "
                        "arrays on CUDA devices"),
    .kind = &(const struct kind){"direct", "signals:engines", "nccl", "nccl", 1},
    .modes = REDIST__DOES_BOTH,
    .needs_peers_arrays = 1,
    .formats_tiles = 1,
    .applies = applies_with_nccl,
    .preference = preference_with_nccl,
    .store = store_tile,
    .stores_partitions = 1,
    .await = await,
    .own = own,
    .progress = progress,
    .query = query,
    .leave = leave,
    .word = word,
    .join = join,
    .has_word_in_host = 1,
};
