/* SPDX-License-Identifier: BSD-3-Clause */
/* Which axes are transformed together, and by what. */
#ifndef FFTND__CUFFT_GROUPS_H
#define FFTND__CUFFT_GROUPS_H

#include "cufft_tasks.h"

/* What a plan is made of: plans of cuFFT alone, what is predicted to be the fastest, panels where they can. */
enum fftnd__way { FFTND__CUFFT_ALONE, FFTND__FASTEST, FFTND__PANELS };

/* Divides the axes into groups, from the last one on: a group is one plan of cuFFT, or one launch of panels. What is
 * known of their rates predicts the least time; of cuFFT alone there are the fewest groups. Returns how many there are;
 * sizes[] are their axes. */
int fftnd__cufft_groups(const struct fftnd__serial_problem *problem, enum fftnd__way way, int n,
                        const struct fftnd__loop axes[], int sizes[]);

/* Whether panels do a task, as they are faster than cuFFT or the way wants them. Sets `lines` if so. */
int fftnd__groups_prefer_panels(const struct fftnd__task *task,
                                const struct fftnd__serial_problem *problem, enum fftnd__way way,
                                struct fftnd__lines *lines);

/* Whether a group of all axes is too large for its rate to be measured, so that it is guessed. */
int fftnd__groups_guess(const struct fftnd__serial_problem *problem);

/* Whether panels do a real-to-real transform along one axis. Sets `lines` if so. */
int fftnd__groups_have_r2r(const struct fftnd__serial_problem *problem, struct fftnd__lines *lines);

#endif
