/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a serial transform: what one plan of cuFFT, or one launch of panels, does. */
#ifndef FFTND__CUFFT_TASKS_H
#define FFTND__CUFFT_TASKS_H

#include "cufft_lines.h"
#include "serial.h"

/* Axes of one plan of cuFFT. */
enum { FFTND__CUFFT_AXES = 3 };

/* Up to three axes whose strides nest, repeated over loops of which cuFFT does one and panels do several. */
struct fftnd__task {
    int is_real[2]; /* input, output */
    int rank;
    struct fftnd__loop axes[FFTND__CUFFT_AXES]; /* decreasing strides, the halved one last */
    int nloops;
    struct fftnd__loop loops[REDIST_MAX_NDIMS]; /* decreasing strides */
};

/* The axes to transform: without those of one element, but at least one; a halved one stays last. Returns how
 * many. */
int fftnd__task_list_axes(const struct fftnd__serial_problem *problem, struct fftnd__loop axes[]);

/* The task of axes first..last - 1; the other axes are loops. `side` is the array that a pass works in,
 * -1 = from the input to the output. */
struct fftnd__task fftnd__task_make(const struct fftnd__serial_problem *problem, int naxes,
                                    const struct fftnd__loop axes[], int first, int last, int side);

/* The loop that cuFFT does: the only one that spoils the alignment, else neighbours in memory if there are
 * many, else the longest. -1 = there is no loop. */
int fftnd__task_batch(const struct fftnd__task *task);

/* Whether the rows that neighbouring complex lines make begin with a line of the device's cache on both sides, if the
 * arrays do. The loops are those of the axes and all others. */
int fftnd__rows_are_aligned(int is_double, int n, const struct fftnd__loop loops[]);

/* Whether more than one loop leads to real numbers that are not aligned as complex ones are: cuFFT refuses. */
int fftnd__task_misaligns(const struct fftnd__task *task);

/* The lines of one axis, however they lie: sets all but precision, direction and variant. The fastest loop is that of
 * the lines. */
void fftnd__task_all_lines(const struct fftnd__task *task, struct fftnd__lines *lines);

/* Contiguous lines, complex lines side by side, or real lines, which panels may do faster than cuFFT. Zero if they are
 * none. */
int fftnd__task_lines(const struct fftnd__task *task, struct fftnd__lines *lines);

/* Two complex axes, of which the second one is contiguous or has neighbours that are. Zero if there are none. */
int fftnd__task_planes(const struct fftnd__task *task, struct fftnd__lines *lines);

/* Real lines of a real-to-real transform; the same. Zero if one launch cannot take all loops. */
int fftnd__task_r2r_lines(const struct fftnd__task *task, struct fftnd__lines *lines);

#endif
