/* SPDX-License-Identifier: BSD-3-Clause */
/** For tests of transforms on the host that also run with arrays on a device (stream_device.h), where one is linked. */
#ifndef TESTS_NEEDS_FFT_DEVICE_H
#define TESTS_NEEDS_FFT_DEVICE_H

#include "fft_array.h"
#include "harness.h"
#include "random.h"
#include "stream_device.h"

int stream_device_begin(void) __attribute__((weak));
const test_device *stream_device_memory(void) __attribute__((weak));

static inline int has_fft_device(void) {
    return stream_device_memory != NULL;
}

/** Begins a test, or ends it without the device that its arrays are for. */
#define NEEDS_FFT_ARRAYS()                                                                         \
    do {                                                                                           \
        if (has_fft_device() && !stream_device_begin())                                            \
            skip_test("fewer CUDA devices than ranks");                                            \
        fft_array_use(has_fft_device() ? stream_device_memory() : NULL);                           \
    } while (0)

/** Has a case use the device, if there is one, which has no long double. */
static inline void fft_use_device(fft_case *given) {
    if (has_fft_device()) {
        given->options.space = REDIST_SPACE_CUDA;
        given->options.asynchronous = random_chance(50);
        given->precision = given->precision == FFTND_LONG_DOUBLE ? FFTND_FLOAT : given->precision;
    }
}

#endif
