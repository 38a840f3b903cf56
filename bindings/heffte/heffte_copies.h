/* SPDX-License-Identifier: BSD-3-Clause */
/** Copies of local arrays of heffte.h, and between real and complex numbers. Those of devices need CUDA's header, which
 * a program includes before heffte.h, or gets by Heffte_ENABLE_CUDA. */
#ifndef HEFFTE_COPIES_H
#define HEFFTE_COPIES_H

#include "heffte_backends.h"

#include <cstring>

namespace heffte {
namespace detail {

/* Copies on devices. Functions return whether they could enqueue their work, or wait for it. */
struct device_copies {
    bool (*clear)(void *to, std::size_t bytes, void *stream);
    bool (*move)(void *to, std::size_t to_step, const void *from, std::size_t from_step,
                 std::size_t width, std::size_t count, void *stream);
    bool (*complete)(void *stream);
};

/* Copies of the program, from any of its units with CUDA's header; nullptr = none has it. So functions are the same in
 * all units. */
inline const device_copies *&copies_on_devices() {
    static const device_copies *found = nullptr;
    return found;
}

#ifdef CUDART_VERSION
struct cuda_copies {
    static bool clear(void *to, std::size_t bytes, void *stream) {
        return bytes == 0 ||
               cudaMemsetAsync(to, 0, bytes, static_cast<cudaStream_t>(stream)) == cudaSuccess;
    }
    static bool move(void *to, std::size_t to_step, const void *from, std::size_t from_step,
                     std::size_t width, std::size_t count, void *stream) {
        const cudaStream_t in = static_cast<cudaStream_t>(stream);
        const cudaMemcpyKind kind = cudaMemcpyDeviceToDevice;
        if (width * count == 0)
            return true;
        if (count == 1) /* steps are below 2^31 */
            return cudaMemcpyAsync(to, from, width, kind, in) == cudaSuccess;
        return cudaMemcpy2DAsync(to, to_step, from, from_step, width, count, kind, in) ==
               cudaSuccess;
    }
    static bool complete(void *stream) {
        return cudaStreamSynchronize(static_cast<cudaStream_t>(stream)) == cudaSuccess;
    }
    cuda_copies() {
        static const device_copies all = {clear, move, complete};
        copies_on_devices() = &all;
    }
};
namespace {
const cuda_copies copies_of_this_unit;
}
#endif

/* Where arrays are. Functions return whether they could copy; those of devices only enqueue. */
struct place {
    redist_space space;
    void *stream;

    bool has_copies() const {
        return space == REDIST_SPACE_HOST || copies_on_devices() != nullptr;
    }
    bool copy(void *to, const void *from, std::size_t bytes) const {
        if (space == REDIST_SPACE_HOST && bytes != 0)
            std::memcpy(to, from, bytes);
        return space == REDIST_SPACE_HOST || move(to, bytes, from, bytes, bytes, 1);
    }
    template <class R>
    bool to_complex(std::complex<R> *to, const R *from, std::size_t count) const {
        for (std::size_t i = 0; space == REDIST_SPACE_HOST && i < count; i++)
            to[i] = from[i];
        return space == REDIST_SPACE_HOST ||
               (has_copies() && copies_on_devices()->clear(to, count * sizeof *to, stream) &&
                move(to, sizeof *to, from, sizeof *from, sizeof *from, count));
    }
    template <class R> bool to_real(R *to, const std::complex<R> *from, std::size_t count) const {
        for (std::size_t i = 0; space == REDIST_SPACE_HOST && i < count; i++)
            to[i] = from[i].real();
        return space == REDIST_SPACE_HOST ||
               move(to, sizeof *to, from, sizeof *from, sizeof *to, count);
    }
    bool complete() const {
        return space == REDIST_SPACE_HOST ||
               (has_copies() && copies_on_devices()->complete(stream));
    }

  private:
    bool move(void *to, std::size_t to_step, const void *from, std::size_t from_step,
              std::size_t width, std::size_t count) const {
        return has_copies() &&
               copies_on_devices()->move(to, to_step, from, from_step, width, count, stream);
    }
};

} // namespace detail

#ifdef CUDART_VERSION
namespace gpu {

/* Device functions of heFFTe that programs call; failures are std::runtime_error. */
inline void check(cudaError_t error, const char *call) {
    if (error != cudaSuccess)
        throw std::runtime_error(std::string("heffte: ") + call + ": " + cudaGetErrorString(error));
}
inline int device_count() {
    int count = 0;
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    return count;
}
/** Makes a device of this node the current one, before plans and arrays are made. */
inline void device_set(int device) {
    check(cudaSetDevice(device), "cudaSetDevice");
}
inline void synchronize_default_stream() {
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

/** Copies between the host and the current device, done at return. */
struct transfer {
    template <class T> static vector<T> load(const T *from, std::size_t size) {
        vector<T> result(size);
        copy(result.data(), from, size);
        return result;
    }
    template <class T> static vector<T> load(const std::vector<T> &from) {
        return load(from.data(), from.size());
    }
    template <class T> static std::vector<T> unload(const T *from, std::size_t size) {
        std::vector<T> result(size);
        copy(result.data(), from, size);
        return result;
    }
    template <class T> static std::vector<T> unload(const vector<T> &from) {
        return unload(from.data(), from.size());
    }

  private:
    template <class T> static void copy(T *to, const T *from, std::size_t size) {
        if (size == 0)
            return;
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        check(cudaMemcpy(to, from, size * sizeof(T), cudaMemcpyDefault), "cudaMemcpy");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
};

} // namespace gpu
#endif
} // namespace heffte

#endif
