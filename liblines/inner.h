/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans made of plans of another library, which run one after the other beside scratch memory of their own. */
#ifndef LINES__INNER_H
#define LINES__INNER_H

#include "lines.h"

/* Such a plan begins with this. */
struct lines__inner {
    const struct lines__library *library;
    void *plans[2 * REDIST_MAX_NDIMS]; /* NULL = none */
    size_t own_bytes;
    char *area; /* its own, then the library's, which all plans share */
};

/* What struct lines__library wants of it; it is released. */
size_t lines__inner_area_bytes(const void *plan);
int lines__inner_set_area(void *plan, void *area);
void lines__inner_destroy(void *plan);

#endif
