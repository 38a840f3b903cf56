/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 64 bytes. */
#include <immintrin.h>

#define NAME(name) name##_avx512
#define TARGET     __attribute__((target("avx512f")))

TARGET static inline void through_avx512(char *to, const char *from) {
    for (int part = 0; part < 64; part += 64)
        _mm512_storeu_si512((__m512i *)(void *)(to + part),
                            _mm512_loadu_si512((const __m512i *)(const void *)(from + part)));
}

TARGET static inline void past_avx512(char *to, const char *from) {
    for (int part = 0; part < 64; part += 64)
        _mm512_stream_si512((__m512i *)(void *)(to + part),
                            _mm512_loadu_si512((const __m512i *)(const void *)(from + part)));
}

#include "vector_rows.h"

static int runs_here(void) {
    return __builtin_cpu_supports("avx512f") != 0;
}

static void fence(void) {
    _mm_sfence();
}

const struct redist__registers redist__registers_avx512 = {"avx512", runs_here, rows_avx512, fence,
                                                           16};
