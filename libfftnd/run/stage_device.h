/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages over arrays of the host in tiles of a device's memory. */
#ifndef FFTND__STAGE_DEVICE_H
#define FFTND__STAGE_DEVICE_H

#include "stage.h"

/* Plans tiles on a device: smaller ones, and at last fewer of them, until they fit. REDIST_ERR_ARGUMENT if none do, and
 * as fftnd__kernel_create. */
int fftnd__stage_plan_device(struct fftnd__stage *stage, const struct fftnd__program *program,
                             const struct fftnd__transform *transform,
                             const struct fftnd__step *step);

#endif
