/* SPDX-License-Identifier: BSD-3-Clause */
/** For tests that also run with arrays on CUDA devices, where gpu/device.c is linked. */
#ifndef TESTS_NEEDS_DEVICE_H
#define TESTS_NEEDS_DEVICE_H

#include "harness.h"

int device_begin(void) __attribute__((weak));

/** Ends a test without the device that its arrays are for. */
#define NEEDS_ARRAYS()                                                                             \
    do {                                                                                           \
        if (device_begin != NULL && !device_begin())                                               \
            skip_test("no CUDA device");                                                           \
    } while (0)

#endif
