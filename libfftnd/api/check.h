/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of users: checked here, once, and resolved to what the code behind api/ works with. */
#ifndef FFTND__CHECK_H
#define FFTND__CHECK_H

#include "../program/settings.h"
#include "arguments.h"

/* Copies the user's options, checks all arguments and that all ranks passed the same. Collective. */
int fftnd__check_plan(struct fftnd__arguments *arguments, const fftnd_options *options,
                      const void *plan);

/* The same for a prediction for `nranks` ranks. Not collective. */
int fftnd__check_prediction(struct fftnd__arguments *arguments, const fftnd_options *options);

/* Returns what checked arguments ask for. Texts and bounds are still the user's. */
struct fftnd__request fftnd__resolve(const struct fftnd__arguments *arguments);

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
