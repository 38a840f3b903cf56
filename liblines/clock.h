/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of trials and of kernels. */
#ifndef LINES__CLOCK_H
#define LINES__CLOCK_H

#include <time.h>

/* Seconds of a clock that only runs forward. */
static inline double lines__clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
