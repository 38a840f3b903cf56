/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops that wait for peers: they let MPI make progress and other processes run, and end when a peer's process is
 * gone. */
#include "comm.h"

#include <sched.h>
#include <stddef.h>
#include <time.h>

static const unsigned spins = 20000, polls_per_nap = 20, polls_per_look = 2048;
static const double seconds_per_look = 0.2;

/* ---------------------------------------------------------------- peers that are gone */

struct redist__peers {
    struct redist__process *processes; /* of the node's ranks */
    _Atomic int gone;                  /* one of them, counted from 1; 0 = all seem to be there */
    double looked;                     /* when this rank looked last */
    int known;                         /* the processes are all there */
    int votes
        [2]; /* of a reduction, this rank's and the result: MPI may keep them when it is given up */
};

struct redist__peers *redist__peers_allocate(int count) {
    struct redist__peers *peers = redist_calloc(1, sizeof *peers);
    struct redist__process *processes = redist_calloc((size_t)count, sizeof *processes);
    if (peers == NULL || processes == NULL) {
        redist_release(peers);
        redist_release(processes);
        return NULL;
    }
    peers->processes = processes;
    return peers;
}

int redist__peers_find(struct redist__context *context) {
    struct redist__process self = redist__process_self();
    int code = redist_check_mpi(
        redist_insist(MPI_Allgather(&self, sizeof self, MPI_BYTE, context->peers->processes,
                                    sizeof self, MPI_BYTE, context->node)));
    context->peers->known = 1;
    return code;
}

int redist__peers_known(const struct redist__context *context) {
    return context->peers != NULL && context->peers->known;
}

void redist__peers_free(struct redist__context *context) {
    if (context->peers != NULL)
        redist_release(context->peers->processes);
    redist_release(context->peers);
    context->peers = NULL;
}

int redist__peers_gone(const struct redist__context *context) {
    return context->peers != NULL && atomic_load(&context->peers->gone) != 0;
}

static int find_gone(const struct redist__context *context) {
    for (int i = 0; i < context->node_size; i++)
        if (i != context->node_rank && redist__process_is_gone(&context->peers->processes[i]))
            return 1 + i;
    return 0;
}

/* Looking takes some 10 us for each process. */
static int look_at_peers(const struct redist__context *context) {
    struct redist__peers *peers = context->peers;
    double now = MPI_Wtime();
    if (!redist__peers_gone(context) && now - peers->looked > seconds_per_look) {
        peers->looked = now;
        atomic_store(&peers->gone, find_gone(context));
    }
    int gone = atomic_load(&peers->gone);
    if (gone == 0)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_PEER, "the process of another rank has ended (number %llu)",
                        (unsigned long long)peers->processes[gone - 1].number);
}

/* ---------------------------------------------------------------- waiting */

/* A peer may be waiting inside MPI for a message that this rank has to push along, or for this core:
 * after a short spin, call MPI and give way. With more ranks than cores, sleep now and then, since
 * yielding alone does not always let the others run. */
static int give_way(unsigned poll, const struct redist__context *context, int crowded) {
    const struct timespec nap = {0, 1000};
    int flag;
    int result = redist_insist(
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, context->comm, &flag, MPI_STATUS_IGNORE));
    if (crowded && poll % polls_per_nap == 0)
        nanosleep(&nap, NULL);
    else
        sched_yield();
    return redist_check_mpi(result);
}

int redist__pause(const struct redist__context *context, unsigned poll) {
    int crowded = context->crowded, code = REDIST_OK;
    if (poll > (crowded ? polls_per_nap : spins))
        code = give_way(poll, context, crowded);
    if (code == REDIST_OK && poll % polls_per_look == polls_per_look - 1)
        code = look_at_peers(context);
    return code;
}

int redist__pause_for(const struct redist__context *context, int node_rank, unsigned poll) {
    int code = redist__pause(context, poll);
    if (code == REDIST_OK || !redist__process_is_gone(&context->peers->processes[node_rank]))
        return REDIST_OK;
    return code;
}

int redist__wait_for(const _Atomic uint64_t *counter, uint64_t value,
                     const struct redist__context *context) {
    int code = REDIST_OK;
    for (unsigned poll = 0;
         code == REDIST_OK && atomic_load_explicit(counter, memory_order_acquire) < value; poll++)
        code = redist__pause(context, poll);
    return code;
}

/* Begins a message unless that is done: a call that returns an error may have begun it all the same. */
static int begin_vote(const struct redist__context *context, int sends, int peer,
                      MPI_Request *request) {
    int *vote = &context->peers->votes[!sends], result = MPI_ERR_OTHER;
    for (int attempt = 0; attempt < 2 && *request == MPI_REQUEST_NULL; attempt++)
        result = sends
                     ? MPI_Isend(vote, 1, MPI_INT, peer, REDIST__VOTE_TAG, context->comm, request)
                     : MPI_Irecv(vote, 1, MPI_INT, peer, REDIST__VOTE_TAG, context->comm, request);
    return *request != MPI_REQUEST_NULL ? MPI_SUCCESS : result;
}

/* Both messages of a round. */
static int exchange_votes(const struct redist__context *context, int distance) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int from = (context->rank + context->size - distance) % context->size;
    int to = (context->rank + distance) % context->size, done = 0, code = REDIST_OK;
    int received = begin_vote(context, 0, from, &requests[0]);
    int sent = begin_vote(context, 1, to, &requests[1]);
    int result = received != MPI_SUCCESS ? received : sent;
    for (unsigned poll = 0; result == MPI_SUCCESS && !done && code == REDIST_OK; poll++) {
        result = redist_insist(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE));
        if (!done)
            code = redist__pause(context, poll);
    }
    return result == MPI_SUCCESS ? code : redist_check_mpi(result);
}

/* In log P rounds, in each of which everyone hears from a rank twice as far away. Not by MPI_Iallreduce: in Open
 * MPI 4.1 that may not end on more ranks than cores after MPI_Ialltoallw. */
int redist__find_lowest(const struct redist__context *context, int value, int *lowest) {
    struct redist__peers *peers = context->peers;
    int code = redist__peers_gone(context) ? look_at_peers(context) : REDIST_OK;
    peers->votes[0] = value;
    for (int distance = 1; distance < context->size && code == REDIST_OK; distance *= 2) {
        code = exchange_votes(context, distance);
        if (code == REDIST_OK && peers->votes[1] < peers->votes[0])
            peers->votes[0] = peers->votes[1];
    }
    *lowest = peers->votes[0];
    return code;
}
