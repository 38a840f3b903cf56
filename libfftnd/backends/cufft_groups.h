/* SPDX-License-Identifier: BSD-3-Clause */
/* Which axes one plan of cuFFT transforms. */
#ifndef FFTND__CUFFT_GROUPS_H
#define FFTND__CUFFT_GROUPS_H

#include "serial.h"

/* Axes of one plan. */
enum { FFTND__CUFFT_AXES = 3 };

/* How many of the last of `n` axes one plan of cuFFT transforms: their strides nest, and panels are faster with none
 * of them. halved[]: whether the last one is halved in the input, and in the output. `side` is the number of lines that
 * are neighbours in memory where the last axis is not contiguous. */
int fftnd__cufft_group_size(int n, const struct fftnd__loop axes[], const int halved[2],
                            redist_index side, int is_double, int may_have_panels, void *stream);

#endif
