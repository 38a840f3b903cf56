/* SPDX-License-Identifier: BSD-3-Clause */
/* The use of communicators of NCCL: one for the ranks of a context and their current devices, shared by its plans. */
#ifndef REDIST__NCCL_LINK_H
#define REDIST__NCCL_LINK_H

#include "method.h"

#include <nccl.h>

/* ---------------------------------------------------------------- their use (nccl_link.c) */

struct redist__nccl_link;

/* An asynchronous plan: the word that tells its peers of a failure, and what it is set to. Devices read and write it in
 * pinned memory: a host that aborts must not call CUDA, where another thread may wait for the kernels to be aborted. */
struct redist__nccl_user {
    _Atomic uint64_t *word;
    uint64_t failure;
    struct redist__nccl_user *next;
};

/* Connects all ranks of the problem's context for a plan, or finds their communicator. Collective, the same result on
 * all ranks; errors as of redist__nccl_comm_provide. */
int redist__nccl_connect(const struct redist__problem *problem, struct redist__nccl_link **link);

/* Ends the use by a plan that is connected, whose work is complete on this rank: with the last one the communicator is
 * kept for others, if it has no error. Not collective. */
void redist__nccl_disconnect(const struct redist__problem *problem, struct redist__nccl_link *link);

/* Returns the number of the communicator, unique in this process; 0 = it was given up after a failure. */
unsigned long long redist__nccl_number(struct redist__nccl_link *link);

/* Sets the message of a communicator that was given up; REDIST_ERR_DEVICE. */
int redist__nccl_given_up(void);

/* Locks the communicator of this number for calls until redist__nccl_leave; NULL, and not locked, if it was given up
 * since. */
ncclComm_t redist__nccl_enter(struct redist__nccl_link *link, unsigned long long number);
void redist__nccl_leave(struct redist__nccl_link *link);

/* Checks that the communicator of this number is in use and has no error. REDIST_ERR_DEVICE. */
int redist__nccl_check(struct redist__nccl_link *link, unsigned long long number);

/* Aborts the communicator of this number, whose kernels end; before that the words of its users are set, since what
 * comes after these kernels in the streams would pass wrong data on. The next plan makes a new communicator. Not
 * collective. */
void redist__nccl_abort(struct redist__nccl_link *link, unsigned long long number);

/* Begins and ends to watch the communicator in a thread (sync/notice.h), which aborts it after an error or the loss of
 * a peer: for plans whose hosts may be in no call while devices wait. The first is collective, the same result on all
 * ranks; the second is called after a failure of the first, too. */
int redist__nccl_watch(const struct redist__problem *problem, struct redist__nccl_link *link,
                       struct redist__nccl_user *user);
void redist__nccl_unwatch(const struct redist__problem *problem, struct redist__nccl_link *link,
                          struct redist__nccl_user *user);

/*
 * ---------------------------------------------------------------- making, keeping, ending (nccl_comms.c)
 *
 * To make a communicator takes up to seconds, so the few that were used last stay when no plan uses them any more,
 * until MPI_Finalize, for the next plan of the same ranks on the same devices.
 */

/* A communicator, and the identifier of it that all its ranks have. */
struct redist__nccl_comm {
    ncclComm_t handle; /* NULL = none */
    ncclUniqueId id;
};

/* Provides a communicator of the ranks of the problem's context that nobody else uses, on their current devices
 * (`place`, without a stream). Collective, the same result on all ranks; REDIST_ERR_METHOD if ranks share a
 * device, REDIST_ERR_DEVICE, and the errors of collective calls. */
int redist__nccl_comm_provide(const struct redist__problem *problem, const redist_place *place,
                              struct redist__nccl_comm *comm);

/* Keeps a communicator of the context's ranks, without errors, whose work on this rank is complete; the one that was
 * kept for longest ends if there are too many. Not collective. */
void redist__nccl_comm_keep(const struct redist__context *context, const redist_place *place,
                            const struct redist__nccl_comm *comm);

/* Seconds for which the end of a communicator is waited for. */
enum { REDIST__NCCL_LONGEST_END = 5 };

/* Ends a communicator in a thread, and waits for that some seconds at most: NCCL waits for captured graphs to be
 * destroyed, and without `aborts` for the ranks of the node to end it, too. Without memory or a thread it stays as it
 * is. Not collective. */
void redist__nccl_comm_end(const redist_place *place, ncclComm_t comm, int aborts, int seconds);

/* Converts a result to REDIST_OK or REDIST_ERR_DEVICE, with NCCL's last error rather than its code, and CUDA's error
 * rather than "unhandled cuda error". */
int redist__nccl_result(ncclResult_t result, const char *what);

#endif
