/* SPDX-License-Identifier: BSD-3-Clause */
/* Serial plans that some ranks measure for all. */
#ifndef FFTND__TEACH_H
#define FFTND__TEACH_H

#include "../program/program.h"

/* The most ranks that measure at once for all: those of a grid of three dimensions whose blocks have two sizes. */
enum { FFTND__MOST_TEACHERS = 8 };

/* Lists the ranks that measure first, one for each shape of the ranks' arrays, while the others wait to take what these
 * have found: for arrays of at most `largest_bytes` on this rank that fit the caches of all ranks, if the serial
 * library can pass its findings on. Returns their number; 0 = all ranks measure. Collective, the same on all ranks. */
int fftnd__list_teachers(const struct fftnd__transform *transform, size_t largest_bytes,
                         int teachers[FFTND__MOST_TEACHERS]);

/* Passes on what a rank has found. Where it fails, ranks measure for themselves. Collective. */
void fftnd__teach(const struct fftnd__transform *transform, int teacher);

#endif
