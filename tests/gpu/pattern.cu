/* SPDX-License-Identifier: BSD-3-Clause */
#include "pattern.h"

namespace {

const int threads = 256, blocks = 1024;

__device__ unsigned char expected(const pattern_block &block, int64_t index, unsigned salt) {
    int64_t x = index % block.count[2] + block.start[2];
    int64_t row = index / block.count[2];
    int64_t y = row % block.count[1] + block.start[1], z = row / block.count[1] + block.start[0];
    uint64_t global = static_cast<uint64_t>((z * block.size[1] + y) * block.size[2] + x);
    uint64_t hash = (global + salt + 1) * 0x9E3779B97F4A7C15ull;
    return static_cast<unsigned char>((hash ^ (hash >> 29)) >> 40);
}

__device__ int64_t total(const pattern_block &block) {
    return block.count[0] * block.count[1] * block.count[2];
}

__device__ int64_t thread_index() {
    return static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
}

__global__ void fill(unsigned char *array, pattern_block block, unsigned salt, int64_t cycles) {
    for (int64_t begin = clock64(); clock64() - begin < cycles;) {
    }
    for (int64_t i = thread_index(); i < total(block); i += threads * blocks)
        array[i] = expected(block, i, salt);
}

__global__ void check(const unsigned char *array, pattern_block block, unsigned salt,
                      unsigned long long *wrong) {
    unsigned long long mine = 0;
    for (int64_t i = thread_index(); i < total(block); i += threads * blocks)
        mine += array[i] != expected(block, i, salt);
    if (mine != 0)
        atomicAdd(wrong, mine);
}

} // namespace

cudaError_t pattern_fill(unsigned char *array, pattern_block block, unsigned salt, int64_t cycles,
                         cudaStream_t stream) {
    fill<<<blocks, threads, 0, stream>>>(array, block, salt, cycles);
    return cudaGetLastError();
}

cudaError_t pattern_check(const unsigned char *array, pattern_block block, unsigned salt,
                          unsigned long long *wrong, cudaStream_t stream) {
    check<<<blocks, threads, 0, stream>>>(array, block, salt, wrong);
    return cudaGetLastError();
}
