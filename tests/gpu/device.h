/* SPDX-License-Identifier: BSD-3-Clause */
/** Arrays on CUDA devices for the tests; ranks of a machine take its devices in turn. */
#ifndef TESTS_GPU_DEVICE_H
#define TESTS_GPU_DEVICE_H

#include "exchanges.h"
#include "harness.h"

/** Begins a test: its arrays are on devices, one for each rank in turn; skips it where there is none. */
#define NEEDS_DEVICE()                                                                             \
    do {                                                                                           \
        if (!device_begin())                                                                       \
            skip_test("no CUDA device");                                                           \
        arrays_use(&device_memory);                                                                \
        exchange_use_staging(REDIST_STAGING_AUTO);                                                 \
    } while (0)

/** harness_run with a device that is the current one before MPI begins. */
int device_run(int argc, char **argv, const char *program, const TTest *const tests[]);

/** Nonzero if every rank has a device; makes it the current one. Collective over MPI_COMM_WORLD. */
int device_begin(void);

/** Ends all ranks unless a call of CUDA, `what`, returned cudaSuccess. */
void device_check(int error, const char *what);

/** Memory of redist_alloc_in and cudaMalloc; of redist_alloc_in and a stream-ordered pool. */
extern const test_device device_memory;
extern const test_device device_pool;

/** The same, but others may map the pool; virtual memory that they may map (shared_memory.c). */
extern const test_device device_shared_pool;
extern const test_device device_virtual;

/** Whether the driver exports memory of such a pool: some export the pool, but not what is in it. */
int device_exports_pools(void);

/** Whether the MPI library says that it takes addresses of a device. */
int device_mpi_is_aware(void);

#endif
