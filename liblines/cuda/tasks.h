/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks: what one plan of cuFFT, or one launch of panels, does. */
#ifndef LINES__CUFFT_TASKS_H
#define LINES__CUFFT_TASKS_H

#include "../lines.h"
#include "panel_plans.h"

/* Axes of one plan of cuFFT. */
enum { LINES__CUFFT_AXES = 3 };

/* Up to three axes whose strides nest, over loops of which cuFFT takes one and panels take several. */
struct lines__task {
    int is_real[2]; /* input, output */
    int is_odd;     /* the real one may begin between two complex elements */
    int rank;
    struct lines__loop axes[LINES__CUFFT_AXES]; /* decreasing strides, the halved one last */
    int nloops;
    struct lines__loop loops[REDIST_MAX_NDIMS]; /* decreasing strides */
};

/* Lists the axes to transform: without those of one element, but at least one; a halved one stays last. Returns their
 * number. */
int lines__task_list_axes(const struct lines__problem *problem, struct lines__loop axes[]);

/* The task of axes first..last - 1; the other axes are loops. `side` is the array of a sweep in place, -1 = from the
 * input to the output. */
struct lines__task lines__task_make(const struct lines__problem *problem, int naxes,
                                    const struct lines__loop axes[], int first, int last, int side);

/* The loop of a plan of cuFFT: the only one that spoils the alignment, else neighbours if they are many, else the
 * longest; -1 = none. */
int lines__task_batch(const struct lines__task *task);

/* Nonzero if rows of neighbouring complex lines begin with a line of the device's cache in both arrays, if these do.
 * The loops are those of the axes and all others. */
int lines__rows_are_aligned(int is_double, int n, const struct lines__loop loops[]);

/* Nonzero if the beginning, or several loops, lead to real numbers that are not aligned to complex elements: cuFFT
 * refuses them. */
int lines__task_misaligns(const struct lines__task *task);

/* Nonzero for several axes of which the last one has real lines further apart than in the arrays that rates are of, as
 * with ghosts: cuFFT takes a quarter longer for them, panels as long. */
int lines__task_is_apart(const struct lines__task *task);

/* Describes the lines of one axis, with any strides: all but precision, direction and variant. The side is the fastest
 * loop. */
void lines__task_all_lines(const struct lines__task *task, struct lines__panel_lines *lines);

/* The same, of lines of which `filled` points are on the physical side, 0 = all: two real ones that cannot be read in
 * pairs of numbers become one complex line. */
void lines__task_filled_lines(const struct lines__task *task, redist_index filled,
                              struct lines__panel_lines *lines);

/* Describes lines that panels may transform faster than cuFFT: contiguous, neighbouring complex, or real ones. 0 =
 * there are none. */
int lines__task_lines(const struct lines__task *task, struct lines__panel_lines *lines);

/* Describes planes of two complex axes, the second one contiguous or with neighbours. 0 = there are none. */
int lines__task_planes(const struct lines__task *task, struct lines__panel_lines *lines);

/* Describes lines of a real-to-real transform. 0 if a launch lacks loops for them. */
int lines__task_r2r_lines(const struct lines__task *task, struct lines__panel_lines *lines);

#endif
