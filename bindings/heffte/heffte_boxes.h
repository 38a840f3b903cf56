/* SPDX-License-Identifier: BSD-3-Clause */
/** Boxes of heffte.h, the worlds that they fill, and what programs ask of MPI. */
#ifndef HEFFTE_BOXES_H
#define HEFFTE_BOXES_H

#include <redist_grid.h> /* mpi.h without its C++ functions */

#include <algorithm>
#include <array>
#include <ostream>
#include <stdexcept>
#include <vector>

namespace heffte {

/**
 * A box of global indices, both ends included: high = low - 1 is empty. order[0] is the dimension that is contiguous
 * in the local array, order[2] the slowest one. Each dimension is below 2^31 with int; so are count() and the local
 * array, unless index is long long.
 */
template <class index = int> struct box3d {
    using array = std::array<index, 3>;

    box3d(array first, array last) : box3d(first, last, std::array<int, 3>{{0, 1, 2}}) {
    }
    box3d(array first, array last, std::array<int, 3> memory)
        : low(first), high(last), size{{last[0] - first[0] + 1, last[1] - first[1] + 1,
                                        last[2] - first[2] + 1}},
          order(memory) {
    }

    bool empty() const {
        return size[0] <= 0 || size[1] <= 0 || size[2] <= 0;
    }
    index count() const {
        return empty() ? 0 : size[0] * size[1] * size[2];
    }
    /** The box of the elements of both, in the order of this one. */
    box3d collide(const box3d &other) const {
        array first, last;
        for (std::size_t i = 0; i < 3; i++) {
            first[i] = std::max(low[i], other.low[i]);
            last[i] = std::min(high[i], other.high[i]);
        }
        return box3d(first, last, order);
    }
    /** A world of complex numbers for this one of real numbers: size / 2 + 1 elements in a dimension. */
    box3d r2c(int dimension) const {
        array last = high;
        last[at(dimension)] = low[at(dimension)] + size[at(dimension)] / 2;
        return box3d(low, last, order);
    }
    /** The place of a dimension in the order. */
    int find_order(int dimension) const {
        return static_cast<int>(std::find(order.begin(), order.end(), dimension) - order.begin());
    }
    /** The elements of the fastest dimension (0), the next one (1) and the slowest one (2). */
    index osize(int place) const {
        return size[at(order[at(place)])];
    }
    bool operator==(const box3d &other) const {
        return low == other.low && high == other.high;
    }
    bool operator!=(const box3d &other) const {
        return !(*this == other);
    }
    bool ordered_same_as(const box3d &other) const {
        return order == other.order;
    }

    array low, high, size;
    std::array<int, 3> order;

  private:
    static std::size_t at(int i) {
        return static_cast<std::size_t>(i);
    }
};

/** A box of two dimensions: the third one has one element. */
template <class index = int> struct box2d : box3d<index> {
    using array = std::array<index, 2>;

    box2d(array first, array last)
        : box3d<index>({{first[0], first[1], 0}}, {{last[0], last[1], 0}}) {
    }
    box2d(array first, array last, std::array<int, 2> memory)
        : box3d<index>({{first[0], first[1], 0}}, {{last[0], last[1], 0}},
                       {{memory[0], memory[1], 2}}) {
    }
};

template <class index> std::ostream &operator<<(std::ostream &out, const box3d<index> &box) {
    for (std::size_t i = 0; i < 3; i++)
        out << (i == 0 ? "" : " x ") << "[" << box.low[i] << ", " << box.high[i] << "]";
    return out << " (order " << box.order[0] << " " << box.order[1] << " " << box.order[2] << ")";
}

/** The boxes of all ranks. */
template <class index = int> struct ioboxes { std::vector<box3d<index>> in, out; };

/** The smallest box with all elements of others, in the order of the first one. */
template <class index> box3d<index> find_world(const std::vector<box3d<index>> &boxes) {
    box3d<index> world({{0, 0, 0}}, {{-1, -1, -1}});
    bool is_first = true;
    for (const box3d<index> &box : boxes) {
        if (box.empty())
            continue;
        for (std::size_t i = 0; i < 3 && !is_first; i++) {
            world.low[i] = std::min(world.low[i], box.low[i]);
            world.high[i] = std::max(world.high[i], box.high[i]);
        }
        if (is_first)
            world = box;
        is_first = false;
    }
    return box3d<index>(world.low, world.high, world.order);
}

/** Whether boxes fill a world without overlap. */
template <class index>
bool world_complete(const std::vector<box3d<index>> &boxes, const box3d<index> &world) {
    double filled = 0; /* exact below 2^53 */
    for (std::size_t i = 0; i < boxes.size(); i++) {
        const box3d<index> &box = boxes[i];
        if (box.empty())
            continue;
        filled += static_cast<double>(box.size[0]) * static_cast<double>(box.size[1]) *
                  static_cast<double>(box.size[2]);
        for (std::size_t j = 0; j < i; j++)
            if (!boxes[j].empty() && !box.collide(boxes[j]).empty())
                return false;
    }
    const double all = static_cast<double>(world.size[0]) * static_cast<double>(world.size[1]) *
                       static_cast<double>(world.size[2]);
    return !(filled < all) && !(filled > all);
}

/** Splits a world among a grid of processes, whose first dimension is the fastest one in the list. */
template <class index>
std::vector<box3d<index>> split_world(const box3d<index> &world, std::array<int, 3> grid) {
    std::vector<box3d<index>> boxes;
    const auto start = [&](std::size_t i, int part) {
        const long long n = world.size[i];
        return static_cast<index>(world.low[i] + n * part / grid[i]);
    };
    for (int k = 0; k < grid[2]; k++)
        for (int j = 0; j < grid[1]; j++)
            for (int i = 0; i < grid[0]; i++)
                boxes.push_back(
                    box3d<index>({{start(0, i), start(1, j), start(2, k)}},
                                 {{start(0, i + 1) - 1, start(1, j + 1) - 1, start(2, k + 1) - 1}},
                                 world.order));
    return boxes;
}

/** The grid of processes whose parts of a world have the smallest surface. */
template <class index>
std::array<int, 3> proc_setup_min_surface(const box3d<index> &world, int nprocs) {
    std::array<int, 3> best{{1, 1, nprocs}};
    double least = -1;
    for (int i = 1; i <= nprocs; i++)
        for (int j = 1; nprocs % i == 0 && j <= nprocs / i; j++) {
            if (nprocs / i % j != 0)
                continue;
            const std::array<int, 3> grid{{i, j, nprocs / i / j}};
            double side[3];
            for (std::size_t d = 0; d < 3; d++)
                side[d] = static_cast<double>(world.size[d]) / grid[d];
            const double surface = side[0] * side[1] + side[1] * side[2] + side[0] * side[2];
            if (least < 0 || surface < least) {
                least = surface;
                best = grid;
            }
        }
    return best;
}

/** The grid of two dimensions that is nearest to a square, the smaller one first. */
inline std::array<int, 2> make_procgrid(int nprocs) {
    int first = 1;
    for (int i = 1; i <= nprocs / i; i++)
        if (nprocs % i == 0)
            first = i;
    return {{first, nprocs / first}};
}

namespace mpi {

inline int comm_rank(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}
inline int comm_size(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}
inline int world_rank() {
    return comm_rank(MPI_COMM_WORLD);
}
inline bool world_rank(int rank) {
    return world_rank() == rank;
}

/** The boxes of all ranks, from those of each. Collective. */
template <class index>
ioboxes<index> gather_boxes(const box3d<index> &in, const box3d<index> &out, MPI_Comm comm) {
    constexpr std::size_t each = 18;
    std::array<long long, each> own;
    for (std::size_t i = 0; i < 3; i++) {
        own[i] = in.low[i], own[3 + i] = in.high[i], own[6 + i] = in.order[i];
        own[9 + i] = out.low[i], own[12 + i] = out.high[i], own[15 + i] = out.order[i];
    }
    std::vector<long long> all(each * static_cast<std::size_t>(comm_size(comm)));
    MPI_Allgather(own.data(), each, MPI_LONG_LONG, all.data(), each, MPI_LONG_LONG, comm);
    const auto box_at = [&](std::size_t at) {
        std::array<index, 3> low, high;
        std::array<int, 3> order;
        for (std::size_t i = 0; i < 3; i++) {
            low[i] = static_cast<index>(all[at + i]);
            high[i] = static_cast<index>(all[at + 3 + i]);
            order[i] = static_cast<int>(all[at + 6 + i]);
        }
        return box3d<index>(low, high, order);
    };
    ioboxes<index> boxes;
    for (std::size_t at = 0; at < all.size(); at += each) {
        boxes.in.push_back(box_at(at));
        boxes.out.push_back(box_at(at + 9));
    }
    return boxes;
}

} // namespace mpi
} // namespace heffte

#endif
