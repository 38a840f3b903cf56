/* SPDX-License-Identifier: BSD-3-Clause */
/* Fitting the communication model to what was measured. */
#ifndef REDIST__MODEL_H
#define REDIST__MODEL_H

#include "redist.h"

/* The link for which the relative errors of latency + bytes[i] / bandwidth, beside seconds[i], have the
 * least sum of squares; neither is negative. n >= 2, seconds above 0, bytes different. */
redist_link redist__fit_link(int n, const double bytes[], const double seconds[]);

#endif
