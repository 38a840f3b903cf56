/* SPDX-License-Identifier: BSD-3-Clause */
/* Row prefetch: transforms row by row along the last axis, for arrays that are not in the caches. */
#ifndef FFTND__PREFETCH_H
#define FFTND__PREFETCH_H

#include "../../liblines/lines.h"

struct fftnd__rows {
    struct lines__plan row, rest; /* of one row, and of the other axes, zeros = none */
    int nloops;
    struct lines__loop loops[REDIST_MAX_NDIMS]; /* over the rows; strides in bytes */
    long long count;                            /* of rows */
    size_t bytes;                               /* of a row of the input */
};

/* Returns nonzero if a transform can be done row by row, and gets faster. */
int fftnd__rows_suit(const struct lines__problem *problem);

/* Create and execute a plan, as the general library does; in != out. */
int fftnd__rows_create(struct fftnd__rows *rows, const struct lines__problem *problem, void *in,
                       void *out);
int fftnd__rows_run(const struct fftnd__rows *rows, char *in, char *out);
void fftnd__rows_free(struct fftnd__rows *rows);

#endif
