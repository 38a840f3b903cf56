/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Radix passes along columns, and along lines of which a few are made columns, for files of one kind of registers,
 * which define
 *
 *     NAME(name)            the name of a function of this kind and type
 *     TARGET                the attribute of functions that use the registers
 *     VALUE, REGISTER_BYTES the type of numbers; a register
 *     SPLIT(from, re, im)   loads complex elements, real parts in one register and imaginary ones in another
 *     JOIN(to, re, im)      stores them; both may order the columns as they like, but alike
 *     LARGEST_RADIX         8, or 16 where there are 32 registers
 *     INTERLEAVE(a, b, low, high)  the numbers of two registers in turn: of their lower halves, of the upper ones
 *
 * and include it once for each type. Each register holds elements of several columns, so that a transform is the same
 * sequence of operations for all of them. Stockham's order (T. G. Stockham, AFIPS Spring Joint Computer Conference 28,
 * 1966, page 229) needs no permutation: each radix pass reads one scratch array and writes the other, the first one
 * reads the input, the last one writes the output, which may be the input. Backward is forward with real and imaginary
 * parts exchanged at both ends.
 */
#include "columns.h"

#include <string.h>

#ifndef LINES__COLUMN_PASSES
#define LINES__COLUMN_PASSES
#define INLINE static inline __attribute__((always_inline))

/* Place of a radix pass. */
enum { BETWEEN, FIRST, LAST };
#endif

typedef VALUE NAME(vector) __attribute__((vector_size(REGISTER_BYTES)));
typedef struct {
    NAME(vector) re, im;
} NAME(pair);

#define V    NAME(vector)
#define PAIR NAME(pair)

/* ---------------------------------------------------------------- DFTs of few elements */

TARGET INLINE void NAME(add_subtract)(PAIR *a, PAIR *b) {
    PAIR sum = {a->re + b->re, a->im + b->im}, difference = {a->re - b->re, a->im - b->im};
    *a = sum;
    *b = difference;
}

TARGET INLINE void NAME(exchange)(PAIR *a) {
    V re = a->re;
    a->re = a->im;
    a->im = re;
}

/* Times -i. */
TARGET INLINE PAIR NAME(turn)(PAIR a) {
    return (PAIR){a.im, -a.re};
}

/* Times exp(-i pi / 4). */
TARGET INLINE PAIR NAME(half_turn)(PAIR a) {
    const VALUE h = (VALUE)0.70710678118654752440084436210485L;
    return (PAIR){h * (a.re + a.im), h * (a.im - a.re)};
}

/* Times c - i s. */
TARGET INLINE PAIR NAME(times)(PAIR a, VALUE c, VALUE s) {
    return (PAIR){c * a.re + s * a.im, c * a.im - s * a.re};
}

/* *a = p - i q, *b = p + i q */
TARGET INLINE void NAME(mirror)(PAIR p, PAIR q, PAIR *a, PAIR *b) {
    *a = (PAIR){p.re + q.im, p.im - q.re};
    *b = (PAIR){p.re - q.im, p.im + q.re};
}

TARGET INLINE void NAME(dft_2)(PAIR x[]) {
    NAME(add_subtract)(&x[0], &x[1]);
}

TARGET INLINE void NAME(dft_3)(PAIR x[]) {
    const VALUE h = (VALUE)0.86602540378443864676372317075294L;
    PAIR a = x[1], b = x[2];
    NAME(add_subtract)(&a, &b);
    PAIR p = {x[0].re - (VALUE)0.5 * a.re, x[0].im - (VALUE)0.5 * a.im};
    x[0].re += a.re;
    x[0].im += a.im;
    NAME(mirror)(p, (PAIR){h * b.re, h * b.im}, &x[1], &x[2]);
}

TARGET INLINE void NAME(dft_4)(PAIR x[]) {
    PAIR even = x[2], odd = x[3];
    NAME(add_subtract)(&x[0], &even);
    NAME(add_subtract)(&x[1], &odd);
    x[2] = x[1];
    NAME(add_subtract)(&x[0], &x[2]);
    NAME(mirror)(even, odd, &x[1], &x[3]);
}

/* DFTs of 5 and 7 elements: sums and differences of elements that are mirror images have the same cosines and sines. */
TARGET INLINE void NAME(dft_odd)(const int n, const VALUE c[], const VALUE s[], PAIR x[]) {
    PAIR sum[3], difference[3], first = x[0];
    for (int i = 0; i < n / 2; i++) {
        sum[i] = x[i + 1];
        difference[i] = x[n - 1 - i];
        NAME(add_subtract)(&sum[i], &difference[i]);
        x[0].re += sum[i].re;
        x[0].im += sum[i].im;
    }
    for (int k = 1; k <= n / 2; k++) {
        PAIR p = first, q = {{0}, {0}};
        for (int j = 1; j <= n / 2; j++) {
            int at = k * j % n, mirrored = 2 * at > n;
            VALUE cosine = c[(mirrored ? n - at : at) - 1];
            VALUE sine = mirrored ? -s[n - at - 1] : s[at - 1];
            p.re += cosine * sum[j - 1].re;
            p.im += cosine * sum[j - 1].im;
            q.re += sine * difference[j - 1].re;
            q.im += sine * difference[j - 1].im;
        }
        NAME(mirror)(p, q, &x[k], &x[n - k]);
    }
}

TARGET INLINE void NAME(dft_5)(PAIR x[]) {
    static const VALUE c[] = {(VALUE)0.30901699437494742410229341718282L,
                              (VALUE)-0.80901699437494742410229341718282L},
                       s[] = {(VALUE)0.95105651629515357211643933337938L,
                              (VALUE)0.58778525229247312916870595463907L};
    NAME(dft_odd)(5, c, s, x);
}

TARGET INLINE void NAME(dft_7)(PAIR x[]) {
    static const VALUE c[] = {(VALUE)0.62348980185873353052500488400424L,
                              (VALUE)-0.22252093395631440428890256449679L,
                              (VALUE)-0.90096886790241912623610231950745L},
                       s[] = {(VALUE)0.78183148246802980870844452667406L,
                              (VALUE)0.97492791218182360701813168299393L,
                              (VALUE)0.43388373911755812047576833284836L};
    NAME(dft_odd)(7, c, s, x);
}

/* 6, 10 and 12 are products of coprime numbers, whose DFTs have no factors between them (Chinese remainder theorem). */
TARGET INLINE void NAME(dft_6)(PAIR x[]) {
    PAIR a[3] = {x[0], x[2], x[4]}, b[3] = {x[3], x[5], x[1]};
    NAME(dft_3)(a);
    NAME(dft_3)(b);
    for (int i = 0; i < 3; i++) {
        NAME(add_subtract)(&a[i], &b[i]);
        x[4 * i % 6] = a[i];
        x[(4 * i + 3) % 6] = b[i];
    }
}

TARGET INLINE void NAME(dft_8)(PAIR x[]) {
    PAIR even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    NAME(dft_4)(even);
    NAME(dft_4)(odd);
    odd[1] = NAME(half_turn)(odd[1]);
    odd[2] = NAME(turn)(odd[2]);
    odd[3] = NAME(half_turn)(NAME(turn)(odd[3]));
    for (int i = 0; i < 4; i++) {
        NAME(add_subtract)(&even[i], &odd[i]);
        x[i] = even[i];
        x[i + 4] = odd[i];
    }
}

#if LARGEST_RADIX > 8
TARGET INLINE void NAME(dft_10)(PAIR x[]) {
    PAIR a[5] = {x[0], x[2], x[4], x[6], x[8]}, b[5] = {x[5], x[7], x[9], x[1], x[3]};
    NAME(dft_5)(a);
    NAME(dft_5)(b);
    for (int i = 0; i < 5; i++) {
        NAME(add_subtract)(&a[i], &b[i]);
        x[6 * i % 10] = a[i];
        x[(6 * i + 5) % 10] = b[i];
    }
}

TARGET INLINE void NAME(dft_12)(PAIR x[]) {
    PAIR a[4] = {x[0], x[3], x[6], x[9]}, b[4] = {x[4], x[7], x[10], x[1]},
         c[4] = {x[8], x[11], x[2], x[5]};
    NAME(dft_4)(a);
    NAME(dft_4)(b);
    NAME(dft_4)(c);
    for (int i = 0; i < 4; i++) {
        PAIR three[3] = {a[i], b[i], c[i]};
        NAME(dft_3)(three);
        for (int k = 0; k < 3; k++)
            x[(9 * i + 4 * k) % 12] = three[k];
    }
}

TARGET INLINE void NAME(dft_16)(PAIR x[]) {
    const VALUE c = (VALUE)0.92387953251128675612818318939679L,
                s = (VALUE)0.38268343236508977172845998403040L;
    PAIR even[8], odd[8];
    for (int i = 0; i < 8; i++) {
        even[i] = x[2 * i];
        odd[i] = x[2 * i + 1];
    }
    NAME(dft_8)(even);
    NAME(dft_8)(odd);
    odd[1] = NAME(times)(odd[1], c, s);
    odd[2] = NAME(half_turn)(odd[2]);
    odd[3] = NAME(times)(odd[3], s, c);
    odd[4] = NAME(turn)(odd[4]);
    odd[5] = NAME(times)(odd[5], -s, c);
    odd[6] = NAME(half_turn)(NAME(turn)(odd[6]));
    odd[7] = NAME(times)(odd[7], -c, s);
    for (int i = 0; i < 8; i++) {
        NAME(add_subtract)(&even[i], &odd[i]);
        x[i] = even[i];
        x[i + 8] = odd[i];
    }
}
#endif

/* ---------------------------------------------------------------- radix passes */

/* Loads a pair, zeros behind the rows of the input; a row has as many bytes of each group as a pair. */
TARGET INLINE void NAME(load)(const struct lines__columns *columns, int group, int element,
                              PAIR *x) {
    const char *from = columns->in + element * columns->in_stride + group * (ptrdiff_t)sizeof(PAIR);
    if (element >= columns->in_rows) {
        *x = (PAIR){{0}, {0}};
        return;
    }
    SPLIT(from, x->re, x->im);
    if (columns->backward)
        NAME(exchange)(x);
}

TARGET INLINE void NAME(store)(const struct lines__columns *columns, int group, int element,
                               PAIR x) {
    char *to = columns->out + element * columns->out_stride + group * (ptrdiff_t)sizeof(PAIR);
    if (element >= columns->out_rows)
        return;
    if (columns->backward)
        NAME(exchange)(&x);
    JOIN(to, x.re, x.im);
}

/* Fetches a row of the next columns, which no hardware prefetcher foresees, into the second-level cache, since all rows
 * exceed the first one beside the scratch arrays. The last byte of each cache line is fetched: the columns before have
 * fetched the line in which the row begins. */
TARGET INLINE void NAME(fetch)(const struct lines__columns *columns, int group, int element) {
    enum { CACHE_LINE = 64 };
    const char *row =
        columns->next + element * columns->next_stride + group * (ptrdiff_t)sizeof(PAIR);
    for (int end = CACHE_LINE; end <= (int)sizeof(PAIR) && element < columns->in_rows;
         end += CACHE_LINE)
        __builtin_prefetch(row + end - 1, 0, 2);
}

/* Does a radix pass whose radix and place are constants. Scratch arrays have rows of all groups. */
TARGET INLINE void NAME(pass)(const int radix, const int place, void (*dft)(PAIR x[]),
                              const struct lines__column_pass *pass,
                              const struct lines__columns *columns, const PAIR from[], PAIR to[]) {
    const int groups = place == BETWEEN ? 1 : columns->groups;
    int apart = pass->left / radix, done = pass->done, rows = done / groups;
    const VALUE *factors = pass->factors;
    for (int j = 0; j < apart; j++, factors += 2 * (radix - 1))
        for (int k = 0, row = 0, group = 0; k < done; k++) {
            PAIR x[LARGEST_RADIX];
            for (int i = 0; i < radix; i++)
                if (place == FIRST)
                    NAME(load)(columns, group, j + apart * i, &x[i]);
                else
                    x[i] = from[k + done * (j + apart * i)];
            dft(x);
            for (int i = 0; i < radix; i++)
                if (place == LAST) {
                    NAME(store)(columns, group, row + rows * i, x[i]);
                    NAME(fetch)(columns, group, row + rows * i);
                } else
                    to[k + done * (radix * j + i)] =
                        i == 0 ? x[0] : NAME(times)(x[i], factors[2 * i - 2], factors[2 * i - 1]);
            if (++group == groups) { /* instead of a division, which took a tenth of the time */
                group = 0;
                row++;
            }
        }
}

typedef void NAME(run_pass)(const struct lines__column_pass *pass,
                            const struct lines__columns *columns, const PAIR from[], PAIR to[]);

#define PASS(radix, place)                                                                         \
    TARGET static void NAME(pass_##radix##_##place)(const struct lines__column_pass *pass,         \
                                                    const struct lines__columns *columns,          \
                                                    const PAIR from[], PAIR to[]) {                \
        NAME(pass)(radix, place, NAME(dft_##radix), pass, columns, from, to);                      \
    }
#define PASSES(radix) PASS(radix, BETWEEN) PASS(radix, FIRST) PASS(radix, LAST)
PASSES(2)
PASSES(3)
PASSES(4)
PASSES(5)
PASSES(6)
PASSES(7)
PASSES(8)
#if LARGEST_RADIX > 8
PASSES(10)
PASSES(12)
PASSES(16)
#endif
#undef PASSES
#undef PASS

static void NAME(do_pass)(const struct lines__column_pass *pass, int place,
                          const struct lines__columns *columns, const PAIR from[], PAIR to[]) {
#define ROW(radix)                                                                                 \
    [radix] = {                                                                                    \
        NAME(pass_##radix##_BETWEEN),                                                              \
        NAME(pass_##radix##_FIRST),                                                                \
        NAME(pass_##radix##_LAST)                                                                  \
    }
    static NAME(run_pass) *const table[LARGEST_RADIX + 1][3] = {
        ROW(2),
        ROW(3),
        ROW(4),
        ROW(5),
        ROW(6),
        ROW(7),
        ROW(8),
#if LARGEST_RADIX > 8
        ROW(10),
        ROW(12),
        ROW(16)
#endif
    };
#undef ROW
    table[pass->radix][place](pass, columns, from, to);
}

TARGET static void NAME(run)(int npasses, const struct lines__column_pass passes[],
                             const struct lines__columns *columns, void *const scratch[2]) {
    for (int i = 0; i < npasses; i++) {
        int place = i == 0 ? FIRST : i == npasses - 1 ? LAST : BETWEEN;
        NAME(do_pass)(&passes[i], place, columns, scratch[i % 2], scratch[(i + 1) % 2]);
    }
}

/* ---------------------------------------------------------------- lines */

/* Numbers of a register, and lines of a group. */
#define LANES ((int)(REGISTER_BYTES / sizeof(VALUE)))

/* Transposes registers: each has the numbers of a line, then a number of each line, and back. */
TARGET INLINE void NAME(transpose)(V rows[]) {
    V next[REGISTER_BYTES / sizeof(VALUE)];
    for (int done = 1; done < LANES; done *= 2) {
        for (int i = 0; i < LANES / 2; i++)
            INTERLEAVE(rows[i], rows[i + LANES / 2], next[2 * i], next[2 * i + 1]);
        for (int i = 0; i < LANES; i++)
            rows[i] = next[i];
    }
}

/* Begin of the next block of a line of n numbers; the last block may overlap the one before it. */
INLINE int NAME(next_block)(int at, int n) {
    return at + LANES < n && at + 2 * LANES > n ? n - LANES : at + LANES;
}

/* Loads lines into columns, and fetches the next group into the second-level cache: the first one holds the scratch
 * arrays. */
TARGET INLINE void NAME(load_lines)(const char *const from[], const char *const next[], int n,
                                    const int exchanged, PAIR x[]) {
    for (int at = 0; at < n; at = NAME(next_block)(at, n)) {
        V rows[REGISTER_BYTES / sizeof(VALUE)];
        for (int i = 0; i < LANES; i++) {
            memcpy(&rows[i], from[i] + (size_t)at * sizeof(VALUE), sizeof(V));
            __builtin_prefetch(next[i] + (size_t)at * sizeof(VALUE), 0, 2);
        }
        NAME(transpose)(rows);
        for (int i = 0; i < LANES; i += 2)
            x[(at + i) / 2] = (PAIR){rows[i + exchanged], rows[i + !exchanged]};
    }
}

TARGET INLINE void NAME(store_lines)(char *const to[], int n, const int exchanged, const PAIR x[]) {
    for (int at = 0; at < n; at = NAME(next_block)(at, n)) {
        V rows[REGISTER_BYTES / sizeof(VALUE)];
        for (int i = 0; i < LANES; i += 2) {
            rows[i + exchanged] = x[(at + i) / 2].re;
            rows[i + !exchanged] = x[(at + i) / 2].im;
        }
        NAME(transpose)(rows);
        for (int i = 0; i < LANES; i++)
            memcpy(to[i] + (size_t)at * sizeof(VALUE), &rows[i], sizeof(V));
    }
}

/* Makes modes of 2 n real points of those of n complex elements, whose real and imaginary parts are neighbouring
 * points, and back: x[k] and x[n - k] are (a + b*) + f (a - b*) and the conjugate of (a + b*) - f (a - b*), halved
 * forward, with the factor f = -i exp(-i pi k / n), or its conjugate backward. */
TARGET INLINE void NAME(combine)(const struct lines__contiguous *lines, const int backward,
                                 PAIR x[]) {
    const VALUE *factors = lines->factors, half = backward ? (VALUE)1 : (VALUE)0.5;
    for (int k = 0; 2 * k <= lines->n; k++) {
        PAIR a = x[k], b = x[lines->n - k];
        PAIR sum = {a.re + b.re, a.im - b.im}, difference = {a.re - b.re, a.im + b.im};
        difference = NAME(times)(difference, factors[2 * k], factors[2 * k + 1]);
        PAIR first = {half * (sum.re + difference.re), half * (sum.im + difference.im)};
        PAIR second = {half * (sum.re - difference.re), half * (difference.im - sum.im)};
        if (backward) {
            NAME(exchange)(&first);
            NAME(exchange)(&second);
        }
        x[lines->n - k] = second;
        x[k] = first;
    }
}

TARGET INLINE PAIR *NAME(pass_lines)(const struct lines__contiguous *lines,
                                     void *const scratch[2]) {
    for (int i = 0; i < lines->npasses; i++)
        NAME(do_pass)(&lines->passes[i], BETWEEN, NULL, scratch[i % 2], scratch[(i + 1) % 2]);
    return scratch[lines->npasses % 2];
}

TARGET INLINE void NAME(run_forward)(const struct lines__contiguous *lines, const char *const in[],
                                     const char *const next[], char *const out[],
                                     void *const scratch[2]) {
    NAME(load_lines)(in, next, lines->numbers[0], 0, scratch[0]);
    PAIR *x = NAME(pass_lines)(lines, scratch);
    if (lines->factors != NULL) {
        x[lines->n] = x[0];
        NAME(combine)(lines, 0, x);
    }
    NAME(store_lines)(out, lines->numbers[1], 0, x);
}

/* Transforms backward; like FFTW, takes the first and the last mode of real lines as real. */
TARGET INLINE void NAME(run_backward)(const struct lines__contiguous *lines, const char *const in[],
                                      const char *const next[], char *const out[],
                                      void *const scratch[2]) {
    PAIR *x = scratch[0];
    if (lines->factors != NULL) {
        NAME(load_lines)(in, next, lines->numbers[0], 0, x);
        x[0].im = x[lines->n].im = (V){0};
        NAME(combine)(lines, 1, x);
    } else
        NAME(load_lines)(in, next, lines->numbers[0], 1, x);
    x = NAME(pass_lines)(lines, scratch);
    NAME(store_lines)(out, lines->numbers[1], 1, x);
}

TARGET static void NAME(run_lines)(const struct lines__contiguous *lines, const char *const in[],
                                   const char *const next[], char *const out[],
                                   void *const scratch[2]) {
    (lines->backward ? NAME(run_backward) : NAME(run_forward))(lines, in, next, out, scratch);
}

#undef LANES
#undef V
#undef PAIR
