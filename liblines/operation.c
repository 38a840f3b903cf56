/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators on boxes of modes in memory of the host, in all precisions. */
#include "operation.h"

typedef void operate_line(const struct lines__operation *op, redist_index line);

#define LINES(name, run, C, odd)                                                                   \
    static void name##_##run##_line(const struct lines__operation *op, redist_index line) {        \
        C room[REDIST_MAX_NDIMS];                                                                  \
        struct name##_mode mode;                                                                   \
        (void)room;                                                                                \
        name##_find(op, line, &mode, odd);                                                         \
        for (redist_index at = 0; at < op->axes[op->ndims - 1].count; at++)                        \
            name##_##run(op, &mode, at, odd);                                                      \
    }
#define BOTH(name, T, C)                                                                           \
    LINES__OPERATE_ELEMENT(name, T, C)                                                             \
    LINES(name, multiply, C, NULL)                                                                 \
    LINES(name, combine, C, room)
BOTH(float, float, double)
BOTH(double, double, double)
BOTH(long_double, long double, long double)

void lines__operate(const struct lines__operation *op) {
    operate_line *const lines[][2] = {{float_multiply_line, float_combine_line},
                                      {double_multiply_line, double_combine_line},
                                      {long_double_multiply_line, long_double_combine_line}};
    int type = op->number_bytes == sizeof(float) ? 0 : op->number_bytes == sizeof(double) ? 1 : 2;
    operate_line *run = lines[type][lines__combines(op->kind)];
    redist_index n = 1;
    for (int d = 0; d < op->ndims - 1; d++)
        n *= op->axes[d].count;
    for (redist_index line = 0; line < n; line++)
        run(op, line);
}
