/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops that wait for peers: they let MPI make progress and other processes run, and end when a peer's process is
 * gone. */
#include "comm.h"

#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

/* Where others use the core too, a poll may take milliseconds. */
static const unsigned spins = 20000, polls_per_nap = 20, polls_per_look = 64;
static const double seconds_per_look = 0.2;

/* ---------------------------------------------------------------- peers that are gone */

struct redist__peers {
    struct redist__process *processes; /* of the node's ranks */
    _Atomic int gone;                  /* one of them, counted from 1; 0 = all seem to be there */
    double looked;                     /* when this rank looked last */
    int known;                         /* the processes are all there */
    /* of a reduction, this rank's and the result; and a report: MPI may keep them when it is given up */
    int votes[2];
    char report[REDIST__REPORT_BYTES];
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

static int find_gone(const struct redist__context *context) {
    for (int i = 0; i < context->node_size; i++)
        if (i != context->node_rank &&
            redist__process_is_gone(&context->peers->processes[i], context->number))
            return 1 + i;
    return 0;
}

/* Ranks of other nodes see nothing of this one's processes: a message says it. Who is on this node sees it from this
 * process. Nobody waits for these messages, and whether they arrive is up to MPI. */
static void spread(const struct redist__context *context) {
    static const int nothing;
    MPI_Request request;
    redist__process_give_up(context->number);
    for (int rank = 0; rank < context->size; rank++)
        if (context->node_ranks[rank] < 0 &&
            MPI_Isend(&nothing, 1, MPI_INT, rank, REDIST__GIVE_UP_TAG, context->comm, &request) ==
                MPI_SUCCESS)
            (void)MPI_Request_free(&request);
}

static void note_gone(const struct redist__context *context, int gone) {
    int none = 0;
    if (gone != 0 && atomic_compare_exchange_strong(&context->peers->gone, &none, gone))
        spread(context);
}

void redist__give_up(const struct redist__context *context) {
    if (redist__peers_known(context))
        note_gone(context, 1 + context->node_rank);
}

static int fail_gone(const struct redist__context *context, int gone) {
    return redist__fail(
        REDIST_ERR_PEER,
        "a rank of the communicator has ended, or MPI refuses its calls (seen by or "
        "in process %llu)",
        (unsigned long long)context->peers->processes[gone - 1].number);
}

int redist__peers_check(const struct redist__context *context) {
    int gone = atomic_load(&context->peers->gone);
    return gone == 0 ? REDIST_OK : fail_gone(context, gone);
}

/* Looking takes some 10 us for each process. */
static int look_at_peers(const struct redist__context *context) {
    struct redist__peers *peers = context->peers;
    double now = MPI_Wtime();
    if (atomic_load(&peers->gone) == 0 && now - peers->looked > seconds_per_look) {
        peers->looked = now;
        note_gone(context, find_gone(context));
    }
    return redist__peers_check(context);
}

int redist__peers_gone(const struct redist__context *context) {
    if (!redist__peers_known(context))
        return 0;
    note_gone(context, find_gone(context));
    return atomic_load(&context->peers->gone) != 0;
}

/* ---------------------------------------------------------------- waiting */

/* A peer may be waiting inside MPI for a message that this rank has to push along, or for this core:
 * after a short spin, call MPI and give way. With more ranks than cores, sleep now and then, since
 * yielding alone does not always let the others run. */
static int give_way(unsigned poll, const struct redist__context *context, int crowded) {
    const struct timespec nap = {0, 1000};
    int flag = 0;
    int result = redist_insist(
        MPI_Iprobe(MPI_ANY_SOURCE, REDIST__GIVE_UP_TAG, context->comm, &flag, MPI_STATUS_IGNORE));
    if (result == MPI_SUCCESS && flag)
        redist__give_up(context);
    if (crowded && poll % polls_per_nap == 0)
        nanosleep(&nap, NULL);
    else
        sched_yield();
    return redist_check_mpi(result);
}

int redist__pause(const struct redist__context *context, unsigned poll) {
    int crowded = context->crowded, code = REDIST_OK;
    if (poll > (crowded ? polls_per_nap : spins)) {
        code = give_way(poll, context, crowded);
        if (code == REDIST_OK && poll % polls_per_look == polls_per_look - 1)
            code = look_at_peers(context);
    }
    return code;
}

int redist__pause_beside(const struct redist__context *context, unsigned poll) {
    const unsigned polls_without_time = 512 * polls_per_look;
    if (poll > spins)
        sched_yield();
    int looks = poll % polls_without_time == polls_without_time - 1;
    int gone = looks ? find_gone(context) : 0;
    return gone == 0 ? REDIST_OK : fail_gone(context, gone);
}

int redist__pause_for(const struct redist__context *context, int node_rank, int has_begun,
                      unsigned poll) {
    int code = redist__pause(context, poll);
    if (code == REDIST_OK || !redist__process_is_gone(&context->peers->processes[node_rank],
                                                      has_begun ? 0 : context->number))
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

/* A message. Begins it unless that is done: a call that returns an error may have begun it all the same. */
struct message {
    void *data;
    int bytes, peer, tag;
};

static int begin(const struct redist__context *context, int sends, const struct message *message,
                 MPI_Request *request) {
    MPI_Comm comm = context->comm;
    int result = MPI_ERR_OTHER;
    for (int attempt = 0; attempt < 2 && *request == MPI_REQUEST_NULL; attempt++)
        result = sends ? MPI_Isend(message->data, message->bytes, MPI_BYTE, message->peer,
                                   message->tag, comm, request)
                       : MPI_Irecv(message->data, message->bytes, MPI_BYTE, message->peer,
                                   message->tag, comm, request);
    return *request != MPI_REQUEST_NULL ? MPI_SUCCESS : result;
}

/* Receives a message and sends one; NULL = neither. */
static int exchange(const struct redist__context *context, const struct message *in,
                    const struct message *out) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int received = in != NULL ? begin(context, 0, in, &requests[0]) : MPI_SUCCESS;
    int sent = out != NULL ? begin(context, 1, out, &requests[1]) : MPI_SUCCESS;
    int result = received != MPI_SUCCESS ? received : sent, done = 0, code = REDIST_OK;
    for (unsigned poll = 0; result == MPI_SUCCESS && !done && code == REDIST_OK; poll++) {
        result = redist_insist(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE));
        if (!done)
            code = redist__pause(context, poll);
    }
    code = result == MPI_SUCCESS ? code : redist_check_mpi_in("libredist", result);
    if (code != REDIST_OK)
        redist__give_up(context);
    return code;
}

static int lower(int a, int b) {
    return a < b ? a : b;
}

static int common(int a, int b) {
    return a & b;
}

/* In log P rounds, in each of which everyone hears from a rank twice as far away. Not by MPI_Iallreduce: in Open
 * MPI 4.1 that may not end on more ranks than cores after MPI_Ialltoallw. */
static int reduce(const struct redist__context *context, int (*combine)(int a, int b), int value,
                  int *result) {
    int *votes = context->peers->votes, size = context->size;
    int code = look_at_peers(context);
    votes[0] = value;
    for (int distance = 1; distance < size && code == REDIST_OK; distance *= 2) {
        int from = (context->rank + size - distance) % size, to = (context->rank + distance) % size;
        const struct message in = {&votes[1], sizeof(int), from, REDIST__VOTE_TAG};
        const struct message out = {&votes[0], sizeof(int), to, REDIST__VOTE_TAG};
        code = exchange(context, &in, &out);
        if (code == REDIST_OK)
            votes[0] = combine(votes[0], votes[1]);
    }
    *result = votes[0];
    return code;
}

int redist__find_lowest(const struct redist__context *context, int value, int *lowest) {
    return reduce(context, lower, value, lowest);
}

int redist__find_common(const struct redist__context *context, int bits, int *found) {
    return reduce(context, common, bits, found);
}

/* One message after the other: what failed once need not be fast. */
int redist__report(const struct redist__context *context, int root, void *report, size_t bytes) {
    char *kept = context->peers->report;
    struct message message = {kept, (int)bytes, root, REDIST__REPORT_TAG};
    memcpy(kept, report, bytes);
    if (context->rank != root)
        REDIST_TRY(exchange(context, &message, NULL));
    for (int rank = 0; rank < context->size && context->rank == root; rank++) {
        message.peer = rank;
        if (rank != root)
            REDIST_TRY(exchange(context, NULL, &message));
    }
    memcpy(report, kept, bytes);
    return REDIST_OK;
}
