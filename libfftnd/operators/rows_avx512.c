/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 64 bytes. */
#define NAME(name) name##_avx512
#define TARGET     __attribute__((target("avx512f,avx512dq,avx512vl,fma")))

#include "row_loops.h"

static int runs_here(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
}

const struct fftnd__row_loops fftnd__rows_avx512 = {runs_here, run_avx512};
