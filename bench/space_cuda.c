/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays on CUDA devices, which the ranks of a node take in turn, and how fast these copy. */
#include "../examples/choose_device.h"
#include "options.h"
#include "space.h"
#include <ctype.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>

static void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess)
        bench_abort("%s: %s", what, cudaGetErrorString(error));
}

/* What fails here fails again in `begin`, which can say so. */
static void prepare(void) {
    (void)choose_device();
}

static void *allocate(MPI_Comm comm, size_t bytes, int mappable) {
    void *array = NULL;
    if (!mappable)
        check(cudaMalloc(&array, bytes > 0 ? bytes : 1), "cudaMalloc");
    else if (redist_alloc_in(comm, REDIST_SPACE_CUDA, bytes, &array) != REDIST_OK)
        bench_abort("%s", redist_error_message());
    check(cudaMemset(array, 0, bytes), "cudaMemset");
    return array;
}

static void release(void *array, int mappable) {
    if (!mappable)
        check(cudaFree(array), "cudaFree");
    else if (redist_free(&array) != REDIST_OK)
        bench_abort("%s", redist_error_message());
}

static void copy(void *to, const void *from, size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, NULL), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(NULL), "cudaStreamSynchronize");
}

static void synchronise(void) {
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/* ---------------------------------------------------------------- the rate of the engines */

/* A buffer with a part for each rank, and the peers' buffers mapped. */
struct pushes {
    MPI_Comm comm;
    int rank, size;
    size_t part;
    char *source, *destination;
    char **peers;
    cudaStream_t *streams;
};

static void open_peers(struct pushes *pushes) {
    cudaIpcMemHandle_t mine, *handles = calloc((size_t)pushes->size, sizeof *handles);
    pushes->peers = calloc((size_t)pushes->size, sizeof *pushes->peers);
    pushes->streams = calloc((size_t)pushes->size, sizeof *pushes->streams);
    if (!handles || !pushes->peers || !pushes->streams)
        bench_abort("no memory for the handles of %d ranks", pushes->size);
    check(cudaIpcGetMemHandle(&mine, pushes->destination), "cudaIpcGetMemHandle");
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, handles, sizeof mine, MPI_BYTE, pushes->comm);
    for (int i = 0; i < pushes->size; i++) {
        check(cudaStreamCreateWithFlags(&pushes->streams[i], cudaStreamNonBlocking),
              "cudaStreamCreateWithFlags");
        if (i != pushes->rank)
            check(cudaIpcOpenMemHandle((void **)&pushes->peers[i], handles[i],
                                       cudaIpcMemLazyEnablePeerAccess),
                  "cudaIpcOpenMemHandle");
    }
    free(handles);
}

static void close_peers(struct pushes *pushes) {
    for (int i = 0; i < pushes->size; i++) {
        check(cudaStreamDestroy(pushes->streams[i]), "cudaStreamDestroy");
        if (i != pushes->rank)
            check(cudaIpcCloseMemHandle(pushes->peers[i]), "cudaIpcCloseMemHandle");
    }
    free(pushes->peers);
    free(pushes->streams);
    MPI_Barrier(pushes->comm);
}

/* Seconds of one contiguous push to each peer, all at once, on the slowest rank. */
static double push_all(const struct pushes *pushes) {
    size_t part = pushes->part;
    MPI_Barrier(pushes->comm);
    double begin_time = MPI_Wtime();
    for (int i = 1; i < pushes->size; i++) {
        int peer = (pushes->rank + i) % pushes->size;
        check(cudaMemcpyAsync(pushes->peers[peer] + (size_t)pushes->rank * part,
                              pushes->source + (size_t)peer * part, part, cudaMemcpyDefault,
                              pushes->streams[i]),
              "cudaMemcpyAsync");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    double seconds = MPI_Wtime() - begin_time;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, pushes->comm);
    return seconds;
}

enum { PUSHES = 7, PUSH_BYTES = 1 << 28 };

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The median of a few, in 10^9 bytes that leave a rank in a second. */
static double copy_rate(MPI_Comm comm) {
    struct pushes pushes = {.comm = comm, .part = PUSH_BYTES};
    double seconds[PUSHES];
    MPI_Comm_rank(comm, &pushes.rank);
    MPI_Comm_size(comm, &pushes.size);
    if (pushes.size == 1)
        return 0.0;
    size_t bytes = pushes.part * (size_t)pushes.size;
    check(cudaMalloc((void **)&pushes.source, bytes), "cudaMalloc");
    check(cudaMalloc((void **)&pushes.destination, bytes), "cudaMalloc");
    open_peers(&pushes);
    for (int i = -2; i < PUSHES; i++)
        seconds[i < 0 ? 0 : i] = push_all(&pushes);
    close_peers(&pushes);
    check(cudaFree(pushes.source), "cudaFree");
    check(cudaFree(pushes.destination), "cudaFree");
    qsort(seconds, PUSHES, sizeof *seconds, compare);
    return 1e-9 * (double)pushes.part * (pushes.size - 1) / seconds[PUSHES / 2];
}

/* ---------------------------------------------------------------- the rate of the link to the host */

enum { LINK_ROUNDS = 5, LINK_PIECES = 8 };

/* Seconds of n pieces up and n down at once, on the slowest rank. */
static double copy_both_ways(MPI_Comm comm, char *const host[2], char *const device[2],
                             cudaStream_t const streams[2]) {
    MPI_Barrier(comm);
    double begin_time = MPI_Wtime();
    for (int i = 0; i < LINK_PIECES; i++) {
        check(cudaMemcpyAsync(device[0], host[0], PUSH_BYTES, cudaMemcpyHostToDevice, streams[0]),
              "cudaMemcpyAsync");
        check(cudaMemcpyAsync(host[1], device[1], PUSH_BYTES, cudaMemcpyDeviceToHost, streams[1]),
              "cudaMemcpyAsync");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    double seconds = MPI_Wtime() - begin_time;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return seconds;
}

static double host_rate(MPI_Comm comm) {
    char *host[2], *device[2];
    cudaStream_t streams[2];
    double best = 0.0;
    for (int i = 0; i < 2; i++) {
        check(cudaHostAlloc((void **)&host[i], PUSH_BYTES, cudaHostAllocDefault), "cudaHostAlloc");
        check(cudaMalloc((void **)&device[i], PUSH_BYTES), "cudaMalloc");
        check(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking),
              "cudaStreamCreateWithFlags");
    }
    for (int i = 0; i < LINK_ROUNDS; i++) {
        double seconds = copy_both_ways(comm, host, device, streams);
        double rate = 2e-9 * PUSH_BYTES * LINK_PIECES / seconds;
        best = i > 0 && rate > best ? rate : best;
    }
    for (int i = 0; i < 2; i++) {
        check(cudaStreamDestroy(streams[i]), "cudaStreamDestroy");
        check(cudaFree(device[i]), "cudaFree");
        check(cudaFreeHost(host[i]), "cudaFreeHost");
    }
    return best;
}

/* CUDA writes capital letters. */
static void address(size_t bytes, char text[]) {
    int device = 0;
    text[0] = '\0';
    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetPCIBusId(text, (int)bytes, device) != cudaSuccess)
        text[0] = '\0';
    for (char *letter = text; *letter; letter++)
        *letter = (char)tolower((unsigned char)*letter);
}

const bench_space bench_space_cuda = {
    .name = "cuda",
    .prepare = prepare,
    .begin = choose_device,
    .allocate = allocate,
    .release = release,
    .copy = copy,
    .synchronise = synchronise,
    .copy_rate = copy_rate,
    .host_rate = host_rate,
    .address = address,
};
