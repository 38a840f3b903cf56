/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that copy boxes: to pack, to unpack, and directly into the memory of peers. */
#include "cuda_copy.cuh"
#include "redist_early_launch.cuh"

namespace {

__global__ void __launch_bounds__(threads)
    copy_part(const __grid_constant__ redist__cuda_part part) {
    copy_units(part);
}

__global__ void raise_word(volatile uint64_t *word, const uint64_t *to) {
    if (*to > *word)
        *word = *to;
}

template <class number> __device__ void add_units(const redist__cuda_part &part) {
    uint64_t step = static_cast<uint64_t>(gridDim.x) * threads;
    for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x; i < part.units;
         i += step) {
        offsets found = find_unit<number>(part, i);
        char *to = part.destination + found.destination;
        number sum = static_cast<number>(load<number>(to, part.aligned) +
                                         load<number>(part.source + found.source, part.aligned));
        store<number>(sum, to, part.aligned);
    }
}

__device__ inline void add_units(const redist__cuda_part &part) {
    switch (part.adds) {
    case REDIST__BYTES_1:
        return add_units<uint8_t>(part);
    case REDIST__BYTES_2:
        return add_units<uint16_t>(part);
    case REDIST__BYTES_4:
        return add_units<uint32_t>(part);
    case REDIST__BYTES_8:
        return add_units<uint64_t>(part);
    case REDIST__FLOAT:
        return add_units<float>(part);
    case REDIST__DOUBLE:
        return add_units<double>(part);
    default:
        return;
    }
}

template <int most, bool adds>
__global__ void __launch_bounds__(threads) move_parts(const __grid_constant__ list<most> list) {
    __shared__ redist__cuda_part part;
    await_stream();
    fetch_part(&list.parts[blockIdx.y], &part);
    if (adds)
        add_units(part);
    else
        copy_units(part);
}

template <int most, bool adds>
cudaError_t launch(const redist__cuda_part parts[], int count, cudaStream_t stream) {
    list<most> list;
    uint64_t units = 0;
    for (int i = 0; i < count; i++) {
        list.parts[i] = parts[i];
        units = parts[i].units > units ? parts[i].units : units;
    }
    dim3 grid(blocks_for(count, units), static_cast<unsigned>(count));
    return units == 0 ? cudaSuccess
                      : launch_early(move_parts<most, adds>, grid, threads, 0, stream, list);
}

template <bool adds>
cudaError_t launch_list(const redist__cuda_part parts[], int count, cudaStream_t stream) {
    return count <= 3 ? launch<3, adds>(parts, count, stream)
                      : launch<REDIST__CUDA_PARTS, adds>(parts, count, stream);
}

} // namespace

cudaError_t redist__cuda_raise(uint64_t *word, const uint64_t *to, cudaStream_t stream) {
    raise_word<<<1, 1, 0, stream>>>(word, to);
    return cudaGetLastError();
}

cudaError_t redist__cuda_add_parts(const redist__cuda_part parts[], int count,
                                   cudaStream_t stream) {
    return launch_list<true>(parts, count, stream);
}

cudaError_t redist__cuda_copy_parts(const redist__cuda_part parts[], int count,
                                    cudaStream_t stream) {
    return count == 1 ? redist__cuda_copy_part(&parts[0], stream)
                      : launch_list<false>(parts, count, stream);
}

cudaError_t redist__cuda_copy_part(const redist__cuda_part *part, cudaStream_t stream) {
    if (part->units == 0)
        return cudaSuccess;
    copy_part<<<blocks_for(1, part->units), threads, 0, stream>>>(*part);
    return cudaGetLastError();
}
