/* SPDX-License-Identifier: BSD-3-Clause */
#include "r2r_rows.h"

LINES__R2R_ELEMENTS(double, double)
LINES__R2R_ELEMENTS(float, float)

typedef void do_element(const struct lines__r2r_lines *lines, redist_index line,
                        redist_index index);

void r2r_move_lines(const struct lines__r2r_lines *lines, int after) {
    static do_element *const elements[][2] = {{float_before, float_after},
                                              {double_before, double_after}};
    do_element *element = elements[lines->number_bytes == sizeof(double)][after];
    redist_index n = after ? lines->filled : lines->length;
    for (redist_index line = 0; line < lines->count; line++)
        for (redist_index i = 0; i < n; i++)
            element(lines, line, i);
}
