/* SPDX-License-Identifier: BSD-3-Clause */
/* Which configuration a transform takes: dictated, remembered, measured or guessed. */
#ifndef FFTND__PLANNER_H
#define FFTND__PLANNER_H

#include "../engine.h"

/* Chooses by the request's effort, among what its options leave open. *remembered: in: whether what was measured
 * before may decide; out: whether it has. Collective on `comm`, the library's own communicator of the request's
 * ranks. */
int fftnd__planner_choose(MPI_Comm comm, const struct fftnd__request *request,
                          struct fftnd__configuration *configuration, int *remembered);

#endif
