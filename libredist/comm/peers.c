/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is gone: what this process knows of its peers, and how others learn of it. */
#include "comm.h"

#include <stddef.h>

static const double seconds_per_look = 0.2;

/* A rank of this machine. */
struct peer {
    struct redist__process process;
    int64_t rank;
};

struct redist__peers {
    int count;         /* how many were found, */
    _Atomic int known; /* and that they are watched: other threads look, too, from then on */
    uint64_t given_up; /* the count of this process when it made the context */
    double looked;     /* when this rank looked last */
    struct peer of[];
};

/* The process that this one knows to be gone, for messages. */
static _Atomic uint64_t last_gone;

/* ---------------------------------------------------------------- making */

struct redist__peers *redist__peers_allocate(int count) {
    return redist_calloc(1, sizeof(struct redist__peers) + (size_t)count * sizeof(struct peer));
}

/* Looks at the peers of older contexts before this process describes itself: else it would learn later that one of them
 * is gone, and give up the new context, too. */
static void look_everywhere(void) {
    struct redist__context **held = redist__contexts_hold();
    for (int i = 0; held != NULL && held[i] != NULL; i++) {
        (void)redist__peers_look_now(held[i]);
        redist__context_release(held[i]);
    }
    redist_release(held);
}

int redist__peers_find(struct redist__context *context) {
    struct redist__peers *peers = context->peers;
    look_everywhere();
    const struct peer self = {redist__process_self(), context->rank};
    MPI_Comm_size(context->node, &peers->count);
    peers->given_up = self.process.given_up;
    return redist_insist(MPI_Allgather(&self, sizeof self, MPI_BYTE, peers->of, sizeof self,
                                       MPI_BYTE, context->node));
}

void redist__peers_watch(struct redist__context *context) {
    atomic_store(&context->peers->known, 1);
}

int redist__peers_known(const struct redist__context *context) {
    return context->peers != NULL && atomic_load(&context->peers->known);
}

const struct redist__process *redist__peers_process(const struct redist__context *context,
                                                    int rank) {
    const struct redist__peers *peers = context->peers;
    for (int i = 0; i < peers->count; i++)
        if (peers->of[i].rank == rank)
            return &peers->of[i].process;
    return NULL;
}

/* ---------------------------------------------------------------- telling others */

/* Nobody waits for these messages, and whether they arrive is up to MPI. Numbers of contexts stay where they are while
 * MPI may read them. */
static void tell(const struct redist__context *context) {
    enum { NUMBERS = 1024 };
    static uint64_t numbers[NUMBERS];
    static _Atomic unsigned next;
    uint64_t *number = &numbers[atomic_fetch_add(&next, 1) % NUMBERS];
    *number = context->number;
    for (int rank = 0; rank < context->size; rank++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank != context->rank && MPI_Isend(number, 1, MPI_UINT64_T, rank, REDIST__GIVE_UP_TAG,
                                               context->comm, &request) == MPI_SUCCESS)
            (void)MPI_Request_free(&request);
    }
}

static int is_broken(const struct redist__context *context) {
    return redist__process_given_up() > context->peers->given_up;
}

static void give_up(const struct redist__process *gone) {
    atomic_store(&last_gone, gone->number);
    struct redist__context **held = redist__contexts_hold();
    redist__process_give_up();
    for (int i = 0; held != NULL && held[i] != NULL; i++) {
        if (redist__peers_known(held[i]))
            tell(held[i]);
        redist__context_release(held[i]);
    }
    redist_release(held);
}

void redist__give_up(const struct redist__context *context) {
    if (redist__peers_known(context) && !is_broken(context))
        give_up(redist__peers_process(context, context->rank));
}

int redist__peers_hear(const struct redist__context *context) {
    int flag = 0;
    uint64_t number = 0;
    int result = redist_insist(
        MPI_Iprobe(MPI_ANY_SOURCE, REDIST__GIVE_UP_TAG, context->comm, &flag, MPI_STATUS_IGNORE));
    if (result != MPI_SUCCESS || !flag)
        return result;
    result = redist_insist(MPI_Recv(&number, 1, MPI_UINT64_T, MPI_ANY_SOURCE, REDIST__GIVE_UP_TAG,
                                    context->comm, MPI_STATUS_IGNORE));
    if (number == context->number) /* MPI uses the names of its communicators again */
        redist__give_up(context);
    return result;
}

/* Long messages of a rank that is gone would not arrive. */
int redist__peers_drain(MPI_Comm comm) {
    char nothing[REDIST__COLLECTIVE_BYTES];
    MPI_Status status;
    for (int flag = 1, bytes = 0; flag;) {
        flag = 0;
        if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status) != MPI_SUCCESS || !flag)
            break;
        if (MPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes == MPI_UNDEFINED ||
            bytes > (int)sizeof nothing)
            return 0;
        (void)MPI_Recv(nothing, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm,
                       MPI_STATUS_IGNORE);
    }
    return 1;
}

/* ---------------------------------------------------------------- looking */

static int fail_gone(const struct redist__process *gone) {
    return redist__fail(
        REDIST_ERR_PEER,
        "a rank that works with this one has ended, or MPI or its device refuses its "
        "calls (seen by or in process %llu): free the plan",
        (unsigned long long)gone->number);
}

static const struct redist__process *find_gone(const struct redist__context *context) {
    const struct redist__peers *peers = context->peers;
    for (int i = 0; i < peers->count; i++)
        if (peers->of[i].rank != context->rank && redist__process_is_gone(&peers->of[i].process))
            return &peers->of[i].process;
    return NULL;
}

int redist__peers_check(const struct redist__context *context) {
    const struct redist__process known = {.number = atomic_load(&last_gone)};
    return is_broken(context) ? fail_gone(&known) : REDIST_OK;
}

int redist__peers_see(const struct redist__context *context) {
    REDIST_TRY(redist__peers_check(context));
    const struct redist__process *gone = find_gone(context);
    return gone == NULL ? REDIST_OK : fail_gone(gone);
}

int redist__peers_look_now(const struct redist__context *context) {
    const struct redist__process *gone = NULL;
    if (!redist__peers_known(context))
        return REDIST_OK;
    if (!is_broken(context))
        gone = find_gone(context);
    if (gone != NULL)
        give_up(gone);
    return redist__peers_check(context);
}

int redist__peers_look(const struct redist__context *context) {
    double now = MPI_Wtime();
    if (is_broken(context) || now - context->peers->looked <= seconds_per_look)
        return redist__peers_check(context);
    context->peers->looked = now;
    return redist__peers_look_now(context);
}
