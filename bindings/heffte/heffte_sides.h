/* SPDX-License-Identifier: BSD-3-Clause */
/** Both sides of a transform of heffte.h: checked on all ranks, and as fftnd describes them. */
#ifndef HEFFTE_SIDES_H
#define HEFFTE_SIDES_H

#include "heffte_boxes.h"
#include "heffte_copies.h"
#include "heffte_options.h"

#include <cstdlib>
#include <sstream>

namespace heffte {
namespace detail {

/* An exception with a code of REDIST_ERRORS, for heffte_c.h. */
template <class Base> struct coded : Base {
    coded(int code_of, const std::string &text) : Base(text), code(code_of) {
    }
    int code;
};

/* Throws what the last call of fftnd or redist said, unless it returned REDIST_OK. */
inline void check(int code) {
    switch (code) {
    case REDIST_OK:
        return;
    case REDIST_ERR_ARGUMENT:
    case REDIST_ERR_NULL:
    case REDIST_ERR_OVERLAP:
    case REDIST_ERR_SIZE:
    case REDIST_ERR_AXIS:
    case REDIST_ERR_COMM:
    case REDIST_ERR_DISAGREE:
        throw coded<std::invalid_argument>(code, redist_error_message());
    default:
        throw coded<std::runtime_error>(code, redist_error_message());
    }
}

inline bool mpi_runs() {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

using wide_box = box3d<long long>;

template <class index> wide_box widened(const box3d<index> &box, const std::array<int, 3> &order) {
    return wide_box({{box.low[0], box.low[1], box.low[2]}},
                    {{box.high[0], box.high[1], box.high[2]}}, order);
}

/* What a rank passes to a plan. */
struct local_sides {
    wide_box in, out;
    wide_box allocated_in, allocated_out; /* with the room around the boxes, in their orders */
    int halved;                           /* the dimension of r2c, or -1 */
};

inline bool contains(const wide_box &outer, const wide_box &inner) {
    bool result = true;
    for (std::size_t i = 0; i < 3; i++)
        result = result && outer.low[i] <= inner.low[i] && inner.high[i] <= outer.high[i];
    return result || inner.empty();
}

/* A communicator in which the ranks that transform are the first ones. */
class ordered_comm {
  public:
    /* Collective; `subrank` is a rank's place among those that transform, or -1. */
    ordered_comm(MPI_Comm comm, const std::vector<int> &subranks) : comm_(comm) {
        bool is_ordered = true;
        for (std::size_t i = 0; i < subranks.size(); i++)
            is_ordered = is_ordered && (subranks[i] < 0 || subranks[i] == static_cast<int>(i));
        if (is_ordered)
            return;
        const int size = static_cast<int>(subranks.size()), rank = mpi::comm_rank(comm);
        const int subrank = subranks[static_cast<std::size_t>(rank)];
        MPI_Comm_split(comm, 0, subrank >= 0 ? subrank : size + rank, &comm_);
        is_own_ = true;
    }
    ordered_comm(ordered_comm &&other) noexcept : comm_(other.comm_), is_own_(other.is_own_) {
        other.is_own_ = false;
    }
    ordered_comm(const ordered_comm &) = delete;
    ordered_comm &operator=(const ordered_comm &) = delete;
    ~ordered_comm() {
        if (is_own_ && mpi_runs())
            MPI_Comm_free(&comm_);
    }
    MPI_Comm get() const noexcept {
        return comm_;
    }

  private:
    MPI_Comm comm_;
    bool is_own_ = false;
};

/* The effort of planning, by the environment if that names one; -1 = it names none that there is. */
inline int effort_of(const plan_options &options) {
    static const char *const names[] = {"estimate", "measure", "patient"};
    const char *wanted = std::getenv("FFTND_HEFFTE_EFFORT");
    if (wanted == nullptr)
        return options.effort;
    const auto *found = std::find(names, names + 3, std::string(wanted));
    return found == names + 3 ? -1 : static_cast<int>(found - names);
}

/* What all ranks pass, and its checks, which find the same on all of them. */
class gathered {
  public:
    /* Collective. */
    gathered(const local_sides &own, MPI_Comm comm, const plan_options &options)
        : world{{wide_box({{0, 0, 0}}, {{-1, -1, -1}}), wide_box({{0, 0, 0}}, {{-1, -1, -1}})}} {
        if (comm == MPI_COMM_NULL)
            throw std::invalid_argument("heffte: comm = MPI_COMM_NULL");
        boxes = mpi::gather_boxes(own.in, own.out, comm);
        const bool has_room = own.allocated_in != own.in || own.allocated_out != own.out;
        const bool fits =
            contains(own.allocated_in, own.in) && contains(own.allocated_out, own.out);
        int subrank = -1;
        if (options.has_subcomm() && options.get_subcomm() != MPI_COMM_NULL)
            subrank = mpi::comm_rank(options.get_subcomm());
        const int given[] = {subrank,           own.halved, has_room, fits, options.get_subranks(),
                             effort_of(options)};
        constexpr std::size_t each = sizeof given / sizeof *given;
        std::vector<int> all(each * boxes.in.size());
        MPI_Allgather(given, each, MPI_INT, all.data(), each, MPI_INT, comm);
        for (std::size_t i = 0; i < all.size(); i += each) {
            expect(all[i + 5] >= 0, "FFTND_HEFFTE_EFFORT", "is not estimate, measure or patient",
                   i / each);
            subranks.push_back(all[i]);
            expect(all[i + 1] == all[1], "r2c_direction", "is not the same on all ranks", i / each);
            rooms = rooms || all[i + 2] != 0;
            expect(all[i + 3] != 0, "allocated box", "does not contain the box", i / each);
            ranks = all[i + 4] > ranks ? all[i + 4] : ranks;
        }
        for (std::size_t i = 0; i < boxes.in.size(); i++)
            has_empty = has_empty || boxes.in[i].empty() || boxes.out[i].empty();
        const int size = static_cast<int>(boxes.in.size());
        ranks = ranks <= 0 || ranks > size ? 0 : ranks;
        world[0] = checked_world("inbox", boxes.in);
        world[1] = checked_world("outbox", boxes.out);
        check_worlds(own.halved);
    }

    ioboxes<long long> boxes;
    std::array<wide_box, 2> world;
    std::vector<int> subranks;
    int ranks = 0; /* that transform; 0 = all */
    bool rooms = false;
    bool has_empty = false;

  private:
    static void expect(bool holds, const char *what, const char *is_wrong, std::size_t rank) {
        if (holds)
            return;
        std::ostringstream text;
        text << "heffte: " << what << " of rank " << rank << " " << is_wrong;
        throw std::invalid_argument(text.str());
    }

    static wide_box checked_world(const char *name, const std::vector<wide_box> &all) {
        const wide_box found = find_world(all);
        for (std::size_t i = 0; i < all.size(); i++) {
            std::array<int, 3> sorted = all[i].order;
            std::sort(sorted.begin(), sorted.end());
            const bool is_permutation = sorted == std::array<int, 3>{{0, 1, 2}};
            expect(is_permutation, name, "has an order that is no permutation of 0, 1, 2", i);
            expect(all[i].empty() || all[i].order == found.order, name,
                   "has another order than the boxes of other ranks: give all of them one order",
                   i);
        }
        std::ostringstream text;
        text << "heffte: the boxes " << name << " of all ranks span " << found;
        if (found.empty() || found.low != std::array<long long, 3>{{0, 0, 0}})
            throw std::invalid_argument(text.str() + ": global indices must begin at 0");
        if (!world_complete(all, found))
            throw std::invalid_argument(text.str() + ", but leave holes in it, or overlap");
        return found;
    }

    void check_worlds(int halved) const {
        std::ostringstream text;
        text << "heffte: r2c_direction = " << halved << " is not 0, 1 or 2";
        if (halved < -1 || halved > 2)
            throw std::invalid_argument(text.str());
        const wide_box expected = halved < 0 ? world[0] : world[0].r2c(halved);
        text.str("");
        text << "heffte: the boxes outbox of all ranks span " << world[1] << " where " << expected
             << " is the world of the results for an input of " << world[0];
        if (world[1] != expected)
            throw std::invalid_argument(text.str());
    }
};

/* Both sides in the words of fftnd: its axes are the dimensions from the slowest of the input's order to the fastest,
 * without those of one element. */
class sides {
  public:
    /* `type`: of a real-to-real transform, unless is_real is false. Collective. */
    sides(const local_sides &own, MPI_Comm comm, const plan_options &options, redist_space space,
          void *stream, bool is_real, fftnd_r2r type)
        : sides(own, gathered(own, comm, options), comm, options, space, stream, is_real, type) {
    }

    MPI_Comm comm() const {
        return comm_.get();
    }
    int ndims() const {
        return static_cast<int>(dimensions_.size());
    }
    const redist_index *sizes() const {
        return sizes_.data();
    }
    fftnd_kind kind() const {
        return is_real_ ? FFTND_R2R : own_.halved >= 0 ? FFTND_R2C : FFTND_C2C;
    }
    redist_space space() const {
        return space_;
    }
    place where() const {
        return {space_, stream_};
    }
    bool is_asynchronous() const {
        return options_.asynchronous && space_ != REDIST_SPACE_HOST;
    }
    /* Whether a rank has no elements of a side. */
    bool has_empty() const {
        return has_empty_;
    }
    const wide_box &world() const {
        return world_;
    }

    /* Elements of the local array of a side. */
    std::size_t count(int side) const {
        const wide_box &box = side == 0 ? own_.allocated_in : own_.allocated_out;
        return (side == 0 ? own_.in : own_.out).empty() ? 0 : static_cast<std::size_t>(box.count());
    }

    /* Calls function(start, n) for each contiguous part of this rank's box of a side: its first element, and their
     * number. */
    template <class Function> void for_each_part(int side, Function function) const {
        const wide_box &box = side == 0 ? own_.in : own_.out;
        const wide_box &room = side == 0 ? own_.allocated_in : own_.allocated_out;
        if (room == box)
            return function(0, count(side));
        const auto ahead = [&](int place) {
            const std::size_t d =
                static_cast<std::size_t>(box.order[static_cast<std::size_t>(place)]);
            return box.low[d] - room.low[d];
        };
        for (long long k = 0; k < box.osize(2) && !box.empty(); k++)
            for (long long j = 0; j < box.osize(1); j++) {
                const long long row = (k + ahead(2)) * room.osize(1) + j + ahead(1);
                function(static_cast<std::size_t>(row * room.osize(0) + ahead(0)),
                         static_cast<std::size_t>(box.osize(0)));
            }
    }

    /* The product of the logical lengths of the transforms. */
    double points() const {
        double product = 1;
        for (long long n : world_.size)
            product *= !is_real_             ? static_cast<double>(n)
                       : type_ == FFTND_DCT1 ? 2 * static_cast<double>(n - 1)
                       : type_ == FFTND_DST1 ? 2 * static_cast<double>(n + 1)
                                             : 2 * static_cast<double>(n);
        return product;
    }

    /* Options without boxes; their lists are those of this object. */
    fftnd_options options(int batch, fftnd_scaling scaling, bool in_place) const {
        fftnd_options result;
        check(fftnd_options_init(&result, sizeof result));
        result.batch = batch;
        result.scaling = scaling;
        result.in_place = in_place;
        result.space = space_;
        result.stream = stream_;
        result.effort = options_.effort;
        result.threads = options_.threads;
        result.wisdom_file = options_.wisdom_file.empty() ? nullptr : options_.wisdom_file.c_str();
        result.asynchronous = is_asynchronous();
        result.ranks = ranks_;
        result.r2r = is_real_ ? types_.data() : nullptr;
        result.halved_axis = halved_axis_;
        result.memory_order[FFTND_SPECTRAL] =
            memory_order_.empty() ? nullptr : memory_order_.data();
        return result;
    }

    std::array<redist_box, 2> boxes(bool in_place) const {
        return {{box_of(own_.in, own_.allocated_in, in_place),
                 box_of(own_.out, own_.allocated_out, in_place)}};
    }

  private:
    sides(const local_sides &own, const gathered &all, MPI_Comm comm, const plan_options &options,
          redist_space space, void *stream, bool is_real, fftnd_r2r type)
        : own_(own), world_(all.world[0]), comm_(comm, all.subranks), options_(options),
          space_(space), stream_(stream), is_real_(is_real), type_(type), ranks_(all.ranks),
          has_empty_(all.has_empty) {
        options_.effort = static_cast<fftnd_effort>(effort_of(options));
        std::size_t left = 3;
        for (int place = 2; place >= 0; place--) {
            const int dimension = world_.order[static_cast<std::size_t>(place)];
            const bool is_short = world_.osize(place) == 1 && dimension != own_.halved;
            if (is_short && !is_real_ && !all.rooms && left > 2) {
                left--;
                continue;
            }
            if (dimension == own_.halved)
                halved_axis_ = ndims();
            dimensions_.push_back(static_cast<std::size_t>(dimension));
            sizes_.push_back(world_.osize(place));
            types_.push_back(type_);
        }
        order_spectral(all.world[1]);
    }

    void order_spectral(const wide_box &world) {
        bool is_usual = true;
        for (int place = 2; place >= 0; place--)
            for (std::size_t axis = 0; axis < dimensions_.size(); axis++)
                if (world.order[static_cast<std::size_t>(place)] ==
                    static_cast<int>(dimensions_[axis])) {
                    is_usual = is_usual && axis == memory_order_.size();
                    memory_order_.push_back(static_cast<int>(axis));
                }
        if (is_usual)
            memory_order_.clear();
    }

    /* In place fftnd would use the array as work space, for which it may be too short: room behind the box, which is
     * left alone, keeps it from that. */
    redist_box box_of(const wide_box &box, const wide_box &allocated, bool has_room) const {
        redist_box result;
        check(redist_box_init(&result, sizeof result));
        for (std::size_t axis = 0; axis < dimensions_.size() && !box.empty(); axis++) {
            const std::size_t d = dimensions_[axis];
            result.start[axis] = box.low[d];
            result.count[axis] = box.size[d];
            result.extent[axis] = allocated.size[d];
            result.offset[axis] = box.low[d] - allocated.low[d];
            if (has_room && d == slowest_of(box))
                result.extent[axis]++;
        }
        return result;
    }

    /* The slowest dimension of a box that is an axis: room behind it changes no strides. */
    std::size_t slowest_of(const wide_box &box) const {
        std::size_t place = 2;
        const auto is_axis = [&] {
            const std::size_t d = static_cast<std::size_t>(box.order[place]);
            return std::find(dimensions_.begin(), dimensions_.end(), d) != dimensions_.end();
        };
        while (!is_axis())
            place--;
        return static_cast<std::size_t>(box.order[place]);
    }

    local_sides own_;
    wide_box world_; /* of the input */
    ordered_comm comm_;
    plan_options options_;
    redist_space space_;
    void *stream_;
    bool is_real_;
    fftnd_r2r type_;
    int ranks_;
    bool has_empty_;
    std::vector<std::size_t> dimensions_; /* of each axis */
    std::vector<redist_index> sizes_;
    std::vector<fftnd_r2r> types_;
    int halved_axis_ = -1;
    std::vector<int> memory_order_; /* of the spectral side, unless it is that of the axes */
};

} // namespace detail
} // namespace heffte

#endif
