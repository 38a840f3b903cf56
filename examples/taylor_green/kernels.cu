/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels.h"

namespace {

const unsigned threads = 256, most_blocks = 1 << 16, most_planes = 65535;

__device__ size_t first_of_thread() {
    return static_cast<size_t>(blockIdx.x) * threads + threadIdx.x;
}

/* From one element of a thread to its next. */
__device__ size_t step() {
    return static_cast<size_t>(gridDim.x) * threads;
}

/* Enough for n elements, if each thread takes several where there are very many. */
unsigned blocks_for(size_t n) {
    size_t blocks = (n + threads - 1) / threads;
    return static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
}

typedef void formula_of_block(const struct work *work, int i, int j, int k);

/* Planes along y, the elements of a plane along x. */
template <formula_of_block *formula>
__global__ void __launch_bounds__(threads) each(struct work work) {
    unsigned row = work.block.count[2], plane = work.block.count[1] * row;
    for (int i = blockIdx.y; i < work.block.count[0]; i += gridDim.y)
        for (size_t n = first_of_thread(); n < plane; n += step()) {
            unsigned at = static_cast<unsigned>(n);
            formula(&work, i, static_cast<int>(at / row), static_cast<int>(at % row));
        }
}

template <formula_of_block *formula> cudaError_t launch(const struct work *work) {
    const int *count = work->block.count;
    if (count[0] == 0 || count[1] == 0 || count[2] == 0)
        return cudaSuccess;
    unsigned planes = count[0];
    dim3 grid(blocks_for(static_cast<size_t>(count[1]) * count[2]),
              planes < most_planes ? planes : most_planes);
    each<formula><<<grid, threads>>>(*work);
    return cudaGetLastError();
}

__global__ void __launch_bounds__(threads) multiply_fields(struct products products, size_t n) {
    for (size_t p = first_of_thread(); p < n; p += step()) {
        ptrdiff_t at[3], rest = static_cast<ptrdiff_t>(p), in = 0, out = 0;
        at[2] = rest % products.count[2];
        at[1] = rest / products.count[2] % products.count[1];
        at[0] = rest / products.count[2] / products.count[1];
        for (int axis = 0; axis < 3; axis++) {
            in += at[axis] * products.in[axis];
            out += at[axis] * products.out[axis];
        }
        const double *const *from = products.inputs;
        double *const *to = products.outputs;
        multiply(from[0][in], from[1][in], from[2][in], &to[0][out], &to[1][out], &to[2][out],
                 &to[3][out], &to[4][out]);
    }
}

/* The bits of numbers that are not negative are in the numbers' order, and those of what is no number
 * are above all. */
__device__ unsigned long long largest_bits;

__global__ void __launch_bounds__(threads) find_largest(ptrdiff_t n, const double *velocity) {
    unsigned long long largest = 0;
    for (size_t p = first_of_thread(); p < static_cast<size_t>(n); p += step()) {
        double speed = speed_at(n, velocity, static_cast<ptrdiff_t>(p));
        largest = max(largest, static_cast<unsigned long long>(__double_as_longlong(speed)));
    }
    atomicMax(&largest_bits, largest);
}

} // namespace

cudaError_t kernel_set_vortex(const struct work *work) {
    return launch<set_vortex>(work);
}

cudaError_t kernel_advance(const struct work *work) {
    return launch<advance_wave>(work);
}

cudaError_t kernel_measure(const struct work *work) {
    return launch<measure_wave>(work);
}

cudaError_t kernel_multiply(const struct products *products, cudaStream_t stream) {
    size_t n = static_cast<size_t>(products->count[0] * products->count[1] * products->count[2]);
    if (n != 0)
        multiply_fields<<<blocks_for(n), threads, 0, stream>>>(*products, n);
    return cudaGetLastError();
}

cudaError_t kernel_largest_speed(ptrdiff_t n, const double *velocity, double *largest) {
    *largest = 0;
    cudaError_t error = cudaMemcpyToSymbol(largest_bits, largest, sizeof(*largest));
    if (error == cudaSuccess && n != 0) {
        find_largest<<<blocks_for(static_cast<size_t>(n)), threads>>>(n, velocity);
        error = cudaGetLastError();
    }
    return error == cudaSuccess ? cudaMemcpyFromSymbol(largest, largest_bits, sizeof(*largest))
                                : error;
}
