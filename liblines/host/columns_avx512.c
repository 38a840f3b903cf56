/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 64 bytes. */
#define BITS           512
#define TARGET_NAME    "avx512f"
#define INSTRUCTION(f) _mm512_##f
#define DOUBLES        __m512d
#define FLOATS         __m512
#define LARGEST_RADIX  16
#define LOOPS          lines__columns_avx512
#define INTERLEAVE_DOUBLES(a, b, low, high)                                                        \
    do {                                                                                           \
        const __m512i first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);                         \
        const __m512i second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);                      \
        low = _mm512_permutex2var_pd(a, first, b);                                                 \
        high = _mm512_permutex2var_pd(a, second, b);                                               \
    } while (0)
#define INTERLEAVE_FLOATS(a, b, low, high)                                                         \
    do {                                                                                           \
        const __m512i first =                                                                      \
            _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);             \
        const __m512i second =                                                                     \
            _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);       \
        low = _mm512_permutex2var_ps(a, first, b);                                                 \
        high = _mm512_permutex2var_ps(a, second, b);                                               \
    } while (0)
#include "column_x86.h"
