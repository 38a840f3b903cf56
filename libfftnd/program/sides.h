/* SPDX-License-Identifier: BSD-3-Clause */
/* How each side lies: kinds of axes, memory orders, padding, blocks, boxes; and the library's numbers of the axes. */
#ifndef FFTND__SIDES_H
#define FFTND__SIDES_H

#include "configuration.h"
#include "redist_support.h"

struct fftnd__transform;

/* What a transform does along an axis, by the user's number. */
enum fftnd_axis fftnd__user_axis_kind(const struct fftnd__request *request, int axis);

/* Checks that the option `name`, a list of `n` axes or NULL, has none of them twice. Not collective. */
int fftnd__check_list(const struct fftnd__request *request, const char *name, int n,
                      const int list[]);

/* Whether the options name every number of a process grid. */
int fftnd__has_whole_grid(const fftnd_options *options);

/* Checks what the user says about the axes and the sides. Not collective. */
int fftnd__check_axes(const struct fftnd__request *request);
int fftnd__check_sides(const struct fftnd__request *request);
int fftnd__check_long_axis(const struct fftnd__request *request);

/* What all ranks have to say alike of it, besides `blocks`; lists that were not checked count as absent. */
enum { FFTND__AGREED_SIDES = 1 + 2 * (4 + REDIST_MAX_NDIMS) };
struct fftnd__agreed_sides {
    redist_shared_value values[FFTND__AGREED_SIDES];
    int axes[REDIST_MAX_NDIMS]; /* what values point to, and names of theirs */
    char names[2][REDIST_MAX_NDIMS][48];
};
void fftnd__list_agreed_sides(const struct fftnd__request *request, int is_checked,
                              struct fftnd__agreed_sides *agreed);

/* A list of values of an enumeration, NULL = none, to be compared by the ranks. */
redist_shared_value fftnd__agreed_enums(const char *name, const int list[], int n,
                                        redist_name_of *name_of);

/* A hash of all that. */
long long fftnd__hash_sides(const struct fftnd__request *request);

/* Nonzero if that is what it is without options. */
int fftnd__sides_are_usual(const struct fftnd__request *request);

/* Fills in what the request has with the library's numbers of the axes: as they lie in memory on the physical side. */
void fftnd__number_axes(struct fftnd__request *request);

/* Checks that the boxes of all ranks cover each side that is in boxes, once. Collective. */
int fftnd__check_boxes(const struct fftnd__request *request);

/* Boxes that are just what the chain has of a side, on all ranks, cost no exchange. In place a real array may need more
 * room than they have. Collective. */
int fftnd__keep_sides(struct fftnd__transform *transform);

#endif
