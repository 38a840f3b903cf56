/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices of a planner as text: what is remembered, printed, and dictated by the environment. */
#ifndef FFTND__CHOICE_H
#define FFTND__CHOICE_H

#include "../check.h"
#include "../program.h"

enum { FFTND__CHOICE_BYTES = REDIST_WISDOM_BYTES };

void fftnd__choice_print(const struct fftnd__choice *choice, int ndims,
                         char text[FFTND__CHOICE_BYTES]);

/* Nonzero if `text` is a choice for the request; what it leaves out stays as it is in `choice`. */
int fftnd__choice_scan(const char *text, const struct fftnd__request *request,
                       struct fftnd__choice *choice);

/* Everything that decides how fast a choice is. */
int fftnd__choice_key(MPI_Comm comm, const struct fftnd__request *request,
                      char key[FFTND__CHOICE_BYTES]);

#endif
