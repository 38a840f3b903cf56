/* SPDX-License-Identifier: BSD-3-Clause */
#include "scale.h"

namespace {

__global__ void scale(double *array, size_t count, double factor) {
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count;
         i += static_cast<size_t>(gridDim.x) * blockDim.x)
        array[i] *= factor;
}

} // namespace

cudaError_t scale_doubles(double *array, size_t count, double factor, cudaStream_t stream) {
    scale<<<64, 256, 0, stream>>>(array, count, factor);
    return cudaGetLastError();
}

cudaError_t scale_nothing(cudaStream_t stream) {
    return scale_doubles(reinterpret_cast<double *>(16), 1, 1, stream);
}
