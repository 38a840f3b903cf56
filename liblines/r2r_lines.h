/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real-to-real transforms as Fourier transforms of rows: how a row is made of a line, and a line of a transformed row,
 * one element at a time, on the host and in kernels of devices. DCT-II and DCT-III reorder the line (Makhoul, "A fast
 * cosine transform in one and two dimensions", 1980), types I extend it by symmetry, types IV turn it by half a step
 * before and after a complex transform. Sums over a half spectrum are Hartley transforms.
 */
#ifndef LINES__R2R_LINES_H
#define LINES__R2R_LINES_H

#include "modes.h"

#include <math.h>

/* Values of enum fftnd_r2r, as kernels cannot include fftnd.h, which includes mpi.h; then a real line to its halved
 * spectrum and back, which panels transform like R2HC and HC2R. */
enum {
    LINES__DCT1,
    LINES__DCT2,
    LINES__DCT3,
    LINES__DCT4,
    LINES__DST1,
    LINES__DST2,
    LINES__DST3,
    LINES__DST4,
    LINES__R2HC,
    LINES__HC2R,
    LINES__DHT,
    LINES__HALVED,
    LINES__UNHALVED
};

/* Lines of an array, and their rows. */
struct lines__r2r_lines {
    size_t number_bytes;
    int r2r;                   /* enum fftnd_r2r */
    redist_index n;            /* elements of a line */
    redist_index filled;       /* of them in the array, the others being zero */
    redist_index length;       /* of the Fourier transform */
    redist_index row;          /* complex elements of a row */
    int is_complex;            /* rows are before their transform; else real */
    redist_index first, count; /* lines: the first row is that of line `first` */
    int nloops;                /* over the lines, the last one fastest */
    redist_index extent[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS], step; /* bytes: of the loops, and along a line */
    const char *from;                         /* a line, or a row, to be read */
    char *to;
};

/* Element j of a row: real[0] x[index[0]] + real[1] x[index[1]], and its imaginary part imaginary x[index[0]]. */
struct lines__r2r_source {
    redist_index index[2];
    double real[2], imaginary;
};

/* Element k of a line: real Re y[index] + imaginary Im y[index]. */
struct lines__r2r_result {
    redist_index index;
    double real, imaginary;
};

static inline LINES__ON_DEVICE struct lines__r2r_source lines__find_source(int r2r, redist_index n,
                                                                           redist_index j) {
    struct lines__r2r_source source = {{j, 0}, {1, 0}, 0};
    double angle = 3.14159265358979323846 * (double)j / (2 * (double)n);
    int is_sine = r2r >= LINES__DST1 && r2r <= LINES__DST4;
    switch (r2r) {
    case LINES__DCT1:
        source.index[0] = j < n ? j : 2 * (n - 1) - j;
        break;
    case LINES__DST1:
        source.index[0] = j == 0 || j == n + 1 ? 0 : j <= n ? j - 1 : 2 * n + 1 - j;
        source.real[0] = j == 0 || j == n + 1 ? 0 : j <= n ? 1 : -1;
        break;
    case LINES__DCT2:
    case LINES__DST2:
        source.index[0] = 2 * j < n ? 2 * j : 2 * (n - j) - 1;
        source.real[0] = is_sine && 2 * j >= n ? -1 : 1;
        break;
    case LINES__DCT3:
    case LINES__DST3:
        source.index[0] = is_sine ? n - 1 - j : j;
        source.index[1] = j == 0 ? 0 : is_sine ? j - 1 : n - j;
        source.real[0] = j == 0 ? 1 : cos(angle) - sin(angle);
        source.real[1] = j == 0 ? 0 : cos(angle) + sin(angle);
        break;
    case LINES__DCT4:
    case LINES__DST4:
        source.index[0] = is_sine ? n - 1 - j : j;
        source.real[0] = cos(angle);
        source.imaginary = -sin(angle);
        break;
    case LINES__HC2R:
        source.index[1] = j == 0 ? 0 : n - j;
        source.real[1] = j == 0 || 2 * j == n ? 0 : 2 * j < n ? -1 : 1;
        break;
    default:
        break;
    }
    return source;
}

/* Element m of the Hartley transform of a row. */
static inline LINES__ON_DEVICE struct lines__r2r_result
lines__hartley(redist_index n, redist_index m, double sign) {
    int is_low = 2 * m <= n;
    struct lines__r2r_result result = {is_low ? m : n - m, sign, is_low ? -sign : sign};
    return result;
}

/* 2 Re(exp(-i angle) y[m]), with mode m of a real or a complex row. */
static inline LINES__ON_DEVICE struct lines__r2r_result
lines__turned(redist_index n, redist_index m, int is_complex, double angle, double sign) {
    int is_low = is_complex || 2 * m <= n;
    struct lines__r2r_result result = {is_low ? m : n - m, 2 * sign * cos(angle),
                                       (is_low ? 2 : -2) * sign * sin(angle)};
    return result;
}

static inline LINES__ON_DEVICE struct lines__r2r_result lines__find_result(int r2r, redist_index n,
                                                                           redist_index k) {
    struct lines__r2r_result result = {k, 1, 0};
    double unit = 3.14159265358979323846 / (4 * (double)n), sign = k % 2 != 0 ? -1 : 1;
    redist_index mode;
    switch (r2r) {
    case LINES__DST1:
        result.index = k + 1;
        result.real = 0;
        result.imaginary = -1;
        return result;
    case LINES__DCT2:
    case LINES__DST2:
        mode = r2r == LINES__DCT2 ? k : n - 1 - k;
        return lines__turned(n, mode, 0, 2 * unit * (double)mode, 1);
    case LINES__DCT3:
    case LINES__DST3:
        return lines__hartley(n, k % 2 == 0 ? k / 2 : n - 1 - k / 2, r2r == LINES__DCT3 ? 1 : sign);
    case LINES__DCT4:
    case LINES__DST4: /* of both halves of the period the even modes */
        mode = k % 2 == 0 ? k : 2 * n - 1 - k;
        return lines__turned(n, mode / 2, 1, unit * (double)(2 * mode + 1),
                             r2r == LINES__DCT4 ? sign : 1);
    case LINES__R2HC:
        result.index = 2 * k <= n ? k : n - k;
        result.real = 2 * k <= n;
        result.imaginary = 2 * k > n;
        return result;
    case LINES__HC2R:
    case LINES__DHT:
        return lines__hartley(n, k, 1);
    default:
        return result;
    }
}

/* Bytes from the first line to another one. */
static inline LINES__ON_DEVICE ptrdiff_t lines__offset(const struct lines__r2r_lines *lines,
                                                       redist_index line) {
    redist_index rest = lines->first + line;
    ptrdiff_t offset = 0;
    for (int i = lines->nloops - 1; i >= 0; i--) {
        offset += (ptrdiff_t)(rest % lines->extent[i]) * lines->stride[i];
        rest /= lines->extent[i];
    }
    return offset;
}

/* Defines functions that make element j of a row, and element k of a line, of numbers of type T. */
#define LINES__R2R_ELEMENTS(name, T)                                                               \
    static inline LINES__ON_DEVICE void name##_before(const struct lines__r2r_lines *lines,        \
                                                      redist_index line, redist_index j) {         \
        const struct lines__r2r_source source = lines__find_source(lines->r2r, lines->n, j);       \
        const char *from = lines->from + lines__offset(lines, line);                               \
        T x = source.index[0] < lines->filled                                                      \
                  ? *(const T *)(const void *)(from + source.index[0] * lines->step)               \
                  : 0;                                                                             \
        T other = source.index[1] < lines->filled                                                  \
                      ? *(const T *)(const void *)(from + source.index[1] * lines->step)           \
                      : 0;                                                                         \
        T *to = (T *)(void *)lines->to + 2 * lines->row * line + (lines->is_complex ? 2 : 1) * j;  \
        to[0] = (T)source.real[0] * x + (T)source.real[1] * other;                                 \
        if (lines->is_complex)                                                                     \
            to[1] = (T)source.imaginary * x;                                                       \
    }                                                                                              \
    static inline LINES__ON_DEVICE void name##_after(const struct lines__r2r_lines *lines,         \
                                                     redist_index line, redist_index k) {          \
        const struct lines__r2r_result result = lines__find_result(lines->r2r, lines->n, k);       \
        const T *y =                                                                               \
            (const T *)(const void *)lines->from + 2 * (lines->row * line + result.index);         \
        *(T *)(void *)(lines->to + lines__offset(lines, line) + k * lines->step) =                 \
            (T)result.real * y[0] + (T)result.imaginary * y[1];                                    \
    }

#endif
