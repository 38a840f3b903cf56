/* SPDX-License-Identifier: BSD-3-Clause */
/** CUDA's header as far as heffte.h needs it, for the stand-in: copies in its streams. */
#ifndef TESTS_CPP_STAND_IN_CUDA_H
#define TESTS_CPP_STAND_IN_CUDA_H

#include <cstring>

extern "C" {
#include "../../stand_in_streams.h"
#include "../../stream_device.h"
}

#define CUDART_VERSION 1

struct float2 {
    float x, y;
};
struct double2 {
    double x, y;
};

typedef struct CUstream_st *cudaStream_t;
enum cudaError_t { cudaSuccess, cudaErrorUnknown };
enum cudaMemcpyKind { cudaMemcpyDeviceToDevice, cudaMemcpyDefault };

struct stand_in_rows {
    char *to;
    const char *from; /* or nullptr: all bytes are `value` */
    std::size_t to_step, from_step, width, count;
    int value;
};

inline void stand_in_copy_rows(void *data) {
    const stand_in_rows *rows = static_cast<stand_in_rows *>(data);
    for (std::size_t i = 0; i < rows->count; i++)
        if (rows->from == nullptr)
            std::memset(rows->to + i * rows->to_step, rows->value, rows->width);
        else
            std::memcpy(rows->to + i * rows->to_step, rows->from + i * rows->from_step,
                        rows->width);
}

inline cudaError_t stand_in_give_rows(const stand_in_rows &rows, cudaStream_t stream) {
    return stand_in_give(stream, stand_in_copy_rows, &rows, sizeof rows) == 0 ? cudaSuccess
                                                                              : cudaErrorUnknown;
}

inline cudaError_t cudaMemcpy2DAsync(void *to, std::size_t to_step, const void *from,
                                     std::size_t from_step, std::size_t width, std::size_t count,
                                     cudaMemcpyKind, cudaStream_t stream) {
    return stand_in_give_rows({static_cast<char *>(to), static_cast<const char *>(from), to_step,
                               from_step, width, count, 0},
                              stream);
}

inline cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
    return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

inline cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream) {
    return stand_in_give_rows({static_cast<char *>(to), nullptr, bytes, 0, bytes, 1, value},
                              stream);
}

inline cudaError_t cudaDeviceSynchronize() {
    stand_in_drain();
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind) {
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaGetDeviceCount(int *count) {
    *count = stream_device_count();
    return cudaSuccess;
}

inline cudaError_t cudaSetDevice(int device) {
    stream_device_use(device);
    return cudaSuccess;
}

inline const char *cudaGetErrorString(cudaError_t) {
    return "an error of the stand-in";
}

inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return stand_in_stream_wait(stream) == 0 ? cudaSuccess : cudaErrorUnknown;
}

#endif
