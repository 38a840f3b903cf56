/* SPDX-License-Identifier: BSD-3-Clause */
/* A candidate at work: made, executed on arrays of the real shapes, and timed. All functions are collective. */
#ifndef FFTND__TRIAL_H
#define FFTND__TRIAL_H

#include "../engine/engine.h"

/* A candidate that can run, and the arrays that it does it on; in place there is one. */
struct fftnd__trial {
    struct fftnd__engine *engine;
    void *arrays[2];
};

struct fftnd__search {
    MPI_Comm comm;
    const struct fftnd__request *request;
    enum redist_space space; /* of the arrays */
    struct fftnd__configuration best;
    double best_seconds; /* of a round trip; < 0 = nothing could be timed */
    double begin;
    int verbose;
};

/* Makes a candidate. Only where all of it succeeds can the trial run; fftnd__trial_close is for any. The same result on
 * all ranks. */
int fftnd__trial_open(const struct fftnd__search *search,
                      const struct fftnd__configuration *candidate, struct fftnd__trial *trial);
void fftnd__trial_close(struct fftnd__trial *trial);

/* Allocates and frees the arrays of both sides, of which a user has these bytes; to be freed after a failure, too. */
int fftnd__trial_allocate(const struct fftnd__search *search, const size_t bytes[2],
                          void *arrays[2]);
void fftnd__trial_release(const struct fftnd__search *search, void *arrays[2]);

/* Executes forth and back, in the seconds of the slowest rank. The same result on all ranks. */
int fftnd__trial_run(const struct fftnd__search *search, const struct fftnd__trial *trial,
                     double *seconds);

/* Finds the best time of some round trips, < 0 before; and on arrays of its own. The same result on all ranks. */
int fftnd__trial_sweep(const struct fftnd__search *search, const struct fftnd__trial *trial,
                       double *best);
int fftnd__trial_time(const struct fftnd__search *search, struct fftnd__trial *trial, double *best);

/* Returns whether the time for planning is over, on all ranks. */
int fftnd__trial_is_late(const struct fftnd__search *search);

#endif
