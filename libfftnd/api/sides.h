/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about axes and sides: kinds of axes, memory orders, padding, blocks, boxes; by the user's numbers of axes. */
#ifndef FFTND__SIDES_H
#define FFTND__SIDES_H

#include "arguments.h"
#include "redist_support.h"

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

/* Options about sides on which all ranks agree, besides `blocks`; without is_checked lists count as absent. */
enum { FFTND__AGREED_SIDES = 1 + 2 * (5 + REDIST_MAX_NDIMS) + 4 };
struct fftnd__agreed_sides {
    redist_shared_value values[FFTND__AGREED_SIDES];
    int axes[REDIST_MAX_NDIMS]; /* data and names of the values */
    redist_halo ghosts;
    char names[2][REDIST_MAX_NDIMS][48];
};
void fftnd__list_agreed_sides(const struct fftnd__arguments *arguments, int is_checked,
                              struct fftnd__agreed_sides *agreed);

/* Returns a list of values of an enumeration, NULL = none, for an agreement. */
redist_shared_value fftnd__agreed_enums(const char *name, const int list[], int n,
                                        redist_name_of *name_of);

#endif
