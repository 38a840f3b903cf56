/* SPDX-License-Identifier: BSD-3-Clause */
/* Every check of what a user passes: nothing behind them sees it. */
#ifndef FFTND__CHECK_H
#define FFTND__CHECK_H

#include "../program/configuration.h"

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
