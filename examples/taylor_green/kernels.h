/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts kernels on the default stream, or the one given: the operations of struct space, with results on the device.
 * Only files about CUDA include this header. */
#ifndef KERNELS_H
#define KERNELS_H

#include "formulas.h"
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A box of points of two vector fields, and of their cross product; distances are in elements. */
struct cross {
    long long count[3];
    ptrdiff_t in[3], out[3];
    const double *inputs[6];
    double *outputs[3];
};

cudaError_t kernel_set_vortex(const struct work *work);
cudaError_t kernel_cut(const struct work *work);
cudaError_t kernel_curl(const struct work *work);
cudaError_t kernel_finish_slope(const struct work *work);
cudaError_t kernel_measure(const struct work *work);
cudaError_t kernel_cross(const struct cross *cross, cudaStream_t stream);
cudaError_t kernel_move_along(size_t n, double *result, const double *base, double factor,
                              const double *slope);

/* Waits for the result, which is on the host. */
cudaError_t kernel_largest_speed(ptrdiff_t n, const double *velocity, double *largest);

#ifdef __cplusplus
}
#endif

#endif
