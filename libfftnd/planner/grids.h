/* SPDX-License-Identifier: BSD-3-Clause */
/* Process grids for a transform: a guess, those worth trying, and how long exchanges on them take. */
#ifndef FFTND__GRIDS_H
#define FFTND__GRIDS_H

#include "../configuration.h"

enum { FFTND__MOST_GRIDS = 256 };

struct fftnd__grid {
    int ndims, dims[REDIST_MAX_NDIMS];
    double seconds; /* of exchanges in one direction, by the model; 0 = not known */
};

struct fftnd__grids {
    int count;
    struct fftnd__grid list[FFTND__MOST_GRIDS];
};

/* Sets order and grid: as the user wants, and what is left open by the smallest number of grid dimensions
 * that leaves no rank without modes. Over several nodes it is the grid with which a rank sends least to other
 * nodes, unless a dimension exceeded the shortest axis. The same on all ranks. */
void fftnd__grids_guess(const struct fftnd__request *request, int nranks,
                        struct fftnd__configuration *configuration);

/* Grids that the user left open, for axes in this order: any number of dimensions, any factors. Where they
 * differ in more than which axis is split, the communication model puts them in order and leaves the hopeless
 * ones out; it is measured once and remembered. Collective, the same on all ranks. */
int fftnd__grids_find(MPI_Comm comm, const struct fftnd__request *request, const int order[],
                      int verbose, struct fftnd__grids *grids);

/* Seconds of the exchanges in one direction, by a communication model (Egger, section 2.5.3). */
double fftnd__predict(const redist_model *model, int nranks, const struct fftnd__request *request,
                      const int order[], int grid_ndims, const int grid[]);

#endif
