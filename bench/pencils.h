/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms of three axes as they are written by hand, to compare with: from boxes to pencils along each axis and to
 * boxes by MPI_Alltoallw of subarrays, with serial FFTW in between; in double, in host memory.
 */
#ifndef BENCH_PENCILS_H
#define BENCH_PENCILS_H

#include "redist.h"

typedef struct bench_pencils bench_pencils;

/* Plans transforms between two arrays, boxes of this rank in C order, which it overwrites; with the last axis halved if
 * `is_real`. Ranks whose parts remain where they are exchange nothing. Collective on MPI_COMM_WORLD. */
bench_pencils *bench_pencils_open(const redist_index sizes[3], int is_real,
                                  const redist_box *physical, void *points,
                                  const redist_box *spectral, void *modes);

/* Transforms one array to the other, REDIST_FORWARD or REDIST_BACKWARD, without scaling. The input is not changed. */
void bench_pencils_run(bench_pencils *pencils, int direction);

void bench_pencils_close(bench_pencils *pencils);

#endif
