/* SPDX-License-Identifier: BSD-3-Clause */
/* An operator on a box of modes in memory of the host, whatever their numbers are. */
#include "symbol.h"

typedef void operate_element(const struct fftnd__operation *op, redist_index i);

FFTND__OPERATE_ELEMENT(float, float, double)
FFTND__OPERATE_ELEMENT(double, double, double)
FFTND__OPERATE_ELEMENT(long_double, long double, long double)

void fftnd__operate(const struct fftnd__operation *op) {
    operate_element *const elements[][2] = {{float_multiply, float_combine},
                                            {double_multiply, double_combine},
                                            {long_double_multiply, long_double_combine}};
    int type = op->number_bytes == sizeof(float) ? 0 : op->number_bytes == sizeof(double) ? 1 : 2;
    operate_element *run = elements[type][fftnd__combines(op->kind)];
    redist_index n = 1;
    for (int d = 0; d < op->ndims; d++)
        n *= op->axes[d].count;
    for (redist_index i = 0; i < n; i++)
        run(op, i);
}
