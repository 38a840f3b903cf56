/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 32 bytes. */
#define NAME(name) name##_avx2
#define TARGET     __attribute__((target("avx2")))

#include "row_loops.h"

static int runs_here(void) {
    return __builtin_cpu_supports("avx2") != 0;
}

const struct fftnd__row_loops fftnd__rows_avx2 = {runs_here, run_avx2};
