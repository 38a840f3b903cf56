/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming (non-temporal) stores: a destination that is larger than the caches is written without
 * first being read, which saves a third of the memory traffic of a copy.
 */
#include "box.h"

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { LINE = 64 }; /* bytes of a cache line */

typedef void stream_lines(char *destination, const char *source, size_t lines);

static void lines_sse2(char *destination, const char *source, size_t lines) {
    for (size_t i = 0; i < lines; i++, destination += LINE, source += LINE)
        for (int part = 0; part < LINE; part += 16)
            _mm_stream_si128((__m128i *)(void *)(destination + part),
                             _mm_loadu_si128((const __m128i *)(const void *)(source + part)));
}

__attribute__((target("avx512f"))) static void lines_avx512(char *destination, const char *source,
                                                            size_t lines) {
    for (size_t i = 0; i < lines; i++, destination += LINE, source += LINE)
        _mm512_stream_si512((__m512i *)(void *)destination,
                            _mm512_loadu_si512((const void *)source));
}

static stream_lines *choose_lines(void) {
    return __builtin_cpu_supports("avx512f") ? lines_avx512 : lines_sse2;
}

static void stream_row(char *destination, const char *source, size_t run, stream_lines *lines) {
    size_t head = (size_t)(-(uintptr_t)destination % LINE);
    if (head > run)
        head = run;
    memcpy(destination, source, head);
    size_t whole = (run - head) / LINE;
    lines(destination + head, source + head, whole);
    size_t done = head + whole * LINE;
    memcpy(destination + done, source + done, run - done);
}

void redist__stream_rows(char *destination, ptrdiff_t destination_stride, const char *source,
                         ptrdiff_t source_stride, size_t rows, size_t run) {
    stream_lines *lines = choose_lines();
    for (size_t row = 0; row < rows; row++)
        stream_row(destination + (ptrdiff_t)row * destination_stride,
                   source + (ptrdiff_t)row * source_stride, run, lines);
}

void redist__stream_fence(void) {
    _mm_sfence();
}
