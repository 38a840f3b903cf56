/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows by vector registers, for the files of the kinds of registers, which define
 *
 *     NAME(name)              the name of a function of this kind
 *     TARGET                  the attribute of functions that use the registers
 *     NAME(through)(to, from) copies a cache line, any alignment
 *     NAME(past)(to, from)    the same past the caches, to an aligned line
 *
 * One sequence of reads does not fill the queues of most processors, so several rows, or several pages of one long row,
 * are copied side by side while the next ones are prefetched into the second-level cache; numbers and distance are the
 * loop's. Past the caches a destination that does not fit there is written without being read first, which saves a
 * third of the memory traffic. Only the lines at the ends of a row that is not aligned are read.
 */
#include "loops.h"

#include <stdint.h>
#include <string.h>

/* Sizes in bytes; long rows are cut at pages, where hardware prefetch ends. The ends of rows are fetched about LATER
 * bytes ahead: rows of 2 KiB took the same time with 0 to 4096 of them, and more from 8192 on (AMD family 25). */
enum { LINE = 64, SEGMENT = 4096, MOST_ABREAST = 8, SHORT_RUN = 256, PART = 16, LATER = 2048 };

#define INLINE static inline __attribute__((always_inline))

INLINE void prefetch(const char *line) {
    __builtin_prefetch(line, 0, 2);
}

/* Copies `bytes` of each row, whole lines of its destination; the caller copies the ends of rows. */
TARGET INLINE void NAME(lines)(char *const to[], const char *const from[], size_t bytes,
                               ptrdiff_t ahead, const int abreast, const int nontemporal) {
    for (size_t done = 0; done < bytes; done += LINE)
        for (int row = 0; row < abreast; row++) {
            if (ahead != 0)
                prefetch(from[row] + done + ahead);
            (nontemporal ? NAME(past) : NAME(through))(to[row] + done, from[row] + done);
        }
}

/* Calls the function with a constant number of rows. */
TARGET static void NAME(lines_abreast)(char *const to[], const char *const from[], size_t bytes,
                                       ptrdiff_t ahead, int abreast, int nontemporal) {
    switch (abreast << 1 | nontemporal) {
#define CASE(rows, past)                                                                           \
    case rows << 1 | past:                                                                         \
        NAME(lines)(to, from, bytes, ahead, rows, past);                                           \
        break;
        CASE(1, 0) CASE(2, 0) CASE(4, 0) CASE(8, 0) CASE(1, 1) CASE(2, 1) CASE(4, 1) CASE(8, 1)
#undef CASE
    }
}

/* Returns the bytes up to the first whole line: nontemporal stores must be aligned. */
INLINE size_t NAME(head)(const char *to, int nontemporal) {
    return nontemporal ? (size_t)(-(uintptr_t)to % LINE) : 0;
}

/* Copies the ends of a row of at least a line, around `whole` bytes after `head`. Most rows of arrays have none, and
 * empty calls took 6 % of the time of rows of 512 bytes. */
TARGET INLINE void NAME(ends)(char *to, const char *from, size_t run, size_t head, size_t whole,
                              int nontemporal) {
    size_t done = head + whole;
    if (head > 0)
        memcpy(to, from, head);
    if (done == run)
        return;
    if (nontemporal)
        memcpy(to + done, from + done, run - done);
    else
        NAME(through)(to + run - LINE, from + run - LINE);
}

/* Fetches the ends of rows that are stored past the caches later, if these are parts of lines: they are stored through
 * the caches, and the stores behind them wait for a line that is not there. */
INLINE void NAME(fetch_ends)(const char *to, ptrdiff_t stride, size_t rows, size_t run) {
    for (size_t row = 0; row < rows; row++, to += stride) {
        if ((uintptr_t)to % LINE != 0)
            __builtin_prefetch(to, 1, 3);
        if ((uintptr_t)(to + run) % LINE != 0)
            __builtin_prefetch(to + run, 1, 3);
    }
}

/* Copies `abreast` rows of at least a line, with any alignment. */
TARGET static void NAME(group)(const struct redist__loop *loop, int abreast, char *destination,
                               ptrdiff_t destination_stride, const char *source,
                               ptrdiff_t source_stride, size_t run, ptrdiff_t ahead) {
    char *to[MOST_ABREAST];
    const char *from[MOST_ABREAST];
    size_t head[MOST_ABREAST], most = 0;
    for (int row = 0; row < abreast; row++) {
        to[row] = destination + row * destination_stride;
        from[row] = source + row * source_stride;
        head[row] = NAME(head)(to[row], loop->nontemporal);
        most = head[row] > most ? head[row] : most;
    }
    size_t whole = (run - (most < run ? most : run)) / LINE * LINE;
    for (int row = 0; row < abreast; row++) {
        head[row] = head[row] < run ? head[row] : run;
        NAME(ends)(to[row], from[row], run, head[row], whole, loop->nontemporal);
        to[row] += head[row];
        from[row] += head[row];
    }
    NAME(lines_abreast)(to, from, whole, ahead, abreast, loop->nontemporal);
}

/* Copies one row, in as many segments at a time as the loop copies side by side. */
TARGET static void NAME(long_row)(const struct redist__loop *loop, char *to, const char *from,
                                  size_t run) {
    size_t done = NAME(head)(to, loop->nontemporal), block = (size_t)loop->abreast * SEGMENT;
    size_t ahead = loop->ahead == 0 || loop->ahead > block ? loop->ahead : block;
    memcpy(to, from, done);
    for (; loop->abreast > 1 && run - done >= block; done += block)
        NAME(group)
    (loop, loop->abreast, to + done, SEGMENT, from + done, SEGMENT, SEGMENT, (ptrdiff_t)ahead);
    if (run - done >= LINE)
        NAME(group)(loop, 1, to + done, 0, from + done, 0, run - done, (ptrdiff_t)loop->ahead);
    else
        memcpy(to + done, from + done, run - done);
}

/* Copies a short row; its last part overlaps the one before. */
TARGET INLINE void NAME(short_row)(char *to, const char *from, size_t run) {
    if (run >= LINE) {
        for (size_t done = 0; done + LINE <= run; done += LINE)
            NAME(through)(to + done, from + done);
        NAME(through)(to + run - LINE, from + run - LINE);
        return;
    }
    for (size_t done = 0; done + PART <= run; done += PART)
        memcpy(to + done, from + done, PART);
    memcpy(to + run - PART, from + run - PART, PART);
}

/* Returns the prefetch distance in rows, or groups of rows. */
INLINE ptrdiff_t NAME(rows_ahead)(const struct redist__loop *loop, size_t bytes) {
    return (ptrdiff_t)((loop->ahead + bytes - 1) / bytes);
}

TARGET static void NAME(short_rows)(const struct redist__loop *loop, char *to, ptrdiff_t to_stride,
                                    const char *from, ptrdiff_t from_stride, size_t rows,
                                    size_t run) {
    ptrdiff_t ahead = NAME(rows_ahead)(loop, run) * from_stride;
    for (size_t row = 0; row < rows; row++, to += to_stride, from += from_stride) {
        for (size_t line = 0; line < run && ahead != 0; line += LINE)
            prefetch(from + ahead + line);
        NAME(short_row)(to, from, run);
    }
}

/* Returns the distance between rows copied side by side: some pages, so that each is a separate stream, and not a
 * multiple of the distance of cache sets or memory banks. */
INLINE size_t NAME(apart)(ptrdiff_t to_stride, ptrdiff_t from_stride) {
    enum { DISTANCE = 5 * SEGMENT };
    size_t to = (size_t)(to_stride < 0 ? -to_stride : to_stride),
           from = (size_t)(from_stride < 0 ? -from_stride : from_stride);
    size_t stride = to > from ? to : from;
    return stride == 0 || stride >= DISTANCE ? 1 : DISTANCE / stride;
}

/* Returns nonzero for rows past the caches of which the ends are parts of lines. Neighbours share these lines, which
 * one row after the other stores once. Rows of 192 to 1536 bytes took half to three quarters of the time that they
 * took two side by side (copy-bench --strides odd, AMD family 25). */
INLINE int NAME(share_lines)(const struct redist__loop *loop, const char *to, ptrdiff_t to_stride,
                             size_t run) {
    return loop->nontemporal && ((uintptr_t)to | (uintptr_t)to_stride | run) % LINE != 0;
}

/* Copies whole groups of rows; returns the number of rows copied. */
TARGET static size_t NAME(all_groups)(const struct redist__loop *loop, size_t abreast, char *to,
                                      ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride,
                                      size_t rows, size_t run) {
    size_t row = 0, most = NAME(apart)(to_stride, from_stride);
    ptrdiff_t ahead = NAME(rows_ahead)(loop, abreast * run) * from_stride;
    ptrdiff_t later = (ptrdiff_t)(1 + LATER / (abreast * run)) * to_stride;
    while (rows - row >= abreast) {
        size_t apart = (rows - row) / abreast < most ? (rows - row) / abreast : most;
        ptrdiff_t to_apart = (ptrdiff_t)apart * to_stride;
        for (size_t i = row; i < row + apart; i++) {
            char *group = to + (ptrdiff_t)i * to_stride;
            if (loop->nontemporal)
                NAME(fetch_ends)(group + later, to_apart, abreast, run);
            NAME(group)
            (loop, (int)abreast, group, to_apart, from + (ptrdiff_t)i * from_stride,
             (ptrdiff_t)apart * from_stride, run, ahead);
        }
        row += apart * abreast;
    }
    return row;
}

/* Copies rows. Single rows through the caches need no lists. Rows copied side by side are not neighbours: if these are
 * contiguous, or share a page, a processor would see one irregular stream. */
TARGET static void NAME(rows)(const struct redist__loop *loop, char *to, ptrdiff_t to_stride,
                              const char *from, ptrdiff_t from_stride, size_t rows, size_t run) {
    int alone = NAME(share_lines)(loop, to, to_stride, run);
    size_t row = 0, abreast = alone ? 1 : (size_t)loop->abreast;
    int is_short = run < SHORT_RUN || (run < SEGMENT && loop->abreast == 1);
    if (run < LINE || (is_short && !loop->nontemporal)) {
        NAME(short_rows)(loop, to, to_stride, from, from_stride, rows, run);
        return;
    }
    if (run < (alone ? MOST_ABREAST : abreast) * SEGMENT)
        row = NAME(all_groups)(loop, abreast, to, to_stride, from, from_stride, rows, run);
    for (; row < rows; row++) {
        ptrdiff_t at = (ptrdiff_t)row;
        NAME(long_row)(loop, to + at * to_stride, from + at * from_stride, run);
    }
}
