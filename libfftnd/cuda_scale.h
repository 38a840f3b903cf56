/* SPDX-License-Identifier: BSD-3-Clause */
/* Multiplication of arrays on a CUDA device. Only files about CUDA include this header. */
#ifndef FFTND__CUDA_SCALE_H
#define FFTND__CUDA_SCALE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins to multiply `count` numbers: doubles, or floats. */
cudaError_t fftnd__cuda_scale(void *array, size_t count, int is_double, double factor,
                              cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
