/* SPDX-License-Identifier: BSD-3-Clause */
/* Validation by the Laplacian of a known function (Egger, section 2.6). */
#ifndef STUDY_LAPLACIAN_H
#define STUDY_LAPLACIAN_H

#include "fftnd.h"

/* A transform whose result is to be checked. */
typedef struct study_laplacian {
    fftnd_layout layout[2]; /* of both sides */
    enum fftnd_kind kind;   /* FFTND_R2R: DCT-II along each axis */
    enum fftnd_precision precision;
    double *factors[2][REDIST_MAX_NDIMS]; /* of each term and axis, at each point */
} study_laplacian;

/* Prepares the function for what is given by the first three; ends the program without memory. */
void study_laplacian_begin(study_laplacian *given);
void study_laplacian_end(study_laplacian *given);

/* Fills the physical side (host memory) with the function: two products of cosines, one wave number and
 * one phase for each axis. For FFTND_C2C the imaginary part is another combination of the two. */
void study_laplacian_fill(const study_laplacian *given, void *physical);

/* Multiplies the spectral side (host memory) by -|k|^2 of each mode. */
void study_laplacian_apply(const study_laplacian *given, void *spectral);

/* How far `physical`, divided by `growth`, is from the function's Laplacian: the largest difference over
 * the largest value, of all ranks. Infinite if something is not a number. Collective on comm. */
double study_laplacian_error(MPI_Comm comm, const study_laplacian *given, const void *physical,
                             double growth);

/* What rounding explains. */
double study_laplacian_tolerance(const study_laplacian *given);

#endif
