/* SPDX-License-Identifier: BSD-3-Clause */
/* Which exchanges of a program are done by the transforms beside them, and through which arrays it goes then. */
#ifndef FFTND__FUSION_H
#define FFTND__FUSION_H

#include "../run/stage.h"

/* Builds a program over whole arrays, where exchanges may follow a transform segment by segment. Collective on the
 * transform's communicator. */
int fftnd__build_stepwise(struct fftnd__program *program, const struct fftnd__transform *transform,
                          int direction);

/* Builds one whose exchanges are done tile by tile by the transforms beside them. *suits says whether tiles are any
 * good for these shapes. Collective. */
int fftnd__build_fused(struct fftnd__program *program, const struct fftnd__transform *transform,
                       int direction, int *suits);

#endif
