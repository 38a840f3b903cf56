/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of lines and planes, which panels.h and panels_planes.h transform. */
#ifndef FFTND__CUFFT_LINES_H
#define FFTND__CUFFT_LINES_H

#include "panels_planes.h"
#include "serial.h"

struct fftnd__lines {
    int layout, is_double, direction;
    int variant; /* FFTND__LINE_VARIANTS; of planes, those of planes */
    int may_cut; /* long lines for a cluster of blocks, where nothing but fftnd__lines_execute runs them */
    int is_r2r, r2r; /* real-to-real, halved (r2r_lines.h): strides are any ones, of numbers */
    struct fftnd__loop axis; /* contiguous on both sides, or on none */
    struct fftnd__loop rows; /* n > 0: the slower axis of planes, transformed along both */
    struct fftnd__loop
        side; /* neighbours on both sides, unless lines are contiguous; of real lines in pairs of numbers */
    int nouter;
    struct fftnd__loop outer[FFTND__PANEL_LOOPS];
};

struct fftnd__line_plan;

/* Whether panels can do it in that variant: plans take another one where they cannot. */
int fftnd__lines_has_variant(const struct fftnd__lines *lines, int variant);

/* Plans the transforms on the current device, without scaling. *plan is NULL where panels cannot do them.
 * REDIST_ERR_MEMORY, REDIST_ERR_DEVICE. */
int fftnd__lines_create(const struct fftnd__lines *lines, struct fftnd__line_plan **plan);

/* Enqueues them in a stream (cudaStream_t); `in` and `out` may be the same array. */
int fftnd__lines_execute(const struct fftnd__line_plan *plan, const void *in, void *out,
                         void *stream);

/* The same where one of the arrays has a gap (panels.h). */
int fftnd__lines_execute_retained(const struct fftnd__line_plan *plan,
                                  const struct fftnd__panel_gap *gap, const void *in, void *out,
                                  void *stream);

/* The same into parts (panels.h). */
int fftnd__lines_execute_parts(const struct fftnd__line_plan *plan, const void *in,
                               const struct fftnd__panel_parts *parts, void *stream);

/* There and back, with an operator (panels.h). */
int fftnd__lines_execute_applied(const struct fftnd__line_plan *plan,
                                 const struct fftnd__operation *operation, const void *in,
                                 void *out, void *stream);

/* Nothing of the plan may be under way. NULL is allowed. */
void fftnd__lines_destroy(struct fftnd__line_plan *plan);

/* Of a serial library: whether panels can transform lines of n elements, however they lie. */
int fftnd__lines_truncate(redist_index n, int is_halved, enum fftnd_precision precision);

/* Of a serial library: copies are cheap where arrays fit the caches; else panels make axes by themselves fast. */
int fftnd__lines_prefer_copy(int naxes, const redist_index lengths[],
                             enum fftnd_precision precision);

#endif
