/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two FFT examples share: local arrays, serial transforms, and the check at the end. */
#ifndef FFT_PARTS_H
#define FFT_PARTS_H

#include "redist.h"

#include <complex.h>
#include <mpi.h>

/* The sign in the exponent of the transform. */
enum { FORWARD = -1, BACKWARD = +1 };

/* How many of `n` elements this rank holds when they are split among the ranks of `group`. */
redist_index local_size(redist_index n, MPI_Comm group);

/* An array with these local extents. */
double complex *allocate_array(int ndims, const redist_index sizes[]);

/* Fills an array with values that differ everywhere: the element at place p becomes p + p i. */
void fill_array(int ndims, const redist_index sizes[], double complex *array);

/* Transforms an array in place along one axis; the backward transform divides by the extent. */
void transform(int ndims, const redist_index sizes[], double complex *array, int axis, int sign);

/* The squared magnitudes of all elements on all ranks, added up. */
double sum_of_squares(int ndims, const redist_index sizes[], const double complex *array);

/*
 * Compares an array with what fill_array wrote and the spectrum's sum of squares with Parseval's
 * theorem; rank 0 prints both errors. Returns the exit status of the program: 0 if both are small.
 */
int judge(int ndims, const redist_index global_sizes[], const redist_index sizes[],
          const double complex *array, double spectrum_squares);

#endif
