/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of one axis that is truncated: panels write what the array retains, and read zeros where it has
 * nothing. */
#ifndef LINES__CUFFT_RETAINED_H
#define LINES__CUFFT_RETAINED_H

#include "../lines.h"

struct lines__retained_plan;

/* REDIST_ERR_MEMORY, REDIST_ERR_DEVICE, REDIST_ERR_LIMIT. */
int lines__retained_create(const struct lines__problem *problem,
                           struct lines__retained_plan **plan);

/* Scratch memory that it needs. */
size_t lines__retained_area(const struct lines__retained_plan *plan);

/* Enqueues the transforms. */
int lines__retained_execute(const struct lines__retained_plan *plan, void *in, void *out,
                            void *area);

/* Nothing of the plan may be under way. NULL is allowed. */
void lines__retained_destroy(struct lines__retained_plan *plan);

#endif
