/* SPDX-License-Identifier: BSD-3-Clause */
/* Twiddle factors between the two transforms of one long axis. */
#ifndef FFTND__TWIDDLE_H
#define FFTND__TWIDDLE_H

#include "truncation.h"

/*
 * The long axis of n = n0 * n1 points is an array of n0 rows and n1 columns, element (j0, j1) being point j0 * n1 + j1.
 * Transforms along axis 0 lead to mode k0 of column j1; times exp(-2 pi i k0 j1 / n), a transform along axis 1 leads
 * to mode k0 + n0 * k1 (Bailey, "FFTs in external or hierarchical memory", 1990).
 */
struct fftnd__twiddles;

/* Makes the factors for pieces of `width` columns at most, of an array that begins with column `first`. *made is freed
 * with redist_release. Not collective. REDIST_ERR_MEMORY. */
int fftnd__twiddles_create(const struct fftnd__transform *transform, int direction,
                           redist_index first, redist_index width, struct fftnd__twiddles **made);

/* Multiplies a piece. */
void fftnd__twiddles_apply(const struct fftnd__twiddles *twiddles,
                           const struct fftnd__block *block);

#endif
