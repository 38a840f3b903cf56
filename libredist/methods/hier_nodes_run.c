/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between nodes: one execution. */
#include "hier_nodes.h"

static const struct redist__context *context_of(const struct redist__node_messages *messages) {
    return messages->problem->schedule->context;
}

/* The other nodes, each rank's own successors first. */
static int node_at(const struct redist__node_messages *messages, int turn) {
    return (messages->own + turn) % messages->nnodes;
}

static struct redist__node_header *header_of(const struct redist__node_messages *messages,
                                             int rank) {
    return (void *)messages->memories[context_of(messages)->node_ranks[rank]];
}

static int failed(const struct redist__node_messages *messages) {
    return redist__failed(messages->problem->failure);
}

/* The ranks of the node see it with the next counter that this rank moves on. */
static void publish_failure(struct redist__node_messages *messages) {
    struct redist__node_header *mine = messages->memory;
    if (failed(messages))
        atomic_store_explicit(&mine->failed, 1, memory_order_relaxed);
}

/* What another rank of the node has published before a counter that was read. */
static void note_failure_of(struct redist__node_messages *messages,
                            const struct redist__node_header *theirs, int rank) {
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

static struct redist__bundle *bundle_of(const struct redist__node_messages *messages, int node) {
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
    if (messages->posted ||
        !all_reached(messages, offsetof(struct redist__node_header, done), messages->number - 1))
        return;
    messages->posted = 1;
    note_failures(messages);
    for (int turn = 1; turn < messages->nnodes; turn++) {
        int node = node_at(messages, turn);
        const struct redist__bundle *bundle = bundle_of(messages, node);
        if (redist__node_carries(messages, node) && bundle->in != 0)
            redist__messages_receive(&messages->mpi, node, (char *)messages->memory + bundle->in_at,
                                     (int)bundle->in, messages->element,
                                     redist__node_carrier(messages, node, messages->own),
                                     messages->problem->tag);
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
    const struct redist__bundle *bundle = bundle_of(messages, node);
    char *at = (char *)header_of(messages, redist__node_carrier(messages, messages->own, node)) +
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
    struct redist__node_header *mine = messages->memory;
    while (messages->npacked + 1 < messages->nnodes) {
        int turn = messages->npacked + 1, node = node_at(messages, turn);
        const struct redist__node_header *theirs =
            header_of(messages, redist__node_carrier(messages, messages->own, node));
        if (atomic_load_explicit(&theirs->ready, memory_order_acquire) < messages->number)
            return;
        redist__enter(messages->problem->watch, REDIST__PACK);
        if (!failed(messages))
            pack_node(messages, node);
        redist__enter(messages->problem->watch, REDIST__FIRST_MESSAGE);
        messages->npacked = turn;
        publish_failure(messages);
        atomic_store_explicit(&mine->packed, packed_by(messages, turn), memory_order_release);
    }
}

static void send_packed(struct redist__node_messages *messages) {
    for (int turn = 1; turn < messages->nnodes; turn++) {
        int node = node_at(messages, turn);
        const struct redist__bundle *bundle = bundle_of(messages, node);
        if (messages->is_sent[node] ||
            !all_reached(messages, offsetof(struct redist__node_header, packed),
                         packed_by(messages, turn)))
            continue;
        messages->is_sent[node] = 1;
        note_failures(messages);
        redist__messages_send(&messages->mpi, node, (char *)messages->memory + bundle->out_at,
                              (int)bundle->out, messages->element,
                              redist__node_carrier(messages, node, messages->own),
                              messages->problem->tag);
    }
}

static void publish_arrived(struct redist__node_messages *messages, int node) {
    struct redist__node_header *mine = messages->memory;
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
    size_t item = messages->problem->schedule->item;
    const uint64_t *before = messages->routes[messages->direction].before;
    char *message =
        (char *)header_of(messages, redist__node_carrier(messages, messages->own, node)) +
        bundle_of(messages, node)->in_at;
    for (int i = messages->first[node]; i < messages->first[node + 1]; i++)
        copy_part(messages, 1, messages->members[i], message + before[messages->members[i]] * item);
}

static void unpack_arrived(struct redist__node_messages *messages) {
    for (int turn = 1; turn < messages->nnodes; turn++) {
        int node = node_at(messages, turn);
        const struct redist__node_header *theirs =
            header_of(messages, redist__node_carrier(messages, messages->own, node));
        if (messages->is_unpacked[node] ||
            atomic_load_explicit(&theirs->arrived[node], memory_order_acquire) < messages->number)
            continue;
        redist__arrived(messages->problem->watch);
        redist__enter(messages->problem->watch, REDIST__UNPACK);
        note_failure_of(messages, theirs, redist__node_carrier(messages, messages->own, node));
        if (!failed(messages))
            unpack_node(messages, node);
        redist__enter(messages->problem->watch, REDIST__FIRST_MESSAGE);
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
    redist__enter(messages->problem->watch, REDIST__FIRST_MESSAGE);
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
    struct redist__node_header *mine = messages->memory;
    messages->direction = direction;
    messages->source = source;
    messages->destination = destination;
    messages->posted = messages->npacked = messages->left = 0;
    messages->number++;
    for (int node = 0; node < messages->nnodes; node++) {
        const struct redist__bundle *bundle = bundle_of(messages, node);
        messages->is_sent[node] =
            node == messages->own || bundle->out == 0 || !redist__node_carries(messages, node);
        messages->is_unpacked[node] = node == messages->own || bundle->in == 0;
        messages->left += !messages->is_unpacked[node];
    }
    publish_failure(messages);
    atomic_store_explicit(&mine->ready, messages->number, memory_order_release);
    (void)redist__node_messages_advance(messages);
}

/* Messages that are given up: the ranks of the node are not to wait for what this rank carries. */
static void publish_all(struct redist__node_messages *messages) {
    struct redist__node_header *mine = messages->memory;
    for (int node = 0; node < messages->nnodes; node++)
        publish_arrived(messages, node);
    atomic_store_explicit(&mine->packed, packed_by(messages, messages->nnodes - 1),
                          memory_order_release);
}

void redist__node_messages_wait(struct redist__node_messages *messages) {
    struct redist__node_header *mine = messages->memory;
    for (unsigned poll = 0; redist__node_messages_advance(messages) && !messages->mpi.lost; poll++)
        redist__messages_pause(&messages->mpi, poll);
    if (messages->mpi.lost)
        publish_all(messages);
    redist__enter(messages->problem->watch, REDIST__COMMUNICATE);
    redist__messages_end(&messages->mpi);
    publish_failure(messages);
    atomic_store_explicit(&mine->done, messages->number, memory_order_release);
}
