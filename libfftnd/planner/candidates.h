/* SPDX-License-Identifier: BSD-3-Clause */
/* The configurations that a planner tries: a guess, and variations of the best so far. */
#ifndef FFTND__CANDIDATES_H
#define FFTND__CANDIDATES_H

#include "../configuration.h"
#include "grids.h"

struct fftnd__candidates {
    MPI_Comm comm;
    const struct fftnd__request *request;
    int nranks, verbose;
    struct fftnd__configuration guess;
    int stage, next; /* how far they are: one number of a configuration after the other */
    struct fftnd__grids grids;
};

/* Makes the guess: what estimating takes, and where measuring starts. */
void fftnd__candidates_init(struct fftnd__candidates *candidates, MPI_Comm comm,
                            const struct fftnd__request *request, int verbose);

/* The next variation of the best configuration so far, which may be that one again. Returns 0 when there are
 * no more. Collective, the same on all ranks. */
int fftnd__candidates_next(struct fftnd__candidates *candidates,
                           const struct fftnd__configuration *best,
                           struct fftnd__configuration *candidate);

#endif
