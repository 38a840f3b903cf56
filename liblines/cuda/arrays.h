/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for arrays on a CUDA device. Only files about CUDA include this header. */
#ifndef LINES__CUFFT_ARRAYS_H
#define LINES__CUFFT_ARRAYS_H

#include "../modes.h"
#include "../operation.h"
#include "../r2r_lines.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins to multiply `count` numbers: doubles, or floats. */
cudaError_t lines__cuda_scale(void *array, size_t count, int is_double, double factor,
                              cudaStream_t stream);

/* Begins to change modes. */
cudaError_t lines__cuda_change(const struct lines__modes *modes, cudaStream_t stream);

/* Begins to apply an operator to a box of modes; arrays and tables are in memory of the device. */
cudaError_t lines__cuda_operate(const struct lines__operation *operation, cudaStream_t stream);

/* Begins to make rows of lines, or lines of rows `after` their transform. */
cudaError_t lines__cuda_r2r(const struct lines__r2r_lines *lines, int after, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
