/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans made of plans of the general library, which run one after the other beside scratch memory of their own. */
#ifndef LINES__INNER_H
#define LINES__INNER_H

#include "lines.h"

/* The first member of such a plan. */
struct lines__inner {
    struct lines__plan plans[2 * REDIST_MAX_NDIMS]; /* zeros = none */
    int each; /* plans that share out the lines of a sweep, 1 or 2; sweeps follow each other */
    size_t own_bytes;
    char *area; /* its own, then that of the plans, which share it */
};

/* Members of struct lines__library; the last one releases the plan. */
size_t lines__inner_area_bytes(const void *plan);
int lines__inner_set_area(void *plan, void *area);
int lines__inner_scale_results(void *plan, long double factor);
void lines__inner_destroy(void *plan);

#endif
