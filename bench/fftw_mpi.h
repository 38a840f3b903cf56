/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW's own distributed transforms, to compare with. */
#ifndef BENCH_FFTW_MPI_H
#define BENCH_FFTW_MPI_H

#include "transform.h"

#define BENCH_FFTW_MPI_TRANSFORMS 2

/* Why the problem cannot be given to FFTW-MPI, or NULL if it can. */
const char *bench_fftw_mpi_refusal(const bench_problem *problem);

/*
 * Plans the problem with natural and with transposed output on shared arrays. Planning takes
 * minutes at times, so its wisdom is stored in the file `wisdom`, unless that is NULL.
 * Collective.
 */
void bench_fftw_mpi_create(const bench_problem *problem, const char *wisdom, bench_arrays *arrays,
                           bench_transform transforms[BENCH_FFTW_MPI_TRANSFORMS]);

#endif
