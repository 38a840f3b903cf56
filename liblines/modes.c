/* SPDX-License-Identifier: BSD-3-Clause */
#include "modes.h"

#include <string.h>

/* Changes `n` elements along an axis. */
typedef void change_line(const struct lines__modes *modes, int axis, char *at, char *partner,
                         redist_index n);

#define LINES(name, T)                                                                             \
    LINES__CHANGE_ELEMENT(change_##name, T)                                                        \
    static void change_line_##name(const struct lines__modes *modes, int axis, char *at,           \
                                   char *partner, redist_index n) {                                \
        for (redist_index i = 0; i < n; i++) {                                                     \
            change_##name(modes->change, (T *)(void *)at, (T *)(void *)partner, modes->numbers,    \
                          (T)modes->factor);                                                       \
            at += modes->stride[axis];                                                             \
            partner += modes->partner_stride[axis];                                                \
        }                                                                                          \
    }
LINES(double, double)
LINES(float, float)
LINES(long_double, long double)

static change_line *line_of(size_t number_bytes) {
    return number_bytes == sizeof(float)    ? change_line_float
           : number_bytes == sizeof(double) ? change_line_double
                                            : change_line_long_double;
}

/* Changes a line; clearing a contiguous one is one call. */
static void change_whole_line(const struct lines__modes *modes, int axis, char *at, char *partner) {
    size_t item = modes->number_bytes * (size_t)modes->numbers;
    redist_index n = modes->count[axis];
    if (modes->change == LINES__CLEAR && modes->stride[axis] == (ptrdiff_t)item)
        memset(at, 0, item * (size_t)n);
    else
        line_of(modes->number_bytes)(modes, axis, at, partner, n);
}

/* Changes each line along the last axis of more than one element. */
static void change_lines(const struct lines__modes *modes, int axis, int ndims, char *at,
                         char *partner) {
    while (ndims - axis > 1 && modes->count[ndims - 1] == 1)
        ndims--;
    if (ndims - axis == 1)
        change_whole_line(modes, axis, at, partner);
    for (redist_index i = 0; ndims - axis > 1 && i < modes->count[axis]; i++)
        change_lines(modes, axis + 1, ndims, at + (ptrdiff_t)i * modes->stride[axis],
                     partner + (ptrdiff_t)i * modes->partner_stride[axis]);
}

void lines__change_modes(const struct lines__modes *modes) {
    change_lines(modes, 0, modes->ndims, modes->memory, modes->memory + modes->partner);
}
