/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators on modes: formulas that rows on the host share with kernels of devices, and a box of modes one element at a
 * time, for these kernels and for long double on the host.
 */
#ifndef LINES__OPERATION_H
#define LINES__OPERATION_H

#include "modes.h"

#include <math.h>

/* Values of enum fftnd_operator_kind, as kernels cannot include fftnd_operators.h, which includes mpi.h. */
enum {
    LINES__DERIVATIVE,
    LINES__GRADIENT,
    LINES__DIVERGENCE,
    LINES__CURL,
    LINES__LERAY,
    LINES__LAPLACIAN,
    LINES__INVERSE_LAPLACIAN,
    LINES__HELMHOLTZ,
    LINES__INVERSE_HELMHOLTZ,
    LINES__BIHARMONIC,
    LINES__INVERSE_BIHARMONIC,
    LINES__SHELL,
    LINES__SHIFT,
    LINES__SYMBOLS
};

struct lines__constants {
    double zero_mode, coefficient, shell[2];
};

/* Defines the part of a symbol that is a function of q = |k|^2, in numbers of type C: 1 for kinds without one. */
#define LINES__SYMBOL_OF_SQUARE(name, C)                                                           \
    static inline LINES__ON_DEVICE C name(int kind, C q,                                           \
                                          const struct lines__constants *constants) {              \
        C difference = (C)constants->coefficient - q, root;                                        \
        switch (kind) {                                                                            \
        case LINES__LAPLACIAN:                                                                     \
            return -q;                                                                             \
        case LINES__INVERSE_LAPLACIAN:                                                             \
            return q > 0 ? -1 / q : (C)constants->zero_mode;                                       \
        case LINES__HELMHOLTZ:                                                                     \
            return difference;                                                                     \
        case LINES__INVERSE_HELMHOLTZ:                                                             \
            return difference < 0 || difference > 0 ? 1 / difference : (C)constants->zero_mode;    \
        case LINES__BIHARMONIC:                                                                    \
            return q * q;                                                                          \
        case LINES__INVERSE_BIHARMONIC:                                                            \
            return q > 0 ? 1 / (q * q) : (C)constants->zero_mode;                                  \
        case LINES__SHELL:                                                                         \
            root = (C)sqrt((double)q);                                                             \
            return root >= (C)constants->shell[0] && root < (C)constants->shell[1] ? (C)1 : (C)0;  \
        default:                                                                                   \
            return 1;                                                                              \
        }                                                                                          \
    }

/* Place, among the axes that take part, of the one along which output `out` is a derivative of input `in`; -1 = none.
 * *sign is its sign. The curl of two components is the one along the missing axis. */
static inline LINES__ON_DEVICE int lines__derivative_of(int kind, int naxes, int out, int in,
                                                        int *sign) {
    int from = naxes == 2 ? 2 : out; /* of a curl: the axis of the result */
    *sign = kind == LINES__CURL && in == (from + 1) % 3 ? -1 : 1;
    if (kind != LINES__CURL)
        return kind == LINES__GRADIENT ? out : in;
    return in == from ? -1 : 3 - from - in;
}

/* An axis of a box of modes. */
struct lines__operation_axis {
    redist_index count;
    ptrdiff_t in, out;    /* bytes between neighbours */
    ptrdiff_t multiplier; /* bytes between neighbours of the table of all modes */
    int place;            /* among the axes that take part */
    const void *k, *odd,
        *factor; /* of the first element; NULL = the axis takes no part, or the operator needs none */
};

/* An operator on a box of modes of all fields. Arrays and tables are in the space of the modes. */
struct lines__operation {
    int kind, inputs, outputs, naxes;
    struct lines__constants constants;
    double scale[2];     /* the result is multiplied by their sum */
    size_t number_bytes; /* of the modes */
    int numbers;         /* of an element: 1 = real, 2 = complex */
    const char *in;
    char *out;
    ptrdiff_t in_field, out_field; /* bytes from a field to the next one */
    const char *multiplier;        /* the factor of the first mode; NULL = none */
    int multiplier_numbers;        /* of a factor: 1 = real, 2 = complex; of the type of tables */
    int ndims;
    struct lines__operation_axis axes[REDIST_MAX_NDIMS];
};

/* Nonzero if outputs combine several inputs, zero if one field is multiplied. */
static inline LINES__ON_DEVICE int lines__combines(int kind) {
    return kind >= LINES__GRADIENT && kind <= LINES__LERAY;
}

/* Alignment by which devices move an element in one access. */
#ifdef __CUDACC__
#define LINES__ALIGNED(bytes) __attribute__((aligned(bytes)))
#else
#define LINES__ALIGNED(bytes)
#endif

/* Defines what an operator does with element `at` of a line of a box, which name##_find has found; modes are numbers of
 * type T, tables of type C. */
#define LINES__OPERATE_ELEMENT(name, T, C)                                                                              \
    LINES__SYMBOL_OF_SQUARE(name##_of_square, C)                                                                        \
    typedef struct {                                                                                                    \
        T re, im;                                                                                                       \
    } LINES__ALIGNED(2 * sizeof(T)) name##_pair;                                                                        \
    struct name##_mode {                                                                                                \
        const char *in;                                                                                                 \
        char *out;                                                                                                      \
        C square, odd_square, factor[2];                                                                                \
        ptrdiff_t multiplier;                                                                                           \
    };                                                                                                                  \
    /* Sums and products of elements whose indices along some axes are known. */                                        \
    static inline LINES__ON_DEVICE void name##_begin(const struct lines__operation *op,                                 \
                                                     struct name##_mode *mode) {                                        \
        mode->in = op->in;                                                                                              \
        mode->out = op->out;                                                                                            \
        mode->multiplier = 0;                                                                                           \
        mode->square = mode->odd_square = mode->factor[1] = 0;                                                          \
        mode->factor[0] = (C)op->scale[0] + (C)op->scale[1];                                                            \
    }                                                                                                                   \
    static inline LINES__ON_DEVICE void name##_place(const struct lines__operation_axis *axis,                          \
                                                     redist_index at, struct name##_mode *mode,                         \
                                                     C odd[]) {                                                         \
        mode->in += (ptrdiff_t)at * axis->in;                                                                           \
        mode->out += (ptrdiff_t)at * axis->out;                                                                         \
        mode->multiplier += (ptrdiff_t)at * axis->multiplier;                                                           \
        if (axis->k != NULL) {                                                                                          \
            C k = ((const C *)axis->k)[at];                                                                             \
            mode->square += k * k;                                                                                      \
        }                                                                                                               \
        if (axis->odd != NULL && odd != NULL) {                                                                         \
            C k = odd[axis->place] = ((const C *)axis->odd)[at];                                                        \
            mode->odd_square += k * k;                                                                                  \
        }                                                                                                               \
        if (axis->factor != NULL) {                                                                                     \
            const C *by = (const C *)axis->factor + 2 * at;                                                             \
            C re = mode->factor[0] * by[0] - mode->factor[1] * by[1];                                                   \
            mode->factor[1] = mode->factor[0] * by[1] + mode->factor[1] * by[0];                                        \
            mode->factor[0] = re;                                                                                       \
        }                                                                                                               \
    }                                                                                                                   \
    /* Line `i`, of those along the last axis. `odd` is for the wavenumbers of an operator that combines, else NULL. */ \
    static inline LINES__ON_DEVICE void name##_find(                                                                    \
        const struct lines__operation *op, redist_index i, struct name##_mode *mode, C odd[]) {                         \
        name##_begin(op, mode);                                                                                         \
        for (int d = op->ndims - 2; d >= 0; i /= op->axes[d--].count)                                                   \
            name##_place(&op->axes[d], i % op->axes[d].count, mode, odd);                                               \
    }                                                                                                                   \
    static inline LINES__ON_DEVICE void name##_load(const struct lines__operation *op,                                  \
                                                    const char *at, C value[2]) {                                       \
        if (op->numbers == 2) {                                                                                         \
            name##_pair pair = *(const name##_pair *)(const void *)at;                                                  \
            value[0] = (C)pair.re;                                                                                      \
            value[1] = (C)pair.im;                                                                                      \
        } else {                                                                                                        \
            value[0] = (C) * (const T *)(const void *)at;                                                               \
            value[1] = 0;                                                                                               \
        }                                                                                                               \
    }                                                                                                                   \
    static inline LINES__ON_DEVICE void name##_store(const struct lines__operation *op, char *at,                       \
                                                     C re, C im) {                                                      \
        name##_pair pair = {(T)re, (T)im};                                                                              \
        if (op->numbers == 2)                                                                                           \
            *(name##_pair *)(void *)at = pair;                                                                          \
        else                                                                                                            \
            *(T *)(void *)at = pair.re;                                                                                 \
    }                                                                                                                   \
    /* The symbol of a mode, all of whose indices are known. */                                                         \
    static inline LINES__ON_DEVICE void name##_symbol(const struct lines__operation *op,                                \
                                                      const struct name##_mode *mode, C by[2]) {                        \
        by[0] = mode->factor[0];                                                                                        \
        by[1] = mode->factor[1];                                                                                        \
        by[0] *= name##_of_square(op->kind, mode->square, &op->constants);                                              \
        if (op->multiplier != NULL) {                                                                                   \
            const C *table = (const C *)(const void *)(op->multiplier + mode->multiplier);                              \
            by[1] = op->multiplier_numbers == 2 ? by[0] * table[1] : 0;                                                 \
            by[0] *= table[0];                                                                                          \
        }                                                                                                               \
    }                                                                                                                   \
    static inline LINES__ON_DEVICE void name##_multiply(const struct lines__operation *op,                              \
                                                        const struct name##_mode *line,                                 \
                                                        redist_index at, C odd[]) {                                     \
        struct name##_mode mode = *line;                                                                                \
        C value[2], by[2];                                                                                              \
        name##_place(&op->axes[op->ndims - 1], at, &mode, odd);                                                         \
        name##_load(op, mode.in, value);                                                                                \
        name##_symbol(op, &mode, by);                                                                                   \
        name##_store(op, mode.out, by[0] * value[0] - by[1] * value[1],                                                 \
                     by[0] * value[1] + by[1] * value[0]);                                                              \
    }                                                                                                                   \
    static inline LINES__ON_DEVICE void name##_combine(const struct lines__operation *op,                               \
                                                       const struct name##_mode *line,                                  \
                                                       redist_index at, C odd[]) {                                      \
        struct name##_mode mode = *line;                                                                                \
        C values[REDIST_MAX_NDIMS][2], along[2] = {0, 0};                                                               \
        name##_place(&op->axes[op->ndims - 1], at, &mode, odd);                                                         \
        for (int f = 0; f < op->inputs; f++) {                                                                          \
            name##_load(op, mode.in + f * op->in_field, values[f]);                                                     \
            for (int j = 0; j < 2 && mode.odd_square > 0 && op->kind == LINES__LERAY; j++)                              \
                along[j] += odd[f] * values[f][j] / mode.odd_square;                                                    \
        }                                                                                                               \
        for (int o = 0; o < op->outputs; o++) {                                                                         \
            C sum[2] = {0, 0};                                                                                          \
            for (int j = 0; j < 2 && op->kind == LINES__LERAY; j++)                                                     \
                sum[j] = values[o][j] - odd[o] * along[j];                                                              \
            for (int f = 0; f < op->inputs && op->kind != LINES__LERAY; f++) {                                          \
                int sign, axis = lines__derivative_of(op->kind, op->naxes, o, f, &sign);                                \
                C k = axis >= 0 ? (C)sign * odd[axis] : 0;                                                              \
                sum[0] -= k * values[f][1];                                                                             \
                sum[1] += k * values[f][0];                                                                             \
            }                                                                                                           \
            name##_store(op, mode.out + o * op->out_field, mode.factor[0] * sum[0],                                     \
                         mode.factor[0] * sum[1]);                                                                      \
        }                                                                                                               \
    }

/* Applies it to all elements in memory of the host. */
void lines__operate(const struct lines__operation *op);

#endif
