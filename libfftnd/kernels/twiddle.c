/* SPDX-License-Identifier: BSD-3-Clause */
/* Twiddle factors between the two transforms of one long axis. */
#include "kernel.h"

#include <math.h>

/* Operations of a precision: rounding of a complex factor; multiplication of a row, whose elements are `stride` bytes
 * apart, by a factor for each element and one for all. */
struct numbers {
    size_t bytes; /* of a factor */
    void (*store)(void *factor, const long double root[2]);
    void (*multiply_row)(char *row, ptrdiff_t stride, redist_index n, const void *factors,
                         const long double base[2]);
};

/* Arrays of T, factors of F. */
#define NUMBERS(name, T, F)                                                                        \
    static void store_##name(void *factor, const long double root[2]) {                            \
        ((F *)factor)[0] = (F)root[0];                                                             \
        ((F *)factor)[1] = (F)root[1];                                                             \
    }                                                                                              \
    static void multiply_row_##name(char *row, ptrdiff_t stride, redist_index n,                   \
                                    const void *stored, const long double root[2]) {               \
        const F *restrict factors = stored;                                                        \
        const F base[2] = {(F)root[0], (F)root[1]};                                                \
        for (redist_index i = 0; i < n; i++) {                                                     \
            T *value = (T *)(void *)(row + i * stride);                                            \
            F re = factors[2 * i] * base[0] - factors[2 * i + 1] * base[1];                        \
            F im = factors[2 * i] * base[1] + factors[2 * i + 1] * base[0];                        \
            F a = (F)value[0], b = (F)value[1];                                                    \
            value[0] = (T)(a * re - b * im);                                                       \
            value[1] = (T)(a * im + b * re);                                                       \
        }                                                                                          \
    }
NUMBERS(double, double, double)
NUMBERS(float, float, double)
NUMBERS(long_double, long double, long double)

static const struct numbers numbers[] = {
    [FFTND_DOUBLE] = {2 * sizeof(double), store_double, multiply_row_double},
    [FFTND_FLOAT] = {2 * sizeof(double), store_float, multiply_row_float},
    [FFTND_LONG_DOUBLE] = {2 * sizeof(long double), store_long_double, multiply_row_long_double}};

/* The factors of a piece are those of its first column times those of a piece that begins with column 0. Any factor
 * is that of the high half of an exponent times that of the low one. */
struct fftnd__twiddles {
    int batch, shift; /* array axes: of the batch or -1, and of axis 0 */
    redist_index n, rows, first, width;
    int sign, low_bits;
    long double *high, *low; /* complex */
    const struct numbers *numbers;
    char *piece; /* rows of `width` factors */
    long double roots[];
};

static void set_root(const struct fftnd__twiddles *twiddles, redist_index exponent,
                     long double root[2]) {
    const long double pi = 3.141592653589793238462643383279502884L;
    long double angle = 2 * pi * (long double)exponent / (long double)twiddles->n;
    root[0] = cosl(angle);
    root[1] = sinl(angle) * (long double)twiddles->sign;
}

static void multiply(const long double a[2], const long double b[2], long double product[2]) {
    product[0] = a[0] * b[0] - a[1] * b[1];
    product[1] = a[0] * b[1] + a[1] * b[0];
}

/* Finds the factor of an exponent below n. */
static void find_root(const struct fftnd__twiddles *twiddles, redist_index exponent,
                      long double root[2]) {
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
    char *factor = twiddles->piece;
    for (redist_index row = 0; row < twiddles->rows; row++)
        for (redist_index i = 0; i < twiddles->width; i++, factor += twiddles->numbers->bytes) {
            long double root[2];
            find_root(twiddles, row * i, root);
            twiddles->numbers->store(factor, root);
        }
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
                                       .sign = direction == REDIST_FORWARD ? -1 : 1,
                                       .numbers = &numbers[transform->precision]};
    while (twiddles.low_bits < 31 && (redist_index)1 << 2 * twiddles.low_bits < twiddles.n)
        twiddles.low_bits++;
    redist_index nhigh = (twiddles.n >> twiddles.low_bits) + 1;
    redist_index nlow = (redist_index)1 << twiddles.low_bits;
    size_t roots = 2 * (size_t)(nhigh + nlow) * sizeof(long double);
    size_t factors = (size_t)(twiddles.rows * width) * twiddles.numbers->bytes;
    struct fftnd__twiddles *own = redist_calloc(1, sizeof *own + roots + factors);
    *made = own;
    if (own == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for twiddle factors");
    *own = twiddles;
    own->high = own->roots;
    own->low = own->high + 2 * nhigh;
    own->piece = (char *)(own->low + 2 * nlow);
    fill(own, nhigh);
    return REDIST_OK;
}

void fftnd__twiddles_apply(const struct fftnd__twiddles *twiddles,
                           const struct fftnd__block *block) {
    int rows = twiddles->shift, columns = rows + 1, batch = twiddles->batch;
    redist_index fields = batch >= 0 ? block->count[batch] : 1;
    ptrdiff_t distance = batch >= 0 ? block->stride[batch] : 0;
    for (redist_index i = 0; i < block->count[rows]; i++) {
        const char *factors =
            twiddles->piece + (size_t)(i * twiddles->width) * twiddles->numbers->bytes;
        long double base[2];
        find_root(twiddles, i * (twiddles->first + block->start[columns]), base);
        for (redist_index field = 0; field < fields; field++)
            twiddles->numbers->multiply_row(
                block->memory + i * block->stride[rows] + field * distance, block->stride[columns],
                block->count[columns], factors, base);
    }
}
