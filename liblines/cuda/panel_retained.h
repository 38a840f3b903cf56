/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of one truncated axis: panels write the modes, or the points, that the array has, and read zeros for the
 * others. */
#ifndef LINES__CUFFT_RETAINED_H
#define LINES__CUFFT_RETAINED_H

#include "../lines.h"

struct lines__retained_plan;

/* Plans one. The caller destroys *plan, after a failure too. REDIST_ERR_MEMORY, REDIST_ERR_DEVICE, REDIST_ERR_LIMIT. */
int lines__retained_create(const struct lines__problem *problem,
                           struct lines__retained_plan **plan);

/* Bytes of its scratch memory. */
size_t lines__retained_area(const struct lines__retained_plan *plan);

/* Enqueues the transforms in the stream of the problem. */
int lines__retained_execute(const struct lines__retained_plan *plan, void *in, void *out,
                            void *area);

/* Destroys a plan of which nothing is under way. NULL is allowed. */
void lines__retained_destroy(struct lines__retained_plan *plan);

#endif
