/* SPDX-License-Identifier: BSD-3-Clause */
/** Stands in for the part of NCCL that the library uses (../stand_in_nccl.c). */
#ifndef TESTS_STAND_IN_NCCL_H
#define TESTS_STAND_IN_NCCL_H

#include <stddef.h>

#include "cuda_runtime_api.h"

typedef struct stand_in_comm *ncclComm_t;
typedef enum { ncclSuccess, ncclSystemError, ncclRemoteError, ncclInProgress } ncclResult_t;
typedef enum { ncclInt8, ncclUint64 } ncclDataType_t;
typedef enum { ncclMax } ncclRedOp_t;
typedef struct {
    char internal[64];
} ncclUniqueId;

ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int size, ncclUniqueId id, int rank);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result);
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
ncclResult_t ncclSend(const void *source, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void *destination, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllReduce(const void *source, void *destination, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream);
const char *ncclGetErrorString(ncclResult_t result);
const char *ncclGetLastError(ncclComm_t comm);

#endif
