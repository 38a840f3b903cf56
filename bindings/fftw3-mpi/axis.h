/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One axis over several ranks, for libfftnd an array of rows and columns. If FFTW splits the axis differently, an
 * exchange leads from the input to an array of the plan, or from there to the output.
 */
#ifndef FFTND_FFTW_AXIS_H
#define FFTND_FFTW_AXIS_H

#include "request.h"

struct fftnd_fftw__axis {
    int scrambled;                   /* the spectral side is as the chain leaves it */
    redist_index start[2], count[2]; /* libfftnd's parts of input and output on this rank */
    redist_plan *moves[2];           /* between the program's array and `work`; NULL = not needed */
    void *work;
};

/* Returns the elements of an array that libfftnd needs on each rank. */
ptrdiff_t fftnd_fftw__axis_elements(ptrdiff_t n, MPI_Comm comm);

/* Finds libfftnd's parts of input and output, and plans the moves. Collective; a failure leaves nothing to destroy.
 *   spectral  the one of input and output that is libfftnd's spectral side */
int fftnd_fftw__axis_create(const struct fftnd_fftw__request *request, int spectral,
                            struct fftnd_fftw__axis *axis);
void fftnd_fftw__axis_destroy(struct fftnd_fftw__axis *axis);

/* Returns the array that libfftnd transforms instead of the program's input or output. */
void *fftnd_fftw__axis_array(const struct fftnd_fftw__axis *axis, int array, void *program);

/* Moves the input before the transform, or the output after it. Collective. */
int fftnd_fftw__axis_move(const struct fftnd_fftw__axis *axis, int array, void *program);

#endif
