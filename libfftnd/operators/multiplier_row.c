/* SPDX-License-Identifier: BSD-3-Clause */
/* The factors of a row of modes, which the loops over rows call. */
#include "multiplier.h"

#define SPREAD(T)                                                                                  \
    static void spread_##T(const char *at, ptrdiff_t stride, int n, int numbers, double scale,     \
                           double symbol[]) {                                                      \
        for (int i = 0; i < n; i++, at += stride)                                                  \
            for (int j = 0; j < numbers; j++)                                                      \
                symbol[numbers * i + j] = scale * (double)((const T *)(const void *)at)[j];        \
    }
SPREAD(double)
SPREAD(float)

void fftnd__multiplier_row(const struct fftnd__operator *op, const struct fftnd__row *row,
                           double symbol[]) {
    const struct fftnd__multiplier *multiplier = &op->multiplier;
    const char *at = fftnd__factor_at(multiplier, row->start);
    (multiplier->number_bytes == sizeof(float) ? spread_float : spread_double)(
        at, multiplier->stride[row->axis], row->n, multiplier->numbers, op->after, symbol);
}
