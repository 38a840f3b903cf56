/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of users: checked here, once, and resolved to what the code behind api/ works with. */
#ifndef FFTND__CHECK_H
#define FFTND__CHECK_H

#include "../program/settings.h"
#include "arguments.h"
#include "sides.h"

/* Copies the user's options and checks all arguments. Not collective. */
int fftnd__check_own(struct fftnd__arguments *arguments, const fftnd_options *options,
                     const void *plan);

/* Agrees that all ranks have checked theirs, this one with `code`, and passed the same. Collective. */
int fftnd__agree_on_plan(const struct fftnd__arguments *arguments, int code);

/* All values on which ranks agree; without is_checked lists count as absent. */
enum { FFTND__AGREED_OPTIONS = 31 };
enum { FFTND__AGREED = 11 + FFTND__AGREED_OPTIONS + FFTND__AGREED_SIDES };
struct fftnd__agreed {
    redist_shared_value values[FFTND__AGREED];
    struct fftnd__agreed_sides sides; /* data of the values, as are the next ones */
    int r2r[REDIST_MAX_NDIMS];
};
void fftnd__list_agreed(const struct fftnd__arguments *arguments, int is_checked,
                        struct fftnd__agreed *agreed);

/* Copies the options and checks the arguments of a prediction for `nranks` ranks. Not collective. */
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
