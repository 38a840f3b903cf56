/* SPDX-License-Identifier: BSD-3-Clause */
/* Two plans of one problem, timed on scratch memory: what rates of lines say of long arrays need not hold for an array
 * in the caches, or for the number of launches that it takes. */
#ifndef FFTND__CUFFT_TRIAL_H
#define FFTND__CUFFT_TRIAL_H

#include "serial.h"

enum { FFTND__UNTRIED = -1 };

/* The number of the plan that was the faster one of a problem on the current device, as far as this process knows; 0
 * for problems that are not tried: large ones, and where FFTND_LINES says how lines are transformed. */
int fftnd__trial_find(const struct fftnd__serial_problem *problem);

/* Times both plans in the problem's stream and remembers which is faster, the second one unless the first is clearly
 * so. They have no scratch memory after this. 0 where there is no memory for it. */
int fftnd__trial_run(const struct fftnd__serial *library,
                     const struct fftnd__serial_problem *problem, void *const plans[2]);

#endif
