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

/* ---------------------------------------------------------------- trials */

/* Trials of two plans of a problem on scratch memory: rates of lines may not hold for arrays in the caches, nor for
 * several launches. */
enum { LINES__UNTRIED = -1 };

/* The way of the faster plan of a problem on the current device, LINES__UNTRIED before a trial in this process;
 * LINES__FASTEST if FFTND_LINES is set. */
int lines__trial_find(const struct lines__problem *problem);

/* Nonzero if arrays are so large that rates of their lines predict their time. */
int lines__trial_is_large(const struct lines__problem *problem);

/* Times both plans in the problem's stream and remembers the way of the faster one, the second unless the first is 3 %
 * faster. Their scratch memory is unset then. Returns which; 0 without memory. */
int lines__trial_run(const struct lines__library *library, const struct lines__problem *problem,
                     void *const plans[2], const enum lines__way ways[2]);

#endif
