/* SPDX-License-Identifier: BSD-3-Clause */
/* Complex lines that panels.h transforms, and where cuFFT is slower than that. */
#ifndef FFTND__CUFFT_LINES_H
#define FFTND__CUFFT_LINES_H

#include "panels.h"
#include "serial.h"

struct fftnd__lines {
    int is_double, direction;
    struct fftnd__loop axis; /* contiguous on both sides, or on none */
    struct fftnd__loop side; /* neighbours on both sides, unless lines are contiguous */
    int nouter;
    struct fftnd__loop outer[FFTND__PANEL_LOOPS];
};

struct fftnd__line_plan;

/* Plans the transforms on the current device, without scaling. *plan is NULL where panels cannot do them.
 * REDIST_ERR_MEMORY, REDIST_ERR_DEVICE. */
int fftnd__lines_create(const struct fftnd__lines *lines, struct fftnd__line_plan **plan);

/* Enqueues them in a stream (cudaStream_t); `in` and `out` may be the same array. */
int fftnd__lines_execute(const struct fftnd__line_plan *plan, const void *in, void *out,
                         void *stream);

/* Nothing of the plan may be under way. NULL is allowed. */
void fftnd__lines_destroy(struct fftnd__line_plan *plan);

/* Whether panels transform lines of n elements, `side` of them side by side, faster than cuFFT on the current device.
 * Both are measured once for each length, precision and device, in some milliseconds. The environment variable
 * FFTND_LINES (cufft, panels) has a choice without measuring, for tests. */
int fftnd__lines_prefer_panels(long long n, long long side, int is_double, int is_contiguous,
                               void *stream);

/* Finds the rates of all these lengths in the wisdom file, or measures and stores them. Collective on comm.
 * REDIST_ERR_MPI. */
int fftnd__lines_learn(MPI_Comm comm, const char *file, int nlengths, const redist_index lengths[],
                       enum fftnd_precision precision);

#endif
