/* SPDX-License-Identifier: BSD-3-Clause */
/** Copies of local arrays of heffte.h, and between real and complex numbers. Those of devices need CUDA's header, which
 * a program includes before heffte.h, or gets by Heffte_ENABLE_CUDA. */
#ifndef HEFFTE_COPIES_H
#define HEFFTE_COPIES_H

#include "heffte_backends.h"

#include <cstring>

namespace heffte {
namespace detail {

/* Where arrays are. Functions return whether they could copy; those of devices only enqueue. */
struct place {
    redist_space space;
    void *stream;

    bool has_copies() const {
        return space == REDIST_SPACE_HOST || has_devices;
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
               (clear(to, count * sizeof *to) &&
                move(to, sizeof *to, from, sizeof *from, sizeof *from, count));
    }
    template <class R> bool to_real(R *to, const std::complex<R> *from, std::size_t count) const {
        for (std::size_t i = 0; space == REDIST_SPACE_HOST && i < count; i++)
            to[i] = from[i].real();
        return space == REDIST_SPACE_HOST ||
               move(to, sizeof *to, from, sizeof *from, sizeof *to, count);
    }

#ifdef CUDART_VERSION
    bool complete() const {
        return space == REDIST_SPACE_HOST || cudaStreamSynchronize(handle()) == cudaSuccess;
    }

  private:
    cudaStream_t handle() const {
        return static_cast<cudaStream_t>(stream);
    }
    bool clear(void *to, std::size_t bytes) const {
        return bytes == 0 || cudaMemsetAsync(to, 0, bytes, handle()) == cudaSuccess;
    }
    bool move(void *to, std::size_t to_step, const void *from, std::size_t from_step,
              std::size_t width, std::size_t count) const {
        return width * count == 0 ||
               cudaMemcpy2DAsync(to, to_step, from, from_step, width, count,
                                 cudaMemcpyDeviceToDevice, handle()) == cudaSuccess;
    }
#else
    bool complete() const {
        return space == REDIST_SPACE_HOST;
    }

  private:
    bool clear(void *, std::size_t) const {
        return false;
    }
    bool move(void *, std::size_t, const void *, std::size_t, std::size_t, std::size_t) const {
        return false;
    }
#endif
};

} // namespace detail
} // namespace heffte

#endif
