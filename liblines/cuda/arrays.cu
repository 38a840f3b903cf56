/* SPDX-License-Identifier: BSD-3-Clause */
#include "arrays.h"

#include <cstdint>

namespace {

const unsigned threads = 256, most_blocks = 1 << 16;

template <class number> struct pair { number first, second; };

/* Multiplies two numbers in one access each; an odd one at the end is left to the first thread. */
template <class number>
__global__ void __launch_bounds__(threads) multiply(number *array, size_t count, number factor) {
    pair<number> *pairs = reinterpret_cast<pair<number> *>(array);
    size_t first = static_cast<size_t>(blockIdx.x) * threads + threadIdx.x;
    for (size_t i = first; i < count / 2; i += static_cast<size_t>(gridDim.x) * threads) {
        pair<number> held = pairs[i];
        held.first *= factor;
        held.second *= factor;
        pairs[i] = held;
    }
    if (first == 0 && count % 2 != 0)
        array[count - 1] *= factor;
}

template <class number>
cudaError_t launch(void *array, size_t count, number factor, cudaStream_t stream) {
    size_t blocks = (count / 2 + threads - 1) / threads + 1;
    unsigned now = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
    multiply<number><<<now, threads, 0, stream>>>(static_cast<number *>(array), count, factor);
    return cudaGetLastError();
}

template <class number>
LINES__CHANGE_ELEMENT(change_element, number)

/* Threads of a line: a power of two, so that neighbours have neighbouring elements. */
const unsigned most_lanes = 32;

unsigned lanes_for(long long n) {
    unsigned lanes = 1;
    while (lanes < most_lanes && lanes < n)
        lanes *= 2;
    return lanes;
}

unsigned blocks_for(long long lines, unsigned lanes) {
    long long blocks = (lines + threads / lanes - 1) / (threads / lanes);
    return static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
}

/* Few lines have threads of several blocks, also in powers of two. */
const long long busy_threads = 1 << 17;

unsigned lanes_for(long long n, long long lines) {
    unsigned lanes = lanes_for(n);
    while (lanes < n && lines * lanes < busy_threads)
        lanes *= 2;
    return lanes;
}

/* Changes lines along the last axis. */
template <class number>
__global__ void __launch_bounds__(threads)
    change_modes(const __grid_constant__ lines__modes modes, long long lines, unsigned lanes) {
    long long thread = static_cast<long long>(blockIdx.x) * threads + threadIdx.x;
    long long step = static_cast<long long>(gridDim.x) * threads / lanes;
    int last = modes.ndims - 1;
    for (long long line = thread / lanes; line < lines; line += step) {
        char *begin = modes.memory, *partner = modes.memory + modes.partner;
        long long rest = line;
        for (int axis = last - 1; axis >= 0; rest /= modes.count[axis--]) {
            begin += rest % modes.count[axis] * modes.stride[axis];
            partner += rest % modes.count[axis] * modes.partner_stride[axis];
        }
        for (long long i = thread % lanes; i < modes.count[last]; i += lanes)
            change_element(modes.change, reinterpret_cast<number *>(begin + i * modes.stride[last]),
                           reinterpret_cast<number *>(partner + i * modes.partner_stride[last]),
                           modes.numbers, static_cast<number>(modes.factor));
    }
}

LINES__R2R_ELEMENTS(r2r_double, double)
LINES__R2R_ELEMENTS(r2r_float, float)

/* Neighbouring threads have neighbours of the row, or of the line behind the transform. */
template <bool is_double, bool after>
__global__ void __launch_bounds__(threads) move_r2r(lines__r2r_lines lines) {
    long long step = static_cast<long long>(gridDim.x) * threads;
    long long n = after ? lines.filled : lines.length;
    for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x;
         i < n * lines.count; i += step)
        if (is_double && after)
            r2r_double_after(&lines, i / n, i % n);
        else if (is_double)
            r2r_double_before(&lines, i / n, i % n);
        else if (after)
            r2r_float_after(&lines, i / n, i % n);
        else
            r2r_float_before(&lines, i / n, i % n);
}

LINES__OPERATE_ELEMENT(operate_double, double, double)
LINES__OPERATE_ELEMENT(operate_float, float, double)

/* Defines how threads do lines of a box: what all elements of a line have in common is found once. */
#define OPERATE_LINES(name, run, odd)                                                              \
    __global__ void __launch_bounds__(threads) name##_##run##_lines(                               \
        const __grid_constant__ lines__operation op, long long lines, unsigned lanes) {            \
        long long first = (static_cast<long long>(blockIdx.x) * threads + threadIdx.x) / lanes;    \
        long long step = static_cast<long long>(gridDim.x) * (threads / lanes);                    \
        long long n = op.axes[op.ndims - 1].count;                                                 \
        double room[REDIST_MAX_NDIMS];                                                             \
        (void)room;                                                                                \
        for (long long line = first; line < lines; line += step) {                                 \
            name##_mode mode;                                                                      \
            name##_find(&op, line, &mode, odd);                                                    \
            for (long long at = threadIdx.x % lanes; at < n; at += lanes)                          \
                name##_##run(&op, &mode, at, odd);                                                 \
        }                                                                                          \
    }
OPERATE_LINES(operate_double, multiply, nullptr)
OPERATE_LINES(operate_double, combine, room)
OPERATE_LINES(operate_float, multiply, nullptr)
OPERATE_LINES(operate_float, combine, room)

} // namespace

cudaError_t lines__cuda_r2r(const struct lines__r2r_lines *lines, int after, cudaStream_t stream) {
    long long count = (after ? lines->filled : lines->length) * lines->count;
    long long blocks = (count + threads - 1) / threads;
    unsigned now = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
    if (count == 0)
        return cudaSuccess;
    if (lines->number_bytes == sizeof(double) && after)
        move_r2r<true, true><<<now, threads, 0, stream>>>(*lines);
    else if (lines->number_bytes == sizeof(double))
        move_r2r<true, false><<<now, threads, 0, stream>>>(*lines);
    else if (after)
        move_r2r<false, true><<<now, threads, 0, stream>>>(*lines);
    else
        move_r2r<false, false><<<now, threads, 0, stream>>>(*lines);
    return cudaGetLastError();
}

cudaError_t lines__cuda_operate(const struct lines__operation *operation, cudaStream_t stream) {
    static decltype(&operate_double_multiply_lines)
        const kernels[2][2] = {{operate_float_multiply_lines, operate_float_combine_lines},
                               {operate_double_multiply_lines, operate_double_combine_lines}};
    long long lines = 1, n = operation->axes[operation->ndims - 1].count;
    for (int d = 0; d < operation->ndims - 1; d++)
        lines *= operation->axes[d].count;
    if (lines == 0 || n == 0)
        return cudaSuccess;
    auto kernel =
        kernels[operation->number_bytes == sizeof(double)][lines__combines(operation->kind) != 0];
    unsigned lanes = lanes_for(n);
    kernel<<<blocks_for(lines, lanes), threads, 0, stream>>>(*operation, lines, lanes);
    return cudaGetLastError();
}

cudaError_t lines__cuda_change(const struct lines__modes *modes, cudaStream_t stream) {
    long long lines = 1, n = modes->count[modes->ndims - 1];
    for (int axis = 0; axis < modes->ndims - 1; axis++)
        lines *= modes->count[axis];
    if (lines == 0 || n == 0)
        return cudaSuccess;
    unsigned lanes = lanes_for(n, lines);
    unsigned blocks = lanes > threads ? static_cast<unsigned>(lines) * (lanes / threads)
                                      : blocks_for(lines, lanes);
    if (modes->number_bytes == sizeof(double))
        change_modes<double><<<blocks, threads, 0, stream>>>(*modes, lines, lanes);
    else
        change_modes<float><<<blocks, threads, 0, stream>>>(*modes, lines, lanes);
    return cudaGetLastError();
}

cudaError_t lines__cuda_scale(void *array, size_t count, int is_double, double factor,
                              cudaStream_t stream) {
    if (count == 0)
        return cudaSuccess;
    return is_double ? launch<double>(array, count, factor, stream)
                     : launch<float>(array, count, static_cast<float>(factor), stream);
}
