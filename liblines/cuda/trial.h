/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials of two plans of a problem on scratch memory: rates of lines may not hold for arrays in the caches, nor for
 * several launches. */
#ifndef LINES__CUFFT_TRIAL_H
#define LINES__CUFFT_TRIAL_H

#include "groups.h"

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
