/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines side by side, for kernels that take several at once. */
#ifndef LINES__NEIGHBOURS_H
#define LINES__NEIGHBOURS_H

#include "lines.h"

/* Nonzero if each line begins at the same byte of both arrays, which may then be one. */
int lines__lie_alike(const struct lines__problem *problem);

/* The loop over lines that are neighbours in both arrays; -1 = none. */
int lines__find_neighbours(const struct lines__problem *problem);

/* Nonzero for complex lines of one axis of which at least `fewest` are neighbours, and which an execution in place
 * leaves where they are. */
int lines__has_neighbours(const struct lines__problem *problem, redist_index fewest, int in_place);

/* Lines of group number `number`, of `lines` neighbours in groups of `width`; *in and *out move to its first line. The
 * last loop is over the groups of the same neighbours; strides are in bytes. */
redist_index lines__neighbour_group(int nloops, const struct lines__loop loops[],
                                    redist_index lines, redist_index width, long long number,
                                    const char **in, char **out);

#endif
