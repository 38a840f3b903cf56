/* SPDX-License-Identifier: BSD-3-Clause */
/* Method nccl: the communicator of NCCL that a context has, for all plans on it. */
#ifndef REDIST__NCCL_COMM_H
#define REDIST__NCCL_COMM_H

#include "../comm/comm.h"

#include <nccl.h>

/* REDIST_OK, or REDIST_ERR_DEVICE and a message that names `what`. */
int redist__nccl_check(ncclResult_t result, const char *what);

/* Makes one unless there is one. Collective, the same result on all ranks. */
int redist__nccl_connect(struct redist__context *context);

/* The communicator and its number, which no other one of this process has; NULL and 0 if there is none. */
unsigned long long redist__nccl_comm(const struct redist__context *context, ncclComm_t *comm);

/* Ends all that is under way on it, and forgets it. All ranks do so. */
void redist__nccl_abort(struct redist__context *context);

#endif
