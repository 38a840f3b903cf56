/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programmatic dependent launches: kernels that are launched while earlier work of their stream still ends, from
 * compute capability 9 on. For both libraries; not installed.
 */
#ifndef REDIST_EARLY_LAUNCH_CUH
#define REDIST_EARLY_LAUNCH_CUH

#include <atomic>
#include <cuda_runtime_api.h>
#include <initializer_list>

namespace {

/* Waits, in all threads of such a kernel, before they touch memory that others write: then all earlier work of the
 * stream is complete, however the kernel was launched. */
__device__ __forceinline__ void await_stream() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next kernel of the stream use free multiprocessors. Not if that kernel waits for other devices: it could
 * block kernels of other streams for which other devices wait. */
__device__ __forceinline__ void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Returns whether a device of a compute capability (90 is 9.0) runs code with these two instructions: it runs the
 * newest code compiled for it or an older one. */
inline bool waits_on(int capability) {
#ifdef __CUDA_ARCH_LIST__
    for (int built : {__CUDA_ARCH_LIST__})
        if (built >= 900 && built <= 10 * capability)
            return true;
#endif
    return false;
}

/* Returns whether the current device can launch early; cached as 0 = unknown, 1 = no, 2 = yes. */
inline bool can_launch_early() {
    static std::atomic<int> known[64];
    int device = 0, major = 0, minor = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device >= 64)
        return false;
    int now = known[device].load(std::memory_order_relaxed);
    if (now == 0) {
        bool is_known = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
                            cudaSuccess &&
                        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) ==
                            cudaSuccess;
        now = is_known && waits_on(10 * major + minor) ? 2 : 1;
        known[device].store(now, std::memory_order_relaxed);
    }
    return now == 2;
}

/* Launches a kernel that begins with await_stream; early, and in clusters of several blocks, only if
 * can_launch_early. */
template <class kernel, class... arguments>
cudaError_t launch_clusters(kernel function, unsigned cluster, dim3 grid, dim3 block,
                            size_t shared_bytes, cudaStream_t stream, const arguments &...all) {
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t config = {};
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim = {cluster, 1, 1};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = !can_launch_early() ? 0 : cluster > 1 ? 2 : 1;
    return cudaLaunchKernelEx(&config, function, all...);
}

template <class kernel, class... arguments>
cudaError_t launch_early(kernel function, dim3 grid, dim3 block, size_t shared_bytes,
                         cudaStream_t stream, const arguments &...all) {
    return launch_clusters(function, 1, grid, block, shared_bytes, stream, all...);
}

} // namespace

#endif
