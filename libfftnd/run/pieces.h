/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the pieces of a stage: source -> kernel -> sink. */
#ifndef FFTND__PIECES_H
#define FFTND__PIECES_H

#include "stage.h"

#include <stdatomic.h>

/* A source or sink of pieces: an exchange that is open for them, else an array of this rank. */
struct fftnd__terminal {
    redist_plan *exchange;
    const int *order; /* an exchange's: the axes as they lie in memory */
    enum redist_space space;
    char *array; /* with an exchange: where pieces are that have no memory of their own */
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes */
    int nontemporal;                    /* stores into the array bypass the caches */
    int keeps; /* an exchange's: this rank's part of a piece is stored where it belongs by the last transform */
};

/* A run of a stage; what is not named here is zero at its beginning. */
struct fftnd__execution {
    const struct fftnd__stage *stage;
    const struct fftnd__transform *transform;
    struct fftnd__terminal source, sink;
    long double scale;     /* of each piece */
    int begins, ends;      /* the pieces: else they have been begun before, or are ended later */
    int stores;            /* into the peers' arrays, by the last transform */
    redist_plan *arriving; /* pieces begin as its partitions arrive; NULL = all is there */
    int arrival_axis;      /* the array axis that these divide */

    int arrived;
    int loads_directly, stores_directly; /* a device reaches the array of the source, the sink */
    double moving;          /* seconds that the host spent with peers and in copies for a device */
    _Atomic long long next; /* the first piece that no thread has taken */
    _Atomic long long nanoseconds; /* spent in kernels, by all threads */
};

/* Adds the seconds spent in kernels, the mean of the threads. */
int fftnd__run_pieces(struct fftnd__execution *execution, double *seconds);

#endif
