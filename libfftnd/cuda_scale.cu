/* SPDX-License-Identifier: BSD-3-Clause */
#include "cuda_scale.h"

#include <cstdint>

namespace {

const unsigned threads = 256, most_blocks = 1 << 16;

template <class number> struct pair {
    number first, second;
};

/* Two numbers in one access each; an odd one at the end is left to the first thread. */
template <class number>
__global__ void __launch_bounds__(threads) multiply(number *array, size_t count, number factor) {
    pair<number> *pairs = reinterpret_cast<pair<number> *>(array);
    size_t first = static_cast<size_t>(blockIdx.x) * threads + threadIdx.x;
    for (size_t i = first; i < count / 2; i += static_cast<size_t>(gridDim.x) * threads) {
        pair<number> held = pairs[i];
        held.first *= factor;
        held.second *= factor;
        pairs[i] = held;
    }
    if (first == 0 && count % 2 != 0)
        array[count - 1] *= factor;
}

template <class number>
cudaError_t launch(void *array, size_t count, number factor, cudaStream_t stream) {
    size_t blocks = (count / 2 + threads - 1) / threads + 1;
    unsigned now = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
    multiply<number><<<now, threads, 0, stream>>>(static_cast<number *>(array), count, factor);
    return cudaGetLastError();
}

} // namespace

cudaError_t fftnd__cuda_scale(void *array, size_t count, int is_double, double factor,
                              cudaStream_t stream) {
    if (count == 0)
        return cudaSuccess;
    return is_double ? launch<double>(array, count, factor, stream)
                     : launch<float>(array, count, static_cast<float>(factor), stream);
}
