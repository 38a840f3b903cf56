/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One axis over several ranks, which libfftnd takes as an array of rows and columns. FFTW cuts the axis otherwise where
 * the ranks do not divide it well; an exchange then leads from the input to an array of the plan, or from there to the
 * output.
 */
#ifndef FFTND_FFTW_AXIS_H
#define FFTND_FFTW_AXIS_H

#include "request.h"

struct fftnd_fftw__axis {
    int scrambled;                   /* the spectral side is as the chain ends */
    redist_index start[2], count[2]; /* what libfftnd has on this rank of input and output */
    redist_plan *moves[2];           /* between the program's array and `work`; NULL = not needed */
    void *work;
};

/* Elements of an array that libfftnd needs on each rank. */
ptrdiff_t fftnd_fftw__axis_elements(ptrdiff_t n, MPI_Comm comm);

/* Finds out how libfftnd splits input and output, and plans what moves. Collective; after a failure there is nothing
 * that has to be destroyed.
 *   spectral  which of input and output is libfftnd's spectral side */
int fftnd_fftw__axis_create(const struct fftnd_fftw__request *request, int spectral,
                            struct fftnd_fftw__axis *axis);
void fftnd_fftw__axis_destroy(struct fftnd_fftw__axis *axis);

/* The array that libfftnd transforms in the place of the program's input or output. */
void *fftnd_fftw__axis_array(const struct fftnd_fftw__axis *axis, int array, void *program);

/* Before the transform of the input, after it of the output. Collective. */
int fftnd_fftw__axis_move(const struct fftnd_fftw__axis *axis, int array, void *program);

#endif
