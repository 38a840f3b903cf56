/* SPDX-License-Identifier: BSD-3-Clause */
/* Processors without streaming stores that we know how to ask for: ordinary copies. */
#include "../geometry/box.h"

#include <string.h>

void redist__stream_rows(char *destination, ptrdiff_t destination_stride, const char *source,
                         ptrdiff_t source_stride, size_t rows, size_t run) {
    for (size_t row = 0; row < rows; row++)
        memcpy(destination + (ptrdiff_t)row * destination_stride,
               source + (ptrdiff_t)row * source_stride, run);
}

void redist__fetch_rows(char *destination, ptrdiff_t destination_stride, const char *source,
                        ptrdiff_t source_stride, size_t rows, size_t run) {
    redist__stream_rows(destination, destination_stride, source, source_stride, rows, run);
}

void redist__stream_fence(void) {
}
