/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include "../../examples/choose_device.h"

#include <cuda_runtime_api.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>

void device_check(int error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "the test failed on the device: %s: %s\n    case: %s\n", what,
            cudaGetErrorString((cudaError_t)error), harness_current_case());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int device_run(int argc, char **argv, const char *program, const TTest *const tests[]) {
    (void)choose_device(); /* what fails here fails again in device_begin */
    return harness_run(argc, argv, program, tests);
}

int device_begin(void) {
    int good = choose_device() == NULL, all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

int device_mpi_is_aware(void) {
    return MPIX_Query_cuda_support();
}

static void *allocate_shared(MPI_Comm comm, size_t bytes) {
    void *memory = NULL;
    if (redist_alloc_in(comm, REDIST_SPACE_CUDA, bytes, &memory) != REDIST_OK) {
        fprintf(stderr, "the test has no memory: %s\n", redist_error_message());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return memory;
}

static void *allocate(MPI_Comm comm, size_t bytes, int shared) {
    void *memory = NULL;
    if (shared)
        return allocate_shared(comm, bytes);
    device_check(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
}

static void release(void *memory, int shared) {
    if (shared)
        redist_free(&memory);
    else
        device_check(cudaFree(memory), "cudaFree");
}

static void *allocate_in_pool(MPI_Comm comm, size_t bytes, int shared) {
    void *memory = NULL;
    if (shared)
        return allocate_shared(comm, bytes);
    device_check(cudaMallocAsync(&memory, bytes, NULL), "cudaMallocAsync");
    device_check(cudaStreamSynchronize(NULL), "cudaStreamSynchronize");
    return memory;
}

static void release_in_pool(void *memory, int shared) {
    if (shared)
        redist_free(&memory);
    else
        device_check(cudaFreeAsync(memory, NULL), "cudaFreeAsync");
}

static void copy(void *to, const void *from, size_t bytes) {
    device_check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
    device_check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

const test_device device_memory = {REDIST_SPACE_CUDA, allocate, release, copy};
const test_device device_pool = {REDIST_SPACE_CUDA, allocate_in_pool, release_in_pool, copy};
