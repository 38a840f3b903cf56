/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans made of plans of another library, which run one after the other beside scratch memory of their own. */
#ifndef FFTND__INNER_H
#define FFTND__INNER_H

#include "serial.h"

/* Such a plan begins with this. */
struct fftnd__inner {
    const struct fftnd__serial *library;
    void *plans[2 * REDIST_MAX_NDIMS]; /* NULL = none */
    size_t own_bytes;
    char *area; /* its own, then the library's, which all plans share */
};

/* What struct fftnd__serial wants of it; it is released. */
size_t fftnd__inner_area_bytes(const void *plan);
int fftnd__inner_set_area(void *plan, void *area);
void fftnd__inner_destroy(void *plan);

#endif
