/* SPDX-License-Identifier: BSD-3-Clause */
#include "bound.h"
#include <math.h>

enum { COPIES = 5 };

/* Of the physical array within its space. */
static double copy_seconds(const bench_space *space, const bench_arrays *arrays) {
    double best = INFINITY;
    for (int i = 0; i < COPIES; i++) {
        space->synchronise();
        double begin = MPI_Wtime();
        space->copy(arrays->physical, arrays->original, arrays->physical_bytes);
        space->synchronise();
        best = fmin(best, MPI_Wtime() - begin);
    }
    return best;
}

/* Measured once; all ranks call it the same times. */
static double link_rate(const bench_space *space) {
    static double rate = -1.0;
    if (rate < 0.0)
        rate = space->copy_rate(MPI_COMM_WORLD);
    return rate;
}

double bench_bound_ms(const bench_problem *problem, const bench_arrays *arrays) {
    int nranks;
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (arrays->original == NULL || problem->space->copy_rate == NULL)
        return NAN;
    double copies = 2.0 * problem->ndims * copy_seconds(problem->space, arrays);
    double rate = link_rate(problem->space),
           bytes = 2.0 * (double)arrays->physical_bytes * (nranks - 1) / nranks;
    double bound = fmax(copies, nranks > 1 ? 1e-9 * bytes / rate : 0.0);
    MPI_Allreduce(MPI_IN_PLACE, &bound, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return 1e3 * bound;
}
