/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for cuFFT in builds without CUDA: plans for a device are refused. */
#include "serial.h"

static const char *absent(void) {
    return "this build has no CUDA";
}

const struct fftnd__serial fftnd__serial_cufft = {
    .name = "cufft", .space = REDIST_SPACE_CUDA, .absent = absent};
