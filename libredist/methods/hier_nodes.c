/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message for each ordered pair of nodes. For each other node one rank of this node carries the
 * message there, and one the message from there; the carriers are different ones for different nodes.
 * All ranks of the node pack their parts into shared memory of the carrier, which sends when all have;
 * when a message has arrived, all unpack theirs from it. A message is ordered by source rank, then by
 * destination rank.
 *
 * Each rank has counters in shared memory. In execution n
 *   ready    = n  its outgoing messages of execution n - 1 have left: others may pack
 *   packed   grows with each node for which it has packed
 *   arrived  = n  for each node whose message it carries: others may unpack
 *   done     = n  it has unpacked all: carriers may receive again
 */
#include "../pack.h"
#include "../segment.h"
#include "hier.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

struct header {
    _Alignas(64) _Atomic uint64_t ready;
    _Atomic uint64_t packed, done;
    _Atomic uint64_t arrived[]; /* for each node */
};

enum { ALIGNMENT = 64 };

/* The messages to and from another node, in one direction of the exchange. */
struct bundle {
    uint64_t out, in;     /* elements of the messages */
    uint64_t mine;        /* elements of the outgoing one before those of this rank */
    size_t out_at, in_at; /* where the messages are in their carriers' memory */
};

struct route {
    struct bundle *bundles; /* of each node */
    uint64_t *before; /* elements before the part from each rank, in the message that has it */
};

struct redist__node_messages {
    const struct redist__problem *problem;
    int nnodes, own;      /* nodes, and the number of this one */
    int *node_of;         /* of each rank */
    int *first, *members; /* ranks by node: those of node i begin at first[i] */
    struct route routes[2];
    MPI_Datatype element;          /* the item's bytes */
    void *memory;                  /* of this rank, shared */
    size_t bytes, head;            /* of it all, of the header */
    char **memories;               /* of all ranks of the node, by rank in it */
    MPI_Request *sends, *receives; /* of each node */
    char *is_sent, *is_unpacked;   /* of each node */
    uint64_t number;               /* of the execution under way */
    int posted, npacked;           /* receives are posted; nodes that were packed for */
    int left; /* nodes whose parts are not unpacked, messages not sent or received */
    int direction;
    const char *source;
    char *destination;
    int failed;
};

static struct redist__context *context_of(const struct redist__node_messages *messages) {
    return messages->problem->schedule->context;
}

/* ---------------------------------------------------------------- nodes */

/* A node is known by its lowest rank. */
static int find_nodes(struct redist__node_messages *messages, int leaders[]) {
    const struct redist__context *context = context_of(messages);
    int leader = 0;
    while (context->node_ranks[leader] < 0)
        leader++;
    int code =
        redist_check_mpi(MPI_Allgather(&leader, 1, MPI_INT, leaders, 1, MPI_INT, context->comm));
    if (code != REDIST_OK)
        return code;
    for (int rank = 0; rank < context->size; rank++)
        messages->node_of[rank] =
            leaders[rank] == rank ? messages->nnodes++ : messages->node_of[leaders[rank]];
    messages->own = messages->node_of[context->rank];
    for (int node = 0, place = 0; node < messages->nnodes; node++) {
        messages->first[node] = place;
        for (int rank = 0; rank < context->size; rank++)
            if (messages->node_of[rank] == node)
                messages->members[place++] = rank;
        messages->first[node + 1] = place;
    }
    return REDIST_OK;
}

static int members_of(const struct redist__node_messages *messages, int node) {
    return messages->first[node + 1] - messages->first[node];
}

/* The rank of `node` that carries the messages to and from `other`. */
static int carrier(const struct redist__node_messages *messages, int node, int other) {
    return messages->members[messages->first[node] + other % members_of(messages, node)];
}

static int carries(const struct redist__node_messages *messages, int other) {
    return carrier(messages, messages->own, other) == context_of(messages)->rank;
}

/* The other nodes, each rank's own successors first. */
static int node_at(const struct redist__node_messages *messages, int turn) {
    return (messages->own + turn) % messages->nnodes;
}

/* ---------------------------------------------------------------- sizes */

/* What this rank sends to each node, or gets from it. */
static void sum_by_node(const struct redist__node_messages *messages, int side, uint64_t sums[]) {
    const struct redist__part *parts = messages->problem->schedule->side[side].parts;
    for (int node = 0; node < messages->nnodes; node++)
        sums[node] = 0;
    for (int rank = 0; rank < context_of(messages)->size; rank++)
        sums[messages->node_of[rank]] += parts[rank].elements;
}

/* Where each rank's parts begin in the outgoing messages, and how large these are. */
static int find_out(struct redist__node_messages *messages, int direction, uint64_t sums[],
                    uint64_t all[]) {
    const struct redist__context *context = context_of(messages);
    struct bundle *bundles = messages->routes[direction].bundles;
    int nnodes = messages->nnodes, first = messages->first[messages->own];
    sum_by_node(messages, direction, sums);
    int code = redist_check_mpi(
        MPI_Allgather(sums, nnodes, MPI_UINT64_T, all, nnodes, MPI_UINT64_T, context->node));
    for (int i = 0; i < context->node_size && code == REDIST_OK; i++) {
        int rank = messages->members[first + i];
        const uint64_t *theirs = all + context->node_ranks[rank] * nnodes;
        for (int node = 0; node < nnodes; node++) {
            bundles[node].mine += rank < context->rank ? theirs[node] : 0;
            bundles[node].out += theirs[node];
        }
    }
    return code;
}

static int find_in(struct redist__node_messages *messages, int direction, uint64_t sums[]) {
    sum_by_node(messages, !direction, sums);
    int code = redist_check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums, messages->nnodes, MPI_UINT64_T,
                                              MPI_SUM, context_of(messages)->node));
    for (int node = 0; node < messages->nnodes; node++)
        messages->routes[direction].bundles[node].in = sums[node];
    return code;
}

/* Tells each rank where in the message the part for it is. */
static int tell_places(struct redist__node_messages *messages, int direction, uint64_t told[]) {
    const struct redist__context *context = context_of(messages);
    const struct redist__part *parts = messages->problem->schedule->side[direction].parts;
    const struct route *route = &messages->routes[direction];
    for (int node = 0; node < messages->nnodes; node++) {
        uint64_t at = route->bundles[node].mine;
        for (int i = messages->first[node]; i < messages->first[node + 1]; i++) {
            told[messages->members[i]] = at;
            at += parts[messages->members[i]].elements;
        }
    }
    return redist_check_mpi(
        MPI_Alltoall(told, 1, MPI_UINT64_T, route->before, 1, MPI_UINT64_T, context->comm));
}

static size_t padded(uint64_t elements, size_t item) {
    size_t bytes = (size_t)elements * item;
    return bytes + (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
}

/* Every rank of the node finds the same places in the carriers' memories. */
static int place_bundles(struct redist__node_messages *messages, int direction, size_t used[]) {
    size_t item = messages->problem->schedule->item;
    int members = members_of(messages, messages->own);
    for (int i = 0; i < members; i++)
        used[i] = messages->head;
    for (int node = 0; node < messages->nnodes; node++) {
        struct bundle *bundle = &messages->routes[direction].bundles[node];
        size_t *at = &used[node % members];
        if (node == messages->own)
            continue;
        if (bundle->in > INT_MAX || bundle->out > INT_MAX)
            return redist__fail(
                REDIST_ERR_LIMIT,
                "method hier:nodes counts in MPI's int, but %llu elements are sent "
                "in one message",
                (unsigned long long)(bundle->in > bundle->out ? bundle->in : bundle->out));
        bundle->out_at = *at;
        bundle->in_at = *at + padded(bundle->out, item);
        *at = bundle->in_at + padded(bundle->in, item);
        if (carries(messages, node) && *at > messages->bytes)
            messages->bytes = *at;
    }
    return REDIST_OK;
}

/* `scratch` has room for 2 * ranks and a row of nodes for each rank of this node. */
static int connect_route(struct redist__node_messages *messages, int direction,
                         uint64_t scratch[]) {
    uint64_t *sums = scratch, *told = scratch + context_of(messages)->size;
    int code = find_out(messages, direction, sums, told + context_of(messages)->size);
    if (code == REDIST_OK)
        code = find_in(messages, direction, sums);
    return code == REDIST_OK ? tell_places(messages, direction, told) : code;
}

/* ---------------------------------------------------------------- making */

static struct header *header_of(const struct redist__node_messages *messages, int rank) {
    return (void *)messages->memories[context_of(messages)->node_ranks[rank]];
}

static int map_memories(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    struct redist__place place = redist__segment_place(messages->memory, 1);
    if (place.key == 0)
        return redist__fail(REDIST_ERR_METHOD,
                            "the ranks of this node share no memory through this MPI");
    for (place.rank = 0; place.rank < context->node_size; place.rank++)
        messages->memories[place.rank] = redist__segment_address(&place);
    struct header *mine = messages->memory;
    atomic_store(&mine->ready, 0);
    atomic_store(&mine->packed, 0);
    atomic_store(&mine->done, 0);
    for (int node = 0; node < messages->nnodes; node++)
        atomic_store(&mine->arrived[node], 0);
    return REDIST_OK;
}

/* The closing agreement also tells that every rank has cleared its counters. */
static int connect_memory(struct redist__node_messages *messages) {
    struct redist__context *context = context_of(messages);
    int code = REDIST_OK;
    size_t *used = redist_calloc((size_t)context->node_size, sizeof *used);
    messages->head = padded(sizeof(struct header) + (size_t)messages->nnodes * sizeof(uint64_t), 1);
    messages->bytes = messages->head;
    if (used == NULL)
        code = redist__fail(REDIST_ERR_MEMORY, "no memory to place messages");
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = place_bundles(messages, direction, used);
    redist_release(used);
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code = redist__segment_create(context, messages->bytes, &messages->memory);
    return code == REDIST_OK ? redist_agree(context->comm, map_memories(messages)) : code;
}

static int allocate(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    size_t size = (size_t)context->size;
    messages->node_of = redist_calloc(size, sizeof(int));
    messages->first = redist_calloc(size + 1, sizeof(int));
    messages->members = redist_calloc(size, sizeof(int));
    messages->memories = redist_calloc((size_t)context->node_size, sizeof(char *));
    messages->sends = redist_calloc(size, sizeof(MPI_Request));
    messages->receives = redist_calloc(size, sizeof(MPI_Request));
    messages->is_sent = redist_calloc(size, 1);
    messages->is_unpacked = redist_calloc(size, 1);
    int complete = messages->node_of && messages->first && messages->members &&
                   messages->memories && messages->sends && messages->receives &&
                   messages->is_sent && messages->is_unpacked;
    for (int direction = 0; direction < 2; direction++) {
        struct route *route = &messages->routes[direction];
        route->bundles = redist_calloc(size, sizeof *route->bundles);
        route->before = redist_calloc(size, sizeof *route->before);
        complete = complete && route->bundles && route->before;
    }
    if (!complete)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for messages between nodes");
    return redist__element_type(messages->problem->schedule, &messages->element);
}

static int allocate_messages(const struct redist__problem *problem,
                             struct redist__node_messages **result) {
    struct redist__node_messages *messages = *result = redist_calloc(1, sizeof *messages);
    if (messages == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method hier:nodes");
    messages->problem = problem;
    messages->element = MPI_DATATYPE_NULL;
    return allocate(messages);
}

/* A row of nodes for each rank of this one, and two of ranks. */
static int find_messages(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    size_t room = 2 * (size_t)context->size + (size_t)context->node_size * (size_t)messages->nnodes;
    uint64_t *scratch = redist_calloc(room, sizeof *scratch);
    int code = scratch != NULL ? REDIST_OK
                               : redist__fail(REDIST_ERR_MEMORY, "no memory for sizes of messages");
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code = connect_route(messages, REDIST_FORWARD, scratch);
    if (code == REDIST_OK)
        code = connect_route(messages, REDIST_BACKWARD, scratch);
    redist_release(scratch);
    return code;
}

int redist__node_messages_create(const struct redist__problem *problem,
                                 struct redist__node_messages **messages) {
    struct redist__context *context = problem->schedule->context;
    int *leaders = redist_calloc((size_t)context->size, sizeof *leaders);
    int code = allocate_messages(problem, messages);
    if (leaders == NULL)
        code = redist__fail(REDIST_ERR_MEMORY, "no memory for method hier:nodes");
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code = find_nodes(*messages, leaders);
    if (code == REDIST_OK)
        code = find_messages(*messages);
    if (code == REDIST_OK)
        code = connect_memory(*messages);
    redist_release(leaders);
    return code;
}

void redist__node_messages_free(struct redist__node_messages *messages) {
    if (messages == NULL)
        return;
    if (messages->memory != NULL)
        redist__segment_remove(messages->memory);
    if (messages->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&messages->element);
    for (int direction = 0; direction < 2; direction++) {
        redist_release(messages->routes[direction].bundles);
        redist_release(messages->routes[direction].before);
    }
    redist_release(messages->node_of);
    redist_release(messages->first);
    redist_release(messages->members);
    redist_release(messages->memories);
    redist_release(messages->sends);
    redist_release(messages->receives);
    redist_release(messages->is_sent);
    redist_release(messages->is_unpacked);
    redist_release(messages);
}

size_t redist__node_messages_bytes(const struct redist__node_messages *messages) {
    return messages != NULL ? messages->bytes : 0;
}

/* ---------------------------------------------------------------- execution */

static void note_mpi(struct redist__node_messages *messages, int result) {
    int code = redist_check_mpi(result);
    messages->failed = messages->failed != REDIST_OK ? messages->failed : code;
}

static struct bundle *bundle_of(const struct redist__node_messages *messages, int node) {
    return &messages->routes[messages->direction].bundles[node];
}

/* Whether all ranks of the node have come as far in one of the counters. */
static int all_reached(const struct redist__node_messages *messages, size_t counter,
                       uint64_t value) {
    for (int i = 0; i < context_of(messages)->node_size; i++) {
        _Atomic uint64_t *theirs = (void *)(messages->memories[i] + counter);
        if (atomic_load_explicit(theirs, memory_order_acquire) < value)
            return 0;
    }
    return 1;
}

static void post_receives(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    if (messages->posted ||
        !all_reached(messages, offsetof(struct header, done), messages->number - 1))
        return;
    messages->posted = 1;
    for (int turn = 1; turn < messages->nnodes; turn++) {
        int node = node_at(messages, turn);
        const struct bundle *bundle = bundle_of(messages, node);
        if (carries(messages, node) && bundle->in != 0)
            note_mpi(messages,
                     MPI_Irecv((char *)messages->memory + bundle->in_at, (int)bundle->in,
                               messages->element, carrier(messages, node, messages->own),
                               messages->problem->tag, context->comm, &messages->receives[node]));
    }
}

/* One part of this rank, between its array and the message that has it at `at`. */
static void copy_part(const struct redist__node_messages *messages, int unpacks, int rank,
                      char *at) {
    const struct redist__schedule *schedule = messages->problem->schedule;
    const struct redist__side *side = &schedule->side[messages->direction ^ unpacks];
    const struct redist__part *part = &side->parts[rank];
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    struct redist__copy copy;
    if (part->elements == 0)
        return;
    redist__strides(schedule->ndims, part->count, schedule->item, packed);
    redist__copy_prepare(&copy, schedule->ndims, part->count, schedule->item,
                         unpacks ? packed : side->stride, unpacks ? side->stride : packed);
    if (unpacks)
        redist__copy_run(&copy, at, messages->destination + part->offset, 0);
    else
        redist__copy_run(&copy, messages->source + part->offset, at, 0);
}

static void pack_node(const struct redist__node_messages *messages, int node) {
    const struct redist__schedule *schedule = messages->problem->schedule;
    const struct bundle *bundle = bundle_of(messages, node);
    char *at = (char *)header_of(messages, carrier(messages, messages->own, node)) +
               bundle->out_at + bundle->mine * schedule->item;
    for (int i = messages->first[node]; i < messages->first[node + 1]; i++) {
        int rank = messages->members[i];
        copy_part(messages, 0, rank, at);
        at += schedule->side[messages->direction].parts[rank].elements * schedule->item;
    }
}

static uint64_t packed_by(const struct redist__node_messages *messages, int turn) {
    return (messages->number - 1) * (uint64_t)(messages->nnodes - 1) + (uint64_t)turn;
}

/* For one node after the other, as long as their carriers are ready. */
static void pack_ready(struct redist__node_messages *messages) {
    struct header *mine = messages->memory;
    while (messages->npacked + 1 < messages->nnodes) {
        int turn = messages->npacked + 1, node = node_at(messages, turn);
        const struct header *theirs = header_of(messages, carrier(messages, messages->own, node));
        if (atomic_load_explicit(&theirs->ready, memory_order_acquire) < messages->number)
            return;
        pack_node(messages, node);
        messages->npacked = turn;
        atomic_store_explicit(&mine->packed, packed_by(messages, turn), memory_order_release);
    }
}

static void send_packed(struct redist__node_messages *messages) {
    for (int turn = 1; turn < messages->nnodes; turn++) {
        int node = node_at(messages, turn);
        const struct bundle *bundle = bundle_of(messages, node);
        if (messages->is_sent[node] ||
            !all_reached(messages, offsetof(struct header, packed), packed_by(messages, turn)))
            continue;
        messages->is_sent[node] = 1;
        note_mpi(messages, MPI_Isend((char *)messages->memory + bundle->out_at, (int)bundle->out,
                                     messages->element, carrier(messages, node, messages->own),
                                     messages->problem->tag, context_of(messages)->comm,
                                     &messages->sends[node]));
    }
}

/* Tells the ranks of the node what has arrived. */
static void take_arrived(struct redist__node_messages *messages) {
    struct header *mine = messages->memory;
    int node = 0, arrived = 1;
    while (messages->posted && arrived && node != MPI_UNDEFINED) {
        note_mpi(messages, MPI_Testany(messages->nnodes, messages->receives, &node, &arrived,
                                       MPI_STATUS_IGNORE));
        if (messages->failed != REDIST_OK)
            return;
        if (arrived && node != MPI_UNDEFINED)
            atomic_store_explicit(&mine->arrived[node], messages->number, memory_order_release);
    }
}

static void unpack_node(struct redist__node_messages *messages, int node) {
    size_t item = messages->problem->schedule->item;
    const uint64_t *before = messages->routes[messages->direction].before;
    char *message = (char *)header_of(messages, carrier(messages, messages->own, node)) +
                    bundle_of(messages, node)->in_at;
    for (int i = messages->first[node]; i < messages->first[node + 1]; i++)
        copy_part(messages, 1, messages->members[i], message + before[messages->members[i]] * item);
}

static void unpack_arrived(struct redist__node_messages *messages) {
    for (int turn = 1; turn < messages->nnodes; turn++) {
        int node = node_at(messages, turn);
        const struct header *theirs = header_of(messages, carrier(messages, messages->own, node));
        if (messages->is_unpacked[node] ||
            atomic_load_explicit(&theirs->arrived[node], memory_order_acquire) < messages->number)
            continue;
        unpack_node(messages, node);
        messages->is_unpacked[node] = 1;
        messages->left--;
    }
}

/* Messages that this rank carries and has not sent. */
static int unsent(const struct redist__node_messages *messages) {
    int count = 0;
    for (int node = 0; node < messages->nnodes; node++)
        count += !messages->is_sent[node];
    return count;
}

int redist__node_messages_advance(struct redist__node_messages *messages) {
    post_receives(messages);
    pack_ready(messages);
    send_packed(messages);
    take_arrived(messages);
    unpack_arrived(messages);
    return messages->left != 0 || !messages->posted || messages->npacked + 1 < messages->nnodes ||
           unsent(messages) != 0;
}

/* Empty messages are sent and unpacked from the start. */
void redist__node_messages_start(struct redist__node_messages *messages, int direction,
                                 const void *source, void *destination) {
    struct header *mine = messages->memory;
    messages->direction = direction;
    messages->source = source;
    messages->destination = destination;
    messages->failed = REDIST_OK;
    messages->posted = messages->npacked = messages->left = 0;
    messages->number++;
    for (int node = 0; node < messages->nnodes; node++) {
        const struct bundle *bundle = bundle_of(messages, node);
        messages->sends[node] = messages->receives[node] = MPI_REQUEST_NULL;
        messages->is_sent[node] =
            node == messages->own || bundle->out == 0 || !carries(messages, node);
        messages->is_unpacked[node] = node == messages->own || bundle->in == 0;
        messages->left += !messages->is_unpacked[node];
    }
    atomic_store_explicit(&mine->ready, messages->number, memory_order_release);
    (void)redist__node_messages_advance(messages);
}

int redist__node_messages_wait(struct redist__node_messages *messages) {
    struct header *mine = messages->memory;
    for (unsigned poll = 0; redist__node_messages_advance(messages); poll++) {
        if (messages->failed != REDIST_OK)
            return messages->failed;
        redist__pause(context_of(messages), poll);
    }
    note_mpi(messages, MPI_Waitall(messages->nnodes, messages->sends, MPI_STATUSES_IGNORE));
    atomic_store_explicit(&mine->done, messages->number, memory_order_release);
    return messages->failed;
}
