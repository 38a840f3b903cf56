/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Put in front of the sources of a copy of libfftnd that a test is built with: FFTW is replaced by a serial
 * library that calls it, but fails when faults.h says so.
 */
#ifndef FAULTY_SERIAL_H
#define FAULTY_SERIAL_H

#include "../libfftnd/backends/serial.h"

#undef FFTND__SERIALS
#define FFTND__SERIALS(X)                                                                          \
    X(HOST, faulty)                                                                                \
    X(CUDA, cufft)

extern const struct fftnd__serial fftnd__serial_faulty;

#endif
