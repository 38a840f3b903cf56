/* SPDX-License-Identifier: BSD-3-Clause */
/* What the C++ tests of files share: a folder, and arrays in blocks with the values of their elements. */
#ifndef FILE_CHECKS_HPP
#define FILE_CHECKS_HPP

#include "checks.hpp"

#include <climits>
#include <unistd.h>

namespace checks {

inline std::string folder;

inline double value_of(double, redist::index place) {
    return static_cast<double>(place);
}
inline std::complex<float> value_of(std::complex<float>, redist::index place) {
    return {static_cast<float>(place), 1};
}
inline std::array<short, 3> value_of(std::array<short, 3>, redist::index place) {
    return {static_cast<short>(place), 1, 2};
}

/* An array in blocks of a grid, with room for ghosts, and its field. */
template <class T> struct blocks {
    std::vector<redist::index> sizes;
    redist::box box;
    std::vector<T> memory;
    redist::view<T, 2> view;

    /* `splits`: the axis of both that the grid of one dimension splits */
    blocks(const std::vector<redist::index> &extents, int splits, int ghosts) : sizes(extents) {
        redist::grid grid(MPI_COMM_WORLD, {0});
        redist::halo halo;
        halo.low[0] = halo.high[1] = ghosts;
        box = redist::with_ghosts(grid.box(sizes, {splits}), halo);
        memory.resize(static_cast<std::size_t>(box.extent[0] * box.extent[1]));
        view = redist::interior<2>(memory.data(), box);
    }
    redist::field field(const std::string &name = {}) {
        return {sizes, box, memory.data(), name};
    }
    template <class Visit> void each(Visit visit) {
        for (redist::index i = 0; i < view.size(0); i++)
            for (redist::index j = 0; j < view.size(1); j++)
                visit(view(i, j), (box.start[0] + i) * sizes[1] + box.start[1] + j);
    }
    void set() {
        each([](T &element, redist::index place) { element = value_of(T{}, place); });
    }
    bool holds() {
        bool right = true;
        each([&](const T &element, redist::index place) {
            right = right && element == value_of(T{}, place);
        });
        return right;
    }
};

inline std::vector<redist::index> random_sizes() {
    return {random_between(1, 9), random_between(1, 9)};
}

inline void make_folder() {
    const char *parent = std::getenv("TMPDIR");
    char name[PATH_MAX] = "";
    if (rank == 0) {
        std::snprintf(name, sizeof name, "%s/redist-cpp-XXXXXX",
                      parent != nullptr ? parent : "/tmp");
        if (mkdtemp(name) == nullptr)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    folder = name;
}

/* Removes the files of a test, which have left no others. */
inline void remove_folder(const std::vector<std::string> &files) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        return;
    for (const std::string &name : files)
        (void)unlink((folder + "/" + name).c_str());
    expect(rmdir(folder.c_str()) == 0, "no other files are left");
}

} // namespace checks

#endif
