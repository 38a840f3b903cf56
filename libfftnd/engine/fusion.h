/* SPDX-License-Identifier: BSD-3-Clause */
/* Fusion: exchanges that the transforms beside them do, and the arrays of all steps. */
#ifndef FFTND__FUSION_H
#define FFTND__FUSION_H

#include "../run/stage.h"

/* Builds a program over whole arrays, whose exchanges may follow a transform segment by segment. Collective on the
 * transform's communicator. */
int fftnd__build_stepwise(struct fftnd__program *program, const struct fftnd__transform *transform,
                          int direction);

/* Builds a program whose exchanges are done tile by tile by the transforms beside them. Clears *may_fuse if the shapes
 * make tiles useless. Collective. */
int fftnd__build_fused(struct fftnd__program *program, const struct fftnd__transform *transform,
                       int direction, int *may_fuse);

#endif
