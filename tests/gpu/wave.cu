/* SPDX-License-Identifier: BSD-3-Clause */
#include "wave.h"

namespace {

const int threads = 256, blocks = 4096;

__device__ float2 expected(const wave_block &block, int64_t index) {
    double turns = 0;
    bool is_k = true;
    for (int axis = 2; axis >= 0; axis--) {
        int64_t at = index % block.count[axis] + block.start[axis];
        index /= block.count[axis];
        turns += static_cast<double>(block.k[axis] * at % block.size[axis]) /
                 static_cast<double>(block.size[axis]);
        is_k = is_k && at == block.k[axis];
    }
    if (block.is_spectral)
        return make_float2(is_k ? 1.0f : 0.0f, 0.0f);
    double sine, cosine;
    sincospi(2 * turns, &sine, &cosine);
    return make_float2(static_cast<float>(cosine), static_cast<float>(sine));
}

__device__ int64_t total(const wave_block &block) {
    return block.count[0] * block.count[1] * block.count[2];
}

__device__ int64_t thread_index() {
    return static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
}

__global__ void fill(float2 *array, wave_block block) {
    for (int64_t i = thread_index(); i < total(block); i += threads * blocks)
        array[i] = expected(block, i);
}

/* The bits of numbers that are not negative are in the numbers' order, and those of what is no number
 * are above all. */
__device__ unsigned largest_bits;

__global__ void check(const float2 *array, wave_block block) {
    unsigned largest = 0;
    for (int64_t i = thread_index(); i < total(block); i += threads * blocks) {
        float2 value = expected(block, i);
        float error = fabsf(array[i].x - value.x) + fabsf(array[i].y - value.y);
        largest = max(largest, __float_as_uint(error));
    }
    atomicMax(&largest_bits, largest);
}

} // namespace

cudaError_t wave_fill(void *array, wave_block block) {
    fill<<<blocks, threads>>>(static_cast<float2 *>(array), block);
    return cudaGetLastError();
}

cudaError_t wave_error(const void *array, wave_block block, float *largest) {
    *largest = 0;
    cudaError_t error = cudaMemcpyToSymbol(largest_bits, largest, sizeof(*largest));
    if (error != cudaSuccess)
        return error;
    check<<<blocks, threads>>>(static_cast<const float2 *>(array), block);
    error = cudaGetLastError();
    return error == cudaSuccess ? cudaMemcpyFromSymbol(largest, largest_bits, sizeof(*largest))
                                : error;
}
