/* SPDX-License-Identifier: BSD-3-Clause */
/** Kernels of the user. */
#ifndef TESTS_GPU_SCALE_H
#define TESTS_GPU_SCALE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Multiplies `count` doubles in a stream. */
cudaError_t scale_doubles(double *array, size_t count, double factor, cudaStream_t stream);

/** Writes where no memory is. */
cudaError_t scale_nothing(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
