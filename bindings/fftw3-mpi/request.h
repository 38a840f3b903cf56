/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of a program to FFTW's MPI interface, the same for all precisions. */
#ifndef FFTND_FFTW_REQUEST_H
#define FFTND_FFTW_REQUEST_H

#include "plan.h"

#include <stddef.h>

/* FFTW's flags, apart from those of efforts. */
struct fftnd_fftw__flags {
    int transposed
        [2]; /* input and output: axes 0 and 1 are exchanged in memory, and axis 1 is split */
    int scrambled[2]; /* one axis in an order of the library's own */
    int may_destroy_input;
    int wisdom_only;
    enum fftnd_effort effort;
};

/* A matrix of n[0] x n[1] tuples, or a transform. */
struct fftnd_fftw__request {
    const char *function; /* of FFTW */
    int (*create)(const struct fftnd_fftw__request *request, struct fftnd_fftw__plan **plan);
    MPI_Comm comm;
    enum fftnd_precision precision;
    MPI_Datatype datatype; /* of a real number */
    size_t number_bytes;   /* of one */
    int rank;              /* axes */
    const ptrdiff_t *n;
    ptrdiff_t howmany;
    ptrdiff_t blocks[2]; /* of the split axis of the input and of the output; 0 = FFTW's own */
    void *in, *out;
    int in_place;
    size_t room;                     /* bytes of each array by local_size */
    redist_index start[2], count[2]; /* of one axis: this rank's parts of input and output */
    struct fftnd_fftw__flags flags;

    /* Transforms only */
    enum fftnd_kind kind;
    int backward;      /* C2C: the sign is +1; R2C: complex to real */
    const int *r2r;    /* R2R: FFTW's kind of each axis */
    int threads;       /* of each rank */
    double time_limit; /* of planning, in seconds; < 0 = none */
};

/* Functions `create`: make a plan, or leave *plan NULL with the reason in redist_error_message. Collective, with the
 * same result on all ranks. */
int fftnd_fftw__transpose_create(const struct fftnd_fftw__request *request,
                                 struct fftnd_fftw__plan **plan);
int fftnd_fftw__transform_create(const struct fftnd_fftw__request *request,
                                 struct fftnd_fftw__plan **plan);

/* Calls `create`; with FFTW_WISDOM_ONLY only for plans that were made before. Collective. */
int fftnd_fftw__plan_create(const struct fftnd_fftw__request *request,
                            struct fftnd_fftw__plan **plan);

/* Returns a rank's part of an axis of n in blocks of this size (0 = ceil(n / nranks)). */
void fftnd_fftw__block(ptrdiff_t n, ptrdiff_t block, int nranks, int rank, redist_index *start,
                       redist_index *count);

/* Returns whether `nranks` ranks have room for all blocks. */
int fftnd_fftw__blocks_fit(ptrdiff_t n, ptrdiff_t block, int nranks);

#endif
