/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on all elements of a box, without the padding between them. */
#ifndef FFTND__RUNS_H
#define FFTND__RUNS_H

#include "truncation.h"

/* A box as contiguous runs, and loops around them, outermost first. */
struct fftnd__runs {
    int n;
    redist_index count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes */
    size_t bytes;                       /* of a run; 0 = the box is empty */
};

struct fftnd__runs fftnd__find_runs(const struct fftnd__block *block);

/* Calls a function for each run, of `bytes` bytes from `offset` in the box on, until one fails. */
typedef int fftnd__visit_run(void *data, ptrdiff_t offset, size_t bytes);
int fftnd__visit_runs(const struct fftnd__runs *runs, fftnd__visit_run *visit, void *data);

/* Returns a block of all elements of the array after a step. The block points to `stride`. */
struct fftnd__block fftnd__block_of_array(const struct fftnd__transform *transform,
                                          const struct fftnd__step *step, void *memory,
                                          ptrdiff_t stride[REDIST_MAX_NDIMS]);

/* Multiplies the elements that the array has, unless by 1, in the block's stream, as `scale` of struct
 * lines__library. */
int fftnd__scale_block(const struct fftnd__block *block, long double factor);

#endif
