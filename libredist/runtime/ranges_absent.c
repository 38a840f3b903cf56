/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges in builds without a profiler. */
#include "redist_support.h"

void redist_range_begin(const char *name) {
    (void)name;
}

void redist_range_end(void) {
}
