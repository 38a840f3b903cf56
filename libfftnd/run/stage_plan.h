/* SPDX-License-Identifier: BSD-3-Clause */
/* Planning passes, each in one of their settings. */
#ifndef FFTND__PASS_PLAN_H
#define FFTND__PASS_PLAN_H

#include "stage.h"

/* Whether some passes are planned on arrays; `scratch` of fftnd__plan_passes has room for every step then. */
int fftnd__needs_scratch(const struct fftnd__program *program,
                         const struct fftnd__transform *transform);

/* Plans the passes of all serial steps. Not collective. */
int fftnd__plan_passes(struct fftnd__program *program, const struct fftnd__transform *transform,
                       void *const scratch[2]);
void fftnd__free_passes(struct fftnd__program *program, const struct fftnd__transform *transform);

#endif
