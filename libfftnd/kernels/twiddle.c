/* SPDX-License-Identifier: BSD-3-Clause */
#include "twiddle.h"

#include <math.h>

/* The factors of a piece are those of its first column times those of a piece that begins with column 0. Any factor
 * is that of the high half of an exponent times that of the low one. */
struct fftnd__twiddles {
    int batch, shift; /* array axes: of the batch or -1, and of axis 0 */
    redist_index n, rows, first, width;
    double sign;
    int low_bits;
    double *high, *low; /* complex */
    double *piece;      /* complex, rows of `width` columns */
};

static void set_root(const struct fftnd__twiddles *twiddles, redist_index exponent,
                     double root[2]) {
    const long double pi = 3.141592653589793238462643383279502884L;
    long double angle = 2 * pi * (long double)exponent / (long double)twiddles->n;
    root[0] = (double)cosl(angle);
    root[1] = (double)sinl(angle) * twiddles->sign;
}

static void multiply(const double a[2], const double b[2], double product[2]) {
    product[0] = a[0] * b[0] - a[1] * b[1];
    product[1] = a[0] * b[1] + a[1] * b[0];
}

/* Exponents are below n. */
static void find_root(const struct fftnd__twiddles *twiddles, redist_index exponent,
                      double root[2]) {
    redist_index mask = ((redist_index)1 << twiddles->low_bits) - 1;
    multiply(twiddles->high + 2 * (exponent >> twiddles->low_bits),
             twiddles->low + 2 * (exponent & mask), root);
}

static void fill(struct fftnd__twiddles *twiddles, redist_index nhigh) {
    redist_index nlow = (redist_index)1 << twiddles->low_bits;
    for (redist_index i = 0; i < nhigh; i++)
        set_root(twiddles, i << twiddles->low_bits, twiddles->high + 2 * i);
    for (redist_index i = 0; i < nlow; i++)
        set_root(twiddles, i, twiddles->low + 2 * i);
    for (redist_index row = 0; row < twiddles->rows; row++)
        for (redist_index i = 0; i < twiddles->width; i++)
            find_root(twiddles, row * i, twiddles->piece + 2 * (row * twiddles->width + i));
}

int fftnd__twiddles_create(const struct fftnd__transform *transform, int direction,
                           redist_index first, redist_index width, struct fftnd__twiddles **made) {
    const redist_index *points = transform->chain.points;
    struct fftnd__twiddles twiddles = {.batch = transform->batch.axis,
                                       .shift = transform->batch.shift,
                                       .n = points[0] * points[1],
                                       .rows = points[0],
                                       .first = first,
                                       .width = width,
                                       .sign = direction == REDIST_FORWARD ? -1 : 1};
    while (twiddles.low_bits < 31 && (redist_index)1 << 2 * twiddles.low_bits < twiddles.n)
        twiddles.low_bits++;
    redist_index nhigh = (twiddles.n >> twiddles.low_bits) + 1;
    redist_index nlow = (redist_index)1 << twiddles.low_bits;
    size_t numbers = 2 * (size_t)(nhigh + nlow + twiddles.rows * width);
    struct fftnd__twiddles *own = redist_calloc(1, sizeof *own + numbers * sizeof(double));
    *made = own;
    if (own == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for twiddle factors");
    *own = twiddles;
    own->high = (double *)(own + 1);
    own->low = own->high + 2 * nhigh;
    own->piece = own->low + 2 * nlow;
    fill(own, nhigh);
    return REDIST_OK;
}

/* A row of a piece, whose elements are `stride` bytes apart, times a factor of its own each. */
#define MULTIPLY_ROW(T)                                                                            \
    static void multiply_row_##T(char *row, ptrdiff_t stride, redist_index n,                      \
                                 const double *restrict factors, const double base[2]) {           \
        for (redist_index i = 0; i < n; i++) {                                                     \
            T *value = (T *)(void *)(row + i * stride);                                            \
            double re = factors[2 * i] * base[0] - factors[2 * i + 1] * base[1];                   \
            double im = factors[2 * i] * base[1] + factors[2 * i + 1] * base[0];                   \
            double a = (double)value[0], b = (double)value[1];                                     \
            value[0] = (T)(a * re - b * im);                                                       \
            value[1] = (T)(a * im + b * re);                                                       \
        }                                                                                          \
    }
MULTIPLY_ROW(double)
MULTIPLY_ROW(float)

void fftnd__twiddles_apply(const struct fftnd__twiddles *twiddles,
                           const struct fftnd__block *block) {
    int rows = twiddles->shift, columns = rows + 1, batch = twiddles->batch;
    redist_index fields = batch >= 0 ? block->count[batch] : 1;
    ptrdiff_t distance = batch >= 0 ? block->stride[batch] : 0;
    void (*multiply_row)(char *, ptrdiff_t, redist_index, const double *, const double[2]) =
        block->precision == FFTND_DOUBLE ? multiply_row_double : multiply_row_float;
    for (redist_index i = 0; i < block->count[rows]; i++) {
        double base[2];
        find_root(twiddles, i * (twiddles->first + block->start[columns]), base);
        for (redist_index field = 0; field < fields; field++)
            multiply_row(block->memory + i * block->stride[rows] + field * distance,
                         block->stride[columns], block->count[columns],
                         twiddles->piece + 2 * i * twiddles->width, base);
    }
}
