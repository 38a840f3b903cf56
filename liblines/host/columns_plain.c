/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 16 bytes, which compilers have for all processors. Most processors without wider ones have 32 of
 * them. */
#include <string.h>

#define TARGET
#define REGISTER_BYTES 16
#define LARGEST_RADIX  16

#define SPLIT(from, re, im)                                                                        \
    do {                                                                                           \
        VALUE values[2 * REGISTER_BYTES / sizeof(VALUE)];                                          \
        memcpy(values, from, sizeof values);                                                       \
        for (size_t lane = 0; lane < REGISTER_BYTES / sizeof(VALUE); lane++) {                     \
            re[lane] = values[2 * lane];                                                           \
            im[lane] = values[2 * lane + 1];                                                       \
        }                                                                                          \
    } while (0)
#define JOIN(to, re, im)                                                                           \
    do {                                                                                           \
        VALUE values[2 * REGISTER_BYTES / sizeof(VALUE)];                                          \
        for (size_t lane = 0; lane < REGISTER_BYTES / sizeof(VALUE); lane++) {                     \
            values[2 * lane] = re[lane];                                                           \
            values[2 * lane + 1] = im[lane];                                                       \
        }                                                                                          \
        memcpy(to, values, sizeof values);                                                         \
    } while (0)
#define NAME(name) name##_double_plain
#define VALUE      double
#define INTERLEAVE(a, b, low, high)                                                                \
    do {                                                                                           \
        low = (__typeof__(a)){a[0], b[0]};                                                         \
        high = (__typeof__(a)){a[1], b[1]};                                                        \
    } while (0)
#include "column_passes.h"
#undef INTERLEAVE
#undef NAME
#undef VALUE
#define NAME(name) name##_float_plain
#define VALUE      float
#define INTERLEAVE(a, b, low, high)                                                                \
    do {                                                                                           \
        low = (__typeof__(a)){a[0], b[0], a[1], b[1]};                                             \
        high = (__typeof__(a)){a[2], b[2], a[3], b[3]};                                            \
    } while (0)
#include "column_passes.h"

static int runs_here(void) {
    return 1;
}

const struct lines__column_loops lines__columns_plain = {
    runs_here,
    REGISTER_BYTES,
    LARGEST_RADIX,
    {[FFTND_DOUBLE] = run_double_plain, [FFTND_FLOAT] = run_float_plain},
    {[FFTND_DOUBLE] = run_lines_double_plain, [FFTND_FLOAT] = run_lines_float_plain}};
