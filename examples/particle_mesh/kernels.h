/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts kernels, on the default stream or the one given. Only files about CUDA include this header. */
#ifndef KERNELS_H
#define KERNELS_H

#include "formulas.h"
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A box of modes before and after the influence function: pairs of real and imaginary part. */
struct modes {
    long long count[3];
    ptrdiff_t stride[3]; /* in pairs */
    const double *k[3];
    double *values;
};

cudaError_t kernel_spread(const struct brick *brick, double *mesh, int n,
                          const struct particle *particles);
cudaError_t kernel_gather(const struct brick *brick, const double *mesh, int n,
                          const struct particle *particles, struct sample *samples);
cudaError_t kernel_multiply(const struct influence *influence, const struct modes *modes,
                            cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
