/* SPDX-License-Identifier: BSD-3-Clause */
/* Sides: kinds of axes, memory orders, padding, blocks, boxes; and the library's numbers of the axes. */
#ifndef FFTND__SIDES_H
#define FFTND__SIDES_H

#include "configuration.h"
#include "redist_support.h"

struct fftnd__transform;

/* Returns the kind of an axis, by the user's number. */
enum fftnd_axis fftnd__user_axis_kind(const struct fftnd__request *request, int axis);

/* Checks that the option `name`, a list of `n` axes or NULL, has none twice. Not collective. REDIST_ERR_AXIS. */
int fftnd__check_list(const struct fftnd__request *request, const char *name, int n,
                      const int list[]);

/* Returns nonzero if the options have every number of a process grid. */
int fftnd__has_whole_grid(const fftnd_options *options);

/* Checks the options about axes and sides. Not collective. */
int fftnd__check_axes(const struct fftnd__request *request);
int fftnd__check_sides(const struct fftnd__request *request);
int fftnd__check_long_axis(const struct fftnd__request *request);

/* Options about sides on which all ranks agree, besides `blocks`; without is_checked lists count as absent. */
enum { FFTND__AGREED_SIDES = 1 + 2 * (4 + REDIST_MAX_NDIMS) };
struct fftnd__agreed_sides {
    redist_shared_value values[FFTND__AGREED_SIDES];
    int axes[REDIST_MAX_NDIMS]; /* data and names of the values */
    char names[2][REDIST_MAX_NDIMS][48];
};
void fftnd__list_agreed_sides(const struct fftnd__request *request, int is_checked,
                              struct fftnd__agreed_sides *agreed);

/* Returns a list of values of an enumeration, NULL = none, for an agreement. */
redist_shared_value fftnd__agreed_enums(const char *name, const int list[], int n,
                                        redist_name_of *name_of);

/* Returns a hash of the options about sides. */
long long fftnd__hash_sides(const struct fftnd__request *request);

/* Returns nonzero if these options have their defaults. */
int fftnd__sides_are_usual(const struct fftnd__request *request);

/* Fills in the request by the library's numbers of the axes: in their order in memory on the physical side. */
void fftnd__number_axes(struct fftnd__request *request);

/* Checks that the boxes of all ranks cover each side that is in boxes, once. Collective. */
int fftnd__check_boxes(const struct fftnd__request *request);

/* Drops the exchange with a side whose boxes are those of the chain on all ranks; not in place, where a real array may
 * need more room. Collective. */
int fftnd__keep_sides(struct fftnd__transform *transform);

#endif
