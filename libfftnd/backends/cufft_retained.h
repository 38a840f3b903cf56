/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of one axis that is truncated: panels write what the array retains, and read zeros where it has
 * nothing. */
#ifndef FFTND__CUFFT_RETAINED_H
#define FFTND__CUFFT_RETAINED_H

#include "serial.h"

struct fftnd__retained_plan;

/* REDIST_ERR_MEMORY, REDIST_ERR_DEVICE, REDIST_ERR_LIMIT. */
int fftnd__retained_create(const struct fftnd__serial_problem *problem,
                           struct fftnd__retained_plan **plan);

/* Scratch memory that it needs. */
size_t fftnd__retained_area(const struct fftnd__retained_plan *plan);

/* Enqueues the transforms. */
int fftnd__retained_execute(const struct fftnd__retained_plan *plan, void *in, void *out,
                            void *area);

/* Nothing of the plan may be under way. NULL is allowed. */
void fftnd__retained_destroy(struct fftnd__retained_plan *plan);

#endif
