/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that panels.h transforms, and how fast they and cuFFT are. */
#ifndef FFTND__CUFFT_LINES_H
#define FFTND__CUFFT_LINES_H

#include "panels_planes.h"
#include "rates.h"
#include "serial.h"

struct fftnd__lines {
    int layout, is_double, direction;
    int variant;     /* of panels */
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

/* How fast lines of n elements are on the current device; measured once for each length, precision and device, in some
 * milliseconds, or a guess if `measures` is 0 or there is no memory for it. The environment variable FFTND_LINES
 * chooses whatever is measured, for tests: cufft, or panels with the number of a variant behind it or none. */
void fftnd__lines_rates(struct fftnd__rates *rates, int measures, void *stream);

/* The same of a group: it is measured where FFTND__SAMPLE_BYTES hold at least one, else .cufft becomes 0; .planes does
 * where none can do it. FFTND_LINES=planes, with the number of a variant behind it or none, takes planes wherever they
 * can, and panels elsewhere. */
void fftnd__lines_group_rate(struct fftnd__group_rate *rate, void *stream);

/* The rates are of complex arrays of so many bytes, larger than the caches of a device. Nothing is measured for arrays
 * of few bytes, which take as long as launches do. */
enum { FFTND__SAMPLE_BYTES = 1 << 27, FFTND__MEASURED_BYTES = 1 << 20 };

/* Of a serial library: whether panels can transform lines of n elements, however they lie. */
int fftnd__lines_truncate(redist_index n, int is_halved, enum fftnd_precision precision);

/* Of a serial library: copies are cheap where arrays fit the caches; else panels make axes by themselves fast. */
int fftnd__lines_prefer_copy(int naxes, const redist_index lengths[],
                             enum fftnd_precision precision);

/* Finds the rates of all these lengths in the wisdom file, or measures and stores them. Collective on comm.
 * REDIST_ERR_MPI. */
int fftnd__lines_learn(MPI_Comm comm, const char *file, int nlengths, const redist_index lengths[],
                       enum fftnd_precision precision);

#endif
