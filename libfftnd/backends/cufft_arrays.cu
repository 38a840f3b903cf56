/* SPDX-License-Identifier: BSD-3-Clause */
#include "cufft_arrays.h"

#include <cstdint>

namespace {

const unsigned threads = 256, most_blocks = 1 << 16;

template <class number> struct pair { number first, second; };

/* Two numbers in one access each; an odd one at the end is left to the first thread. */
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
FFTND__CHANGE_ELEMENT(change_element, number)

template <class number>
__global__ void __launch_bounds__(threads) change_modes(fftnd__modes modes, long long count) {
    long long step = static_cast<long long>(gridDim.x) * threads;
    for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += step) {
        char *at = modes.memory;
        long long rest = i;
        for (int axis = modes.ndims - 1; axis >= 0; rest /= modes.count[axis--])
            at += rest % modes.count[axis] * modes.stride[axis];
        change_element(modes.change, reinterpret_cast<number *>(at),
                       reinterpret_cast<number *>(at + modes.partner), modes.numbers);
    }
}

FFTND__R2R_ELEMENTS(r2r_double, double)
FFTND__R2R_ELEMENTS(r2r_float, float)

/* Neighbours in the row or, behind the transform, in the line. */
template <bool is_double, bool after>
__global__ void __launch_bounds__(threads) move_r2r(fftnd__r2r_lines lines) {
    long long step = static_cast<long long>(gridDim.x) * threads;
    long long n = after ? lines.n : lines.length;
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

FFTND__OPERATE_ELEMENT(operate_double, double, double)
FFTND__OPERATE_ELEMENT(operate_float, float, double)

template <bool is_double, bool combines>
__global__ void __launch_bounds__(threads) operate(fftnd__operation operation, long long count) {
    long long step = static_cast<long long>(gridDim.x) * threads;
    for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += step)
        if (is_double && combines)
            operate_double_combine(&operation, i);
        else if (is_double)
            operate_double_multiply(&operation, i);
        else if (combines)
            operate_float_combine(&operation, i);
        else
            operate_float_multiply(&operation, i);
}

template <class number, bool back>
__global__ void __launch_bounds__(threads)
    move_lines(fftnd__cuda_lines lines, number *array, number *list) {
    long long step = static_cast<long long>(gridDim.x) * threads;
    for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x;
         i < lines.n * lines.count; i += step) {
        long long at = i / lines.n * lines.distance + i % lines.n * lines.stride;
        if (back)
            array[at] = list[i];
        else
            list[i] = array[at];
    }
}

template <bool back>
cudaError_t move(const fftnd__cuda_lines *lines, void *array, void *list, cudaStream_t stream) {
    long long blocks = (lines->n * lines->count + threads - 1) / threads;
    unsigned now = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
    if (now != 0 && lines->is_double)
        move_lines<double, back><<<now, threads, 0, stream>>>(*lines, static_cast<double *>(array),
                                                              static_cast<double *>(list));
    else if (now != 0)
        move_lines<float, back><<<now, threads, 0, stream>>>(*lines, static_cast<float *>(array),
                                                             static_cast<float *>(list));
    return cudaGetLastError();
}

} // namespace

cudaError_t fftnd__cuda_gather(const struct fftnd__cuda_lines *lines, const void *array, void *list,
                               cudaStream_t stream) {
    return move<false>(lines, const_cast<void *>(array), list, stream);
}

cudaError_t fftnd__cuda_scatter(const struct fftnd__cuda_lines *lines, const void *list,
                                void *array, cudaStream_t stream) {
    return move<true>(lines, array, const_cast<void *>(list), stream);
}

cudaError_t fftnd__cuda_r2r(const struct fftnd__r2r_lines *lines, int after, cudaStream_t stream) {
    long long count = (after ? lines->n : lines->length) * lines->count;
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

cudaError_t fftnd__cuda_operate(const struct fftnd__operation *operation, cudaStream_t stream) {
    long long count = 1;
    for (int d = 0; d < operation->ndims; d++)
        count *= operation->axes[d].count;
    long long blocks = (count + threads - 1) / threads;
    unsigned now = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
    bool is_double = operation->number_bytes == sizeof(double);
    bool combines = fftnd__combines(operation->kind);
    if (count == 0)
        return cudaSuccess;
    if (is_double && combines)
        operate<true, true><<<now, threads, 0, stream>>>(*operation, count);
    else if (is_double)
        operate<true, false><<<now, threads, 0, stream>>>(*operation, count);
    else if (combines)
        operate<false, true><<<now, threads, 0, stream>>>(*operation, count);
    else
        operate<false, false><<<now, threads, 0, stream>>>(*operation, count);
    return cudaGetLastError();
}

cudaError_t fftnd__cuda_change(const struct fftnd__modes *modes, cudaStream_t stream) {
    long long count = 1;
    for (int axis = 0; axis < modes->ndims; axis++)
        count *= modes->count[axis];
    long long blocks = (count + threads - 1) / threads;
    unsigned now = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
    if (count != 0 && modes->number_bytes == sizeof(double))
        change_modes<double><<<now, threads, 0, stream>>>(*modes, count);
    else if (count != 0)
        change_modes<float><<<now, threads, 0, stream>>>(*modes, count);
    return cudaGetLastError();
}

cudaError_t fftnd__cuda_scale(void *array, size_t count, int is_double, double factor,
                              cudaStream_t stream) {
    if (count == 0)
        return cudaSuccess;
    return is_double ? launch<double>(array, count, factor, stream)
                     : launch<float>(array, count, static_cast<float>(factor), stream);
}
