/* SPDX-License-Identifier: BSD-3-Clause */
/* Planning stages, each in one of their settings. */
#ifndef FFTND__STAGE_PLAN_H
#define FFTND__STAGE_PLAN_H

#include "stage.h"

/* Whether some stages are planned on arrays; `scratch` of fftnd__plan_stages has room for every step then. */
int fftnd__needs_scratch(const struct fftnd__program *program,
                         const struct fftnd__transform *transform);

/* Plans the stages of all serial steps. Not collective. */
int fftnd__plan_stages(struct fftnd__program *program, const struct fftnd__transform *transform,
                       void *const scratch[2]);
void fftnd__free_stages(struct fftnd__program *program, const struct fftnd__transform *transform);

#endif
