/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that copy boxes: to pack, to unpack, and directly into the memory of peers. */
#include "cuda_copy.cuh"

namespace {

template <int most> struct list { redist__cuda_part parts[most]; };

template <int most>
__global__ void __launch_bounds__(threads) copy_parts(const __grid_constant__ list<most> list) {
    __shared__ redist__cuda_part part;
    fetch_part(&list.parts[blockIdx.y], &part);
    copy_units(part);
}

template <int most>
cudaError_t launch(const redist__cuda_part parts[], int count, cudaStream_t stream) {
    list<most> list;
    uint64_t units = 0;
    for (int i = 0; i < count; i++) {
        list.parts[i] = parts[i];
        units = parts[i].units > units ? parts[i].units : units;
    }
    dim3 grid(blocks_for(count, units), static_cast<unsigned>(count));
    if (units != 0)
        copy_parts<most><<<grid, threads, 0, stream>>>(list);
    return cudaGetLastError();
}

__global__ void __launch_bounds__(threads)
    copy_part(const __grid_constant__ redist__cuda_part part) {
    copy_units(part);
}

__global__ void raise_word(volatile uint64_t *word, const uint64_t *to) {
    if (*to > *word)
        *word = *to;
}

} // namespace

cudaError_t redist__cuda_raise(uint64_t *word, const uint64_t *to, cudaStream_t stream) {
    raise_word<<<1, 1, 0, stream>>>(word, to);
    return cudaGetLastError();
}

cudaError_t redist__cuda_copy_parts(const redist__cuda_part parts[], int count,
                                    cudaStream_t stream) {
    return count == 1   ? redist__cuda_copy_part(&parts[0], stream)
           : count <= 3 ? launch<3>(parts, count, stream)
                        : launch<REDIST__CUDA_PARTS>(parts, count, stream);
}

cudaError_t redist__cuda_copy_part(const redist__cuda_part *part, cudaStream_t stream) {
    if (part->units == 0)
        return cudaSuccess;
    copy_part<<<blocks_for(1, part->units), threads, 0, stream>>>(*part);
    return cudaGetLastError();
}
