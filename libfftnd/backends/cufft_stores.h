/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines whose results are stored in parts, and those that go there and back with an operator: panels, whatever cuFFT
 * does. */
#ifndef FFTND__CUFFT_STORES_H
#define FFTND__CUFFT_STORES_H

#include "serial.h"

extern const struct fftnd__serial_stores fftnd__cufft_stores;
extern const struct fftnd__serial_round_trips fftnd__cufft_round_trips;

#endif
