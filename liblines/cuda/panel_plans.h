/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of lines and planes, which kernels of panels.h and panels_planes.h transform, and what only panels do. */
#ifndef LINES__CUFFT_LINES_H
#define LINES__CUFFT_LINES_H

#include "../lines.h"
#include "panels_planes.h"

struct lines__panel_lines {
    int layout, is_double, direction;
    int variant; /* LINES__LINE_VARIANTS; of planes, those of planes */
    int may_cut; /* 1 = long lines may be cut for a cluster of blocks, which only lines__panel_plan_execute runs */
    int is_r2r, r2r;         /* real-to-real or halved (r2r_lines.h): any strides, in numbers */
    struct lines__loop axis; /* contiguous on both sides, or on neither */
    redist_index filled;     /* elements of the physical side, in real lines even; 0 = all */
    struct lines__loop rows; /* n > 0: the slower axis of planes, transformed too */
    struct lines__loop
        side; /* neighbours on both sides, unless lines are contiguous; of real lines, strides in pairs of numbers */
    int nouter;
    struct lines__loop outer[LINES__PANEL_LOOPS];
};

struct lines__panel_plan;

/* Nonzero if panels can do the lines in a variant; plans take another variant where they cannot. */
int lines__panel_plan_has_variant(const struct lines__panel_lines *lines, int variant);

/* Plans transforms on the current device. The caller destroys *plan; it is NULL where panels cannot.
 * REDIST_ERR_MEMORY, REDIST_ERR_DEVICE. */
int lines__panel_plan_create(const struct lines__panel_lines *lines,
                             struct lines__panel_plan **plan);

/* Enqueues transforms in a stream (cudaStream_t); of planes `work` is none. `in` and `out` may be the same array. */
int lines__panel_plan_execute(const struct lines__panel_plan *plan,
                              const struct lines__panel_work *work, const void *in, void *out,
                              void *stream);

/* Has the kernels of a plan multiply their results, 1 = not; round trips do not. */
void lines__panel_plan_scale(struct lines__panel_plan *plan, double factor);

/* Destroys a plan of which nothing is under way. NULL is allowed. */
void lines__panel_plan_destroy(struct lines__panel_plan *plan);

/* Implements `truncates` of struct lines__library, for lines that panels can transform with any strides. */
int lines__panels_truncate(redist_index n, int is_halved, enum fftnd_precision precision);

/* Implements `prefers_copy` of struct lines__library: copies are cheap where arrays fit the caches, and axes that
 * panels transform one by one are fast. */
int lines__panels_prefer_copy(int naxes, const redist_index lengths[],
                              enum fftnd_precision precision);

/* ---------------------------------------------------------------- always panels, whatever cuFFT's rates are */

extern const struct lines__stores lines__cufft_stores;
extern const struct lines__round_trips lines__cufft_round_trips;

/* Transforms of one truncated axis: panels write the modes, or the points, that the array has, and read zeros for the
 * others. */
struct lines__retained_plan;

/* Plans one. The caller destroys *plan, after a failure too. REDIST_ERR_MEMORY, REDIST_ERR_DEVICE, REDIST_ERR_LIMIT. */
int lines__retained_create(const struct lines__problem *problem,
                           struct lines__retained_plan **plan);

/* Bytes of its scratch memory. */
size_t lines__retained_area(const struct lines__retained_plan *plan);

/* Enqueues the transforms in the stream of the problem. */
int lines__retained_execute(const struct lines__retained_plan *plan, void *in, void *out,
                            void *area);

/* Has it multiply its results, as lines__panel_plan_scale. */
void lines__retained_scale(struct lines__retained_plan *plan, double factor);

/* Destroys a plan of which nothing is under way. NULL is allowed. */
void lines__retained_destroy(struct lines__retained_plan *plan);

#endif
