/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The interface of heFFTe on libfftnd: a program compiles with this header in the place of heFFTe's, from C++11 on.
 *
 * Transforms of boxes of three dimensions, distributed over the ranks of a communicator, for float and double, real and
 * complex numbers: fft3d, fft3d_r2c and rtransform, with the names and meanings of heFFTe 2.4. Plans of fftnd are made
 * at the first call of each kind (precision, batch, scale, one or two arrays), or by fftnd_heffte::prepare. Calls,
 * constructors and destructors are collective on the communicator, which outlives the object; ranks agree in all
 * arguments of calls but the arrays.
 *
 * Failures: std::invalid_argument for boxes that do not fill a world or do not fit each other, containers that are too
 * short, and other wrong arguments, before anything is touched; std::runtime_error with fftnd's message for all else,
 * after which the output is undefined. Both on all ranks; what fails in the middle of a rank's call may fail in the
 * next call of others.
 *
 * Memory: after the first call of a kind, calls allocate nothing. Exchanges work in memory of the plan, which peers can
 * map. A given workspace is used where a call needs a copy of one side: for real arrays of fft3d, and for batches that
 * are transformed in place.
 */
#ifndef HEFFTE_H
#define HEFFTE_H

#include "heffte_config.h"
#ifndef __cplusplus
#include "heffte_c.h"
#else
#include "heffte_plan.h"
#include "heffte_reshape.h"

/* Standard headers that programs get from heFFTe's, and do not include themselves. */
#include <cassert>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <numeric>

namespace heffte {

/**
 * A transform between real or complex and complex numbers; with a tag such as fftw_cos between real numbers: cos is
 * FFTW's REDFT10 forward and REDFT01 backward, sin RODFT10 and RODFT01, cos1 and sin1 REDFT00 and RODFT00.
 */
template <class Tag, class index = int> class fft3d : public detail::plan_base<Tag, index> {
    using base = detail::plan_base<Tag, index>;
    using typename base::box;

  public:
    using typename base::stream_type;
    template <class T> using buffer_container = typename base::template buffer_container<T>;
    template <class T> using output = typename transform_output<T, Tag>::type;

    /**
     * Plans transforms of this rank's boxes. The boxes of all ranks fill a world from index 0 on, the same one on both
     * sides; one order on each side. With a stream, work of devices begins after all earlier work in it.
     */
    fft3d(const box &in, const box &out, MPI_Comm comm,
          const plan_options &options = default_options<Tag>())
        : fft3d(in, out, in, out, comm, options) {
    }
    fft3d(stream_type of, const box &in, const box &out, MPI_Comm comm,
          const plan_options &options = default_options<Tag>())
        : fft3d(of, in, out, in, out, comm, options) {
    }
    /**
     * The same for arrays with room around the boxes, such as ghosts: each allocated box contains the other one, in
     * whose order the array is, and may go beyond the world. What is in that room is left alone. Not in heFFTe.
     */
    fft3d(const box &in, const box &out, const box &allocated_in, const box &allocated_out,
          MPI_Comm comm, const plan_options &options = default_options<Tag>())
        : fft3d(nullptr, in, out, allocated_in, allocated_out, comm, options) {
    }
    fft3d(stream_type of, const box &in, const box &out, const box &allocated_in,
          const box &allocated_out, MPI_Comm comm,
          const plan_options &options = default_options<Tag>())
        : base(of, in, out, allocated_in, allocated_out, -1, comm, options) {
    }
    /** The same by the numbers of box3d: low and high, then the order, of the input; then those of the output. */
    fft3d(int il0, int il1, int il2, int ih0, int ih1, int ih2, int ol0, int ol1, int ol2, int oh0,
          int oh1, int oh2, MPI_Comm comm, const plan_options &options = default_options<Tag>())
        : fft3d(box({{il0, il1, il2}}, {{ih0, ih1, ih2}}),
                box({{ol0, ol1, ol2}}, {{oh0, oh1, oh2}}), comm, options) {
    }
    fft3d(int il0, int il1, int il2, int ih0, int ih1, int ih2, int io0, int io1, int io2, int ol0,
          int ol1, int ol2, int oh0, int oh1, int oh2, int oo0, int oo1, int oo2, MPI_Comm comm,
          const plan_options &options = default_options<Tag>())
        : fft3d(box({{il0, il1, il2}}, {{ih0, ih1, ih2}}, {{io0, io1, io2}}),
                box({{ol0, ol1, ol2}}, {{oh0, oh1, oh2}}, {{oo0, oo1, oo2}}), comm, options) {
    }

    /** Transforms size_inbox() elements to size_outbox(). The arrays may be one; the input is unchanged else. */
    template <class In, class Out>
    void forward(const In in[], Out out[], scale factor = scale::none) const {
        base::any(REDIST_FORWARD, 1, in, out, nullptr, factor);
    }
    /** The same with a workspace of size_workspace() complex numbers of the call's precision; real numbers with tags of
     * real-to-real transforms. */
    template <class In, class Out, class Work>
    void forward(const In in[], Out out[], Work workspace[], scale factor = scale::none) const {
        base::any(REDIST_FORWARD, 1, in, out, detail::memory_for<Tag, In>(workspace), factor);
    }
    /** The same for fields one after the other; the workspace as often. */
    template <class In, class Out>
    void forward(int batch_size, const In in[], Out out[], scale factor = scale::none) const {
        base::any(REDIST_FORWARD, batch_size, in, out, nullptr, factor);
    }
    template <class In, class Out, class Work>
    void forward(int batch_size, const In in[], Out out[], Work workspace[],
                 scale factor = scale::none) const {
        base::any(REDIST_FORWARD, batch_size, in, out, detail::memory_for<Tag, In>(workspace),
                  factor);
    }
    /** The same for a container of size_inbox() elements or more. */
    template <class In>
    buffer_container<output<In>> forward(const buffer_container<In> &in,
                                         scale factor = scale::none) const {
        return base::template contained<output<In>>(REDIST_FORWARD, in, factor);
    }

    /** Transforms size_outbox() elements to size_inbox(), as forward; of a real result only the real part is kept. */
    template <class In, class Out>
    void backward(const In in[], Out out[], scale factor = scale::none) const {
        base::any(REDIST_BACKWARD, 1, in, out, nullptr, factor);
    }
    template <class In, class Out, class Work>
    void backward(const In in[], Out out[], Work workspace[], scale factor = scale::none) const {
        base::any(REDIST_BACKWARD, 1, in, out, detail::memory_for<Tag, In>(workspace), factor);
    }
    template <class In, class Out>
    void backward(int batch_size, const In in[], Out out[], scale factor = scale::none) const {
        base::any(REDIST_BACKWARD, batch_size, in, out, nullptr, factor);
    }
    template <class In, class Out, class Work>
    void backward(int batch_size, const In in[], Out out[], Work workspace[],
                  scale factor = scale::none) const {
        base::any(REDIST_BACKWARD, batch_size, in, out, detail::memory_for<Tag, In>(workspace),
                  factor);
    }
    template <class In>
    buffer_container<In> backward(const buffer_container<In> &in,
                                  scale factor = scale::none) const {
        return base::template contained<In>(REDIST_BACKWARD, in, factor);
    }
    template <class In>
    buffer_container<typename detail::element<In>::real>
    backward_real(const buffer_container<In> &in, scale factor = scale::none) const {
        return base::template contained<typename detail::element<In>::real>(REDIST_BACKWARD, in,
                                                                            factor);
    }
};

/** The same from real to complex numbers: the dimension r2c_direction has n / 2 + 1 elements in the output's world. */
template <class Tag, class index = int> class fft3d_r2c : public detail::plan_base<Tag, index> {
    using base = detail::plan_base<Tag, index>;
    using typename base::box;
    static_assert(!detail::traits<Tag>::is_real, "a Fourier transform");

  public:
    using typename base::stream_type;
    template <class T> using buffer_container = typename base::template buffer_container<T>;

    fft3d_r2c(const box &in, const box &out, int r2c_direction, MPI_Comm comm,
              const plan_options &options = default_options<Tag>())
        : fft3d_r2c(in, out, in, out, r2c_direction, comm, options) {
    }
    fft3d_r2c(stream_type of, const box &in, const box &out, int r2c_direction, MPI_Comm comm,
              const plan_options &options = default_options<Tag>())
        : fft3d_r2c(of, in, out, in, out, r2c_direction, comm, options) {
    }
    fft3d_r2c(const box &in, const box &out, const box &allocated_in, const box &allocated_out,
              int r2c_direction, MPI_Comm comm,
              const plan_options &options = default_options<Tag>())
        : fft3d_r2c(nullptr, in, out, allocated_in, allocated_out, r2c_direction, comm, options) {
    }
    fft3d_r2c(stream_type of, const box &in, const box &out, const box &allocated_in,
              const box &allocated_out, int r2c_direction, MPI_Comm comm,
              const plan_options &options = default_options<Tag>())
        : base(of, in, out, allocated_in, allocated_out, detail::halved(r2c_direction), comm,
               options) {
    }
    fft3d_r2c(int il0, int il1, int il2, int ih0, int ih1, int ih2, int ol0, int ol1, int ol2,
              int oh0, int oh1, int oh2, int r2c_direction, MPI_Comm comm,
              const plan_options &options = default_options<Tag>())
        : fft3d_r2c(box({{il0, il1, il2}}, {{ih0, ih1, ih2}}),
                    box({{ol0, ol1, ol2}}, {{oh0, oh1, oh2}}), r2c_direction, comm, options) {
    }
    fft3d_r2c(int il0, int il1, int il2, int ih0, int ih1, int ih2, int io0, int io1, int io2,
              int ol0, int ol1, int ol2, int oh0, int oh1, int oh2, int oo0, int oo1, int oo2,
              int r2c_direction, MPI_Comm comm,
              const plan_options &options = default_options<Tag>())
        : fft3d_r2c(box({{il0, il1, il2}}, {{ih0, ih1, ih2}}, {{io0, io1, io2}}),
                    box({{ol0, ol1, ol2}}, {{oh0, oh1, oh2}}, {{oo0, oo1, oo2}}), r2c_direction,
                    comm, options) {
    }

    template <class In, class Out>
    void forward(const In in[], Out out[], scale factor = scale::none) const {
        base::halved(REDIST_FORWARD, 1, in, out, nullptr, factor);
    }
    template <class In, class Out, class Work>
    void forward(const In in[], Out out[], Work workspace[], scale factor = scale::none) const {
        base::halved(REDIST_FORWARD, 1, in, out, detail::memory_for<Tag, In>(workspace), factor);
    }
    template <class In, class Out>
    void forward(int batch_size, const In in[], Out out[], scale factor = scale::none) const {
        base::halved(REDIST_FORWARD, batch_size, in, out, nullptr, factor);
    }
    template <class In, class Out, class Work>
    void forward(int batch_size, const In in[], Out out[], Work workspace[],
                 scale factor = scale::none) const {
        base::halved(REDIST_FORWARD, batch_size, in, out, detail::memory_for<Tag, In>(workspace),
                     factor);
    }
    template <class In>
    buffer_container<typename fft_output<In>::type> forward(const buffer_container<In> &in,
                                                            scale factor = scale::none) const {
        return base::template contained_halved<typename fft_output<In>::type>(REDIST_FORWARD, in,
                                                                              factor);
    }

    template <class In, class Out>
    void backward(const In in[], Out out[], scale factor = scale::none) const {
        base::halved(REDIST_BACKWARD, 1, in, out, nullptr, factor);
    }
    template <class In, class Out, class Work>
    void backward(const In in[], Out out[], Work workspace[], scale factor = scale::none) const {
        base::halved(REDIST_BACKWARD, 1, in, out, detail::memory_for<Tag, In>(workspace), factor);
    }
    template <class In, class Out>
    void backward(int batch_size, const In in[], Out out[], scale factor = scale::none) const {
        base::halved(REDIST_BACKWARD, batch_size, in, out, nullptr, factor);
    }
    template <class In, class Out, class Work>
    void backward(int batch_size, const In in[], Out out[], Work workspace[],
                  scale factor = scale::none) const {
        base::halved(REDIST_BACKWARD, batch_size, in, out, detail::memory_for<Tag, In>(workspace),
                     factor);
    }
    template <class In>
    buffer_container<typename detail::element<In>::real>
    backward(const buffer_container<In> &in, scale factor = scale::none) const {
        return base::template contained_halved<typename detail::element<In>::real>(REDIST_BACKWARD,
                                                                                   in, factor);
    }
};

template <class Tag, class index = int> using fft2d = fft3d<Tag, index>;
template <class Tag, class index = int> using fft2d_r2c = fft3d_r2c<Tag, index>;
template <class Tag, class index = int> using rtransform = fft3d<Tag, index>;

template <class Tag, class index>
fft3d<Tag, index> make_fft3d(const box3d<index> &in, const box3d<index> &out, MPI_Comm comm,
                             const plan_options &options = default_options<Tag>()) {
    return fft3d<Tag, index>(in, out, comm, options);
}
template <class Tag, class index>
fft3d_r2c<Tag, index> make_fft3d_r2c(const box3d<index> &in, const box3d<index> &out,
                                     int r2c_direction, MPI_Comm comm,
                                     const plan_options &options = default_options<Tag>()) {
    return fft3d_r2c<Tag, index>(in, out, r2c_direction, comm, options);
}

} // namespace heffte

/** Additions to heFFTe's interface. */
namespace fftnd_heffte {

/**
 * Plans the calls of a transform of heffte.h before the first one.
 *   T          the elements' type: its precision counts
 *   forward, backward  the scales of both directions
 *   in_place   whether input and output will be one array
 *   batch_size  fields of a call
 * Collective on the transform's communicator; all arguments agree. Throws what calls throw.
 */
template <class T, class Plan>
void prepare(const Plan &plan, heffte::scale forward = heffte::scale::none,
             heffte::scale backward = heffte::scale::none, bool in_place = false,
             int batch_size = 1) {
    plan.plans().prepare(heffte::detail::element<T>::precision, batch_size, forward, backward,
                         in_place);
}

} // namespace fftnd_heffte

#endif /* C++ */

#endif
