/* SPDX-License-Identifier: BSD-3-Clause */
/* The random field that is transformed, and how far the result of a round trip is from it. */
#ifndef BENCH_FIELD_H
#define BENCH_FIELD_H

#include "fftnd.h"

/* This rank's part of the physical side, in host memory. */
typedef struct bench_field {
    fftnd_layout layout;
    enum fftnd_precision precision;
    int ncomponents; /* of one element: 1 real, 2 complex */
    int batch;
    int seed;
    int threads; /* that fill and compare; 0 = the calling one */
} bench_field;

/* Fills the elements with numbers in [-1, 1) that depend on the global index only. */
void bench_field_fill(const bench_field *field, void *array);

/*
 * The largest |found / factor - expected| over the largest |expected|, of all ranks. Infinite if
 * something is not a number. Without `expected` that is the field. `found` is left as it is. Collective
 * on comm.
 */
double bench_field_error(MPI_Comm comm, const bench_field *field, const void *expected, void *found,
                         double factor);

#endif
