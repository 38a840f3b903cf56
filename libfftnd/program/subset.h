/* SPDX-License-Identifier: BSD-3-Clause */
/* The transform of only some axes: transforms of axes on which an operator does not depend cancel. */
#ifndef FFTND__SUBSET_H
#define FFTND__SUBSET_H

#include "program.h"

/* Whether an operator that depends on the wavenumbers along these axes alone may do with their transforms: they are
 * fewer, no mode is dropped, and the grid's blocks are where the chain begins. The same on all ranks. */
int fftnd__subset_suits(const struct fftnd__transform *transform, const int axes[]);

/* Of transforms there and back without scaling along the other axes: their factor. */
long double fftnd__subset_factor(const struct fftnd__transform *transform, const int axes[]);

/* Leaves out the other axes. The physical side stays as it is, but for real elements that become complex ones in pairs.
 * Not collective. */
int fftnd__subset_take(struct fftnd__transform *transform, const int axes[]);

#endif
