/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for CUDA memory in builds without CUDA. */
#include "space.h"

static const char *begin(void) {
    return "this build has no CUDA";
}

const bench_space bench_space_cuda = {.name = "cuda", .begin = begin};
