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
#include <string.h>

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

/* Elements before the part from a rank, in the message that has it, for both directions. */
struct position {
    uint64_t before[2];
};

struct redist__node_messages {
    const struct redist__problem *problem;
    int nnodes, own;             /* nodes, and the number of this one */
    const int *node_of;          /* of each rank */
    int *first, *members;        /* ranks by node: those of node i begin at first[i] */
    struct bundle *bundles[2];   /* of each node */
    struct position *positions;  /* of each rank */
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
    for (int rank = 0; rank < context_of(messages)->size; rank++)
        sums[messages->node_of[rank]] += parts[rank].elements;
}

/* What a rank of this node has in the messages; `sums` are its own, of both sides. */
static void add_rank(struct redist__node_messages *messages, int rank, const uint64_t sums[]) {
    for (int direction = 0; direction < 2; direction++)
        for (int node = 0; node < messages->nnodes; node++) {
            struct bundle *bundle = &messages->bundles[direction][node];
            uint64_t out = sums[direction * messages->nnodes + node];
            bundle->mine += rank < context_of(messages)->rank ? out : 0;
            bundle->out += out;
            bundle->in += sums[!direction * messages->nnodes + node];
        }
}

/* How large the messages are; and each rank gets the positions of its parts. */
static int find_messages(struct redist__node_messages *messages, uint64_t sums[],
                         uint64_t all_sums[], struct position positions[]) {
    const struct redist__context *context = context_of(messages);
    const struct redist__side *side = messages->problem->transfer->side;
    int n = 2 * messages->nnodes, first = messages->first[messages->own], code = REDIST_OK;
    sum_by_node(messages, 0, sums);
    sum_by_node(messages, 1, sums + messages->nnodes);
    redist__note_mpi(&code, redist_insist(MPI_Allgather(sums, n, MPI_UINT64_T, all_sums, n,
                                                        MPI_UINT64_T, context->node)));
    for (int i = 0; i < context->node_size; i++)
        add_rank(messages, messages->members[first + i],
                 all_sums + context->node_ranks[messages->members[first + i]] * n);
    for (int direction = 0; direction < 2; direction++)
        for (int node = 0; node < messages->nnodes; node++) {
            uint64_t at = messages->bundles[direction][node].mine;
            for (int i = messages->first[node]; i < messages->first[node + 1]; i++) {
                positions[messages->members[i]].before[direction] = at;
                at += side[direction].parts[messages->members[i]].elements;
            }
        }
    redist__note_mpi(&code,
                     redist_insist(MPI_Alltoall(positions, 2, MPI_UINT64_T, messages->positions, 2,
                                                MPI_UINT64_T, context->comm)));
    return code;
}

static int connect_messages(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    size_t row = 2 * (size_t)messages->nnodes, room = row * (size_t)(1 + context->node_size);
    uint64_t *sums = redist_calloc(room + 2 * (size_t)context->size, sizeof *sums);
    int code = redist__agree_memory(context->comm, sums, "for the sizes of messages");
    if (code == REDIST_OK)
        code = redist_agree(context->comm, find_messages(messages, sums, sums + row,
                                                         (struct position *)(sums + room)));
    redist_release(sums);
    return code;
}

static int check_counts(const struct redist__node_messages *messages) {
    uint64_t most = 0;
    for (int i = 0; i < 2 * messages->nnodes; i++) {
        const struct bundle *bundle = &messages->bundles[i % 2][i / 2];
        if (i / 2 != messages->own) /* backward what is in is out */
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

/* The messages in one direction that a member of the node carries, from `at` on; returns where they end. */
static size_t position_bundles(struct redist__node_messages *messages, int direction, int incoming,
                               int member, size_t at) {
    size_t item = messages->problem->transfer->item;
    for (int node = member; node < messages->nnodes; node += context_of(messages)->node_size) {
        struct bundle *bundle = &messages->bundles[direction][node];
        *(incoming ? &bundle->in_at : &bundle->out_at) = at;
        if (node != messages->own)
            at += padded(incoming ? bundle->in : bundle->out, item);
    }
    return at;
}

/* Every rank of the node finds the same positions in the carriers' memories. Incoming messages lie behind
 * outgoing ones of either direction: one may be unpacked while the next are packed. */
static void position_messages(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    const int *members = messages->members + messages->first[messages->own];
    messages->head = padded(sizeof(struct header) + (size_t)messages->nnodes * sizeof(uint64_t), 1);
    for (int member = 0; member < context->node_size; member++) {
        size_t end = messages->head;
        for (int incoming = 0; incoming < 2; incoming++) {
            size_t forward = position_bundles(messages, 0, incoming, member, end);
            size_t backward = position_bundles(messages, 1, incoming, member, end);
            end = forward > backward ? forward : backward;
        }
        if (members[member] == context->rank)
            messages->bytes = end;
    }
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
    memset(messages->memory, 0, messages->head);
    return REDIST_OK;
}

/* After the closing agreement every rank has cleared its counters. */
static int connect_memory(struct redist__node_messages *messages) {
    struct redist__context *context = context_of(messages);
    position_messages(messages);
    REDIST_TRY(redist_agree(context->comm, check_counts(messages)));
    REDIST_TRY(redist__space_host.create(context, messages->bytes, &messages->memory));
    return redist_agree(context->comm, map_memories(messages));
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
    messages->bundles[0] = redist_calloc(size, sizeof(struct bundle));
    messages->bundles[1] = redist_calloc(size, sizeof(struct bundle));
    messages->positions = redist_calloc(size, sizeof(struct position));
    if (!messages->first || !messages->members || !messages->memories || !messages->is_sent ||
        !messages->is_unpacked || !messages->bundles[0] || !messages->bundles[1] ||
        !messages->positions)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for messages between nodes");
    REDIST_TRY(redist__messages_create(&messages->mpi, messages->problem, messages->nnodes));
    return redist__element_type(messages->problem->transfer, &messages->element);
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

int redist__node_messages_create(const struct redist__problem *problem,
                                 struct redist__node_messages **messages) {
    REDIST_TRY(redist_agree(problem->context->comm, allocate_messages(problem, messages)));
    sort_by_node(*messages);
    REDIST_TRY(connect_messages(*messages));
    return connect_memory(*messages);
}

void redist__node_messages_free(struct redist__node_messages *messages) {
    if (messages == NULL)
        return;
    (void)redist__messages_free(&messages->mpi); /* where a peer is gone, the segment stays */
    if (messages->memory != NULL)
        redist__space_host.remove(messages->memory);
    if (messages->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&messages->element);
    redist_release(messages->bundles[0]);
    redist_release(messages->bundles[1]);
    redist_release(messages->positions);
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
    return &messages->bundles[messages->direction][node];
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
    char *message = (char *)header_of(messages, carrier_of(messages, messages->own, node)) +
                    bundle_of(messages, node)->in_at;
    for (int i = messages->first[node]; i < messages->first[node + 1]; i++) {
        int rank = messages->members[i];
        copy_part(messages, 1, rank,
                  message + messages->positions[rank].before[messages->direction] * item);
    }
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
