/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of plans made here and by FFTW, printed if FFTND_FFTW_REPORT is set. */
#ifndef FFTND_FFTW_REPORT_H
#define FFTND_FFTW_REPORT_H

#include "own.h"

/* Record a plan made here with its seconds; or one that FFTW had to make, with the reason. */
void fftnd_fftw__report_plan(const char *function, double seconds);
void fftnd_fftw__report_passed(const char *function, const char *reason);

void fftnd_fftw__report_execution(double seconds);

#endif
