/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA calls of the examples that have to succeed. */
#ifndef CHECK_CUDA_H
#define CHECK_CUDA_H

#include <cuda_runtime_api.h>
#include <mpi.h>
#include <stdio.h>

static inline void check_cuda(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define CHECK(call) check_cuda(call, #call)

#endif
