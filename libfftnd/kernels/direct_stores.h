/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct stores: the last transform before an exchange, along the axis that is split then, writes results into the
 * peers' arrays, or those that stay on this rank into its own. */
#ifndef FFTND__DIRECT_STORES_H
#define FFTND__DIRECT_STORES_H

#include "kernel.h"

struct fftnd__direct_stores {
    const struct lines__stores *library; /* NULL = none */
    void *plans[2];                      /* for pieces like the first one, and shorter ones */
    int axis;                            /* of the array */
    int nloops;
    signed char loops[REDIST_MAX_NDIMS]; /* the others */
    ptrdiff_t item;
};

/* Plans direct stores along an array axis, and a kernel for the other axes, if any. If the library cannot, the kernel
 * transforms all axes, and stores->library stays NULL. `direct` is of enum fftnd__direct. As fftnd__kernel_create. */
int fftnd__direct_stores_create(struct fftnd__direct_stores *stores, struct fftnd__kernel *kernel,
                                const struct fftnd__kernel_problem *problem, int axis, int direct);
void fftnd__direct_stores_free(struct fftnd__direct_stores *stores);

/* Multiplies results by a factor, as fftnd__kernel_scale does. */
int fftnd__direct_stores_scale(const struct fftnd__direct_stores *stores, int is_shorter,
                               long double factor);

/* A piece with direct stores: `data` of fftnd__store. */
struct fftnd__stored_piece {
    const struct fftnd__direct_stores *stores;
    int is_shorter;
    const char *memory; /* of the piece, after the kernel */
    const int *order;   /* of the targets' axes */
};

int fftnd__store(void *piece, int ntargets, const redist_target targets[], void *stream);

/* Stores the results that belong to `local` there, all others in `here`; NULL = all in `here`. */
int fftnd__store_around(struct fftnd__stored_piece *piece, const redist_target *here,
                        const redist_target *local, void *stream);

#endif
