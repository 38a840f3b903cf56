/* SPDX-License-Identifier: BSD-3-Clause */
/* How kernels copy boxes. */
#ifndef REDIST__CUDA_COPY_CUH
#define REDIST__CUDA_COPY_CUH

#include "cuda_device.h"

namespace {

/* Each thread issues several loads before its first store. */
const int threads = 256, units_per_thread = 4, tile = threads * units_per_thread;

/* Divides by multiplication where that is exact (inverse_of in space_cuda.c), else by division. */
__device__ inline uint64_t divide(uint64_t n, uint64_t divisor, uint64_t inverse) {
    if (inverse != 0)
        return __umul64hi(n, inverse);
    return divisor == 1 ? n : n / divisor;
}

template <class number> __device__ inline number load(const char *from, int aligned) {
    number value;
    if (aligned)
        return *reinterpret_cast<const number *>(from);
    memcpy(&value, from, sizeof value);
    return value;
}

template <class number> __device__ inline void store(number value, char *to, int aligned) {
    if (aligned)
        *reinterpret_cast<number *>(to) = value;
    else
        memcpy(to, &value, sizeof value);
}

/* Parts for one kernel, whose argument they are. */
template <int most> struct list { redist__cuda_part parts[most]; };

struct offsets {
    int64_t source, destination;
};

template <class unit>
__device__ inline offsets find_unit(const redist__cuda_part &part, uint64_t index) {
    uint64_t row = divide(index, part.run, part.run_inverse);
    int64_t column = static_cast<int64_t>((index - row * part.run) * sizeof(unit));
    offsets found = {column, column};
    for (int i = 0; i < part.nloops; i++) {
        uint64_t next = divide(row, part.count[i], part.count_inverse[i]);
        int64_t position = static_cast<int64_t>(row - next * part.count[i]);
        found.source += position * part.source_stride[i];
        found.destination += position * part.destination_stride[i];
        row = next;
    }
    return found;
}

template <class unit>
__device__ inline void copy_tile(const redist__cuda_part &part, uint64_t first) {
    unit held[units_per_thread];
    int64_t destination[units_per_thread];
#pragma unroll
    for (int i = 0; i < units_per_thread; i++) {
        uint64_t index = first + static_cast<uint64_t>(i * threads) + threadIdx.x;
        destination[i] = -1;
        if (index < part.units) {
            offsets found = find_unit<unit>(part, index);
            held[i] = *reinterpret_cast<const unit *>(part.source + found.source);
            destination[i] = found.destination;
        }
    }
#pragma unroll
    for (int i = 0; i < units_per_thread; i++)
        if (destination[i] >= 0)
            *reinterpret_cast<unit *>(part.destination + destination[i]) = held[i];
}

template <class unit> __device__ inline void copy_tiles(const redist__cuda_part &part) {
    uint64_t step = static_cast<uint64_t>(gridDim.x) * tile;
    for (uint64_t first = static_cast<uint64_t>(blockIdx.x) * tile; first < part.units;
         first += step)
        copy_tile<unit>(part, first);
}

__device__ inline void copy_units(const redist__cuda_part &part) {
    switch (part.width) {
    case 16:
        return copy_tiles<uint4>(part);
    case 8:
        return copy_tiles<uint2>(part);
    case 4:
        return copy_tiles<unsigned int>(part);
    case 2:
        return copy_tiles<unsigned short>(part);
    default:
        return copy_tiles<unsigned char>(part);
    }
}

/* Copies a part's description to shared memory. */
__device__ inline void fetch_part(const redist__cuda_part *from, redist__cuda_part *part) {
    const int words = sizeof *part / sizeof(uint64_t);
    for (int i = static_cast<int>(threadIdx.x); i < words; i += threads)
        reinterpret_cast<uint64_t *>(part)[i] = reinterpret_cast<const uint64_t *>(from)[i];
    __syncthreads();
}

inline unsigned count_processors() {
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    return static_cast<unsigned>(processors);
}

/* Returns the blocks for each part: enough to fill the device, at most one for each tile. */
inline unsigned blocks_for(int parts, uint64_t units) {
    uint64_t tiles = (units + tile - 1) / tile;
    uint64_t most = count_processors() * uint64_t{16} / static_cast<uint64_t>(parts) + 1;
    return static_cast<unsigned>(tiles < most ? tiles : most);
}

} // namespace

#endif
