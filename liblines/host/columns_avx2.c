/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 32 bytes. */
#define BITS           256
#define TARGET_NAME    "avx2"
#define INSTRUCTION(f) _mm256_##f
#define DOUBLES        __m256d
#define FLOATS         __m256
#define LARGEST_RADIX  8
#define LOOPS          lines__columns_avx2
#define INTERLEAVE_OF(type, suffix, a, b, low, high)                                               \
    do {                                                                                           \
        type even = _mm256_unpacklo_##suffix(a, b), odd = _mm256_unpackhi_##suffix(a, b);          \
        low = _mm256_permute2f128_##suffix(even, odd, 0x20);                                       \
        high = _mm256_permute2f128_##suffix(even, odd, 0x31);                                      \
    } while (0)
#define INTERLEAVE_DOUBLES(a, b, low, high) INTERLEAVE_OF(__m256d, pd, a, b, low, high)
#define INTERLEAVE_FLOATS(a, b, low, high)  INTERLEAVE_OF(__m256, ps, a, b, low, high)
#include "column_x86.h"
