/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first failure of a plan's executions on this rank. It stays: a plan whose execution failed is
 * broken, and each later execution fails too. But it still takes part in what its method does with the
 * peers, since nobody can know who has learnt of the failure: it moves no data, and the peers get to
 * know that. So no rank waits for another one in vain, and none takes incomplete data for complete.
 */
#ifndef REDIST__FAILURE_H
#define REDIST__FAILURE_H

#include "../comm/comm.h"

#include <stdatomic.h>

struct redist__failure {
    _Atomic int code; /* REDIST_OK = there is none */
    char message[REDIST__MESSAGE_BYTES];
};

/* Keeps the code, with this thread's message, if it is the first failure. Several threads may call it. */
void redist__failure_note(struct redist__failure *failure, int code);

/* The same for the result of an MPI call, which it returns. */
int redist__failure_note_mpi(struct redist__failure *failure, int result);

/* Notes what rank `peer` of a plan published: its code, 0 = that it failed at all. */
void redist__failure_note_peer(struct redist__failure *failure, int peer, int code);

static inline int redist__failed(const struct redist__failure *failure) {
    return atomic_load_explicit(&failure->code, memory_order_relaxed);
}

/* The code, whose message becomes this thread's. */
int redist__failure_report(const struct redist__failure *failure);

/* Lets all ranks know whether one of them has failed. Returns whether they do. Collective. */
int redist__failure_agree(struct redist__failure *failure, const struct redist__context *context);

/* Makes an MPI call that peers depend on once more if it fails, and notes that it did. */
#define redist__try(failure, call)                                                                 \
    (redist__failure_note_mpi(failure, call) == MPI_SUCCESS                                        \
         ? MPI_SUCCESS                                                                             \
         : redist__failure_note_mpi(failure, call))

#endif
