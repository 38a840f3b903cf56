/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels.h"

namespace {

const unsigned threads = 128, most_blocks = 1 << 16;

__device__ long long first_of_thread() {
    return static_cast<long long>(blockIdx.x) * threads + threadIdx.x;
}

/* From one element of a thread to its next. */
__device__ long long step() {
    return static_cast<long long>(gridDim.x) * threads;
}

/* Enough for n elements, if each thread takes several where there are very many. */
unsigned blocks_for(long long n) {
    long long blocks = (n + threads - 1) / threads;
    return static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
}

__global__ void spread(const struct brick brick, double *mesh, int n,
                       const struct particle *particles) {
    for (long long i = first_of_thread(); i < n; i += step())
        spread_one(&brick, mesh, &particles[i]);
}

__global__ void gather(const struct brick brick, const double *mesh, int n,
                       const struct particle *particles, struct sample *samples) {
    for (long long i = first_of_thread(); i < n; i += step())
        gather_one(&brick, mesh, &particles[i], &samples[i]);
}

__global__ void multiply(const struct influence influence, const struct modes modes, long long n) {
    for (long long i = first_of_thread(); i < n; i += step()) {
        const long long z = i % modes.count[2], y = i / modes.count[2] % modes.count[1],
                        x = i / modes.count[2] / modes.count[1];
        const double factor = influence_of(&influence, modes.k[0][x], modes.k[1][y], modes.k[2][z]);
        double *mode =
            modes.values + 2 * (x * modes.stride[0] + y * modes.stride[1] + z * modes.stride[2]);
        mode[0] *= factor;
        mode[1] *= factor;
    }
}

} // namespace

cudaError_t kernel_spread(const struct brick *brick, double *mesh, int n,
                          const struct particle *particles) {
    if (n > 0)
        spread<<<blocks_for(n), threads>>>(*brick, mesh, n, particles);
    return cudaGetLastError();
}

cudaError_t kernel_gather(const struct brick *brick, const double *mesh, int n,
                          const struct particle *particles, struct sample *samples) {
    if (n > 0)
        gather<<<blocks_for(n), threads>>>(*brick, mesh, n, particles, samples);
    return cudaGetLastError();
}

cudaError_t kernel_multiply(const struct influence *influence, const struct modes *modes,
                            cudaStream_t stream) {
    const long long n = modes->count[0] * modes->count[1] * modes->count[2];
    if (n > 0)
        multiply<<<blocks_for(n), threads, 0, stream>>>(*influence, *modes, n);
    return cudaGetLastError();
}
