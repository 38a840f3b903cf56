/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 16 bytes, which every x86-64 has; and the processor's own copy instruction. */
#include <immintrin.h>

#define NAME(name) name##_sse2
#define TARGET

static inline void through_sse2(char *to, const char *from) {
    for (int part = 0; part < 64; part += 16)
        _mm_storeu_si128((__m128i *)(void *)(to + part),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + part)));
}

static inline void past_sse2(char *to, const char *from) {
    for (int part = 0; part < 64; part += 16)
        _mm_stream_si128((__m128i *)(void *)(to + part),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + part)));
}

#include "vector_rows.h"

static int runs_here(void) {
    return 1;
}

static void fence(void) {
    _mm_sfence();
}

const struct redist__registers redist__registers_sse2 = {"sse2", runs_here, rows_sse2, fence, 16};

static void rows_movsb(const struct redist__loop *loop, char *destination,
                       ptrdiff_t destination_stride, const char *source, ptrdiff_t source_stride,
                       size_t rows, size_t run) {
    (void)loop;
    for (size_t row = 0; row < rows; row++) {
        char *to = destination + (ptrdiff_t)row * destination_stride;
        const char *from = source + (ptrdiff_t)row * source_stride;
        size_t left = run;
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
    }
}

const struct redist__registers redist__registers_movsb = {"movsb", runs_here, rows_movsb, NULL,
                                                          1024};
