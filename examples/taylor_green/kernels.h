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

/* A box of points of a vector field, and of its products; distances are in elements. */
struct products {
    long long count[3];
    ptrdiff_t in[3], out[3];
    const double *inputs[COMPONENTS];
    double *outputs[PRODUCTS];
};

cudaError_t kernel_set_vortex(const struct work *work);
cudaError_t kernel_advance(const struct work *work);
cudaError_t kernel_measure(const struct work *work);
cudaError_t kernel_multiply(const struct products *products, cudaStream_t stream);

/* Waits for the result, which is on the host. */
cudaError_t kernel_largest_speed(ptrdiff_t n, const double *velocity, double *largest);

#ifdef __cplusplus
}
#endif

#endif
