/* SPDX-License-Identifier: BSD-3-Clause */
/* What share of a library's time this project's own loops for some of its lines take. */
#ifndef LINES__SHARE_H
#define LINES__SHARE_H

#include "../lines.h"

/* Percent; the largest share is that of loops that there are not. */
enum { LINES__NO_GAIN = 100, LINES__NO_SHARE = 1000 };

/* Whether lines are for such loops at all: they belong to a library that shares them, and to one thread. */
int lines__may_share(const struct lines__problem *problem);

/* The share for `trial`, in an array of so many bytes, or from one to another if `apart`: measured when it is first
 * asked for, as the library plans it in 0.05 s, and then `*known`, which is 0 before. With FFTND_ESTIMATE nothing is
 * measured, and registers that are wider than a complex number are taken for what the library does not fill. */
int lines__find_share(const struct lines__library *own, const struct lines__problem *trial,
                      size_t bytes, int apart, short *known);

/* The least time of some runs of each plan in turns, along some lines of n elements, which take at least some 0.1 ms
 * each to be above what the clock resolves. */
void lines__time_plans(int count, const struct lines__library *const libraries[],
                       void *const plans[], redist_index n, void *in, void *out, double seconds[]);

#endif
