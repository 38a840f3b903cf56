/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of 7_heat_graph. */
#ifndef DECAY_H
#define DECAY_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A rank's modes: u_hat[x, y, z] with these numbers of elements and strides, and the wavenumbers along each axis. */
struct modes {
    double *u_hat; /* pairs of real and imaginary part */
    long long count[3];
    long long stride[3];
    const double *k[3];
};

/* Multiplies each mode by exp(-|k|^2 time), in a stream. */
cudaError_t decay(const struct modes *modes, double time, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
