/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators of NCCL: making, keeping, ending. To make one takes up to seconds, so the few that were used last stay
 * when no plan uses them any more, until MPI_Finalize, for the next plan of the same ranks on the same devices.
 */
#ifndef REDIST__NCCL_COMMS_H
#define REDIST__NCCL_COMMS_H

#include "method.h"

#include <nccl.h>

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
