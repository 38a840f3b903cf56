/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Radix passes in registers of BITS bits, for files that define
 *
 *     BITS             256 or 512
 *     TARGET_NAME      the instructions, as compilers call them
 *     INSTRUCTION(f)   a function of immintrin.h
 *     DOUBLES, FLOATS  types of registers
 *     LOOPS            the table
 *     LARGEST_RADIX, INTERLEAVE_DOUBLES, INTERLEAVE_FLOATS  as in column_passes.h, the last one for each type
 */
#include <immintrin.h>

#define TARGET         __attribute__((target(TARGET_NAME)))
#define REGISTER_BYTES (BITS / 8)

#define NAME(name) name##_double
#define VALUE      double
#define INTERLEAVE INTERLEAVE_DOUBLES
#define SPLIT(from, re, im)                                                                        \
    do {                                                                                           \
        DOUBLES low = INSTRUCTION(loadu_pd)((const void *)(from)),                                 \
                high = INSTRUCTION(loadu_pd)((const void *)(from + REGISTER_BYTES));               \
        re = INSTRUCTION(unpacklo_pd)(low, high);                                                  \
        im = INSTRUCTION(unpackhi_pd)(low, high);                                                  \
    } while (0)
#define JOIN(to, re, im)                                                                           \
    do {                                                                                           \
        INSTRUCTION(storeu_pd)((void *)(to), INSTRUCTION(unpacklo_pd)(re, im));                    \
        INSTRUCTION(storeu_pd)((void *)(to + REGISTER_BYTES), INSTRUCTION(unpackhi_pd)(re, im));   \
    } while (0)
#include "column_passes.h"
#undef NAME
#undef VALUE
#undef SPLIT
#undef JOIN
#undef INTERLEAVE
#define NAME(name) name##_float
#define VALUE      float
#define INTERLEAVE INTERLEAVE_FLOATS
#define SPLIT(from, re, im)                                                                        \
    do {                                                                                           \
        FLOATS low = INSTRUCTION(loadu_ps)((const void *)(from)),                                  \
               high = INSTRUCTION(loadu_ps)((const void *)(from + REGISTER_BYTES));                \
        re = INSTRUCTION(shuffle_ps)(low, high, 0x88);                                             \
        im = INSTRUCTION(shuffle_ps)(low, high, 0xdd);                                             \
    } while (0)
#define JOIN(to, re, im)                                                                           \
    do {                                                                                           \
        INSTRUCTION(storeu_ps)((void *)(to), INSTRUCTION(unpacklo_ps)(re, im));                    \
        INSTRUCTION(storeu_ps)((void *)(to + REGISTER_BYTES), INSTRUCTION(unpackhi_ps)(re, im));   \
    } while (0)
#include "column_passes.h"

static int runs_here(void) {
    return __builtin_cpu_supports(TARGET_NAME) != 0;
}

const struct lines__column_loops LOOPS = {
    runs_here,
    REGISTER_BYTES,
    LARGEST_RADIX,
    {[FFTND_DOUBLE] = run_double, [FFTND_FLOAT] = run_float},
    {[FFTND_DOUBLE] = run_lines_double, [FFTND_FLOAT] = run_lines_float}};
