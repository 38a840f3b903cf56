/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming (non-temporal) stores: a destination that is larger than the caches is written without
 * first being read, which saves a third of the memory traffic of a copy. One stream of reads does not
 * fill the processor's queues, so several rows, or several pages of one long row, are copied side by
 * side while the next ones are prefetched into the second-level cache.
 */
#include "box.h"

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { LINE = 64, PIECE = 2 * LINE, LANES = 8, PAGE = 4096 };

/* `lanes` rows of `bytes` bytes, a multiple of PIECE, to destinations aligned to LINE. What lies
 * `ahead` bytes behind each source is fetched meanwhile. */
typedef void stream_lanes(char *destination, ptrdiff_t destination_stride, const char *source,
                          ptrdiff_t source_stride, int lanes, size_t bytes, ptrdiff_t ahead);

static inline void prefetch_piece(const char *source) {
    _mm_prefetch(source, _MM_HINT_T1);
    _mm_prefetch(source + LINE, _MM_HINT_T1);
}

static inline void piece_sse2(char *destination, const char *source) {
    for (int part = 0; part < PIECE; part += 16)
        _mm_stream_si128((__m128i *)(void *)(destination + part),
                         _mm_loadu_si128((const __m128i *)(const void *)(source + part)));
}

__attribute__((target("avx512f"))) static inline void piece_avx512(char *destination,
                                                                   const char *source) {
    __m512i first = _mm512_loadu_si512((const void *)source);
    __m512i second = _mm512_loadu_si512((const void *)(source + LINE));
    _mm512_stream_si512((__m512i *)(void *)destination, first);
    _mm512_stream_si512((__m512i *)(void *)(destination + LINE), second);
}

#define STREAM_LANES(name, attribute, piece)                                                       \
    attribute static void name(char *destination, ptrdiff_t destination_stride,                    \
                               const char *source, ptrdiff_t source_stride, int lanes,             \
                               size_t bytes, ptrdiff_t ahead) {                                    \
        for (size_t done = 0; done < bytes; done += PIECE)                                         \
            for (int lane = 0; lane < lanes; lane++) {                                             \
                const char *from = source + lane * source_stride + done;                           \
                prefetch_piece(from + ahead);                                                      \
                piece(destination + lane * destination_stride + done, from);                       \
            }                                                                                      \
    }
STREAM_LANES(lanes_sse2, , piece_sse2)
STREAM_LANES(lanes_avx512, __attribute__((target("avx512f"))), piece_avx512)

static stream_lanes *choose_lanes(void) {
    return __builtin_cpu_supports("avx512f") ? lanes_avx512 : lanes_sse2;
}

/* Bytes up to the next line of the destination, at most the whole run. */
static size_t head_bytes(const char *destination, size_t run) {
    size_t head = (size_t)(-(uintptr_t)destination % LINE);
    return head < run ? head : run;
}

/* One run, LANES pages at a time as long as there are so many. */
static void stream_run(char *destination, const char *source, size_t run, stream_lanes *stream) {
    size_t done = head_bytes(destination, run), block = (size_t)LANES * PAGE;
    memcpy(destination, source, done);
    for (; run - done >= block; done += block)
        stream(destination + done, PAGE, source + done, PAGE, LANES, PAGE, (ptrdiff_t)block);
    size_t rest = (run - done) / PIECE * PIECE;
    stream(destination + done, 0, source + done, 0, 1, rest, PAGE);
    done += rest;
    memcpy(destination + done, source + done, run - done);
}

/* LANES rows whose destinations lie alike in their cache lines. */
static void stream_group(char *destination, ptrdiff_t destination_stride, const char *source,
                         ptrdiff_t source_stride, size_t run, stream_lanes *stream) {
    size_t head = head_bytes(destination, run), whole = (run - head) / PIECE * PIECE;
    size_t tail = head + whole;
    stream(destination + head, destination_stride, source + head, source_stride, LANES, whole,
           LANES * source_stride);
    for (int lane = 0; lane < LANES; lane++) {
        char *to = destination + lane * destination_stride;
        const char *from = source + lane * source_stride;
        memcpy(to, from, head);
        memcpy(to + tail, from + tail, run - tail);
    }
}

void redist__stream_rows(char *destination, ptrdiff_t destination_stride, const char *source,
                         ptrdiff_t source_stride, size_t rows, size_t run) {
    stream_lanes *stream = choose_lanes();
    size_t row = 0;
    if (destination_stride % LINE == 0 && run < (size_t)LANES * PAGE)
        for (; row + LANES <= rows; row += LANES)
            stream_group(destination + (ptrdiff_t)row * destination_stride, destination_stride,
                         source + (ptrdiff_t)row * source_stride, source_stride, run, stream);
    for (; row < rows; row++)
        stream_run(destination + (ptrdiff_t)row * destination_stride,
                   source + (ptrdiff_t)row * source_stride, run, stream);
}

/* ---------------------------------------------------------------- into the caches */

typedef void fetch_pieces(char *destination, const char *source, size_t bytes, ptrdiff_t ahead);

static inline void cached_sse2(char *destination, const char *source) {
    for (int part = 0; part < PIECE; part += 16)
        _mm_storeu_si128((__m128i *)(void *)(destination + part),
                         _mm_loadu_si128((const __m128i *)(const void *)(source + part)));
}

__attribute__((target("avx512f"))) static inline void cached_avx512(char *destination,
                                                                    const char *source) {
    __m512i first = _mm512_loadu_si512((const void *)source);
    __m512i second = _mm512_loadu_si512((const void *)(source + LINE));
    _mm512_storeu_si512((void *)destination, first);
    _mm512_storeu_si512((void *)(destination + LINE), second);
}

#define FETCH_PIECES(name, attribute, piece)                                                       \
    attribute static void name(char *destination, const char *source, size_t bytes,                \
                               ptrdiff_t ahead) {                                                  \
        for (size_t done = 0; done < bytes; done += PIECE) {                                       \
            _mm_prefetch(source + done + ahead, _MM_HINT_T0);                                      \
            _mm_prefetch(source + done + ahead + LINE, _MM_HINT_T0);                               \
            piece(destination + done, source + done);                                              \
        }                                                                                          \
    }
FETCH_PIECES(fetch_sse2, , cached_sse2)
FETCH_PIECES(fetch_avx512, __attribute__((target("avx512f"))), cached_avx512)

void redist__fetch_rows(char *destination, ptrdiff_t destination_stride, const char *source,
                        ptrdiff_t source_stride, size_t rows, size_t run) {
    fetch_pieces *fetch = __builtin_cpu_supports("avx512f") ? fetch_avx512 : fetch_sse2;
    ptrdiff_t ahead = run >= PAGE ? PAGE : (ptrdiff_t)(PAGE / run) * source_stride;
    size_t whole = run / PIECE * PIECE;
    for (size_t row = 0; row < rows; row++) {
        char *to = destination + (ptrdiff_t)row * destination_stride;
        const char *from = source + (ptrdiff_t)row * source_stride;
        fetch(to, from, whole, ahead);
        memcpy(to + whole, from + whole, run - whole);
    }
}

void redist__stream_fence(void) {
    _mm_sfence();
}
