/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernels of panels.h and of panels_planes.h have in common beside the numbers. */
#include <atomic>
#include <cuda_runtime_api.h>

namespace {

__device__ __forceinline__ unsigned divide(unsigned i, const fftnd__panel_divisor &by) {
    return static_cast<unsigned>(static_cast<unsigned long long>(i) * by.factor >> by.shift);
}

/* The devices on which a kernel may have all the shared memory of a block, a bit for each; of those behind the last bit
 * it is never known. A limit that followed each launch would be too low for graphs that are instantiated later. */
typedef std::atomic<unsigned long long> devices;

template <class kernel> cudaError_t allow_memory(kernel function, devices &allowed) {
    int device = 0, most = 0;
    cudaError_t error = cudaGetDevice(&device);
    const unsigned long long bit = device < 64 ? 1ULL << device : 0;
    if (error != cudaSuccess || (allowed.load(std::memory_order_relaxed) & bit) != 0)
        return error;
    error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (error == cudaSuccess)
        allowed.fetch_or(bit, std::memory_order_relaxed);
    return error;
}

} // namespace
