/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators of the library on a row of modes, for the files of the kinds of registers, which define
 *
 *     NAME(name)  the name of a function of this kind
 *     TARGET      the attribute of functions that use the registers
 *
 * The compiler makes vector code of these loops.
 */
#include "multiplier.h"
#include "redist_support.h"
#include "rows.h"

#include <math.h>

/* ---------------------------------------------------------------- symbols of a row */

static const double zeros[FFTND__ROW];

/* Sums the squares along all axes except that of the row, along which *k are the numbers. */
TARGET static double square(const struct fftnd__operator *op, const struct fftnd__row *row, int odd,
                            const double **k) {
    double sum = 0;
    *k = zeros;
    for (int a = 0; a < op->naxes; a++) {
        const struct fftnd__symbols *along = &op->symbols[a];
        const double *at = (odd ? along->odd : along->k) + row->start[along->axis];
        if (along->axis == row->axis)
            *k = at;
        else
            sum += *at * *at;
    }
    return sum;
}

/* Multiplies a row; in place apart, since the compiler knows more about either case. */
TARGET static void multiply(int n, const double symbol[], const double in[], double out[]) {
    if (in == out)
        for (int i = 0; i < n; i++) {
            out[2 * i] *= symbol[i];
            out[2 * i + 1] *= symbol[i];
        }
    else
        for (int i = 0; i < n; i++) {
            out[2 * i] = symbol[i] * in[2 * i];
            out[2 * i + 1] = symbol[i] * in[2 * i + 1];
        }
}

/* ---------------------------------------------------------------- functions of |k|^2 */

LINES__SYMBOL_OF_SQUARE(symbol_of, double)

#define FUNCTION_OF_SQUARE(name, kind)                                                             \
    TARGET static int name(const struct fftnd__operator *op, const struct fftnd__row *row) {       \
        double symbol[FFTND__ROW];                                                                 \
        const double *k, base = square(op, row, 0, &k), scale = op->after;                         \
        for (int i = 0; i < row->n; i++)                                                           \
            symbol[i] = scale * symbol_of(kind, base + k[i] * k[i], &op->constants);               \
        multiply(row->n, symbol, row->in[0], row->out[0]);                                         \
        return REDIST_OK;                                                                          \
    }
FUNCTION_OF_SQUARE(laplacian, LINES__LAPLACIAN)
FUNCTION_OF_SQUARE(helmholtz, LINES__HELMHOLTZ)
FUNCTION_OF_SQUARE(biharmonic, LINES__BIHARMONIC)
FUNCTION_OF_SQUARE(shell, LINES__SHELL)

/* Divides in loops without branches, which the compiler vectorizes; 1 replaces divisors of 0. */
TARGET static void invert(int n, double numerator, double zero, const double divisor[],
                          double symbol[]) {
    for (int i = 0; i < n; i++)
        symbol[i] = fabs(divisor[i]) > 0 ? divisor[i] : 1;
    for (int i = 0; i < n; i++)
        symbol[i] = numerator / symbol[i];
    for (int i = 0; i < n; i++)
        symbol[i] = fabs(divisor[i]) > 0 ? symbol[i] : zero;
}

#define INVERSE_OF_SQUARE(name, kind)                                                              \
    TARGET static int name(const struct fftnd__operator *op, const struct fftnd__row *row) {       \
        double divisor[FFTND__ROW], symbol[FFTND__ROW];                                            \
        const double *k, base = square(op, row, 0, &k);                                            \
        for (int i = 0; i < row->n; i++)                                                           \
            divisor[i] = symbol_of(kind, base + k[i] * k[i], &op->constants);                      \
        invert(row->n, op->after, op->constants.zero_mode * op->after, divisor, symbol);           \
        multiply(row->n, symbol, row->in[0], row->out[0]);                                         \
        return REDIST_OK;                                                                          \
    }
INVERSE_OF_SQUARE(inverse_laplacian, LINES__LAPLACIAN)
INVERSE_OF_SQUARE(inverse_helmholtz, LINES__HELMHOLTZ)
INVERSE_OF_SQUARE(inverse_biharmonic, LINES__BIHARMONIC)

/* ---------------------------------------------------------------- products of a table for each axis */

TARGET static void multiply_complex(const double a[2], const double b[2], double product[2]) {
    double re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
    product[0] = re;
    product[1] = im;
}

/* As `multiply`, by complex symbols. */
TARGET static void multiply_by_complex(int n, const double symbol[], const double in[],
                                       double out[]) {
    if (in == out)
        for (int i = 0; i < n; i++)
            multiply_complex(out + 2 * i, symbol + 2 * i, out + 2 * i);
    else
        for (int i = 0; i < n; i++)
            multiply_complex(in + 2 * i, symbol + 2 * i, out + 2 * i);
}

TARGET static int product(const struct fftnd__operator *op, const struct fftnd__row *row) {
    static const double one[2] = {1, 0};
    double factor[2] = {op->after, 0}, symbol[2 * FFTND__ROW];
    const double *along_row = NULL;
    for (int a = 0; a < op->naxes; a++) {
        const struct fftnd__symbols *along = &op->symbols[a];
        const double *at =
            along->factor != NULL ? along->factor + 2 * row->start[along->axis] : NULL;
        if (along->axis == row->axis)
            along_row = at;
        else if (at != NULL)
            multiply_complex(factor, at, factor);
    }
    for (int i = 0; i < row->n; i++)
        multiply_complex(factor, along_row != NULL ? along_row + 2 * i : one, symbol + 2 * i);
    multiply_by_complex(row->n, symbol, row->in[0], row->out[0]);
    return REDIST_OK;
}

/* A factor for each mode. */
TARGET static int by_multiplier(const struct fftnd__operator *op, const struct fftnd__row *row) {
    double room[2 * FFTND__ROW];
    const double *symbol = fftnd__multiplier_row(op, row, room);
    (op->multiplier.numbers == 1 ? multiply : multiply_by_complex)(row->n, symbol, row->in[0],
                                                                   row->out[0]);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- vectors */

/* Sets out = factor i k in, or adds it. */
TARGET static void differentiate(int n, const double k[], double factor, const double *restrict in,
                                 double *restrict out, int adds) {
    if (adds)
        for (int i = 0; i < n; i++) {
            double symbol = factor * k[i];
            out[2 * i] -= symbol * in[2 * i + 1];
            out[2 * i + 1] += symbol * in[2 * i];
        }
    else
        for (int i = 0; i < n; i++) {
            double symbol = factor * k[i];
            out[2 * i] = -symbol * in[2 * i + 1];
            out[2 * i + 1] = symbol * in[2 * i];
        }
}

/* Sets an output to the derivative of a field along axis number `a`, or adds it. */
TARGET static void add_derivative(const struct fftnd__operator *op, const struct fftnd__row *row,
                                  int a, double sign, int field, int output, int adds) {
    double room[FFTND__ROW];
    const struct fftnd__symbols *along = &op->symbols[a];
    differentiate(row->n, fftnd__spread(row, along, along->odd, room), sign * op->after,
                  row->in[field], row->out[output], adds);
}

/* Gradient, divergence, and curl. */
TARGET static int derivatives(const struct fftnd__operator *op, const struct fftnd__row *row) {
    for (int out = 0; out < op->outputs; out++)
        for (int in = 0, adds = 0; in < op->inputs; in++) {
            int sign, a = lines__derivative_of((int)op->kind, op->naxes, out, in, &sign);
            if (a >= 0)
                add_derivative(op, row, a, sign, in, out, adds++);
        }
    return REDIST_OK;
}

/* u - k (k . u) / |k|^2 */
TARGET static int leray(const struct fftnd__operator *op, const struct fftnd__row *row) {
    double along_k[2 * FFTND__ROW] = {0}, room[FFTND__ROW], inverse[FFTND__ROW];
    const double *along_row, base = square(op, row, 1, &along_row);
    for (int a = 0; a < op->naxes; a++) {
        const double *k = fftnd__spread(row, &op->symbols[a], op->symbols[a].odd, room);
        for (int i = 0; i < row->n; i++) {
            along_k[2 * i] += k[i] * row->in[a][2 * i];
            along_k[2 * i + 1] += k[i] * row->in[a][2 * i + 1];
        }
    }
    for (int i = 0; i < row->n; i++)
        room[i] = base + along_row[i] * along_row[i];
    invert(row->n, 1, 0, room, inverse);
    for (int i = 0; i < 2 * row->n; i++)
        along_k[i] *= inverse[i / 2];
    for (int a = 0; a < op->naxes; a++) {
        const double *k = fftnd__spread(row, &op->symbols[a], op->symbols[a].odd, room);
        const double *in = row->in[a];
        double *out = row->out[a];
        for (int i = 0; i < 2 * row->n; i++)
            out[i] = op->after * (in[i] - k[i / 2] * along_k[i]);
    }
    return REDIST_OK;
}

/* ---------------------------------------------------------------- the table */

static fftnd__run_row *const NAME(run)[] = {[FFTND_DERIVATIVE] = product,
                                            [FFTND_GRADIENT] = derivatives,
                                            [FFTND_DIVERGENCE] = derivatives,
                                            [FFTND_CURL] = derivatives,
                                            [FFTND_LERAY] = leray,
                                            [FFTND_LAPLACIAN] = laplacian,
                                            [FFTND_INVERSE_LAPLACIAN] = inverse_laplacian,
                                            [FFTND_HELMHOLTZ] = helmholtz,
                                            [FFTND_INVERSE_HELMHOLTZ] = inverse_helmholtz,
                                            [FFTND_BIHARMONIC] = biharmonic,
                                            [FFTND_INVERSE_BIHARMONIC] = inverse_biharmonic,
                                            [FFTND_SHELL] = shell,
                                            [FFTND_SHIFT] = product,
                                            [FFTND_SYMBOLS] = product,
                                            [FFTND_MULTIPLY] = by_multiplier,
                                            [FFTND_OPEN_POISSON] = by_multiplier};
