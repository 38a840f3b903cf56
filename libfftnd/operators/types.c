/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of operators, as they act on a row: a function and a line of the table each. */
#include "operator.h"
#include "redist_support.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- what a row is multiplied by */

static const double zeros[FFTND__ROW];

/* Wavenumbers of a row along the axis in place `i`; `room` for those that are all the same. */
static const double *spread(const struct fftnd__row *row, const struct fftnd__symbols *along,
                            const double table[], double room[]) {
    const double *at = table + row->start[along->axis];
    if (along->axis == row->axis)
        return at;
    for (int i = 0; i < row->n; i++)
        room[i] = *at;
    return room;
}

/* The sum of squares along all axes but that of the row; *k is the numbers along that one. */
static double square(const struct fftnd__operator *op, const struct fftnd__row *row, int odd,
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

/* In place apart from the other case: the compiler knows more about either. */
static void multiply(int n, const double symbol[], const double in[], double out[]) {
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

FFTND__SYMBOL_OF_SQUARE(symbol_of, double)

#define FUNCTION_OF_SQUARE(name, kind)                                                             \
    static int name(const struct fftnd__operator *op, const struct fftnd__row *row) {              \
        double symbol[FFTND__ROW];                                                                 \
        const double *k, base = square(op, row, 0, &k), scale = op->after;                         \
        for (int i = 0; i < row->n; i++)                                                           \
            symbol[i] = scale * symbol_of(kind, base + k[i] * k[i], &op->constants);               \
        multiply(row->n, symbol, row->in[0], row->out[0]);                                         \
        return REDIST_OK;                                                                          \
    }
FUNCTION_OF_SQUARE(laplacian, FFTND__LAPLACIAN)
FUNCTION_OF_SQUARE(helmholtz, FFTND__HELMHOLTZ)
FUNCTION_OF_SQUARE(biharmonic, FFTND__BIHARMONIC)
FUNCTION_OF_SQUARE(shell, FFTND__SHELL)

/* In loops without branches, which the compiler vectorizes; where the divisor is 0, 1 takes its place. */
static void invert(int n, double numerator, double zero, const double divisor[], double symbol[]) {
    for (int i = 0; i < n; i++)
        symbol[i] = fabs(divisor[i]) > 0 ? divisor[i] : 1;
    for (int i = 0; i < n; i++)
        symbol[i] = numerator / symbol[i];
    for (int i = 0; i < n; i++)
        symbol[i] = fabs(divisor[i]) > 0 ? symbol[i] : zero;
}

#define INVERSE_OF_SQUARE(name, kind)                                                              \
    static int name(const struct fftnd__operator *op, const struct fftnd__row *row) {              \
        double divisor[FFTND__ROW], symbol[FFTND__ROW];                                            \
        const double *k, base = square(op, row, 0, &k);                                            \
        for (int i = 0; i < row->n; i++)                                                           \
            divisor[i] = symbol_of(kind, base + k[i] * k[i], &op->constants);                      \
        invert(row->n, op->after, op->constants.zero_mode * op->after, divisor, symbol);           \
        multiply(row->n, symbol, row->in[0], row->out[0]);                                         \
        return REDIST_OK;                                                                          \
    }
INVERSE_OF_SQUARE(inverse_laplacian, FFTND__LAPLACIAN)
INVERSE_OF_SQUARE(inverse_helmholtz, FFTND__HELMHOLTZ)
INVERSE_OF_SQUARE(inverse_biharmonic, FFTND__BIHARMONIC)

/* ---------------------------------------------------------------- products of a table for each axis */

static void multiply_complex(const double a[2], const double b[2], double product[2]) {
    double re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
    product[0] = re;
    product[1] = im;
}

static int product(const struct fftnd__operator *op, const struct fftnd__row *row) {
    double factor[2] = {op->after, 0}, both[2];
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
    for (int i = 0; i < row->n; i++) {
        const double *symbol = factor;
        if (along_row != NULL) {
            multiply_complex(factor, along_row + 2 * i, both);
            symbol = both;
        }
        multiply_complex(row->in[0] + 2 * i, symbol, row->out[0] + 2 * i);
    }
    return REDIST_OK;
}

/* ---------------------------------------------------------------- vectors */

/* out = factor i k in, or that is added. */
static void differentiate(int n, const double k[], double factor, const double *restrict in,
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

/* The derivative of a field along the axis in place `a`. */
static void add_derivative(const struct fftnd__operator *op, const struct fftnd__row *row, int a,
                           double sign, int field, int output, int adds) {
    double room[FFTND__ROW];
    const struct fftnd__symbols *along = &op->symbols[a];
    differentiate(row->n, spread(row, along, along->odd, room), sign * op->after, row->in[field],
                  row->out[output], adds);
}

/* Gradient, divergence, and curl. */
static int derivatives(const struct fftnd__operator *op, const struct fftnd__row *row) {
    for (int out = 0; out < op->outputs; out++)
        for (int in = 0, adds = 0; in < op->inputs; in++) {
            int sign, a = fftnd__derivative_of((int)op->kind, op->naxes, out, in, &sign);
            if (a >= 0)
                add_derivative(op, row, a, sign, in, out, adds++);
        }
    return REDIST_OK;
}

/* u - k (k . u) / |k|^2 */
static int leray(const struct fftnd__operator *op, const struct fftnd__row *row) {
    double along_k[2 * FFTND__ROW] = {0}, room[FFTND__ROW];
    const double *along_row, base = square(op, row, 1, &along_row);
    for (int a = 0; a < op->naxes; a++) {
        const double *k = spread(row, &op->symbols[a], op->symbols[a].odd, room);
        for (int i = 0; i < row->n; i++) {
            along_k[2 * i] += k[i] * row->in[a][2 * i];
            along_k[2 * i + 1] += k[i] * row->in[a][2 * i + 1];
        }
    }
    for (int i = 0; i < row->n; i++) {
        double q = base + along_row[i] * along_row[i], inverse = q > 0 ? 1 / q : 0;
        along_k[2 * i] *= inverse;
        along_k[2 * i + 1] *= inverse;
    }
    for (int a = 0; a < op->naxes; a++) {
        const double *k = spread(row, &op->symbols[a], op->symbols[a].odd, room);
        const double *in = row->in[a];
        double *out = row->out[a];
        for (int i = 0; i < 2 * row->n; i++)
            out[i] = op->after * (in[i] - k[i / 2] * along_k[i]);
    }
    return REDIST_OK;
}

/* ---------------------------------------------------------------- the user's functions */

static int call(const struct fftnd__operator *op, const struct fftnd__row *row) {
    redist_index start[REDIST_MAX_NDIMS] = {0};
    const double *k[REDIST_MAX_NDIMS] = {0}, *odd[REDIST_MAX_NDIMS] = {0};
    double *room = row->spare;
    fftnd_row own = {sizeof own,
                     row->n,
                     op->user_ndims,
                     op->user_axis[row->axis],
                     op->numbers,
                     op->inputs,
                     op->outputs,
                     start,
                     NULL,
                     NULL,
                     (const double *const *)row->in,
                     row->out};
    for (int i = 0; i < op->user_ndims; i++)
        start[op->user_axis[i]] = row->start[i];
    for (int a = 0; a < op->naxes && op->kind == FFTND_MODES; a++, room += 2 * FFTND__ROW) {
        const struct fftnd__symbols *along = &op->symbols[a];
        k[along->user] = spread(row, along, along->k, room);
        odd[along->user] = spread(row, along, along->odd, room + FFTND__ROW);
    }
    own.k = op->kind == FFTND_MODES ? k : NULL;
    own.odd = op->kind == FFTND_MODES ? odd : NULL;
    int result = op->function(op->data, &own);
    if (result == 0)
        return REDIST_OK;
    return redist_fail_in(
        op->kind == FFTND_MODES ? "fftnd_apply" : "fftnd_apply_physical", REDIST_ERR_ARGUMENT,
        "options->function of the operator returned %d for %d elements", result, row->n);
}

size_t fftnd__operator_spare(const struct fftnd__operator *op) {
    return op->kind == FFTND_MODES ? 2 * (size_t)op->naxes * FFTND__ROW : 0;
}

/* ---------------------------------------------------------------- the table */

#define ANY 0, REDIST_MAX_NDIMS
static const struct fftnd__operator_type types[] = {
    [FFTND_DERIVATIVE] = {"derivative", 1, 1, 0, ANY, 0, 1, product},
    [FFTND_GRADIENT] = {"gradient", 1, 0, 1, ANY, 0, 0, derivatives},
    [FFTND_DIVERGENCE] = {"divergence", 0, 1, 1, ANY, 0, 0, derivatives},
    [FFTND_CURL] = {"curl", 0, 0, 1, 2, 3, 0, 0, derivatives},
    [FFTND_LERAY] = {"leray", 0, 0, 1, ANY, 0, 1, leray},
    [FFTND_LAPLACIAN] = {"laplacian", 1, 1, 0, ANY, 0, 1, laplacian},
    [FFTND_INVERSE_LAPLACIAN] = {"inverse-laplacian", 1, 1, 0, ANY, 0, 1, inverse_laplacian},
    [FFTND_HELMHOLTZ] = {"helmholtz", 1, 1, 0, ANY, 0, 1, helmholtz},
    [FFTND_INVERSE_HELMHOLTZ] = {"inverse-helmholtz", 1, 1, 0, ANY, 0, 1, inverse_helmholtz},
    [FFTND_BIHARMONIC] = {"biharmonic", 1, 1, 0, ANY, 0, 1, biharmonic},
    [FFTND_INVERSE_BIHARMONIC] = {"inverse-biharmonic", 1, 1, 0, ANY, 0, 1, inverse_biharmonic},
    [FFTND_SHELL] = {"shell", 1, 1, 0, ANY, 0, 1, shell},
    [FFTND_SHIFT] = {"shift", 1, 1, 0, ANY, 0, 1, product},
    [FFTND_SYMBOLS] = {"symbols", 1, 1, 0, ANY, 0, 1, product},
    [FFTND_MODES] = {"modes", 1, 1, 0, ANY, 1, 0, call},
    [FFTND_POINTS] = {"points", 1, 1, 0, ANY, 1, 0, call}};

_Static_assert((int)FFTND__DERIVATIVE == FFTND_DERIVATIVE && (int)FFTND__LERAY == FFTND_LERAY &&
                   (int)FFTND__LAPLACIAN == FFTND_LAPLACIAN && (int)FFTND__SYMBOLS == FFTND_SYMBOLS,
               "kernels have the numbers of the kinds");

const struct fftnd__operator_type *fftnd__operator_type_of(enum fftnd_operator_kind kind) {
    return (int)kind >= 0 && (size_t)kind < sizeof types / sizeof *types ? &types[kind] : NULL;
}
