/* SPDX-License-Identifier: BSD-3-Clause */
/* Which axes are transformed together, by cuFFT or by panels. */
#ifndef LINES__CUFFT_GROUPS_H
#define LINES__CUFFT_GROUPS_H

#include "tasks.h"

/* Ways to make a plan: cuFFT alone, what rates predict to be the fastest, panels wherever they can. */
enum lines__way { LINES__CUFFT_ALONE, LINES__FASTEST, LINES__PANELS };

/* Divides the axes into groups, from the last one on: a group is one plan of cuFFT, or one launch of panels. Rates
 * predict the least time; of cuFFT alone there are the fewest groups. Returns their number; sizes[] are their axes. */
int lines__cufft_groups(const struct lines__problem *problem, enum lines__way way, int n,
                        const struct lines__loop axes[], int sizes[]);

/* Nonzero if panels do a task, as rates predict or the way says. Sets `lines` then. */
int lines__groups_prefer_panels(const struct lines__task *task,
                                const struct lines__problem *problem, enum lines__way way,
                                struct lines__panel_lines *lines);

/* Nonzero if a group of all axes exceeds the sample, so that its rate is guessed. */
int lines__groups_guess(const struct lines__problem *problem);

/* Nonzero if panels do a real-to-real transform along one axis. Sets `lines` then. */
int lines__groups_have_r2r(const struct lines__problem *problem, struct lines__panel_lines *lines);

#endif
