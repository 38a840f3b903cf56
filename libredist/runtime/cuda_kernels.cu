/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that copy boxes: to pack, to unpack, and directly into the memory of peers. */
#include "cuda_copy.cuh"

namespace {

const int most_parts = 65535; /* of a grid's second dimension */

__global__ void __launch_bounds__(threads) copy_parts(const redist__cuda_part *parts) {
    __shared__ redist__cuda_part part;
    fetch_part(&parts[blockIdx.y], &part);
    copy_units(part);
}

__global__ void __launch_bounds__(threads)
    copy_part(const __grid_constant__ redist__cuda_part part) {
    copy_units(part);
}

} // namespace

cudaError_t redist__cuda_copy_parts(const redist__cuda_part *parts, int count, uint64_t most,
                                    cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    for (int first = 0; first < count && most != 0 && error == cudaSuccess; first += most_parts) {
        int now = count - first < most_parts ? count - first : most_parts;
        dim3 grid(blocks_for(now, most), static_cast<unsigned>(now));
        copy_parts<<<grid, threads, 0, stream>>>(parts + first);
        error = cudaGetLastError();
    }
    return error;
}

cudaError_t redist__cuda_copy_part(const redist__cuda_part *part, cudaStream_t stream) {
    if (part->units == 0)
        return cudaSuccess;
    copy_part<<<blocks_for(1, part->units), threads, 0, stream>>>(*part);
    return cudaGetLastError();
}
