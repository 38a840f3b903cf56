/* SPDX-License-Identifier: BSD-3-Clause */
/* Row prefetch: transforms row by row along the last axis, for arrays that are not in the caches. */
#ifndef FFTND__PREFETCH_H
#define FFTND__PREFETCH_H

#include "../backends/serial.h"

struct fftnd__rows {
    void *row, *rest; /* plans of the library: of one row, and of the other axes, NULL = none */
    int nloops;
    struct fftnd__loop loops[REDIST_MAX_NDIMS]; /* over the rows; strides in bytes */
    long long count;                            /* of rows */
    size_t bytes;                               /* of a row of the input */
};

/* Whether a transform can be done so, and is worth it. */
int fftnd__rows_suit(const struct fftnd__serial_problem *problem);

/* As `create` and `execute` of the library; in != out. */
int fftnd__rows_create(struct fftnd__rows *rows, const struct fftnd__serial *library,
                       const struct fftnd__serial_problem *problem, void *in, void *out);
int fftnd__rows_run(const struct fftnd__rows *rows, const struct fftnd__serial *library, char *in,
                    char *out);
void fftnd__rows_free(struct fftnd__rows *rows, const struct fftnd__serial *library);

/* A box of an array that is fetched meanwhile, a few rows at a time. */
struct fftnd__ahead {
    const char *row; /* the next one */
    long long rows;  /* left */
    size_t bytes;    /* of a row */
    int ndims;
    redist_index index[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes */
};

/* Nothing is fetched of a box without a contiguous axis. */
void fftnd__ahead_open(struct fftnd__ahead *ahead, int ndims, const redist_index count[],
                       const ptrdiff_t stride[], size_t item, const char *box);
void fftnd__ahead_fetch(struct fftnd__ahead *ahead, int rows);

#endif
