/* SPDX-License-Identifier: BSD-3-Clause */
/* Which axes are transformed together, and by what. */
#ifndef LINES__CUFFT_GROUPS_H
#define LINES__CUFFT_GROUPS_H

#include "tasks.h"

/* What a plan is made of: plans of cuFFT alone, what is predicted to be the fastest, panels where they can. */
enum lines__way { LINES__CUFFT_ALONE, LINES__FASTEST, LINES__PANELS };

/* Divides the axes into groups, from the last one on: a group is one plan of cuFFT, or one launch of panels. What is
 * known of their rates predicts the least time; of cuFFT alone there are the fewest groups. Returns how many there are;
 * sizes[] are their axes. */
int lines__cufft_groups(const struct lines__problem *problem, enum lines__way way, int n,
                        const struct lines__loop axes[], int sizes[]);

/* Whether panels do a task, as they are faster than cuFFT or the way wants them. Sets `lines` if so. */
int lines__groups_prefer_panels(const struct lines__task *task,
                                const struct lines__problem *problem, enum lines__way way,
                                struct lines__panel_lines *lines);

/* Whether a group of all axes is too large for its rate to be measured, so that it is guessed. */
int lines__groups_guess(const struct lines__problem *problem);

/* Whether panels do a real-to-real transform along one axis. Sets `lines` if so. */
int lines__groups_have_r2r(const struct lines__problem *problem, struct lines__panel_lines *lines);

#endif
