/* SPDX-License-Identifier: BSD-3-Clause */
/* What share of a library's time this project's own loops for some of its lines take. */
#ifndef FFTND__SHARE_H
#define FFTND__SHARE_H

#include "serial.h"

/* Percent; the largest share is that of loops that there are not. */
enum { FFTND__NO_GAIN = 100, FFTND__NO_SHARE = 1000 };

/* Whether lines are for such loops at all: they belong to a library that shares them, and to one thread. */
int fftnd__may_share(const struct fftnd__serial_problem *problem);

/* The share for `trial`, in an array of so many bytes, or from one to another if `apart`: measured when it is first
 * asked for, as the library plans it in 0.05 s, and then `*known`, which is 0 before. With FFTND_ESTIMATE nothing is
 * measured, and registers that are wider than a complex number are taken for what the library does not fill. */
int fftnd__find_share(const struct fftnd__serial *own, const struct fftnd__serial_problem *trial,
                      size_t bytes, int apart, short *known);

/* The least time of some runs of each plan in turns, along some lines of n elements, which take at least some 0.1 ms
 * each to be above what the clock resolves. */
void fftnd__time_plans(int count, const struct fftnd__serial *const libraries[],
                       void *const plans[], redist_index n, void *in, void *out, double seconds[]);

#endif
