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
 *   failed   > 0  it has failed; written before `packed`, `arrived` and `done`
 *
 * A message in which a rank of the node has no part, since it failed, is sent empty; and the rank that receives
 * an empty message has failed too, which the ranks of its node see when they unpack. After `done` of an
 * execution each rank sees whether any of its node failed.
 */
#include "hier_nodes.h"
#include "../copy/copy.h"
#include "messages.h"
#include "packing.h"

#include <limits.h>
#include <stdatomic.h>

struct header {
    _Alignas(64) _Atomic uint64_t ready;
    _Atomic uint64_t packed, done;
    _Atomic uint64_t failed;
    _Atomic uint64_t arrived[]; /* for each node */
};

/* The messages to and from another node, in one direction of the exchange. */
struct bundle {
    uint64_t out, in;     /* elements of the messages */
    uint64_t mine;        /* elements of the outgoing one before those of this rank */
    size_t out_at, in_at; /* where the messages are in their carriers' memory */
};

struct bundles {
    struct bundle *list; /* of each node */
    uint64_t *before;    /* elements before the part from each rank, in the message that has it */
};

struct redist__node_messages {
    const struct redist__problem *problem;
    int nnodes, own;      /* nodes, and the number of this one */
    const int *node_of;   /* of each rank */
    int *first, *members; /* ranks by node: those of node i begin at first[i] */
    struct bundles directions[2];
    MPI_Datatype element;        /* the item's bytes */
    void *memory;                /* of this rank, shared */
    size_t bytes, head;          /* of it all, of the header */
    char **memories;             /* of all ranks of the node, by rank in it */
    struct redist__messages mpi; /* with each node one */
    char *is_sent, *is_unpacked; /* of each node */
    uint64_t number;             /* of the execution under way */
    int posted, npacked;         /* receives are posted; nodes that were packed for */
    int left; /* nodes whose parts are not unpacked, messages not sent or received */
    int direction;
    const char *source;
    char *destination;
};

enum { ALIGNMENT = 64 };

static struct redist__context *context_of(const struct redist__node_messages *messages) {
    return messages->problem->context;
}

/* ---------------------------------------------------------------- nodes */

/* The ranks of each node one after the other. */
static void sort_by_node(struct redist__node_messages *messages) {
    int size = context_of(messages)->size;
    for (int rank = 0; rank < size; rank++)
        messages->first[messages->node_of[rank] + 1]++;
    for (int node = 0; node < messages->nnodes; node++)
        messages->first[node + 1] += messages->first[node];
    for (int rank = size - 1; rank >= 0; rank--) /* each end moves down to its begin */
        messages->members[--messages->first[messages->node_of[rank] + 1]] = rank;
    for (int node = 0; node < messages->nnodes; node++)
        messages->first[node] = messages->first[node + 1];
    messages->first[messages->nnodes] = size;
}

static int members_of(const struct redist__node_messages *messages, int node) {
    return messages->first[node + 1] - messages->first[node];
}

static int carrier_of(const struct redist__node_messages *messages, int node, int other) {
    return messages->members[messages->first[node] + other % members_of(messages, node)];
}

static int carries(const struct redist__node_messages *messages, int other) {
    return carrier_of(messages, messages->own, other) == context_of(messages)->rank;
}

/* ---------------------------------------------------------------- sizes */

/* What this rank sends to each node, or gets from it. */
static void sum_by_node(const struct redist__node_messages *messages, int side, uint64_t sums[]) {
    const struct redist__part *parts = messages->problem->transfer->side[side].parts;
    for (int node = 0; node < messages->nnodes; node++)
        sums[node] = 0;
    for (int rank = 0; rank < context_of(messages)->size; rank++)
        sums[messages->node_of[rank]] += parts[rank].elements;
}

/* Where each rank's parts begin in the outgoing messages, and how large these are. */
static int find_out(struct redist__node_messages *messages, int direction, uint64_t sums[],
                    uint64_t all[]) {
    const struct redist__context *context = context_of(messages);
    struct bundle *bundles = messages->directions[direction].list;
    int nnodes = messages->nnodes, first = messages->first[messages->own];
    sum_by_node(messages, direction, sums);
    int code = redist_check_mpi(redist_insist(
        MPI_Allgather(sums, nnodes, MPI_UINT64_T, all, nnodes, MPI_UINT64_T, context->node)));
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
    int code = redist_check_mpi(redist_insist(MPI_Allreduce(
        MPI_IN_PLACE, sums, messages->nnodes, MPI_UINT64_T, MPI_SUM, context_of(messages)->node)));
    for (int node = 0; node < messages->nnodes; node++)
        messages->directions[direction].list[node].in = sums[node];
    return code;
}

/* Sends each rank the position of its part in the message. */
static int send_positions(struct redist__node_messages *messages, int direction,
                          uint64_t positions[]) {
    const struct redist__context *context = context_of(messages);
    const struct redist__part *parts = messages->problem->transfer->side[direction].parts;
    const struct bundles *bundles = &messages->directions[direction];
    for (int node = 0; node < messages->nnodes; node++) {
        uint64_t at = bundles->list[node].mine;
        for (int i = messages->first[node]; i < messages->first[node + 1]; i++) {
            positions[messages->members[i]] = at;
            at += parts[messages->members[i]].elements;
        }
    }
    return redist_check_mpi(redist_insist(
        MPI_Alltoall(positions, 1, MPI_UINT64_T, bundles->before, 1, MPI_UINT64_T, context->comm)));
}

static size_t padded(uint64_t elements, size_t item) {
    size_t bytes = (size_t)elements * item;
    return bytes + (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
}

static int check_counts(const struct redist__node_messages *messages, int direction) {
    uint64_t most = 0;
    for (int node = 0; node < messages->nnodes; node++) {
        const struct bundle *bundle = &messages->directions[direction].list[node];
        if (node != messages->own && bundle->out > most)
            most = bundle->out;
        if (node != messages->own && bundle->in > most)
            most = bundle->in;
    }
    return most <= INT_MAX
               ? REDIST_OK
               : redist__fail(
                     REDIST_ERR_LIMIT,
                     "method hier:nodes counts in MPI's int, but %llu elements are sent in "
                     "one message",
                     (unsigned long long)most);
}

/* Every rank of the node finds the same positions in the carriers' memories. Incoming messages lie behind
 * outgoing ones of either direction: one may be unpacked while the next are packed. */
static void position_messages(struct redist__node_messages *messages, int incoming,
                              const size_t begin[], size_t end[]) {
    size_t item = messages->problem->transfer->item;
    int members = members_of(messages, messages->own);
    for (int direction = 0; direction < 2; direction++)
        for (int member = 0; member < members; member++) {
            size_t at = begin[member];
            for (int node = member; node < messages->nnodes; node += members) {
                struct bundle *bundle = &messages->directions[direction].list[node];
                size_t bytes = padded(incoming ? bundle->in : bundle->out, item);
                *(incoming ? &bundle->in_at : &bundle->out_at) = at;
                at += node != messages->own ? bytes : 0;
            }
            end[member] = at > end[member] ? at : end[member];
        }
}

/* `scratch` has room for 2 * ranks and a row of nodes for each rank of this node. */
static int connect_direction(struct redist__node_messages *messages, int direction,
                             uint64_t scratch[]) {
    uint64_t *sums = scratch, *positions = scratch + context_of(messages)->size;
    int code = find_out(messages, direction, sums, positions + context_of(messages)->size);
    if (code == REDIST_OK)
        code = find_in(messages, direction, sums);
    return code == REDIST_OK ? send_positions(messages, direction, positions) : code;
}

/* ---------------------------------------------------------------- making */

static int map_memories(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    struct redist__memory_handle handle = redist__space_host.export_memory(messages->memory, 1);
    if (handle.key == 0)
        return redist__fail(REDIST_ERR_METHOD,
                            "the ranks of this node share no memory through this MPI");
    for (handle.rank = 0; handle.rank < context->node_size; handle.rank++)
        messages->memories[handle.rank] = redist__space_host.map(&handle, NULL);
    struct header *mine = messages->memory;
    atomic_store(&mine->ready, 0);
    atomic_store(&mine->packed, 0);
    atomic_store(&mine->done, 0);
    atomic_store(&mine->failed, 0);
    for (int node = 0; node < messages->nnodes; node++)
        atomic_store(&mine->arrived[node], 0);
    return REDIST_OK;
}

static int position_all(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    int members = context->node_size, own = 0, code = REDIST_OK;
    size_t *ends = redist_calloc(3 * (size_t)members, sizeof *ends);
    if (ends == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the positions of messages");
    messages->head = padded(sizeof(struct header) + (size_t)messages->nnodes * sizeof(uint64_t), 1);
    for (int i = 0; i < members; i++)
        ends[i] = messages->head;
    position_messages(messages, 0, ends, ends + members);
    position_messages(messages, 1, ends + members, ends + 2 * members);
    while (messages->members[messages->first[messages->own] + own] != context->rank)
        own++;
    messages->bytes = ends[2 * members + own];
    redist_release(ends);
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = check_counts(messages, direction);
    return code;
}

/* After the closing agreement every rank has cleared its counters. */
static int connect_memory(struct redist__node_messages *messages) {
    struct redist__context *context = context_of(messages);
    int code = redist_agree(context->comm, position_all(messages));
    if (code == REDIST_OK)
        code = redist__space_host.create(context, messages->bytes, &messages->memory);
    return code == REDIST_OK ? redist_agree(context->comm, map_memories(messages)) : code;
}

static int allocate(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    size_t size = (size_t)context->size;
    messages->nnodes = context->nnodes;
    messages->node_of = context->node_of;
    messages->own = context->node_of[context->rank];
    messages->first = redist_calloc(size + 1, sizeof(int));
    messages->members = redist_calloc(size, sizeof(int));
    messages->memories = redist_calloc((size_t)context->node_size, sizeof(char *));
    messages->is_sent = redist_calloc(size, 1);
    messages->is_unpacked = redist_calloc(size, 1);
    int complete = messages->first && messages->members && messages->memories &&
                   messages->is_sent && messages->is_unpacked;
    for (int direction = 0; direction < 2; direction++) {
        struct bundles *bundles = &messages->directions[direction];
        bundles->list = redist_calloc(size, sizeof *bundles->list);
        bundles->before = redist_calloc(size, sizeof *bundles->before);
        complete = complete && bundles->list && bundles->before;
    }
    if (!complete)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for messages between nodes");
    int code = redist__messages_create(&messages->mpi, messages->problem, messages->nnodes);
    return code == REDIST_OK ? redist__element_type(messages->problem->transfer, &messages->element)
                             : code;
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
        code = connect_direction(messages, REDIST_FORWARD, scratch);
    if (code == REDIST_OK)
        code = connect_direction(messages, REDIST_BACKWARD, scratch);
    redist_release(scratch);
    return code;
}

int redist__node_messages_create(const struct redist__problem *problem,
                                 struct redist__node_messages **messages) {
    struct redist__context *context = problem->context;
    int code = redist_agree(context->comm, allocate_messages(problem, messages));
    if (code != REDIST_OK)
        return code;
    sort_by_node(*messages);
    code = find_messages(*messages);
    return code == REDIST_OK ? connect_memory(*messages) : code;
}

void redist__node_messages_free(struct redist__node_messages *messages) {
    if (messages == NULL)
        return;
    (void)redist__messages_free(&messages->mpi); /* where a peer is gone, the segment stays */
    if (messages->memory != NULL)
        redist__space_host.remove(messages->memory);
    if (messages->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&messages->element);
    for (int direction = 0; direction < 2; direction++) {
        redist_release(messages->directions[direction].list);
        redist_release(messages->directions[direction].before);
    }
    redist_release(messages->first);
    redist_release(messages->members);
    redist_release(messages->memories);
    redist_release(messages->is_sent);
    redist_release(messages->is_unpacked);
    redist_release(messages);
}

size_t redist__node_messages_bytes(const struct redist__node_messages *messages) {
    return messages != NULL ? messages->bytes : 0;
}

/* ---------------------------------------------------------------- one execution */

/* The other nodes, each rank's own successors first. */
static int node_at(const struct redist__node_messages *messages, int step) {
    return (messages->own + step) % messages->nnodes;
}

static struct header *header_of(const struct redist__node_messages *messages, int rank) {
    return (void *)messages->memories[context_of(messages)->node_ranks[rank]];
}

/* The ranks of the node see it with the next counter that this rank moves on. */
static void publish_failure(struct redist__node_messages *messages) {
    struct header *mine = messages->memory;
    if (redist__has_failed(messages->problem))
        atomic_store_explicit(&mine->failed, 1, memory_order_relaxed);
}

/* What another rank of the node has published before a counter that was read. */
static void note_failure_of(struct redist__node_messages *messages, const struct header *theirs,
                            int rank) {
    if (atomic_load_explicit(&theirs->failed, memory_order_relaxed) != 0)
        redist__failure_note_peer(messages->problem->failure, rank, REDIST_OK);
}

static void note_failures(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    for (int i = messages->first[messages->own]; i < messages->first[messages->own + 1]; i++)
        if (messages->members[i] != context->rank)
            note_failure_of(messages, header_of(messages, messages->members[i]),
                            messages->members[i]);
}

static struct bundle *bundle_of(const struct redist__node_messages *messages, int node) {
    return &messages->directions[messages->direction].list[node];
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
    if (messages->posted ||
        !all_reached(messages, offsetof(struct header, done), messages->number - 1))
        return;
    messages->posted = 1;
    note_failures(messages);
    for (int step = 1; step < messages->nnodes; step++) {
        int node = node_at(messages, step);
        const struct bundle *bundle = bundle_of(messages, node);
        if (carries(messages, node) && bundle->in != 0)
            redist__messages_receive(&messages->mpi, node, (char *)messages->memory + bundle->in_at,
                                     (int)bundle->in, messages->element,
                                     carrier_of(messages, node, messages->own),
                                     messages->problem->tag);
    }
}

/* One part of this rank, between its array and the message that has it at `at`. */
static void copy_part(const struct redist__node_messages *messages, int unpacks, int rank,
                      char *at) {
    const struct redist__transfer *transfer = messages->problem->transfer;
    const struct redist__side *side = &transfer->side[messages->direction ^ unpacks];
    const struct redist__part *part = &side->parts[rank];
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    struct redist__copy copy;
    if (part->elements == 0)
        return;
    redist__strides(transfer->ndims, part->count, transfer->item, packed);
    redist__copy_prepare(&copy, transfer->ndims, part->count, transfer->item,
                         unpacks ? packed : side->stride, unpacks ? side->stride : packed);
    if (unpacks)
        redist__copy_run(&copy, at, messages->destination + part->offset, 0);
    else
        redist__copy_run(&copy, messages->source + part->offset, at, 0);
}

static void pack_node(const struct redist__node_messages *messages, int node) {
    const struct redist__transfer *transfer = messages->problem->transfer;
    const struct bundle *bundle = bundle_of(messages, node);
    char *at = (char *)header_of(messages, carrier_of(messages, messages->own, node)) +
               bundle->out_at + bundle->mine * transfer->item;
    for (int i = messages->first[node]; i < messages->first[node + 1]; i++) {
        int rank = messages->members[i];
        copy_part(messages, 0, rank, at);
        at += transfer->side[messages->direction].parts[rank].elements * transfer->item;
    }
}

static uint64_t packed_by(const struct redist__node_messages *messages, int step) {
    return (messages->number - 1) * (uint64_t)(messages->nnodes - 1) + (uint64_t)step;
}

/* For one node after the other, as long as their carriers are ready. */
static void pack_ready(struct redist__node_messages *messages) {
    struct header *mine = messages->memory;
    while (messages->npacked + 1 < messages->nnodes) {
        int step = messages->npacked + 1, node = node_at(messages, step);
        const struct header *theirs =
            header_of(messages, carrier_of(messages, messages->own, node));
        if (atomic_load_explicit(&theirs->ready, memory_order_acquire) < messages->number)
            return;
        redist__enter(messages->problem->timer, REDIST__PACK);
        if (!redist__has_failed(messages->problem))
            pack_node(messages, node);
        redist__enter(messages->problem->timer, REDIST__FIRST_MESSAGE);
        messages->npacked = step;
        publish_failure(messages);
        atomic_store_explicit(&mine->packed, packed_by(messages, step), memory_order_release);
    }
}

static void send_packed(struct redist__node_messages *messages) {
    for (int step = 1; step < messages->nnodes; step++) {
        int node = node_at(messages, step);
        const struct bundle *bundle = bundle_of(messages, node);
        if (messages->is_sent[node] ||
            !all_reached(messages, offsetof(struct header, packed), packed_by(messages, step)))
            continue;
        messages->is_sent[node] = 1;
        note_failures(messages);
        redist__messages_send(&messages->mpi, node, NULL, (char *)messages->memory + bundle->out_at,
                              (int)bundle->out, messages->element,
                              carrier_of(messages, node, messages->own), messages->problem->tag);
    }
}

static void publish_arrived(struct redist__node_messages *messages, int node) {
    struct header *mine = messages->memory;
    publish_failure(messages);
    atomic_store_explicit(&mine->arrived[node], messages->number, memory_order_release);
}

/* Lets the ranks of the node know what has arrived. */
static void take_arrived(struct redist__node_messages *messages) {
    int node, left;
    while (messages->posted && !messages->mpi.lost &&
           (node = redist__messages_test(&messages->mpi, &left)) >= 0)
        publish_arrived(messages, node);
}

static void unpack_node(struct redist__node_messages *messages, int node) {
    size_t item = messages->problem->transfer->item;
    const uint64_t *before = messages->directions[messages->direction].before;
    char *message = (char *)header_of(messages, carrier_of(messages, messages->own, node)) +
                    bundle_of(messages, node)->in_at;
    for (int i = messages->first[node]; i < messages->first[node + 1]; i++)
        copy_part(messages, 1, messages->members[i], message + before[messages->members[i]] * item);
}

static void unpack_arrived(struct redist__node_messages *messages) {
    for (int step = 1; step < messages->nnodes; step++) {
        int node = node_at(messages, step);
        const struct header *theirs =
            header_of(messages, carrier_of(messages, messages->own, node));
        if (messages->is_unpacked[node] ||
            atomic_load_explicit(&theirs->arrived[node], memory_order_acquire) < messages->number)
            continue;
        redist__arrived(messages->problem->timer);
        redist__enter(messages->problem->timer, REDIST__UNPACK);
        note_failure_of(messages, theirs, carrier_of(messages, messages->own, node));
        if (!redist__has_failed(messages->problem))
            unpack_node(messages, node);
        redist__enter(messages->problem->timer, REDIST__FIRST_MESSAGE);
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
    redist__enter(messages->problem->timer, REDIST__FIRST_MESSAGE);
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
    messages->posted = messages->npacked = messages->left = 0;
    messages->number++;
    for (int node = 0; node < messages->nnodes; node++) {
        const struct bundle *bundle = bundle_of(messages, node);
        messages->is_sent[node] =
            node == messages->own || bundle->out == 0 || !carries(messages, node);
        messages->is_unpacked[node] = node == messages->own || bundle->in == 0;
        messages->left += !messages->is_unpacked[node];
    }
    publish_failure(messages);
    atomic_store_explicit(&mine->ready, messages->number, memory_order_release);
    (void)redist__node_messages_advance(messages);
}

/* Messages that are given up: the ranks of the node are not to wait for what this rank carries. */
static void publish_all(struct redist__node_messages *messages) {
    struct header *mine = messages->memory;
    for (int node = 0; node < messages->nnodes; node++)
        publish_arrived(messages, node);
    atomic_store_explicit(&mine->packed, packed_by(messages, messages->nnodes - 1),
                          memory_order_release);
}

void redist__node_messages_wait(struct redist__node_messages *messages) {
    struct header *mine = messages->memory;
    for (unsigned poll = 0; redist__node_messages_advance(messages) && !messages->mpi.lost; poll++)
        redist__messages_pause(&messages->mpi, poll);
    if (messages->mpi.lost)
        publish_all(messages);
    redist__enter(messages->problem->timer, REDIST__COMMUNICATE);
    redist__messages_end(&messages->mpi);
    publish_failure(messages);
    atomic_store_explicit(&mine->done, messages->number, memory_order_release);
}
