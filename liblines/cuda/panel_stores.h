/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines whose results are stored in parts, and those that go there and back with an operator: panels, whatever cuFFT
 * does. */
#ifndef LINES__CUFFT_STORES_H
#define LINES__CUFFT_STORES_H

#include "../lines.h"

extern const struct lines__stores lines__cufft_stores;
extern const struct lines__round_trips lines__cufft_round_trips;

#endif
