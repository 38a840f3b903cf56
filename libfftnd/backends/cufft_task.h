/* SPDX-License-Identifier: BSD-3-Clause */
/* What one plan of cuFFT does of a transform: up to three axes whose strides nest, and one loop. */
#ifndef FFTND__CUFFT_TASK_H
#define FFTND__CUFFT_TASK_H

#include "serial.h"

enum { FFTND__CUFFT_RANK = 3 };

/* The axes and loops of one pass. */
struct fftnd__cufft_task {
    int is_real[2]; /* input, output */
    int rank;
    struct fftnd__loop axes[FFTND__CUFFT_RANK]; /* decreasing strides, the halved one last */
    int nloops;
    struct fftnd__loop loops[REDIST_MAX_NDIMS];
};

/* The axes to transform: without those of one element, but at least one; a halved one stays last. Returns how
 * many. */
int fftnd__cufft_list_axes(const struct fftnd__serial_problem *problem, struct fftnd__loop axes[]);

/* How many of the last of `n` axes one plan can transform; halved[] says whether the last one is halved in the
 * input, and in the output. */
int fftnd__cufft_group_size(int n, const struct fftnd__loop axes[], const int halved[2]);

/* The task of axes first..last - 1; the other axes are loops. `side` is the array that a pass works in,
 * -1 = from the input to the output. */
struct fftnd__cufft_task fftnd__cufft_make_task(const struct fftnd__serial_problem *problem,
                                                int naxes, const struct fftnd__loop axes[],
                                                int first, int last, int side);

/* How many loops lead to real numbers that are not aligned as complex ones are, and the last of them. */
int fftnd__cufft_count_misaligning(const struct fftnd__cufft_task *task, int *last);

/* The loop that cuFFT does: the only one that spoils the alignment, else neighbours in memory if there are
 * many, else the longest. -1 = there is no loop. */
int fftnd__cufft_choose_batch(const struct fftnd__cufft_task *task);

#endif
