/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a serial transform: what one plan of cuFFT, or one launch of panels, does. */
#ifndef LINES__CUFFT_TASKS_H
#define LINES__CUFFT_TASKS_H

#include "../lines.h"
#include "panel_plans.h"

/* Axes of one plan of cuFFT. */
enum { LINES__CUFFT_AXES = 3 };

/* Up to three axes whose strides nest, repeated over loops of which cuFFT does one and panels do several. */
struct lines__task {
    int is_real[2]; /* input, output */
    int rank;
    struct lines__loop axes[LINES__CUFFT_AXES]; /* decreasing strides, the halved one last */
    int nloops;
    struct lines__loop loops[REDIST_MAX_NDIMS]; /* decreasing strides */
};

/* The axes to transform: without those of one element, but at least one; a halved one stays last. Returns how
 * many. */
int lines__task_list_axes(const struct lines__problem *problem, struct lines__loop axes[]);

/* The task of axes first..last - 1; the other axes are loops. `side` is the array that a pass works in,
 * -1 = from the input to the output. */
struct lines__task lines__task_make(const struct lines__problem *problem, int naxes,
                                    const struct lines__loop axes[], int first, int last, int side);

/* The loop that cuFFT does: the only one that spoils the alignment, else neighbours in memory if there are
 * many, else the longest. -1 = there is no loop. */
int lines__task_batch(const struct lines__task *task);

/* Whether the rows that neighbouring complex lines make begin with a line of the device's cache on both sides, if the
 * arrays do. The loops are those of the axes and all others. */
int lines__rows_are_aligned(int is_double, int n, const struct lines__loop loops[]);

/* Whether more than one loop leads to real numbers that are not aligned as complex ones are: cuFFT refuses. */
int lines__task_misaligns(const struct lines__task *task);

/* The lines of one axis, however they lie: sets all but precision, direction and variant. The fastest loop is that of
 * the lines. */
void lines__task_all_lines(const struct lines__task *task, struct lines__panel_lines *lines);

/* Contiguous lines, complex lines side by side, or real lines, which panels may do faster than cuFFT. Zero if they are
 * none. */
int lines__task_lines(const struct lines__task *task, struct lines__panel_lines *lines);

/* Two complex axes, of which the second one is contiguous or has neighbours that are. Zero if there are none. */
int lines__task_planes(const struct lines__task *task, struct lines__panel_lines *lines);

/* Real lines of a real-to-real transform; the same. Zero if one launch cannot take all loops. */
int lines__task_r2r_lines(const struct lines__task *task, struct lines__panel_lines *lines);

#endif
