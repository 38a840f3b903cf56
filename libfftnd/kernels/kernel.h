/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels: serial transforms of a piece along its whole axes, and truncation. */
#ifndef FFTND__KERNEL_H
#define FFTND__KERNEL_H

#include "../geometry/cut.h"
#include "truncation.h"

/* Transforms row by row along the last axis, for arrays that are not in the caches (prefetch.c). */
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

/*
 * Twiddle factors between the two transforms of one long axis (twiddle.c).
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

/* Layout of pieces on one side of a kernel. */
struct fftnd__side {
    int in_array;      /* pieces are boxes of the array of this rank, without memory of their own */
    char *memory;      /* to plan on: of the first piece, or an array */
    size_t place;      /* bytes from the beginning of the memory of a piece, if it has that */
    size_t item;       /* bytes of an element */
    ptrdiff_t *stride; /* bytes */
    size_t bytes;      /* of a piece */
    redist_index
        padded; /* on a device: elements of a line of the last axis with its padding; 0 = none */
    int turns;  /* in_array: so many pieces take turns there; 0 = each has its place */
    const struct fftnd__truncation
        *truncation; /* of axes of which a piece has more than the array; NULL = none */
};

/* Two plans: for pieces like the first one and for shorter ones. */
struct fftnd__kernel_plan {
    int from_out, to_in; /* from the block after, to the block before */
    unsigned pads;       /* array axes of the block after that are padded before */
    unsigned few;        /* array axes of which only the filled points have been transformed */
    struct lines__plan serial[2];
};

struct fftnd__kernel {
    const struct lines__library *library;
    enum fftnd_precision precision;
    int is_forward;
    int halves;      /* transforms real elements forward */
    unsigned filled; /* array axes whose missing points plans add, or that are padded later */
    int nplans;      /* executed one after the other */
    struct fftnd__kernel_plan *plans;
    struct fftnd__rows *rows[2];      /* instead of the first plan's; NULL = none */
    struct fftnd__twiddles *twiddles; /* behind forward plans, before backward ones; NULL = none */
};

/* A step to make a kernel for. */
struct fftnd__kernel_problem {
    const struct fftnd__transform *transform;
    const struct fftnd__step *step; /* after the step of the array before */
    int direction;
    const struct fftnd__cut *cut;
    const struct fftnd__side *in, *out;
    const struct lines__library *library;
    void *stream;             /* of the library */
    struct fftnd__pool *pool; /* NULL = one thread executes alone */
    int keep_input;
    int may_ruin;   /* an input that is in an array may be overwritten */
    int prefetches; /* rows of the input are fetched ahead */
    int fills;      /* the library adds the points that the arrays lack, which have one axis */

    /* With an operator. */
    int on_device;  /* pieces are on a device */
    int outside[2]; /* the block before, after has no place in the memory of a piece */
    int trip_axis;  /* of a round trip (fftnd__round_trip_axis), or -1 */
    int needs_trip; /* nothing is planned without one */
    int in_place;   /* the operator works in the memory of the piece before, of the same layout */
};

/* Returns the library's problem along one array axis alone, complex lines from one side to the other, in pieces like
 * the first one or shorter ones. */
struct lines__problem fftnd__kernel_lines(const struct fftnd__kernel_problem *problem,
                                          const struct fftnd__side *in,
                                          const struct fftnd__side *out, int axis, int is_shorter);

/* Makes a kernel, to be freed after a failure, too. Not collective. REDIST_ERR_SERIAL, REDIST_ERR_MEMORY. */
int fftnd__kernel_create(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem);
void fftnd__kernel_free(struct fftnd__kernel *kernel);

/* Transforms a piece, or enqueues that. The blocks are the piece before and after. */
int fftnd__kernel_run(const struct fftnd__kernel *kernel, int is_shorter,
                      const struct fftnd__block *in, const struct fftnd__block *out);

/* Has the library multiply the results of pieces of one length, as lines__scale_results. */
int fftnd__kernel_scale(const struct fftnd__kernel *kernel, int is_shorter, long double factor);

/* Scratch memory of the library's plans, which use it one at a time: its bytes, and setting it. */
size_t fftnd__kernel_area(const struct fftnd__kernel *kernel);
int fftnd__kernel_set_area(const struct fftnd__kernel *kernel, void *area);

#endif
