/* SPDX-License-Identifier: BSD-3-Clause */
/* Two plans of one problem, timed on scratch memory: what rates of lines say of long arrays need not hold for an array
 * in the caches, or for the number of launches that it takes. */
#ifndef LINES__CUFFT_TRIAL_H
#define LINES__CUFFT_TRIAL_H

#include "groups.h"

enum { LINES__UNTRIED = -1 };

/* The way of the plan that was the faster one of a problem on the current device, as far as this process knows;
 * LINES__FASTEST where FFTND_LINES says how lines are transformed. */
int lines__trial_find(const struct lines__problem *problem);

/* Whether arrays are so large that they take as long as the rates of their lines say. */
int lines__trial_is_large(const struct lines__problem *problem);

/* Times both plans in the problem's stream and remembers the way of the faster one: the second one unless the first is
 * clearly so. They have no scratch memory after this. 0 where there is no memory for it. */
int lines__trial_run(const struct lines__library *library, const struct lines__problem *problem,
                     void *const plans[2], const enum lines__way ways[2]);

#endif
