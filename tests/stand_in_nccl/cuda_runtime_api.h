/* SPDX-License-Identifier: BSD-3-Clause */
/** What method nccl needs of CUDA, for the stand-in: no error is pending. */
#ifndef TESTS_STAND_IN_CUDA_H
#define TESTS_STAND_IN_CUDA_H

typedef int cudaError_t;
typedef void *cudaStream_t;

static inline cudaError_t cudaGetLastError(void) {
    return 0;
}

static inline const char *cudaGetErrorString(cudaError_t error) {
    return error == 0 ? "no error" : "an error";
}

#endif
