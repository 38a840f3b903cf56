/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of users: checked here, once, and resolved to what the code behind api/ works with. */
#ifndef FFTND__CHECK_H
#define FFTND__CHECK_H

#include "../program/settings.h"
#include "arguments.h"

/* ---------------------------------------------------------------- sides.c: options about axes and sides */

/* Returns the kind of an axis. */
enum fftnd_axis fftnd__user_axis_kind(const struct fftnd__arguments *arguments, int axis);

/* Returns nonzero if the only axis is split, which the library takes for rows and columns. */
int fftnd__is_long(const struct fftnd__arguments *arguments);

/* Checks that the option `name`, a list of `n` axes or NULL, has none twice. Not collective. REDIST_ERR_AXIS. */
int fftnd__check_list(const struct fftnd__arguments *arguments, const char *name, int n,
                      const int list[]);

/* Returns nonzero if the options have every number of a process grid. */
int fftnd__has_whole_grid(const fftnd_options *options);

/* Checks the options about axes and sides. Not collective. */
int fftnd__check_axes(const struct fftnd__arguments *arguments);
int fftnd__check_sides(const struct fftnd__arguments *arguments);
int fftnd__check_long_axis(const struct fftnd__arguments *arguments);

/* Reads this rank's box of a side, in the size that the user's program knows. */
int fftnd__read_box(const struct fftnd__arguments *arguments, int side, redist_box *box);

/* Reads the ghosts, likewise; nonzero numbers of flags become 1. */
int fftnd__read_ghosts(const struct fftnd__arguments *arguments, redist_halo *ghosts);

/* Checks that the boxes of all ranks cover each side that is in boxes, once. Collective. */
int fftnd__check_boxes(const struct fftnd__arguments *arguments);

/* ---------------------------------------------------------------- check.c: all arguments */

/* Copies the user's options and checks all arguments. Not collective. */
int fftnd__check_own(struct fftnd__arguments *arguments, const fftnd_options *options,
                     const void *plan);

/* Agrees that all ranks have checked theirs, this one with `code`, and passed the same. Collective. */
int fftnd__agree_on_plan(const struct fftnd__arguments *arguments, int code);

/* All values on which ranks agree, last those of lists and sides; without is_checked lists count as absent. */
enum { FFTND__AGREED_OPTIONS = 31, FFTND__AGREED_LISTS = 20 + 2 * REDIST_MAX_NDIMS };
enum { FFTND__AGREED = 6 + FFTND__AGREED_OPTIONS + FFTND__AGREED_LISTS };
struct fftnd__agreed {
    redist_shared_value values[FFTND__AGREED];
    int axes[REDIST_MAX_NDIMS], r2r[REDIST_MAX_NDIMS]; /* data and names of the values */
    redist_halo ghosts;
    char bounds[2][REDIST_MAX_NDIMS][48];
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
