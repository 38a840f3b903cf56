/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of this folder share: the points of a box, and the end of a program. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <heffte.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdio>
#include <exception>
#include <vector>

#ifndef Heffte_ENABLE_FFTW
#error "these programs transform by the tag fftw"
#endif

namespace example {

typedef heffte::backend::fftw backend;

const double tau = 6.283185307179586; /* 2 pi */
const std::array<int, 3> points = {{24, 20, 18}};

/* Calls function(indices, place) for each point of a box, in the order of memory. */
template <class Function> void for_each(const heffte::box3d<> &box, Function function) {
    const int fast = box.order[0], middle = box.order[1], slow = box.order[2];
    std::array<int, 3> at;
    std::size_t place = 0;
    for (at[slow] = box.low[slow]; at[slow] <= box.high[slow]; at[slow]++)
        for (at[middle] = box.low[middle]; at[middle] <= box.high[middle]; at[middle]++)
            for (at[fast] = box.low[fast]; at[fast] <= box.high[fast]; at[fast]++)
                function(at, place++);
}

/* The array of all ranks. */
inline heffte::box3d<> world() {
    return heffte::box3d<>({{0, 0, 0}}, {{points[0] - 1, points[1] - 1, points[2] - 1}});
}

/* This rank's brick of it, with the smallest surface. */
inline heffte::box3d<> brick(const heffte::box3d<> &all) {
    const int ranks = heffte::mpi::comm_size(MPI_COMM_WORLD);
    const std::array<int, 3> grid = heffte::proc_setup_min_surface(all, ranks);
    return heffte::split_world(all, grid)[std::size_t(heffte::mpi::comm_rank(MPI_COMM_WORLD))];
}

/* Prints the largest error of all ranks. Returns the exit code of the program. */
inline int report(const char *name, double error) {
    double largest = 0;
    MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (heffte::mpi::comm_rank(MPI_COMM_WORLD) == 0)
        std::printf("%s: error %.1e\n", name, largest);
    return largest < 1e-12 ? 0 : 1;
}

/* Runs a program between MPI_Init and MPI_Finalize. */
inline int run(int argc, char **argv, const char *name, double (*program)()) {
    int code = 1;
    MPI_Init(&argc, &argv);
    try {
        code = report(name, program());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
    }
    MPI_Finalize();
    return code;
}

} // namespace example

#endif
