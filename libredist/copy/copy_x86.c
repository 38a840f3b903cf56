/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nontemporal stores: a destination that is larger than the caches is written without
 * first being read, which saves a third of the memory traffic of a copy. One sequence of reads does not
 * fill the processor's queues, so several rows, or several pages of one long row, are copied side by
 * side while the next ones are prefetched into the second-level cache.
 */
#include "copy.h"

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { LINE = 64, PIECE = 2 * LINE, ABREAST = 8, PAGE = 4096 };

/* `abreast` rows, side by side, of `bytes` bytes, a multiple of PIECE. What lies `ahead` bytes behind each source is
 * fetched meanwhile. */
typedef void copy_abreast(char *destination, ptrdiff_t destination_stride, const char *source,
                          ptrdiff_t source_stride, int abreast, size_t bytes, ptrdiff_t ahead);

static inline void prefetch_piece(const char *source) {
    _mm_prefetch(source, _MM_HINT_T1);
    _mm_prefetch(source + LINE, _MM_HINT_T1);
}

/* Past the caches, to destinations aligned to LINE. */
static inline void nontemporal_sse2(char *destination, const char *source) {
    for (int part = 0; part < PIECE; part += 16)
        _mm_stream_si128((__m128i *)(void *)(destination + part),
                         _mm_loadu_si128((const __m128i *)(const void *)(source + part)));
}

__attribute__((target("avx512f"))) static inline void nontemporal_avx512(char *destination,
                                                                         const char *source) {
    __m512i first = _mm512_loadu_si512((const void *)source);
    __m512i second = _mm512_loadu_si512((const void *)(source + LINE));
    _mm512_stream_si512((__m512i *)(void *)destination, first);
    _mm512_stream_si512((__m512i *)(void *)(destination + LINE), second);
}

/* Into the caches. */
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

#define COPY_ABREAST(name, attribute, piece)                                                       \
    attribute static void name(char *destination, ptrdiff_t destination_stride,                    \
                               const char *source, ptrdiff_t source_stride, int abreast,           \
                               size_t bytes, ptrdiff_t ahead) {                                    \
        for (size_t done = 0; done < bytes; done += PIECE)                                         \
            for (int row = 0; row < abreast; row++) {                                              \
                const char *from = source + row * source_stride + done;                            \
                prefetch_piece(from + ahead);                                                      \
                piece(destination + row * destination_stride + done, from);                        \
            }                                                                                      \
    }
COPY_ABREAST(nontemporal_abreast_sse2, , nontemporal_sse2)
COPY_ABREAST(nontemporal_abreast_avx512, __attribute__((target("avx512f"))), nontemporal_avx512)
COPY_ABREAST(cached_abreast_sse2, , cached_sse2)
COPY_ABREAST(cached_abreast_avx512, __attribute__((target("avx512f"))), cached_avx512)

/* How pieces are stored, and what their destinations must be aligned to. */
struct stores {
    copy_abreast *abreast;
    size_t alignment;
};

/* Bytes up to the next aligned one of the destination, at most the whole run. */
static size_t head_bytes(const char *destination, size_t run, const struct stores *stores) {
    size_t head = (size_t)(-(uintptr_t)destination % stores->alignment);
    return head < run ? head : run;
}

/* One run, ABREAST pages at a time as long as there are so many. */
static void copy_run(char *destination, const char *source, size_t run,
                     const struct stores *stores) {
    size_t done = head_bytes(destination, run, stores), block = (size_t)ABREAST * PAGE;
    memcpy(destination, source, done);
    for (; run - done >= block; done += block)
        stores->abreast(destination + done, PAGE, source + done, PAGE, ABREAST, PAGE,
                        (ptrdiff_t)block);
    size_t rest = (run - done) / PIECE * PIECE;
    stores->abreast(destination + done, 0, source + done, 0, 1, rest, PAGE);
    done += rest;
    memcpy(destination + done, source + done, run - done);
}

/* ABREAST rows whose destinations lie alike in their cache lines. */
static void copy_group(char *destination, ptrdiff_t destination_stride, const char *source,
                       ptrdiff_t source_stride, size_t run, const struct stores *stores) {
    size_t head = head_bytes(destination, run, stores), whole = (run - head) / PIECE * PIECE;
    size_t tail = head + whole;
    stores->abreast(destination + head, destination_stride, source + head, source_stride, ABREAST,
                    whole, ABREAST * source_stride);
    for (int row = 0; row < ABREAST; row++) {
        char *to = destination + row * destination_stride;
        const char *from = source + row * source_stride;
        memcpy(to, from, head);
        memcpy(to + tail, from + tail, run - tail);
    }
}

static void copy_rows(char *destination, ptrdiff_t destination_stride, const char *source,
                      ptrdiff_t source_stride, size_t rows, size_t run,
                      const struct stores *stores) {
    size_t row = 0;
    if (destination_stride % (ptrdiff_t)stores->alignment == 0 && run < (size_t)ABREAST * PAGE)
        for (; row + ABREAST <= rows; row += ABREAST)
            copy_group(destination + (ptrdiff_t)row * destination_stride, destination_stride,
                       source + (ptrdiff_t)row * source_stride, source_stride, run, stores);
    for (; row < rows; row++)
        copy_run(destination + (ptrdiff_t)row * destination_stride,
                 source + (ptrdiff_t)row * source_stride, run, stores);
}

static int has_avx512(void) {
    return __builtin_cpu_supports("avx512f") != 0;
}

static int has_sse2(void) {
    return 1;
}

static void fence(void) {
    _mm_sfence();
}

/* The loops with one kind of registers. */
#define LOOPS(kind)                                                                                \
    static void nontemporal_rows_##kind(char *destination, ptrdiff_t destination_stride,           \
                                        const char *source, ptrdiff_t source_stride, size_t rows,  \
                                        size_t run) {                                              \
        static const struct stores stores = {nontemporal_abreast_##kind, LINE};                    \
        copy_rows(destination, destination_stride, source, source_stride, rows, run, &stores);     \
    }                                                                                              \
    static void cached_rows_##kind(char *destination, ptrdiff_t destination_stride,                \
                                   const char *source, ptrdiff_t source_stride, size_t rows,       \
                                   size_t run) {                                                   \
        static const struct stores stores = {cached_abreast_##kind, 1};                            \
        copy_rows(destination, destination_stride, source, source_stride, rows, run, &stores);     \
    }                                                                                              \
    const struct redist__copy_loops redist__copy_##kind = {has_##kind, nontemporal_rows_##kind,    \
                                                           cached_rows_##kind, fence};
LOOPS(sse2)
LOOPS(avx512)
