/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message for each ordered pair of nodes. For each other node one rank of this node sends the message, and one
 * receives; the carriers differ between nodes. All ranks of the node pack their parts into shared memory of the
 * carrier, which sends when all have; when a message has arrived, all unpack theirs from it. A message is ordered by
 * source rank, then by destination rank.
 *
 * Each rank has counters in shared memory. In execution n
 *   ready    = n  its outgoing messages of execution n - 1 have left: others may pack
 *   packed   grows with each node for which it has packed
 *   arrived  = n  for each node whose message it carries: others may unpack
 *   done     = n  it has unpacked all: carriers may receive again
 *   failed   > 0  it has failed; written before `packed`, `arrived` and `done`
 *
 * A message that lacks the part of a failed rank of the node is sent empty; and the rank that receives an empty message
 * has failed too, which the ranks of its node detect when they unpack. After `done` of an execution each rank checks
 * whether any of its node failed. A rank that frees the plan after a failure leaves all its counters at their ends, so
 * that no rank waits for it.
 */
#include "hier_nodes.h"
#include "../copy/copy.h"
#include "messages.h"
#include "packing.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

struct header {
    _Alignas(64) _Atomic uint64_t ready;
    _Atomic uint64_t packed, done;
    _Atomic uint64_t failed;
    _Atomic uint64_t arrived[]; /* for each node */
};

/* The messages to and from a node, in one direction of the exchange. */
struct bundle {
    uint64_t out, in;     /* elements of the messages */
    uint64_t mine;        /* elements of the outgoing one before those of this rank */
    size_t out_at, in_at; /* offsets in their carriers' memory */
};

struct node {
    struct bundle bundles[2];  /* of both directions */
    char is_sent, is_unpacked; /* in the pending execution */
};

/* Elements before the part from a rank, in its message, for both directions. */
struct position {
    uint64_t before[2];
};

struct state {
    const struct redist__problem *problem;
    int nnodes, own;      /* nodes; this one */
    const int *node_of;   /* of each rank */
    int *first, *members; /* ranks by node: those of node i begin at first[i] */
    struct node *nodes;
    struct position *positions;  /* of each rank */
    MPI_Datatype element;        /* the item's bytes */
    void *memory;                /* of this rank, shared */
    size_t bytes, head;          /* of all of it, of the header */
    void **memories;             /* of all ranks of the node, by rank in it */
    struct redist__messages mpi; /* one for each node */
    uint64_t number;             /* of the pending execution */
    int posted, npacked;         /* receives are posted; packed nodes */
    int left;                    /* nodes not unpacked, messages not sent or received */
    int direction;
    const char *source;
    char *destination;
};

enum { ALIGNMENT = 64 };

static struct redist__context *context_of(const struct state *state) {
    return state->problem->context;
}

/* ---------------------------------------------------------------- nodes */

/* Sorts the ranks by node. */
static void sort_by_node(struct state *state) {
    int size = context_of(state)->size;
    for (int rank = 0; rank < size; rank++)
        state->first[state->node_of[rank] + 1]++;
    for (int node = 0; node < state->nnodes; node++)
        state->first[node + 1] += state->first[node];
    for (int rank = size - 1; rank >= 0; rank--) /* each end moves down to its begin */
        state->members[--state->first[state->node_of[rank] + 1]] = rank;
    for (int node = 0; node < state->nnodes; node++)
        state->first[node] = state->first[node + 1];
    state->first[state->nnodes] = size;
}

static int members_of(const struct state *state, int node) {
    return state->first[node + 1] - state->first[node];
}

static int carrier_of(const struct state *state, int node, int other) {
    return state->members[state->first[node] + other % members_of(state, node)];
}

static int carries(const struct state *state, int other) {
    return carrier_of(state, state->own, other) == context_of(state)->rank;
}

/* ---------------------------------------------------------------- sizes */

/* Sums this rank's elements sent to each node, or received from it. */
static void sum_by_node(const struct state *state, int side, uint64_t sums[]) {
    const struct redist__part *parts = state->problem->transfer->side[side].parts;
    for (int rank = 0; rank < context_of(state)->size; rank++)
        sums[state->node_of[rank]] += parts[rank].elements;
}

/* Adds the elements of a rank of this node to the messages; `sums` are the rank's, of both sides. */
static void add_rank(struct state *state, int rank, const uint64_t sums[]) {
    for (int direction = 0; direction < 2; direction++)
        for (int node = 0; node < state->nnodes; node++) {
            struct bundle *bundle = &state->nodes[node].bundles[direction];
            uint64_t out = sums[direction * state->nnodes + node];
            bundle->mine += rank < context_of(state)->rank ? out : 0;
            bundle->out += out;
            bundle->in += sums[!direction * state->nnodes + node];
        }
}

/* Finds the sizes of the messages, and the positions of each rank's parts. */
static int find_messages(struct state *state, uint64_t sums[], uint64_t all_sums[],
                         struct position positions[]) {
    const struct redist__context *context = context_of(state);
    const struct redist__side *side = state->problem->transfer->side;
    int n = 2 * state->nnodes, first = state->first[state->own], code = REDIST_OK;
    sum_by_node(state, 0, sums);
    sum_by_node(state, 1, sums + state->nnodes);
    redist__keep_first(&code,
                       redist_all_gather(context->node, sums, (size_t)n * sizeof *sums, all_sums));
    for (int i = 0; i < context->node_size; i++)
        add_rank(state, state->members[first + i],
                 all_sums + context->node_ranks[state->members[first + i]] * n);
    for (int direction = 0; direction < 2; direction++)
        for (int node = 0; node < state->nnodes; node++) {
            uint64_t at = state->nodes[node].bundles[direction].mine;
            for (int i = state->first[node]; i < state->first[node + 1]; i++) {
                positions[state->members[i]].before[direction] = at;
                at += side[direction].parts[state->members[i]].elements;
            }
        }
    redist__keep_first(
        &code, redist_all_to_all(context->comm, positions, sizeof *positions, state->positions));
    return code;
}

static int connect_messages(struct state *state) {
    const struct redist__context *context = context_of(state);
    size_t row = 2 * (size_t)state->nnodes, room = row * (size_t)(1 + context->node_size);
    uint64_t *sums = redist_calloc(room + 2 * (size_t)context->size, sizeof *sums);
    int code = redist__agree_memory(context->comm, sums, "for the sizes of messages");
    if (code == REDIST_OK)
        code = redist_agree(context->comm, find_messages(state, sums, sums + row,
                                                         (struct position *)(sums + room)));
    redist_release(sums);
    return code;
}

static int check_counts(const struct state *state) {
    uint64_t most = 0;
    for (int i = 0; i < 2 * state->nnodes; i++) {
        const struct bundle *bundle = &state->nodes[i / 2].bundles[i % 2];
        if (i / 2 != state->own) /* backward the incoming message goes out */
            most = bundle->out > most ? bundle->out : most;
    }
    if (most <= INT_MAX)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_LIMIT,
                        "method hier:nodes counts in MPI's int, but %llu elements are sent in one "
                        "message",
                        (unsigned long long)most);
}

static size_t padded(uint64_t elements, size_t item) {
    size_t bytes = (size_t)elements * item;
    return bytes + (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
}

/* Positions the messages in one direction that a member of the node carries, from `at` on; returns their end. */
static size_t position_bundles(struct state *state, int direction, int incoming, int member,
                               size_t at) {
    size_t item = state->problem->transfer->item;
    for (int node = member; node < state->nnodes; node += context_of(state)->node_size) {
        struct bundle *bundle = &state->nodes[node].bundles[direction];
        *(incoming ? &bundle->in_at : &bundle->out_at) = at;
        if (node != state->own)
            at += padded(incoming ? bundle->in : bundle->out, item);
    }
    return at;
}

/* Positions the messages in the carriers' memories, alike on all ranks of the node. Incoming messages follow the
 * outgoing ones of either direction, so that one may be unpacked while the next are packed. */
static void position_messages(struct state *state) {
    const struct redist__context *context = context_of(state);
    const int *members = state->members + state->first[state->own];
    state->head = padded(sizeof(struct header) + (size_t)state->nnodes * sizeof(uint64_t), 1);
    for (int member = 0; member < context->node_size; member++) {
        size_t end = state->head;
        for (int incoming = 0; incoming < 2; incoming++) {
            size_t forward = position_bundles(state, 0, incoming, member, end);
            size_t backward = position_bundles(state, 1, incoming, member, end);
            end = forward > backward ? forward : backward;
        }
        if (members[member] == context->rank)
            state->bytes = end;
    }
}

/* ---------------------------------------------------------------- making */

/* Connects the shared memory. After the closing agreement every rank has cleared its counters. */
static int connect_memory(struct state *state) {
    struct redist__context *context = context_of(state);
    position_messages(state);
    REDIST_TRY(redist_agree(context->comm, check_counts(state)));
    REDIST_TRY(redist__space_host.create(context, state->bytes, &state->memory));
    memset(state->memory, 0, state->head);
    return redist_agree(context->comm, redist__map_parts(context, state->memory, state->memories));
}

static int allocate(struct state *state) {
    const struct redist__context *context = context_of(state);
    size_t size = (size_t)context->size;
    state->nnodes = context->nnodes;
    state->node_of = context->node_of;
    state->own = context->node_of[context->rank];
    state->first = redist_calloc(size + 1, sizeof(int));
    state->members = redist_calloc(size, sizeof(int));
    state->memories = redist_calloc((size_t)context->node_size, sizeof(void *));
    state->nodes = redist_calloc((size_t)context->nnodes, sizeof *state->nodes);
    state->positions = redist_calloc(size, sizeof *state->positions);
    if (state->first == NULL || state->members == NULL || state->memories == NULL ||
        state->nodes == NULL || state->positions == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for messages between nodes");
    REDIST_TRY(redist__messages_create(&state->mpi, state->problem, state->nnodes));
    return redist__element_type(state->problem->transfer, &state->element);
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    struct state *state = *result = redist_calloc(1, sizeof *state);
    (void)candidate;
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method hier:nodes");
    state->problem = problem;
    state->element = MPI_DATATYPE_NULL;
    return allocate(state);
}

static int connect(void *data) {
    struct state *state = data;
    sort_by_node(state);
    REDIST_TRY(connect_messages(state));
    return connect_memory(state);
}

static size_t workspace(const void *data) {
    return ((const struct state *)data)->bytes;
}

static void leave(struct state *state) {
    struct header *mine = state->memory;
    atomic_store_explicit(&mine->failed, 1, memory_order_relaxed);
    for (int node = 0; node < state->nnodes; node++)
        atomic_store_explicit(&mine->arrived[node], UINT64_MAX, memory_order_release);
    atomic_store_explicit(&mine->packed, UINT64_MAX, memory_order_release);
    atomic_store_explicit(&mine->done, UINT64_MAX, memory_order_release);
    atomic_store_explicit(&mine->ready, UINT64_MAX, memory_order_release);
}

static void destroy(void *data) {
    struct state *state = data;
    if (state->memory != NULL && redist__has_failed(state->problem))
        leave(state);
    if (!redist__messages_free(&state->mpi) && state->memory != NULL)
        redist__space_host.remove(state->memory);
    if (state->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&state->element);
    redist_release(state->nodes);
    redist_release(state->positions);
    redist_release(state->first);
    redist_release(state->members);
    redist_release(state->memories);
    redist_release(state);
}

/* ---------------------------------------------------------------- one execution */

/* Returns the other nodes in cyclic order after the own one. */
static int node_at(const struct state *state, int step) {
    return (state->own + step) % state->nnodes;
}

static struct header *header_of(const struct state *state, int rank) {
    return state->memories[context_of(state)->node_ranks[rank]];
}

/* Returns the header of the carrier for a node. */
static struct header *header_for(const struct state *state, int node) {
    return header_of(state, carrier_of(state, state->own, node));
}

/* Publishes a failure, which the ranks of the node read with this rank's next counter. */
static void publish_failure(struct state *state) {
    struct header *mine = state->memory;
    if (redist__has_failed(state->problem))
        atomic_store_explicit(&mine->failed, 1, memory_order_relaxed);
}

/* Records a failure that another rank of the node published before the counter just read. */
static void note_failure_of(struct state *state, const struct header *theirs, int rank) {
    if (atomic_load_explicit(&theirs->failed, memory_order_relaxed) != 0)
        redist__failure_note_peer(state->problem->failure, rank, REDIST_OK);
}

static void note_failures(struct state *state) {
    const struct redist__context *context = context_of(state);
    for (int i = state->first[state->own]; i < state->first[state->own + 1]; i++)
        if (state->members[i] != context->rank)
            note_failure_of(state, header_of(state, state->members[i]), state->members[i]);
}

static struct bundle *bundle_of(const struct state *state, int node) {
    return &state->nodes[node].bundles[state->direction];
}

/* Returns whether all ranks of the node have reached a value of one of the counters. */
static int all_reached(const struct state *state, size_t counter, uint64_t value) {
    for (int i = 0; i < context_of(state)->node_size; i++) {
        _Atomic uint64_t *theirs = (void *)((char *)state->memories[i] + counter);
        if (atomic_load_explicit(theirs, memory_order_acquire) < value)
            return 0;
    }
    return 1;
}

static void post_receives(struct state *state) {
    if (state->posted || !all_reached(state, offsetof(struct header, done), state->number - 1))
        return;
    state->posted = 1;
    note_failures(state);
    for (int step = 1; step < state->nnodes; step++) {
        int node = node_at(state, step);
        const struct bundle *bundle = bundle_of(state, node);
        if (carries(state, node) && bundle->in != 0)
            redist__messages_receive(&state->mpi, node, (char *)state->memory + bundle->in_at,
                                     (int)bundle->in, state->element,
                                     carrier_of(state, node, state->own), state->problem->tag);
    }
}

/* Copies one part of this rank between its array and the message at `at`. */
static void copy_part(const struct state *state, int unpacks, int rank, char *at) {
    const struct redist__transfer *transfer = state->problem->transfer;
    const struct redist__side *side = &transfer->side[state->direction ^ unpacks];
    const struct redist__part *part = &side->parts[rank];
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    struct redist__copy copy;
    if (part->elements == 0)
        return;
    redist__strides(transfer->ndims, part->count, transfer->item, packed);
    redist__copy_prepare(&copy, transfer->ndims, part->count, transfer->item,
                         unpacks ? packed : side->stride, unpacks ? side->stride : packed);
    if (unpacks)
        redist__copy_run(&copy, at, state->destination + part->offset, 0);
    else
        redist__copy_run(&copy, state->source + part->offset, at, 0);
}

static void pack_node(const struct state *state, int node) {
    const struct redist__transfer *transfer = state->problem->transfer;
    const struct bundle *bundle = bundle_of(state, node);
    char *at = (char *)header_for(state, node) + bundle->out_at + bundle->mine * transfer->item;
    for (int i = state->first[node]; i < state->first[node + 1]; i++) {
        int rank = state->members[i];
        copy_part(state, 0, rank, at);
        at += transfer->side[state->direction].parts[rank].elements * transfer->item;
    }
}

static uint64_t packed_by(const struct state *state, int step) {
    return (state->number - 1) * (uint64_t)(state->nnodes - 1) + (uint64_t)step;
}

/* Packs for one node after the other, as long as their carriers are ready. */
static void pack_ready(struct state *state) {
    struct header *mine = state->memory;
    while (state->npacked + 1 < state->nnodes) {
        int step = state->npacked + 1, node = node_at(state, step);
        const struct header *theirs = header_for(state, node);
        if (atomic_load_explicit(&theirs->ready, memory_order_acquire) < state->number)
            return;
        redist__enter(state->problem->timer, REDIST__PACK);
        if (!redist__has_failed(state->problem))
            pack_node(state, node);
        redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
        state->npacked = step;
        publish_failure(state);
        atomic_store_explicit(&mine->packed, packed_by(state, step), memory_order_release);
    }
}

static void send_packed(struct state *state) {
    for (int step = 1; step < state->nnodes; step++) {
        int node = node_at(state, step);
        const struct bundle *bundle = bundle_of(state, node);
        if (state->nodes[node].is_sent ||
            !all_reached(state, offsetof(struct header, packed), packed_by(state, step)))
            continue;
        state->nodes[node].is_sent = 1;
        state->left--;
        note_failures(state);
        redist__messages_send(&state->mpi, node, NULL, (char *)state->memory + bundle->out_at,
                              (int)bundle->out, state->element, carrier_of(state, node, state->own),
                              state->problem->tag);
    }
}

static void publish_arrived(struct state *state, int node) {
    struct header *mine = state->memory;
    publish_failure(state);
    atomic_store_explicit(&mine->arrived[node], state->number, memory_order_release);
}

/* Publishes the arrived messages to the ranks of the node. */
static void take_arrived(struct state *state) {
    int node, left;
    while (state->posted && !state->mpi.lost &&
           (node = redist__messages_test(&state->mpi, &left)) >= 0)
        publish_arrived(state, node);
}

static void unpack_node(struct state *state, int node) {
    size_t item = state->problem->transfer->item;
    char *message = (char *)header_for(state, node) + bundle_of(state, node)->in_at;
    for (int i = state->first[node]; i < state->first[node + 1]; i++) {
        int rank = state->members[i];
        copy_part(state, 1, rank, message + state->positions[rank].before[state->direction] * item);
    }
}

static void unpack_arrived(struct state *state) {
    for (int step = 1; step < state->nnodes; step++) {
        int node = node_at(state, step);
        const struct header *theirs = header_for(state, node);
        if (state->nodes[node].is_unpacked ||
            atomic_load_explicit(&theirs->arrived[node], memory_order_acquire) < state->number)
            continue;
        redist__arrived(state->problem->timer);
        redist__enter(state->problem->timer, REDIST__UNPACK);
        note_failure_of(state, theirs, carrier_of(state, state->own, node));
        if (!redist__has_failed(state->problem))
            unpack_node(state, node);
        redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
        state->nodes[node].is_unpacked = 1;
        state->left--;
    }
}

/* Advances; nonzero if anything is left. */
static int advance(struct state *state) {
    redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
    post_receives(state);
    pack_ready(state);
    send_packed(state);
    take_arrived(state);
    unpack_arrived(state);
    return state->left != 0 || !state->posted || state->npacked + 1 < state->nnodes;
}

static void progress(void *data) {
    (void)advance(data);
}

/* Starts; empty messages count as sent and unpacked. */
static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    struct header *mine = state->memory;
    state->direction = direction;
    state->source = source;
    state->destination = destination;
    state->posted = state->npacked = state->left = 0;
    state->number++;
    for (int node = 0; node < state->nnodes; node++) {
        const struct bundle *bundle = bundle_of(state, node);
        state->nodes[node].is_sent =
            node == state->own || bundle->out == 0 || !carries(state, node);
        state->nodes[node].is_unpacked = node == state->own || bundle->in == 0;
        state->left += !state->nodes[node].is_sent + !state->nodes[node].is_unpacked;
    }
    publish_failure(state);
    atomic_store_explicit(&mine->ready, state->number, memory_order_release);
    progress(state);
}

/* Publishes abandoned messages as complete, so that the ranks of the node do not wait for them. */
static void publish_all(struct state *state) {
    struct header *mine = state->memory;
    for (int node = 0; node < state->nnodes; node++)
        publish_arrived(state, node);
    atomic_store_explicit(&mine->packed, packed_by(state, state->nnodes - 1), memory_order_release);
}

static void wait(void *data) {
    struct state *state = data;
    struct header *mine = state->memory;
    for (unsigned poll = 0; advance(state) && !state->mpi.lost; poll++)
        redist__messages_pause(&state->mpi, poll);
    if (state->mpi.lost)
        publish_all(state);
    redist__enter(state->problem->timer, REDIST__COMMUNICATE);
    redist__messages_end(&state->mpi);
    publish_failure(state);
    atomic_store_explicit(&mine->done, state->number, memory_order_release);
}

const struct redist__method redist__node_messages = {
    .name = "hier",
    .create = create,
    .connect = connect,
    .start = start,
    .wait = wait,
    .progress = progress,
    .workspace = workspace,
    .destroy = destroy,
};
