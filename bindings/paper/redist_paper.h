/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The three functions of Dalcin, Mortensen and Keyes under their own names and with `int` extents, for programs made
 * from the paper's listings. They return REDIST_OK (0) or a code, as those of redist.h that they call.
 */
#ifndef REDIST_PAPER_H
#define REDIST_PAPER_H

#include "redist.h"

/** Listing 1: redist_decompose. */
static inline int decompose(int N, int M, int p, int *n, int *s) {
    redist_index count = 0, start = 0;
    int code = redist_decompose(N, M, p, n != NULL ? &count : NULL, s != NULL ? &start : NULL);
    if (code == REDIST_OK) { /* at most N */
        *n = (int)count;
        *s = (int)start;
    }
    return code;
}

/** Listing 4: redist_subcomm. */
static inline int subcomm(MPI_Comm comm, int ndims, MPI_Comm subcomms[]) {
    return redist_subcomm(comm, ndims, subcomms);
}

/** Listing 3: redist_exchange. */
static inline int exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims, const int sizesA[],
                           const void *arrayA, int axisA, const int sizesB[], void *arrayB,
                           int axisB) {
    redist_index sizes_a[REDIST_MAX_NDIMS], sizes_b[REDIST_MAX_NDIMS];
    for (int i = 0; i < ndims && i < REDIST_MAX_NDIMS; i++) {
        sizes_a[i] = sizesA != NULL ? sizesA[i] : 0;
        sizes_b[i] = sizesB != NULL ? sizesB[i] : 0;
    }
    return redist_exchange(comm, datatype, ndims, sizesA != NULL ? sizes_a : NULL, arrayA, axisA,
                           sizesB != NULL ? sizes_b : NULL, arrayB, axisB);
}

#endif
