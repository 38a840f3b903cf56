/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_R2R_FACTOR_H
#define TESTS_R2R_FACTOR_H

#include "fftnd.h"

/**
 * What element j of a line of n real numbers counts in element k of its transform (the manual of FFTW 3, "What FFTW
 * really computes").
 */
double r2r_factor(enum fftnd_r2r kind, double n, double j, double k);

#endif
