/* SPDX-License-Identifier: BSD-3-Clause */
/* The process grids that are worth trying for a transform. */
#ifndef FFTND__GRIDS_H
#define FFTND__GRIDS_H

#include "../check.h"

enum { FFTND__MOST_GRIDS = 256 };

struct fftnd__grid {
    int ndims, dims[REDIST_MAX_NDIMS];
    double seconds; /* of exchanges in one direction, by the model; 0 = not known */
};

struct fftnd__grids {
    int count;
    struct fftnd__grid list[FFTND__MOST_GRIDS];
};

/* Grids that the user left open, for axes in this order: any number of dimensions, any factors. Where they
 * differ in more than which axis is split, the communication model puts them in order and leaves the hopeless ones out; it is
 * measured once and remembered. Collective, the same on all ranks. */
int fftnd__grids_find(MPI_Comm comm, const struct fftnd__request *request, const int order[],
                      int verbose, struct fftnd__grids *grids);

#endif
