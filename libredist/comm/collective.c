/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations made of messages, which end when a peer is gone: MPI's blocking ones would wait for it, and
 * nonblocking ones cannot be cancelled. On unwatched communicators, on which the library must not send messages, they
 * are MPI's nonblocking ones.
 */
#include "comm.h"

#include <string.h>

/* ---------------------------------------------------------------- messages */

/* One rank's view of an operation. */
struct group {
    struct redist__context *context;
    MPI_Comm comm;
    int rank, size;
    struct redist__life *life; /* plan whose execution contains the operation, or NULL */
};

/* Returns nonzero if the ranks of the communicator, a context's or its node's, are watched. */
static int find_group(MPI_Comm comm, struct group *group) {
    struct redist__context *context = redist__context_owning(comm);
    group->comm = comm;
    if (context == NULL) {
        (void)redist__context_find(comm, &context);
        group->comm = context != NULL ? context->comm : comm;
    }
    if (context == NULL || !redist__peers_known(context))
        return 0;
    group->context = context;
    group->life = context->agreeing;
    MPI_Comm_rank(group->comm, &group->rank);
    MPI_Comm_size(group->comm, &group->size);
    return 1;
}

/* A range of an array of `total` bytes, from `offset` on, cyclic. */
struct span {
    char *array;
    size_t total, offset, bytes;
};

static void copy_span(const struct span *span, size_t done, char *scratch, size_t bytes, int out) {
    for (size_t i = 0, run; i < bytes; i += run) {
        size_t place = (span->offset + done + i) % span->total;
        run = bytes - i < span->total - place ? bytes - i : span->total - place;
        if (out)
            memcpy(scratch + i, span->array + place, run);
        else
            memcpy(span->array + place, scratch + i, run);
    }
}

/* Begins a message, possibly even if the call returns an error. */
static int begin(const struct group *group, int sends, int peer, size_t bytes,
                 MPI_Request *request) {
    struct redist__scratch *scratch = group->context->scratch;
    int result = MPI_ERR_OTHER;
    int tag = group->life != NULL ? redist__life_tag(group->life) : REDIST__COLLECTIVE_TAG;
    for (int attempt = 0; attempt < 2 && *request == MPI_REQUEST_NULL; attempt++)
        result =
            sends ? MPI_Isend(scratch->out, (int)bytes, MPI_BYTE, peer, tag, group->comm, request)
                  : MPI_Irecv(scratch->in, (int)bytes, MPI_BYTE, peer, tag, group->comm, request);
    return *request != MPI_REQUEST_NULL ? MPI_SUCCESS : result;
}

/* Checks for the reasons to end an operation before its messages arrive. */
static int check(const struct group *group) {
    REDIST_TRY(redist__peers_check(group->context));
    return redist__life_check(group->life);
}

/* Cancels both messages. If MPI cannot cancel one, it may use the scratch memory for ever. */
static void abandon(const struct group *group, MPI_Request requests[2]) {
    for (int i = 0, done = 1; i < 2; i++) {
        if (requests[i] != MPI_REQUEST_NULL) {
            (void)MPI_Cancel(&requests[i]);
            (void)MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
        }
        group->context->scratch->in_use |= requests[i] != MPI_REQUEST_NULL;
    }
    if (redist__life_check(group->life) == REDIST_OK)
        redist__give_up(group->context);
}

enum { NOBODY = -1 };

/* Sends the scratch memory to one rank and receives it from another one. */
static int exchange_scratch(const struct group *group, int to, int from, size_t bytes) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int received = from != NOBODY ? begin(group, 0, from, bytes, &requests[0]) : MPI_SUCCESS;
    int sent = to != NOBODY ? begin(group, 1, to, bytes, &requests[1]) : MPI_SUCCESS;
    int result = received != MPI_SUCCESS ? received : sent, done = 0, code = REDIST_OK;
    for (unsigned poll = 0; result == MPI_SUCCESS && !done && code == REDIST_OK; poll++) {
        result = redist_insist(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE));
        if (!done)
            code = redist__pause(group->context, poll);
        if (!done && code == REDIST_OK)
            code = check(group);
    }
    code = result == MPI_SUCCESS ? code : redist_check_mpi_in("libredist", result);
    if (code != REDIST_OK)
        abandon(group, requests);
    return code;
}

/* Sends one span and receives another one of as many bytes. */
static int exchange(const struct group *group, int to, const struct span *out, int from,
                    const struct span *in) {
    struct redist__scratch *scratch = group->context->scratch;
    size_t bytes = to != NOBODY ? out->bytes : in->bytes;
    int code = check(group);
    for (size_t done = 0, piece; done < bytes && code == REDIST_OK; done += piece) {
        piece = bytes - done < sizeof scratch->in ? bytes - done : sizeof scratch->in;
        if (to != NOBODY)
            copy_span(out, done, scratch->out, piece, 1);
        code = exchange_scratch(group, to, from, piece);
        if (from != NOBODY && code == REDIST_OK)
            copy_span(in, done, scratch->in, piece, 0);
    }
    return code;
}

static int rank_at(const struct group *group, int distance) {
    return (group->rank + distance % group->size + group->size) % group->size;
}

static struct group group_of(struct redist__context *context) {
    return (struct group){context, context->comm, context->rank, context->size, context->agreeing};
}

int redist__send_receive(struct redist__context *context, int to, const void *out, int from,
                         void *in, size_t bytes) {
    const struct group group = group_of(context);
    const struct span sent = {(char *)(size_t)out, bytes, 0, bytes}, got = {in, bytes, 0, bytes};
    return exchange(&group, to, &sent, from, &got);
}

/* ---------------------------------------------------------------- by MPI */

/* An operation on `in` bytes of this rank; in place if `out` is 0. */
struct operation {
    int (*begin)(const struct operation *operation, void *in, void *out, MPI_Request *request);
    MPI_Comm comm;
    size_t in, out;
    int root;
    int count; /* of a reduction */
    MPI_Datatype type;
    MPI_Op op;
};

static int begin_broadcast(const struct operation *operation, void *in, void *out,
                           MPI_Request *request) {
    (void)out;
    return MPI_Ibcast(in, (int)operation->in, MPI_BYTE, operation->root, operation->comm, request);
}

static int begin_reduction(const struct operation *operation, void *in, void *out,
                           MPI_Request *request) {
    (void)out;
    return MPI_Iallreduce(MPI_IN_PLACE, in, operation->count, operation->type, operation->op,
                          operation->comm, request);
}

static int begin_gather(const struct operation *operation, void *in, void *out,
                        MPI_Request *request) {
    int bytes = (int)operation->in;
    return MPI_Iallgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, operation->comm, request);
}

/* Runs an operation. An abandoned one keeps its memory for ever; without memory none is abandoned. */
static int run(const struct operation *operation, const void *own, void *result) {
    char *memory = redist_calloc(1, operation->in + operation->out + 1);
    void *in = memory != NULL ? memory : (void *)(size_t)own;
    void *out = memory != NULL ? memory + operation->in : result;
    MPI_Request request = MPI_REQUEST_NULL;
    if (memory != NULL && operation->in != 0)
        memcpy(in, own, operation->in);
    int code = redist_check_mpi(redist_insist(operation->begin(operation, in, out, &request)));
    if (code == REDIST_OK)
        code = redist__peers_complete(operation->comm, &request, memory != NULL);
    if (code == REDIST_OK && memory != NULL)
        memcpy(result, operation->out != 0 ? out : in,
               operation->out != 0 ? operation->out : operation->in);
    if (request == MPI_REQUEST_NULL)
        redist_release(memory);
    return code;
}

static int reduce_by_mpi(MPI_Comm comm, void *data, int count, MPI_Datatype type, MPI_Op op) {
    int bytes = 0;
    REDIST_TRY(redist_check_mpi(redist_insist(MPI_Type_size(type, &bytes))));
    const struct operation reduction = {.begin = begin_reduction,
                                        .comm = comm,
                                        .in = (size_t)count * (size_t)bytes,
                                        .count = count,
                                        .type = type,
                                        .op = op};
    return run(&reduction, data, data);
}

/* ---------------------------------------------------------------- votes */

static int lower(int a, int b) {
    return a < b ? a : b;
}

static int common(int a, int b) {
    return a & b;
}

/* Combines votes in log P rounds of doubling distance. */
static int vote(const struct group *group, int (*combine)(int a, int b), int value, int *result) {
    int heard = 0, code = redist__peers_look(group->context);
    const struct span out = {(char *)&value, sizeof value, 0, sizeof value};
    const struct span in = {(char *)&heard, sizeof heard, 0, sizeof heard};
    for (int distance = 1; distance < group->size && code == REDIST_OK; distance *= 2) {
        code = exchange(group, rank_at(group, distance), &out, rank_at(group, -distance), &in);
        value = combine(value, heard);
    }
    *result = value;
    return code;
}

/* Combines words bitwise likewise. */
static int vote_words(const struct group *group, uint64_t words[], int count) {
    uint64_t heard[4] = {0};
    size_t bytes = (size_t)count * sizeof words[0];
    int code = redist__peers_look(group->context);
    const struct span out = {(char *)words, bytes, 0, bytes}, in = {(char *)heard, bytes, 0, bytes};
    for (int distance = 1; distance < group->size && code == REDIST_OK; distance *= 2) {
        code = exchange(group, rank_at(group, distance), &out, rank_at(group, -distance), &in);
        for (int i = 0; i < count; i++)
            words[i] &= heard[i];
    }
    return code;
}

int redist__find_alike(MPI_Comm comm, int is_right, uint64_t number, int *alike) {
    struct group group;
    uint64_t words[3] = {is_right ? UINT64_MAX : 0, number, ~number};
    int code = find_group(comm, &group) ? vote_words(&group, words, 3)
                                        : reduce_by_mpi(comm, words, 3, MPI_UINT64_T, MPI_BAND);
    *alike = words[0] != 0 && (words[1] | words[2]) == UINT64_MAX;
    return code;
}

int redist__find_common(struct redist__context *context, int bits, int *found) {
    const struct group group = group_of(context);
    return vote(&group, common, bits, found);
}

int redist_all_lowest(MPI_Comm comm, int value, int *lowest) {
    struct group group;
    if (find_group(comm, &group))
        return vote(&group, lower, value, lowest);
    *lowest = value;
    return reduce_by_mpi(comm, lowest, 1, MPI_INT, MPI_MIN);
}

int redist_all_common(MPI_Comm comm, int bits, int *found) {
    struct group group;
    if (find_group(comm, &group))
        return vote(&group, common, bits, found);
    *found = bits;
    return reduce_by_mpi(comm, found, 1, MPI_INT, MPI_BAND);
}

int redist_barrier(MPI_Comm comm) {
    int nothing;
    return redist_all_lowest(comm, 0, &nothing);
}

/* ---------------------------------------------------------------- data */

/* Broadcasts from the root over halved distances. */
static int broadcast(const struct group *group, void *data, size_t bytes, int root) {
    const struct span span = {data, bytes, 0, bytes};
    int place = rank_at(group, -root), distance = 1, code = REDIST_OK;
    while (distance < group->size && !(place & distance))
        distance *= 2;
    if (place != 0)
        code = exchange(group, NOBODY, NULL, rank_at(group, -distance), &span);
    for (distance /= 2; distance > 0 && code == REDIST_OK; distance /= 2)
        if (place + distance < group->size)
            code = exchange(group, rank_at(group, distance), &span, NOBODY, NULL);
    return code;
}

int redist_broadcast(MPI_Comm comm, void *data, size_t bytes, int root) {
    struct group group;
    if (find_group(comm, &group))
        return broadcast(&group, data, bytes, root);
    const struct operation operation = {
        .begin = begin_broadcast, .comm = comm, .in = bytes, .root = root};
    return run(&operation, data, data);
}

/* Reduces over doubled distances; rank 0 sends the result to all. */
static int reduce(const struct group *group, void *data, int count, MPI_Datatype type, MPI_Op op,
                  size_t bytes) {
    const struct span span = {data, bytes, 0, bytes};
    int code = REDIST_OK, distance = 1;
    for (; distance < group->size && !(group->rank & distance) && code == REDIST_OK; distance *= 2)
        if (group->rank + distance < group->size) {
            code = exchange_scratch(group, NOBODY, group->rank + distance, bytes);
            if (code == REDIST_OK)
                code = redist_check_mpi(redist_insist(
                    MPI_Reduce_local(group->context->scratch->in, data, count, type, op)));
        }
    if (group->rank != 0 && code == REDIST_OK)
        code = exchange(group, group->rank - distance, &span, NOBODY, NULL);
    return code == REDIST_OK ? broadcast(group, data, bytes, 0) : code;
}

int redist_all_reduce(MPI_Comm comm, void *data, int count, MPI_Datatype type, MPI_Op op) {
    struct group group;
    int bytes = 0, code = REDIST_OK;
    if (!find_group(comm, &group))
        return reduce_by_mpi(comm, data, count, type, op);
    REDIST_TRY(redist_check_mpi(redist_insist(MPI_Type_size(type, &bytes))));
    int most = REDIST__COLLECTIVE_BYTES / bytes;
    for (int done = 0, n; done < count && code == REDIST_OK; done += n) {
        n = count - done < most ? count - done : most;
        code = reduce(&group, (char *)data + (size_t)done * (size_t)bytes, n, type, op,
                      (size_t)n * (size_t)bytes);
    }
    return code;
}

/* Gathers: in round k a rank passes on the data of the 2^k ranks from itself on. */
static int gather(const struct group *group, const void *own, size_t bytes, void *all) {
    size_t size = (size_t)group->size, rank = (size_t)group->rank;
    int code = REDIST_OK;
    if (bytes != 0)
        memmove((char *)all + rank * bytes, own, bytes);
    for (size_t distance = 1; distance < size && code == REDIST_OK; distance *= 2) {
        size_t n = distance < size - distance ? distance : size - distance;
        const struct span out = {all, size * bytes, rank * bytes, n * bytes};
        const struct span in = {all, size * bytes, (rank + distance) % size * bytes, n * bytes};
        code = exchange(group, rank_at(group, -(int)distance), &out, rank_at(group, (int)distance),
                        &in);
    }
    return code;
}

int redist_all_gather(MPI_Comm comm, const void *own, size_t bytes, void *all) {
    struct group group;
    if (find_group(comm, &group))
        return gather(&group, own, bytes, all);
    int size;
    MPI_Comm_size(comm, &size);
    const struct operation operation = {
        .begin = begin_gather, .comm = comm, .in = bytes, .out = (size_t)size * bytes};
    return run(&operation, own, all);
}

int redist__all_to_all(struct redist__context *context, const void *own, size_t bytes,
                       void *theirs) {
    const struct group group = group_of(context);
    int code = REDIST_OK;
    memcpy((char *)theirs + (size_t)group.rank * bytes,
           (const char *)own + (size_t)group.rank * bytes, bytes);
    for (int distance = 1; distance < group.size && code == REDIST_OK; distance++) {
        int to = rank_at(&group, distance), from = rank_at(&group, -distance);
        code = redist__send_receive(context, to, (const char *)own + (size_t)to * bytes, from,
                                    (char *)theirs + (size_t)from * bytes, bytes);
    }
    return code;
}
