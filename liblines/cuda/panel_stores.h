/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct stores and round trips: always panels, whatever cuFFT's rates are. */
#ifndef LINES__CUFFT_STORES_H
#define LINES__CUFFT_STORES_H

#include "../lines.h"

extern const struct lines__stores lines__cufft_stores;
extern const struct lines__round_trips lines__cufft_round_trips;

#endif
