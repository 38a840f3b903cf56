/* SPDX-License-Identifier: BSD-3-Clause */
/* Fitting the communication model to what was measured. */
#ifndef REDIST__MODEL_H
#define REDIST__MODEL_H

#include "redist_model.h"

/* The link without a start for which the relative errors of latency + bytes[i] / bandwidth, beside seconds[i], have the
 * least sum of squares; neither is negative. n >= 2, seconds above 0, bytes different. */
redist_link redist__fit_link(int n, const double bytes[], const double seconds[]);

/* Parts the latency of a fit to seconds per message, with so many peers, in what each message takes and
 * what an exchange takes besides, when an exchange of one message of `bytes` takes `seconds`. */
void redist__part_latency(redist_link *link, int peers, double bytes, double seconds);

#endif
