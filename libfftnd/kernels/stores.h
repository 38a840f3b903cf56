/* SPDX-License-Identifier: BSD-3-Clause */
/* The last transform before an exchange, along the axis that is split then: it stores its results in the peers'
 * arrays, or what stays on this rank in its own one. */
#ifndef FFTND__STORES_H
#define FFTND__STORES_H

#include "kernel.h"

struct fftnd__stores {
    const struct lines__stores *library; /* NULL = there are none */
    void *plans[2];                      /* for pieces like the first one, and shorter ones */
    int axis;                            /* of the array */
    int nloops, loops[REDIST_MAX_NDIMS]; /* the others */
    ptrdiff_t item;
};

/* Plans them along an array axis, and the kernel for the others, which has no plans if there are none; where the
 * library cannot do it the kernel transforms all axes, and stores->library stays NULL. `stored` of enum
 * fftnd__stored. As fftnd__kernel_create. */
int fftnd__stores_create(struct fftnd__stores *stores, struct fftnd__kernel *kernel,
                         const struct fftnd__kernel_problem *problem, int axis, int stored);
void fftnd__stores_free(struct fftnd__stores *stores);

/* A piece that is to be stored: what redist_plan_put_stored gives fftnd__store. */
struct fftnd__storing {
    const struct fftnd__stores *stores;
    int is_shorter;
    const char *memory; /* as the kernel leaves it */
    const int *order;   /* of the targets' axes */
};

int fftnd__store(void *storing, int ntargets, const redist_target targets[], void *stream);

/* Stores a piece in `here`, but for the part that belongs to `own`; NULL = there is none. */
int fftnd__store_around(struct fftnd__storing *storing, const redist_target *here,
                        const redist_target *own, void *stream);

#endif
