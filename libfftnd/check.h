/* SPDX-License-Identifier: BSD-3-Clause */
/* A transform that is wanted, and every check of it: nothing behind them sees what a user passed. */
#ifndef FFTND__CHECK_H
#define FFTND__CHECK_H

#include "fftnd.h"
#include "redist_support.h"

/* The arguments of fftnd_plan_create, checked and with all defaults filled in. */
struct fftnd__request {
    const char *function; /* of the user, for messages */
    MPI_Comm comm;
    int nranks, ndims;
    const redist_index *sizes;
    enum fftnd_kind kind;
    enum fftnd_precision precision;
    int halved;                /* axis of a real transform, -1 = none */
    const redist_index *modes; /* of each axis on the spectral side */
    fftnd_options options;     /* `space` is never REDIST_SPACE_AUTO */
};

/* Elements of an axis on the spectral side. */
static inline redist_index fftnd__request_extent(const struct fftnd__request *request, int axis) {
    return axis == request->halved ? request->modes[axis] / 2 + 1 : request->modes[axis];
}

/* Fills in the request from the user's options, checks all arguments and that all ranks passed the same.
 * Collective. */
int fftnd__check_request(struct fftnd__request *request, const fftnd_options *options,
                         const void *plan);

/* The same for a prediction for `nranks` ranks. Not collective. */
int fftnd__check_prediction(struct fftnd__request *request, const fftnd_options *options);

/* The arrays of one execution: not null unless empty, aligned to their elements, the same array if
 * and only if the plan is in place, not overlapping otherwise. Not collective. */
struct fftnd__array {
    const char *name;
    const void *data;
    size_t bytes; /* 0 = this rank holds nothing */
};
int fftnd__check_arrays(const char *function, const struct fftnd__array arrays[2], int in_place);

#endif
