/* SPDX-License-Identifier: BSD-3-Clause */
#include "cuda_streams.h"

#include <stddef.h>

cudaError_t fftnd__cuda_streams_create(struct fftnd__cuda_streams *streams, cudaStream_t user) {
    cudaError_t error = cudaEventCreateWithFlags(&streams->forked, cudaEventDisableTiming);
    streams->streams[0] = user;
    streams->n = 1;
    for (int i = 1; i < FFTND__MOST_STREAMS && error == cudaSuccess; i++) {
        error = cudaStreamCreateWithFlags(&streams->streams[i], cudaStreamNonBlocking);
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&streams->ended[i], cudaEventDisableTiming);
        streams->n++;
    }
    return error;
}

void fftnd__cuda_streams_destroy(struct fftnd__cuda_streams *streams) {
    for (int i = 1; i < streams->n; i++) {
        if (streams->streams[i] != NULL)
            (void)cudaStreamDestroy(streams->streams[i]);
        if (streams->ended[i] != NULL)
            (void)cudaEventDestroy(streams->ended[i]);
    }
    if (streams->forked != NULL)
        (void)cudaEventDestroy(streams->forked);
    *streams = (struct fftnd__cuda_streams){0};
}

cudaError_t fftnd__cuda_streams_fork(const struct fftnd__cuda_streams *streams) {
    cudaError_t error = cudaEventRecord(streams->forked, streams->streams[0]);
    for (int i = 1; i < streams->n && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(streams->streams[i], streams->forked, 0);
    return error;
}

/* Where the user's stream cannot wait for one of the others, the host does. */
static cudaError_t join_one(const struct fftnd__cuda_streams *streams, int i) {
    cudaError_t error = cudaEventRecord(streams->ended[i], streams->streams[i]);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(streams->streams[0], streams->ended[i], 0);
    if (error != cudaSuccess)
        (void)cudaStreamSynchronize(streams->streams[i]);
    return error;
}

cudaError_t fftnd__cuda_streams_join(const struct fftnd__cuda_streams *streams) {
    cudaError_t first = cudaSuccess;
    for (int i = 1; i < streams->n; i++) {
        cudaError_t error = join_one(streams, i);
        first = first == cudaSuccess ? error : first;
    }
    return first;
}
