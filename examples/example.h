/* SPDX-License-Identifier: BSD-3-Clause */
/* What all examples use: a check of return codes, and arrays that the other ranks can map. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <math.h>
#include <redist.h>
#include <stdio.h>

/* Ends the whole program with the library's own explanation if a call has failed. */
static inline void check(int code) {
    if (code == REDIST_OK)
        return;
    fprintf(stderr, "%s: %s\n", redist_error_name(code), redist_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* An array of this rank; all ranks call it together, each with the size it needs. */
static inline void *allocate(size_t bytes) {
    void *array = NULL;
    check(redist_alloc(MPI_COMM_WORLD, bytes, &array));
    return array;
}

/* Gives such an array back; again all ranks together. */
static inline void release(void *array) {
    check(redist_free(&array));
}

static inline int my_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* The larger of two errors; one that is not a number must not pass, so it becomes infinite. */
static inline double larger(double a, double b) {
    if (isnan(b))
        return INFINITY;
    return b > a ? b : a;
}

/* The largest of all ranks' values, on every rank. */
static inline double largest_of_all(double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

#endif
