/* SPDX-License-Identifier: BSD-3-Clause */
/* The same for NCCL. What opens a group or a connection has to be closed, so these calls are made and then said to
 * have failed. */
#include "device_faults.h"

#include <nccl.h>

#include "../faults.h"

#define WRAP(name, parameters, arguments)                                                          \
    ncclResult_t name parameters {                                                                 \
        static ncclResult_t(*real) parameters;                                                     \
        DEVICE_FAULTS_FIND(real, #name);                                                           \
        const ncclResult_t result = real arguments;                                                \
        return faults_device_fails(#name) ? ncclSystemError : result;                              \
    }

WRAP(ncclGroupEnd, (void), ())

WRAP(ncclSend,
     (const void *source, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
      cudaStream_t stream),
     (source, count, type, peer, comm, stream))

WRAP(ncclRecv,
     (void *destination, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
      cudaStream_t stream),
     (destination, count, type, peer, comm, stream))
