/* SPDX-License-Identifier: BSD-3-Clause */
#include "decay.h"

namespace {

__global__ void multiply(const modes given, double time) {
    const long long all = given.count[0] * given.count[1] * given.count[2];
    for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < all;
         i += static_cast<long long>(gridDim.x) * blockDim.x) {
        const long long z = i % given.count[2], y = i / given.count[2] % given.count[1],
                        x = i / given.count[2] / given.count[1];
        const double k[3] = {given.k[0][x], given.k[1][y], given.k[2][z]};
        const double factor = exp(-(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) * time);
        double *mode =
            given.u_hat + 2 * (x * given.stride[0] + y * given.stride[1] + z * given.stride[2]);
        mode[0] *= factor;
        mode[1] *= factor;
    }
}

} // namespace

cudaError_t decay(const modes *given, double time, cudaStream_t stream) {
    multiply<<<256, 256, 0, stream>>>(*given, time);
    return cudaGetLastError();
}
