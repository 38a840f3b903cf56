/* SPDX-License-Identifier: BSD-3-Clause */
/* Which axes are transformed together, and by what. */
#ifndef FFTND__CUFFT_GROUPS_H
#define FFTND__CUFFT_GROUPS_H

#include "cufft_tasks.h"

/* Divides the axes into groups, from the last one on, so that what is known of their rates predicts the least time: a
 * group is one plan of cuFFT, or one launch of panels; without panels, into the fewest groups. Returns how many there
 * are; sizes[] are their axes. */
int fftnd__cufft_groups(const struct fftnd__serial_problem *problem, int may_have_panels, int n,
                        const struct fftnd__loop axes[], int sizes[]);

/* Whether panels do a task faster than cuFFT. Sets `lines` if so. */
int fftnd__groups_prefer_panels(const struct fftnd__task *task,
                                const struct fftnd__serial_problem *problem,
                                struct fftnd__lines *lines);

/* Whether panels do a real-to-real transform along one axis. Sets `lines` if so. */
int fftnd__groups_have_r2r(const struct fftnd__serial_problem *problem, struct fftnd__lines *lines);

#endif
