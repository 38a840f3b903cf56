/* SPDX-License-Identifier: BSD-3-Clause */
/* The operator of a step on whole boxes of a piece: on a device, in numbers that rows are not for, and for functions of
 * the user's that take boxes. */
#ifndef FFTND__BOXES_H
#define FFTND__BOXES_H

#include "applied.h"

/* The blocks are those before and after the operator, of a piece whose array retains `count`. */
int fftnd__boxes_run(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                     const struct fftnd__block blocks[2], const redist_index count[]);

/* What the operator is on all modes of a piece, which lie as a block says in both arrays: for kinds of the library. */
void fftnd__boxes_describe(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                           const struct fftnd__block *block, const redist_index count[],
                           struct lines__operation *operation);

#endif
