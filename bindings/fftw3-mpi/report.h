/* SPDX-License-Identifier: BSD-3-Clause */
/* What this library did for a program, and what it left to FFTW: counted, and printed if FFTND_FFTW_REPORT is set. */
#ifndef FFTND_FFTW_REPORT_H
#define FFTND_FFTW_REPORT_H

#include "own.h"

/* A plan was made here, in so many seconds; or FFTW had to make it, and why. */
void fftnd_fftw__report_plan(const char *function, double seconds);
void fftnd_fftw__report_passed(const char *function, const char *reason);

void fftnd_fftw__report_execution(double seconds);

#endif
