/* SPDX-License-Identifier: BSD-3-Clause */
/** Reshapes of heffte.h: arrays that move from the boxes of one list to those of another. */
#ifndef HEFFTE_RESHAPE_H
#define HEFFTE_RESHAPE_H

#include "heffte_sides.h"

#include <memory>

namespace heffte {

/** A reshape of elements of 4, 8 or 16 bytes: numbers, real or complex, of float or double. */
template <class index = int> class reshape3d_base {
  public:
    using boxes = std::vector<box3d<index>>;

    /** Plans nothing yet: plans of redist are made at the first call of each type and batch. Of the options only
     * `effort` counts, where more than FFTND_ESTIMATE measures. Not collective. */
    reshape3d_base(const boxes &in, const boxes &out, MPI_Comm comm, const plan_options &options,
                   redist_space space, void *stream)
        : world_(find_world(in)), in_(own(in, comm)), out_(own(out, comm)), comm_(comm),
          options_(options), space_(space), stream_(stream) {
        const box3d<index> other = find_world(out);
        if (world_ != other || !world_complete(in, world_) || !world_complete(out, world_))
            throw std::invalid_argument("heffte: the input's and the output's boxes of a reshape "
                                        "must fill the same world without overlap");
        is_permuted_ = !world_.ordered_same_as(other);
        expect_order(in, world_);
        expect_order(out, other);
        if (is_permuted_ && space_ != REDIST_SPACE_HOST)
            throw std::invalid_argument(
                "heffte: reshapes into another order are for arrays in host memory: give the boxes "
                "of both sides one order");
    }
    reshape3d_base(const reshape3d_base &) = delete;
    reshape3d_base &operator=(const reshape3d_base &) = delete;
    ~reshape3d_base() {
        for (member &one : members_)
            (void)redist_plan_free(&one.plan);
    }

    /** Elements of a field; the name is heFFTe's. */
    std::size_t size_intput() const {
        return static_cast<std::size_t>(in_.count());
    }
    std::size_t size_output() const {
        return static_cast<std::size_t>(out_.count());
    }
    std::size_t size_workspace() const {
        return is_permuted_ ? size_output() : 0;
    }

    /**
     * Moves fields, one after the other.
     *   batch_size   fields
     *   source       size_intput() elements of each
     *   destination  size_output() of each, another array
     *   workspace    size_workspace() of each; NULL = the object's own
     * Collective. Throws std::invalid_argument (arrays; before anything is touched), std::runtime_error.
     */
    template <class T>
    void apply(int batch_size, const T source[], T destination[], T workspace[] = nullptr) const {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                      "elements are numbers, real or complex, of float or double");
        if (batch_size < 1)
            throw std::invalid_argument("heffte: batch_size = " + std::to_string(batch_size) +
                                        " is below 1");
        redist_plan *plan = find(sizeof(T), batch_size);
        void *from = const_cast<T *>(source); /* which a forward execution leaves unchanged */
        T *to = destination;
        if (is_permuted_ && size_output() != 0)
            to = stage(workspace, destination, static_cast<std::size_t>(batch_size));
        const int code = redist_plan_execute_arrays(plan, REDIST_FORWARD, from, to);
        redist_refuse(nullptr);
        detail::check(code);
        for (std::size_t i = 0; is_permuted_ && i < static_cast<std::size_t>(batch_size); i++)
            permute(to + i * size_output(), destination + i * size_output());
    }

  private:
    struct member {
        std::size_t bytes;
        int batch;
        redist_plan *plan;
    };

    static box3d<index> own(const boxes &list, MPI_Comm comm) {
        if (list.size() != static_cast<std::size_t>(mpi::comm_size(comm)))
            throw std::invalid_argument("heffte: a list of boxes has " +
                                        std::to_string(list.size()) + " of them for " +
                                        std::to_string(mpi::comm_size(comm)) + " ranks");
        return list[static_cast<std::size_t>(mpi::comm_rank(comm))];
    }
    static void expect_order(const boxes &list, const box3d<index> &world) {
        for (const box3d<index> &box : list)
            if (!box.empty() && !box.ordered_same_as(world))
                throw std::invalid_argument("heffte: the boxes of one side must have one order");
    }

    /* The array for the elements of the output's box in the order of the input. */
    template <class T> T *stage(T *workspace, const T *destination, std::size_t fields) const {
        const std::size_t bytes = fields * size_output() * sizeof(T);
        const char *reason = nullptr;
        if (destination == nullptr)
            reason = "heffte: destination = NULL, but this rank has elements of it";
        else if (workspace != nullptr)
            return workspace;
        try {
            if (reason == nullptr && stage_.size() < bytes)
                stage_.resize(bytes);
        } catch (const std::bad_alloc &) {
            reason = "heffte: no memory for a reshape into another order";
        }
        if (reason != nullptr)
            redist_refuse(reason);
        return reason == nullptr ? reinterpret_cast<T *>(stage_.data()) : nullptr;
    }

    /* Copies the output's box from the order of the input to its own. */
    template <class T> void permute(const T *from, T *to) const {
        std::size_t stride[3] = {0, 0, 0}, step = 1; /* in `from`, of each dimension */
        for (std::size_t place = 0; place < 3; place++) {
            const std::size_t d = static_cast<std::size_t>(world_.order[place]);
            stride[d] = step;
            step *= static_cast<std::size_t>(out_.size[d]);
        }
        const auto along = [&](std::size_t place) {
            return stride[static_cast<std::size_t>(out_.order[place])];
        };
        for (index k = 0; k < out_.osize(2) && !out_.empty(); k++)
            for (index j = 0; j < out_.osize(1); j++) {
                const T *row = from + static_cast<std::size_t>(k) * along(2) +
                               static_cast<std::size_t>(j) * along(1);
                for (index i = 0; i < out_.osize(0); i++)
                    *to++ = row[static_cast<std::size_t>(i) * along(0)];
            }
    }

    redist_plan *find(std::size_t bytes, int batch) const {
        for (const member &one : members_)
            if (one.bytes == bytes && one.batch == batch)
                return one.plan;
        member made{bytes, batch, nullptr};
        members_.reserve(members_.size() + 1);
        redist_options options;
        detail::check(redist_options_init(&options, sizeof options));
        options.effort = options_.effort == FFTND_ESTIMATE ? REDIST_ESTIMATE : REDIST_MEASURE;
        options.space = space_;
        options.stream = stream_;
        options.bind_a = options.bind_b = REDIST_BIND_AT_EXECUTION;
        const redist_index sizes[4] = {batch, world_.osize(2), world_.osize(1), world_.osize(0)};
        const redist_box from = box_of(in_, batch), to = box_of(out_, batch);
        detail::check(redist_plan_boxes(comm_, number(bytes), 4, sizes, &from, nullptr, &to,
                                        nullptr, &options, &made.plan));
        members_.push_back(made);
        return made.plan;
    }

    static MPI_Datatype number(std::size_t bytes) {
        return bytes == 4 ? MPI_FLOAT : bytes == 8 ? MPI_DOUBLE : MPI_C_DOUBLE_COMPLEX;
    }

    /* A box for redist, its axes those of the input's order. */
    redist_box box_of(const box3d<index> &box, int batch) const {
        redist_box result;
        detail::check(redist_box_init(&result, sizeof result));
        result.count[0] = batch;
        for (std::size_t axis = 1; axis < 4; axis++) {
            const std::size_t d = static_cast<std::size_t>(world_.order[3 - axis]);
            result.start[axis] = box.empty() ? 0 : box.low[d] - world_.low[d];
            result.count[axis] = box.empty() ? 0 : box.size[d];
        }
        return result;
    }

    box3d<index> world_, in_, out_;
    MPI_Comm comm_;
    plan_options options_;
    redist_space space_;
    void *stream_;
    bool is_permuted_ = false;
    mutable std::vector<member> members_;
    mutable std::vector<char> stage_;
};

/**
 * Makes a reshape from the boxes of all ranks, the same lists on all of them. Each list fills one world, in one order,
 * which on devices is that of both lists. Of the options only `effort` counts.
 * Calls and the end of the object are collective on comm, which outlives it. Throws std::invalid_argument.
 */
template <class Tag, class index>
std::unique_ptr<reshape3d_base<index>> make_reshape3d(
    typename backend::device_instance<typename detail::traits<Tag>::location>::stream_type stream,
    const std::vector<box3d<index>> &in, const std::vector<box3d<index>> &out, MPI_Comm comm,
    const plan_options &options = default_options<Tag>()) {
    constexpr redist_space space = detail::memory<typename detail::traits<Tag>::location>::space;
    return std::unique_ptr<reshape3d_base<index>>(
        new reshape3d_base<index>(in, out, comm, options, space, stream));
}
template <class Tag, class index>
std::unique_ptr<reshape3d_base<index>>
make_reshape3d(const std::vector<box3d<index>> &in, const std::vector<box3d<index>> &out,
               MPI_Comm comm, const plan_options &options = default_options<Tag>()) {
    return make_reshape3d<Tag, index>(nullptr, in, out, comm, options);
}

} // namespace heffte

#endif
