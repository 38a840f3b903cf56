/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of lines and planes, which panels.h and panels_planes.h transform. */
#ifndef LINES__CUFFT_LINES_H
#define LINES__CUFFT_LINES_H

#include "../lines.h"
#include "panels_planes.h"

struct lines__panel_lines {
    int layout, is_double, direction;
    int variant; /* LINES__LINE_VARIANTS; of planes, those of planes */
    int may_cut; /* long lines for a cluster of blocks, where nothing but lines__panel_plan_execute runs them */
    int is_r2r, r2r; /* real-to-real, halved (r2r_lines.h): strides are any ones, of numbers */
    struct lines__loop axis; /* contiguous on both sides, or on none */
    struct lines__loop rows; /* n > 0: the slower axis of planes, transformed along both */
    struct lines__loop
        side; /* neighbours on both sides, unless lines are contiguous; of real lines in pairs of numbers */
    int nouter;
    struct lines__loop outer[LINES__PANEL_LOOPS];
};

struct lines__panel_plan;

/* Whether panels can do it in that variant: plans take another one where they cannot. */
int lines__panel_plan_has_variant(const struct lines__panel_lines *lines, int variant);

/* Plans the transforms on the current device, without scaling. *plan is NULL where panels cannot do them.
 * REDIST_ERR_MEMORY, REDIST_ERR_DEVICE. */
int lines__panel_plan_create(const struct lines__panel_lines *lines,
                             struct lines__panel_plan **plan);

/* Enqueues them in a stream (cudaStream_t); `in` and `out` may be the same array. */
int lines__panel_plan_execute(const struct lines__panel_plan *plan, const void *in, void *out,
                              void *stream);

/* The same where one of the arrays has a gap (panels.h). */
int lines__panel_plan_execute_retained(const struct lines__panel_plan *plan,
                                       const struct lines__panel_gap *gap, const void *in,
                                       void *out, void *stream);

/* The same into targets (panels.h). */
int lines__panel_plan_execute_stores(const struct lines__panel_plan *plan, const void *in,
                                     const struct lines__panel_targets *targets, void *stream);

/* There and back, with an operator (panels.h). */
int lines__panel_plan_execute_applied(const struct lines__panel_plan *plan,
                                      const struct lines__operation *operation, const void *in,
                                      void *out, void *stream);

/* Nothing of the plan may be under way. NULL is allowed. */
void lines__panel_plan_destroy(struct lines__panel_plan *plan);

/* Of a serial library: whether panels can transform lines of n elements, however they lie. */
int lines__panels_truncate(redist_index n, int is_halved, enum fftnd_precision precision);

/* Of a serial library: copies are cheap where arrays fit the caches; else panels make axes by themselves fast. */
int lines__panels_prefer_copy(int naxes, const redist_index lengths[],
                              enum fftnd_precision precision);

#endif
