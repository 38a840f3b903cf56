/* SPDX-License-Identifier: BSD-3-Clause */
/* The operator of a step on whole boxes of a piece: on a device, in long double, and for functions of the user that
 * take boxes. */
#ifndef FFTND__BOXES_H
#define FFTND__BOXES_H

#include "applied.h"

/* Applies the operator to a piece whose array retains `count`. The blocks are before and after it. */
int fftnd__boxes_run(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                     const struct fftnd__block blocks[2], const redist_index count[]);

/* Describes the operator, one of the library's kinds, on all modes of a piece, in a block before and after it. */
void fftnd__boxes_describe(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                           const struct fftnd__block *block, const redist_index count[],
                           struct lines__operation *operation);

#endif
