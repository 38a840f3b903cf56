/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 32 bytes. */
#include <immintrin.h>

#define NAME(name) name##_avx2
#define TARGET     __attribute__((target("avx2")))

TARGET static inline void through_avx2(char *to, const char *from) {
    for (int part = 0; part < 64; part += 32)
        _mm256_storeu_si256((__m256i *)(void *)(to + part),
                            _mm256_loadu_si256((const __m256i *)(const void *)(from + part)));
}

TARGET static inline void past_avx2(char *to, const char *from) {
    for (int part = 0; part < 64; part += 32)
        _mm256_stream_si256((__m256i *)(void *)(to + part),
                            _mm256_loadu_si256((const __m256i *)(const void *)(from + part)));
}

#include "vector_rows.h"

static int runs_here(void) {
    return __builtin_cpu_supports("avx2") != 0;
}

static void fence(void) {
    _mm_sfence();
}

const struct redist__registers redist__registers_avx2 = {"avx2", runs_here, rows_avx2, fence, 16};
