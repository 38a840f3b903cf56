/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program: its stages, piece by piece, and its exchanges. */
#ifndef FFTND__EXECUTOR_H
#define FFTND__EXECUTOR_H

#include "stage.h"

/* Notes failures that the exchanges of a program know of by now. */
void fftnd__query(const struct fftnd__program *program, struct fftnd__failure *failure);

/* The first failure of a transform's executions on this rank stays: a transform that failed is broken. A rank that has
 * failed breaks the exchanges of the transform, and goes through all of them without transforming anything, so that no
 * rank waits for it in vain and all get to know.
 *
 * Runs all steps; `buffers` are the arrays, the results are multiplied by `scale`, and the times spent
 * are added to seconds: serial transforms, exchanges. Collective. */
void fftnd__execute(const struct fftnd__program *program, const struct fftnd__transform *transform,
                    void *const buffers[], long double scale, double seconds[2],
                    struct fftnd__failure *failure);

#endif
