/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first failure of a transform's executions on this rank. It stays: a transform that failed is broken.
 * A rank that has failed breaks the exchanges of the transform, and goes through all of them without
 * transforming anything, so that no rank waits for it in vain and all get to know.
 */
#ifndef FFTND__FAILURE_H
#define FFTND__FAILURE_H

#include "steps.h"

enum { FFTND__MESSAGE_BYTES = 512 };

struct fftnd__failure {
    int code; /* REDIST_OK = there is none */
    char message[FFTND__MESSAGE_BYTES];
};

/* Keeps the code, with this thread's message, if it is the first one, and breaks the exchanges of these
 * steps. */
void fftnd__failure_note(struct fftnd__failure *failure, const struct fftnd__pipeline *pipeline,
                         int code);

/* The code, whose message becomes this thread's. */
int fftnd__failure_report(const struct fftnd__failure *failure);

#endif
