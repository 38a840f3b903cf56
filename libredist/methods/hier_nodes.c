/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between nodes: who carries them, how large they are, and where they lie. */
#include "hier_nodes.h"
#include "../copy/pack.h"
#include "../runtime/space.h"

#include <limits.h>

enum { ALIGNMENT = 64 };

static struct redist__context *context_of(const struct redist__node_messages *messages) {
    return messages->problem->schedule->context;
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

int redist__node_carrier(const struct redist__node_messages *messages, int node, int other) {
    return messages->members[messages->first[node] + other % members_of(messages, node)];
}

int redist__node_carries(const struct redist__node_messages *messages, int other) {
    return redist__node_carrier(messages, messages->own, other) == context_of(messages)->rank;
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
    struct redist__bundle *bundles = messages->routes[direction].bundles;
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
        messages->routes[direction].bundles[node].in = sums[node];
    return code;
}

/* Tells each rank where in the message the part for it is. */
static int tell_places(struct redist__node_messages *messages, int direction, uint64_t told[]) {
    const struct redist__context *context = context_of(messages);
    const struct redist__part *parts = messages->problem->schedule->side[direction].parts;
    const struct redist__bundles *route = &messages->routes[direction];
    for (int node = 0; node < messages->nnodes; node++) {
        uint64_t at = route->bundles[node].mine;
        for (int i = messages->first[node]; i < messages->first[node + 1]; i++) {
            told[messages->members[i]] = at;
            at += parts[messages->members[i]].elements;
        }
    }
    return redist_check_mpi(redist_insist(
        MPI_Alltoall(told, 1, MPI_UINT64_T, route->before, 1, MPI_UINT64_T, context->comm)));
}

static size_t padded(uint64_t elements, size_t item) {
    size_t bytes = (size_t)elements * item;
    return bytes + (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
}

static int check_counts(const struct redist__node_messages *messages, int direction) {
    uint64_t most = 0;
    for (int node = 0; node < messages->nnodes; node++) {
        const struct redist__bundle *bundle = &messages->routes[direction].bundles[node];
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

/* Every rank of the node finds the same places in the carriers' memories. Incoming messages lie behind
 * outgoing ones of either direction: one may be unpacked while the next are packed. */
static void place_messages(struct redist__node_messages *messages, int incoming,
                           const size_t begin[], size_t end[]) {
    size_t item = messages->problem->schedule->item;
    int members = members_of(messages, messages->own);
    for (int direction = 0; direction < 2; direction++)
        for (int member = 0; member < members; member++) {
            size_t at = begin[member];
            for (int node = member; node < messages->nnodes; node += members) {
                struct redist__bundle *bundle = &messages->routes[direction].bundles[node];
                size_t bytes = padded(incoming ? bundle->in : bundle->out, item);
                *(incoming ? &bundle->in_at : &bundle->out_at) = at;
                at += node != messages->own ? bytes : 0;
            }
            end[member] = at > end[member] ? at : end[member];
        }
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

static int map_memories(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    struct redist__memory_handle place = redist__space_host.export_memory(messages->memory, 1);
    if (place.key == 0)
        return redist__fail(REDIST_ERR_METHOD,
                            "the ranks of this node share no memory through this MPI");
    for (place.rank = 0; place.rank < context->node_size; place.rank++)
        messages->memories[place.rank] = redist__space_host.map(&place, NULL);
    struct redist__node_header *mine = messages->memory;
    atomic_store(&mine->ready, 0);
    atomic_store(&mine->packed, 0);
    atomic_store(&mine->done, 0);
    atomic_store(&mine->failed, 0);
    for (int node = 0; node < messages->nnodes; node++)
        atomic_store(&mine->arrived[node], 0);
    return REDIST_OK;
}

static int place_all(struct redist__node_messages *messages) {
    const struct redist__context *context = context_of(messages);
    int members = context->node_size, own = 0, code = REDIST_OK;
    size_t *ends = redist_calloc(3 * (size_t)members, sizeof *ends);
    if (ends == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory to place messages");
    messages->head =
        padded(sizeof(struct redist__node_header) + (size_t)messages->nnodes * sizeof(uint64_t), 1);
    for (int i = 0; i < members; i++)
        ends[i] = messages->head;
    place_messages(messages, 0, ends, ends + members);
    place_messages(messages, 1, ends + members, ends + 2 * members);
    while (messages->members[messages->first[messages->own] + own] != context->rank)
        own++;
    messages->bytes = ends[2 * members + own];
    redist_release(ends);
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = check_counts(messages, direction);
    return code;
}

/* The closing agreement also tells that every rank has cleared its counters. */
static int connect_memory(struct redist__node_messages *messages) {
    struct redist__context *context = context_of(messages);
    int code = redist_agree(context->comm, place_all(messages));
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
        struct redist__bundles *route = &messages->routes[direction];
        route->bundles = redist_calloc(size, sizeof *route->bundles);
        route->before = redist_calloc(size, sizeof *route->before);
        complete = complete && route->bundles && route->before;
    }
    if (!complete)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for messages between nodes");
    int code = redist__messages_create(&messages->mpi, context, messages->problem->failure,
                                       messages->nnodes);
    return code == REDIST_OK ? redist__element_type(messages->problem->schedule, &messages->element)
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
        code = connect_route(messages, REDIST_FORWARD, scratch);
    if (code == REDIST_OK)
        code = connect_route(messages, REDIST_BACKWARD, scratch);
    redist_release(scratch);
    return code;
}

int redist__node_messages_create(const struct redist__problem *problem,
                                 struct redist__node_messages **messages) {
    struct redist__context *context = problem->schedule->context;
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
        redist_release(messages->routes[direction].bundles);
        redist_release(messages->routes[direction].before);
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
