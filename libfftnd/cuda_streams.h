/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams beside one of the user, for launches that need not wait for each other. */
#ifndef FFTND__CUDA_STREAMS_H
#define FFTND__CUDA_STREAMS_H

#include <cuda_runtime_api.h>

enum { FFTND__MOST_STREAMS = 4 };

/* Stream 0 is the user's. */
struct fftnd__cuda_streams {
    int n;
    cudaStream_t streams[FFTND__MOST_STREAMS];
    cudaEvent_t forked, ended[FFTND__MOST_STREAMS];
};

/* Makes all but the user's, on the current device; to be destroyed also if that fails. A structure of zeros
 * has none. */
cudaError_t fftnd__cuda_streams_create(struct fftnd__cuda_streams *streams, cudaStream_t user);
void fftnd__cuda_streams_destroy(struct fftnd__cuda_streams *streams);

/* From here on the streams go on from where the user's is; from there on his waits for all of them, after a
 * failure too. The host waits for nothing unless something fails. */
cudaError_t fftnd__cuda_streams_fork(const struct fftnd__cuda_streams *streams);
cudaError_t fftnd__cuda_streams_join(const struct fftnd__cuda_streams *streams);

#endif
