/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of some axes only: those of axes on which an operator does not depend cancel. */
#ifndef FFTND__SUBSET_H
#define FFTND__SUBSET_H

#include "steps.h"

/* Returns nonzero if an operator that depends on wavenumbers along these axes alone may transform only them: they are
 * fewer, no mode is dropped, and the chain begins in balanced blocks. The same on all ranks. */
int fftnd__subset_suits(const struct fftnd__transform *transform, const int axes[]);

/* Returns the factor of unscaled transforms there and back along the other axes. */
long double fftnd__subset_factor(const struct fftnd__transform *transform, const int axes[]);

/* Leaves out the other axes. The physical side stays the same, except that pairs of real elements may become complex
 * ones. Not collective. REDIST_ERR_MEMORY. */
int fftnd__subset_take(struct fftnd__transform *transform, const int axes[]);

#endif
