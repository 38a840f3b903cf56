/* SPDX-License-Identifier: BSD-3-Clause */
/* Divisions and shared memory of the kernels of panels.h and panels_planes.h. */
#include "redist_place.h"

#include <atomic>
#include <cuda_runtime_api.h>

namespace {

__device__ __forceinline__ unsigned divide(unsigned i, const lines__panel_divisor &by) {
    return static_cast<unsigned>(static_cast<unsigned long long>(i) * by.factor >> by.shift);
}

/* Number of the context of each device in which a kernel may use all shared memory of a block; 0 = not known. A limit
 * that followed each launch would be too low for graphs that are instantiated later. */
const int most_devices = 16;
typedef std::atomic<unsigned long long> contexts[most_devices];

template <class kernel> cudaError_t allow_memory(kernel function, contexts &allowed) {
    const redist_place *place = redist_place_entered();
    const bool is_known = place != nullptr && place->device < most_devices;
    int device = 0, most = 0;
    if (is_known && allowed[place->device].load(std::memory_order_relaxed) == place->context)
        return cudaSuccess;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (error == cudaSuccess && is_known)
        allowed[place->device].store(place->context, std::memory_order_relaxed);
    return error;
}

} // namespace
