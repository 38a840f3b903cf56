/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for CUDA memory in builds without CUDA. */
#include "space.h"

static const char *absent(void) {
    return "this build has no CUDA";
}

const struct space space_cuda = {.name = "cuda", .redist = REDIST_SPACE_CUDA, .absent = absent};
