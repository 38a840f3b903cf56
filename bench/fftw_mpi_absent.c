/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for fftw_mpi.c where FFTW-MPI is not installed, or was built for another MPI. */
#include "fftw_mpi.h"
#include "options.h"

const char *bench_fftw_mpi_refusal(const bench_problem *problem) {
    (void)problem;
    return "this build has no FFTW-MPI (libfftw3-mpi-dev, with Open MPI)";
}

void bench_fftw_mpi_create(const bench_problem *problem, const char *wisdom, bench_arrays *arrays,
                           bench_transform transforms[BENCH_FFTW_MPI_TRANSFORMS]) {
    (void)wisdom;
    (void)arrays;
    (void)transforms;
    bench_abort("%s", bench_fftw_mpi_refusal(problem));
}
