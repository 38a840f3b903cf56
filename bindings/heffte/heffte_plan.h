/* SPDX-License-Identifier: BSD-3-Clause */
/** What the transforms of heffte.h have in common. */
#ifndef HEFFTE_PLAN_H
#define HEFFTE_PLAN_H

#include "heffte_transforms.h"

#include <cmath>

namespace heffte {
namespace detail {

/* The dimension of r2c; a wrong one is found when all ranks' arguments are checked. */
inline int halved(int direction) {
    return direction == -1 ? 3 : direction;
}

/* Whether elements of a workspace are those that size_workspace counts, for a call with an input of In. */
template <class Tag, class In, class Work>
struct is_workspace
    : std::integral_constant<bool, sizeof(Work) == (traits<Tag>::is_real ? 1 : 2) *
                                                       sizeof(typename element<In>::real)> {};

/* Returns a workspace of a call. */
template <class Tag, class In, class Work> void *memory_for(Work *workspace) {
    static_assert(is_workspace<Tag, In, Work>::value,
                  "a workspace is of complex numbers of the call's precision, and of real ones in "
                  "real-to-real transforms");
    return workspace;
}

template <class Tag, class index>
class plan_base : public backend::device_instance<typename traits<Tag>::location> {
    static_assert(traits<Tag>::is_served, "fftnd serves hosts and devices of CUDA");

  public:
    using backend_tag = Tag;
    using location_tag = typename traits<Tag>::location;
    using backend_device = backend::device_instance<location_tag>;
    using stream_type = typename backend_device::stream_type;
    template <class T>
    using buffer_container = typename backend::buffer_traits<Tag>::template container<T>;

    /** Elements of the arrays: of this rank's boxes, or of the room that was given for them. */
    std::size_t size_inbox() const {
        return plans_->of().count(0);
    }
    std::size_t size_outbox() const {
        return plans_->of().count(1);
    }
    /** Complex numbers that a workspace has for each field of a batch; real ones in real-to-real transforms. */
    std::size_t size_workspace() const {
        return std::max(size_inbox(), size_outbox());
    }
    /** Elements of the buffers of heFFTe's messages: there are none. */
    std::size_t size_comm_buffers() const {
        return 0;
    }
    box3d<index> inbox() const {
        return inbox_;
    }
    box3d<index> outbox() const {
        return outbox_;
    }
    double get_scale_factor(scale factor) const {
        const double points = plans_->of().points();
        return factor == scale::none   ? 1
               : factor == scale::full ? 1 / points
                                       : 1 / std::sqrt(points);
    }
    /** For fftnd_heffte. */
    detail::transforms &plans() const {
        return *plans_;
    }

  protected:
    using box = box3d<index>;

    plan_base(stream_type of, const box &in, const box &out, const box &allocated_in,
              const box &allocated_out, int halved_dimension, MPI_Comm comm,
              const plan_options &options)
        : backend_device(of), inbox_(in), outbox_(out),
          plans_(new transforms(sides({widened(in, in.order), widened(out, out.order),
                                       widened(allocated_in, in.order),
                                       widened(allocated_out, out.order), halved_dimension},
                                      comm, options, memory<location_tag>::space, of,
                                      traits<Tag>::is_real, traits<Tag>::type))) {
    }

    /* Transforms arrays of elements as the plans of fftnd have them. */
    template <class In, class Out>
    void direct(redist_direction direction, int batch, const In *in, Out *out, void *workspace,
                scale factor, const char *refusal) const {
        const std::size_t fields = fields_of(batch);
        const std::size_t from = plans_->of().count(direction), to = plans_->of().count(!direction);
        plans_->run({direction,
                     element<In>::precision,
                     batch,
                     factor,
                     in,
                     out,
                     {fields * from * sizeof(In), fields * to * sizeof(Out)},
                     workspace,
                     refusal});
    }

    /* Transforms with fft3d: both sides are complex, or both real, or one is copied. */
    template <class In, class Out>
    void any(redist_direction direction, int batch, const In *in, Out *out, void *workspace,
             scale factor, const char *refusal = nullptr) const {
        using from = element<In>;
        using to = element<Out>;
        static_assert(from::precision == to::precision, "input and output have one precision");
        static_assert(!traits<Tag>::is_real || (!from::is_complex && !to::is_complex),
                      "transforms of this tag are between real numbers");
        static_assert(traits<Tag>::is_real || from::is_complex || to::is_complex,
                      "one side is complex");
        using copied =
            std::integral_constant<int, traits<Tag>::is_real || from::is_complex == to::is_complex
                                            ? 0
                                        : from::is_complex ? 2
                                                           : 1>;
        any_of(copied(), direction, batch, in, out, workspace, factor, refusal);
    }

    /* Transforms with fft3d_r2c. */
    template <class In, class Out>
    void halved(redist_direction direction, int batch, const In *in, Out *out, void *workspace,
                scale factor, const char *refusal = nullptr) const {
        static_assert(element<In>::precision == element<Out>::precision,
                      "input and output have one precision");
        static_assert(element<In>::is_complex != element<Out>::is_complex,
                      "one side is real, the other one complex");
        if (element<In>::is_complex != (direction == REDIST_BACKWARD))
            refusal = "heffte: fft3d_r2c has real numbers on the side of inbox()";
        direct(direction, batch, in, out, workspace, factor, refusal);
    }

    template <class Out, class Container>
    buffer_container<Out> contained(redist_direction direction, const Container &in,
                                    scale factor) const {
        const char *refusal = refusal_of(direction, in.size());
        buffer_container<Out> out = result_of<Out>(direction, refusal);
        any(direction, 1, in.data(), out.data(), nullptr, factor, refusal);
        return out;
    }
    template <class Out, class Container>
    buffer_container<Out> contained_halved(redist_direction direction, const Container &in,
                                           scale factor) const {
        const char *refusal = refusal_of(direction, in.size());
        buffer_container<Out> out = result_of<Out>(direction, refusal);
        halved(direction, 1, in.data(), out.data(), nullptr, factor, refusal);
        return out;
    }

  private:
    static std::size_t fields_of(int batch) {
        if (batch < 1)
            throw std::invalid_argument("heffte: batch_size = " + std::to_string(batch) +
                                        " is below 1");
        return static_cast<std::size_t>(batch);
    }

    const char *refusal_of(redist_direction direction, std::size_t length) const {
        return length >= plans_->of().count(direction)
                   ? nullptr
                   : "heffte: the container of the input is shorter than this rank's box";
    }

    /* Makes the container of a result; without memory this rank takes part in the call to refuse it. */
    template <class Out>
    buffer_container<Out> result_of(redist_direction direction, const char *&refusal) const {
        try {
            return buffer_container<Out>(plans_->of().count(!direction));
        } catch (const std::exception &) { /* of std::vector, or of a device */
            refusal = "heffte: no memory for the container of the result";
        }
        return buffer_container<Out>();
    }

    /* Memory for complex numbers in the place of one real array; where there is none, the reason. */
    template <class R>
    std::complex<R> *copy_of(const R *array, std::size_t count, void *workspace,
                             const char *&refusal) const {
        const std::size_t bytes = count * sizeof(std::complex<R>);
        if (!plans_->of().where().has_copies())
            refusal = "heffte: real arrays of fft3d on a device need CUDA's header before heffte.h";
        else if (array == nullptr && count > 0)
            refusal = "heffte: an array is NULL, but this rank has elements of it";
        else if (workspace == nullptr && (workspace = plans_->scratch(bytes)) == nullptr &&
                 bytes > 0)
            refusal = "heffte: no memory for the complex numbers of a real array";
        return static_cast<std::complex<R> *>(workspace);
    }

    template <class In, class Out>
    void any_of(std::integral_constant<int, 0>, redist_direction direction, int batch, const In *in,
                Out *out, void *workspace, scale factor, const char *refusal) const {
        direct(direction, batch, in, out, workspace, factor, refusal);
    }

    /* Transforms real numbers: they become complex ones in the workspace. */
    template <class In, class Out>
    void any_of(std::integral_constant<int, 1>, redist_direction direction, int batch, const In *in,
                Out *out, void *workspace, scale factor, const char *refusal) const {
        const std::size_t field = plans_->of().count(direction), count = fields_of(batch) * field;
        std::complex<In> *copy =
            refusal == nullptr ? copy_of(in, count, workspace, refusal) : nullptr;
        bool done = true;
        for (std::size_t first = 0; refusal == nullptr && first < count; first += field)
            plans_->of().for_each_part(direction, [&](std::size_t start, std::size_t n) {
                const std::size_t i = first + start;
                done = plans_->of().where().to_complex(copy + i, in + i, n) && done;
            });
        refusal = done ? refusal : "heffte: a copy on the device failed";
        direct(direction, batch, copy, out, nullptr, factor, refusal);
    }

    /* Transforms to real numbers: those of complex ones in the workspace. */
    template <class In, class Out>
    void any_of(std::integral_constant<int, 2>, redist_direction direction, int batch, const In *in,
                Out *out, void *workspace, scale factor, const char *refusal) const {
        const std::size_t field = plans_->of().count(!direction), count = fields_of(batch) * field;
        std::complex<Out> *copy =
            refusal == nullptr ? copy_of<Out>(out, count, workspace, refusal) : nullptr;
        direct(direction, batch, in, copy, nullptr, factor, refusal);
        bool done = true;
        for (std::size_t first = 0; first < count; first += field)
            plans_->of().for_each_part(!direction, [&](std::size_t start, std::size_t n) {
                const std::size_t i = first + start;
                done = plans_->of().where().to_real(out + i, copy + i, n) && done;
            });
        if (!done || !(plans_->of().is_asynchronous() || plans_->of().where().complete()))
            throw std::runtime_error("heffte: a copy on the device failed");
    }

    box3d<index> inbox_, outbox_;
    std::unique_ptr<transforms> plans_;
};

} // namespace detail
} // namespace heffte

#endif
