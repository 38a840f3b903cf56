/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms along contiguous lines, a few at once, for serial libraries of the host. */
#ifndef FFTND__CONTIGUOUS_H
#define FFTND__CONTIGUOUS_H

#include "columns.h"

/* Bytes of a line; longer ones are fetched row by row for a library (prefetch.h), for which there are too many shorter
 * ones. */
enum { FFTND__SHORT_LINE = 1536 };

/* Whether all of a problem, from array `in` to `out`, is for fftnd__serial_contiguous: contiguous lines along one axis,
 * complex ones or real ones of an even number of points, and measured to gain. */
int fftnd__contiguous_suit(const struct fftnd__serial_problem *problem, const void *in,
                           const void *out);

extern const struct fftnd__serial fftnd__serial_contiguous;

/* As its `create`, with these registers and these passes. REDIST_ERR_SERIAL if there are no radices, or lines are
 * shorter than a register. */
int fftnd__contiguous_create(const struct fftnd__column_loops *loops,
                             const struct fftnd__serial_problem *problem,
                             const struct fftnd__radices *radices, void **plan);

#endif
