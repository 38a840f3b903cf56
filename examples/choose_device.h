/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CUDA device a rank works on: the ranks of a node take its devices in turn. */
#ifndef CHOOSE_DEVICE_H
#define CHOOSE_DEVICE_H

#include <cuda_runtime_api.h>
#include <mpi.h>
#include <stdlib.h>

/* This rank's place among those of its node, as launchers set it in the environment; -1 if this one
 * does not. */
static inline int launched_as(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "MV2_COMM_WORLD_LOCAL_RANK",  "PALS_LOCAL_RANKID",
                                        "FLUX_TASK_LOCAL_ID",         "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]) != NULL)
            return atoi(getenv(names[i]));
    return -1;
}

/* The same, by MPI. Collective over MPI_COMM_WORLD. */
static inline int rank_on_node(void) {
    MPI_Comm node;
    int rank;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    return rank;
}

/* Makes this rank's device the current one. An MPI library that takes device memory may look for it as
 * early as in MPI_Init; so programs call this before, and again after for the launchers that do not set it
 * the rank's place. Returns NULL, or why there is no device. Collective over MPI_COMM_WORLD once MPI
 * runs. */
static inline const char *choose_device(void) {
    int count = 0, running, rank = launched_as();
    MPI_Initialized(&running);
    int told = running ? rank_on_node() : -1;
    rank = rank >= 0 ? rank : told;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count == 0)
        return "there is no CUDA device";
    if (error == cudaSuccess && rank >= 0)
        error = cudaSetDevice(rank % count);
    (void)cudaGetLastError(); /* no later check should find it */
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

#endif
