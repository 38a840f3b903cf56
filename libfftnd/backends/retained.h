/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of several axes of which some are truncated, by a library that truncates one axis at a time. */
#ifndef FFTND__RETAINED_H
#define FFTND__RETAINED_H

#include "serial.h"

/* For problems with `retained` modes, which it gives to problem->library. */
extern const struct fftnd__serial fftnd__serial_retained;

#endif
