/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of all arguments of users. */
#ifndef FFTND__CHECK_H
#define FFTND__CHECK_H

#include "../program/configuration.h"

/* Fills in the request from the user's options, checks all arguments and that all ranks passed the same.
 * Collective. */
int fftnd__check_request(struct fftnd__request *request, const fftnd_options *options,
                         const void *plan);

/* The same for a prediction for `nranks` ranks. Not collective. */
int fftnd__check_prediction(struct fftnd__request *request, const fftnd_options *options);

/* An array of an execution. */
struct fftnd__array {
    const char *name;
    const void *data;
    size_t bytes; /* 0 = this rank has no elements */
};

/* Checks that both arrays are not NULL unless empty, in place the same one, else without overlap. Not collective.
 * REDIST_ERR_NULL, REDIST_ERR_ARGUMENT, REDIST_ERR_OVERLAP. */
int fftnd__check_arrays(const char *function, const struct fftnd__array arrays[2], int in_place);

#endif
