/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the loop nest of a copy. */
#include "../geometry/box.h"

#include <string.h>

/* Shorter runs gain nothing from streaming stores (their ends are partial cache lines), nor from
 * prefetching. */
enum { SHORTEST_LONG_RUN = 256 };

typedef void copy_rows(char *destination, ptrdiff_t destination_stride, const char *source,
                       ptrdiff_t source_stride, size_t rows, size_t run);

static void plain_rows(char *destination, ptrdiff_t destination_stride, const char *source,
                       ptrdiff_t source_stride, size_t rows, size_t run) {
    for (size_t row = 0; row < rows; row++)
        memcpy(destination + (ptrdiff_t)row * destination_stride,
               source + (ptrdiff_t)row * source_stride, run);
}

/* A fixed length lets the compiler copy through registers. */
#define ROWS_OF(bytes)                                                                             \
    static void rows_of_##bytes(char *destination, ptrdiff_t destination_stride,                   \
                                const char *source, ptrdiff_t source_stride, size_t rows,          \
                                size_t run) {                                                      \
        (void)run;                                                                                 \
        for (size_t row = 0; row < rows; row++)                                                    \
            memcpy(destination + (ptrdiff_t)row * destination_stride,                              \
                   source + (ptrdiff_t)row * source_stride, bytes);                                \
    }
ROWS_OF(1)
ROWS_OF(2)
ROWS_OF(4)
ROWS_OF(8)
ROWS_OF(16)
ROWS_OF(32)
ROWS_OF(64)

static copy_rows *choose_rows(size_t run, int stream) {
    switch (run) {
    case 1:
        return rows_of_1;
    case 2:
        return rows_of_2;
    case 4:
        return rows_of_4;
    case 8:
        return rows_of_8;
    case 16:
        return rows_of_16;
    case 32:
        return rows_of_32;
    case 64:
        return rows_of_64;
    default:
        if (run < SHORTEST_LONG_RUN)
            return plain_rows;
        return stream ? redist__stream_rows : redist__fetch_rows;
    }
}

void redist__copy_run(const struct redist__copy *copy, const void *source, void *destination,
                      int stream) {
    if (copy->run == 0)
        return;
    copy_rows *rows = choose_rows(copy->run, stream);
    const char *from = source;
    char *to = destination;
    int inner = copy->ndims - 1; /* the loop that copy_rows does */
    if (inner < 0) {
        rows(to, 0, from, 0, 1, copy->run);
        return;
    }
    size_t index[REDIST_MAX_NDIMS] = {0};
    for (;;) {
        rows(to, copy->destination[inner], from, copy->source[inner], copy->count[inner],
             copy->run);
        int axis = inner - 1; /* an odometer over the outer loops */
        while (axis >= 0 && ++index[axis] == copy->count[axis]) {
            ptrdiff_t back = (ptrdiff_t)(copy->count[axis] - 1);
            from -= back * copy->source[axis];
            to -= back * copy->destination[axis];
            index[axis--] = 0;
        }
        if (axis < 0)
            return;
        from += copy->source[axis];
        to += copy->destination[axis];
    }
}

void redist_copy_box(int ndims, const int count[], size_t item, const void *source,
                     const ptrdiff_t source_stride[], void *destination,
                     const ptrdiff_t destination_stride[], int stream) {
    struct redist__copy copy;
    redist__copy_prepare(&copy, ndims, count, item, source_stride, destination_stride);
    redist__copy_run(&copy, source, destination, stream);
    if (stream)
        redist__stream_fence();
}
