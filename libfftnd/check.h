/* SPDX-License-Identifier: BSD-3-Clause */
/* Every check of a transform's arguments. */
#ifndef FFTND__CHECK_H
#define FFTND__CHECK_H

#include "fftnd.h"
#include "redist_support.h"

/* The arguments of fftnd_plan_create. */
struct fftnd__request {
    MPI_Comm comm;
    int ndims;
    const int *sizes;
    enum fftnd_kind kind;
    enum fftnd_precision precision;
    fftnd_options options;
};

/* The axis of a real transform that is halved, -1 = none. */
int fftnd__halved_axis(const struct fftnd__request *request);

/* Copies the options that the user's structure has, checks all arguments and that all ranks passed
 * the same. Collective. */
int fftnd__check_request(struct fftnd__request *request, const fftnd_options *options,
                         const void *plan);

/* The arrays of one execution: not null unless empty, aligned to their elements, the same array if
 * and only if the plan is in place, not overlapping otherwise. Not collective. */
struct fftnd__array {
    const char *name;
    const void *data;
    size_t bytes; /* 0 = this rank holds nothing */
};
int fftnd__check_arrays(const char *function, const struct fftnd__array arrays[2], int in_place);

#endif
