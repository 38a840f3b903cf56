/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies whose neighbouring elements on one side are far apart on the other. A plain loop nest needs a cache line and a
 * page for each element. Here a tile is transposed in the first-level cache, and its rows are then copied like any
 * others.
 */
#include "copy.h"

#include <string.h>

/* Size of a tile: long rows on either side, to amortise a page, but within the cache. */
enum { LINE = 64, TILE_BYTES = 32 << 10 };

/* Along loop `near` the source is contiguous, along loop `far` the destination. */
struct matrix {
    int near, far;
};

static int find_matrix(const struct redist__copy *copy, struct matrix *matrix) {
    ptrdiff_t run = (ptrdiff_t)copy->run;
    *matrix = (struct matrix){-1, -1};
    for (int i = 0; i < copy->ndims; i++) {
        if (copy->source[i] == run)
            matrix->near = i;
        else if (copy->destination[i] == run)
            matrix->far = i;
    }
    return matrix->near >= 0 && matrix->far >= 0;
}

/* Gathers a tile: `rows` rows of `count` elements, from `count` rows of the source, a cache line of each row at a time.
 * With a fixed size the compiler uses registers. */
#define GATHER(bytes)                                                                              \
    static void gather_##bytes(char *tile, size_t rows, size_t count, const char *from,            \
                               ptrdiff_t column) {                                                 \
        enum { AT_ONCE = LINE / bytes };                                                           \
        for (size_t first = 0; first < count; first += AT_ONCE) {                                  \
            size_t n = count - first < AT_ONCE ? count - first : AT_ONCE;                          \
            const char *source = from + (ptrdiff_t)first * column;                                 \
            for (size_t k = 0; k < n && first + AT_ONCE + k < count; k++)                          \
                for (size_t byte = 0; byte < rows * bytes; byte += LINE)                           \
                    __builtin_prefetch(source + (ptrdiff_t)(k + AT_ONCE) * column + byte);         \
            for (size_t row = 0; row < rows; row++)                                                \
                for (size_t k = 0; k < n; k++)                                                     \
                    memcpy(tile + (row * count + first + k) * bytes,                               \
                           source + (ptrdiff_t)k * column + row * bytes, bytes);                   \
        }                                                                                          \
    }
GATHER(4)
GATHER(8)
GATHER(16)
GATHER(32)

typedef void gather(char *tile, size_t rows, size_t count, const char *from, ptrdiff_t column);

/* Returns the function for elements of this size; the tiles have `side` rows and columns. */
static gather *gather_of(size_t run, size_t *side) {
    *side = run <= 8 ? 64 : 32;
    switch (run) {
    case 4:
        return gather_4;
    case 8:
        return gather_8;
    case 16:
        return gather_16;
    case 32:
        return gather_32;
    default:
        return NULL;
    }
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static void transpose(const struct redist__copy *copy, const struct matrix *matrix,
                      const char *from, char *to, enum redist__copy_use use) {
    _Alignas(LINE) char tile[TILE_BYTES];
    size_t side, rows = copy->count[matrix->near], columns = copy->count[matrix->far];
    ptrdiff_t row = copy->destination[matrix->near], column = copy->source[matrix->far];
    gather *fill = gather_of(copy->run, &side);
    for (size_t r = 0; r < rows; r += side)
        for (size_t c = 0; c < columns; c += side) {
            size_t nrows = least(side, rows - r), count = least(side, columns - c);
            fill(tile, nrows, count, from + (ptrdiff_t)c * column + r * copy->run, column);
            const struct redist__copy out = {.ndims = 1,
                                             .run = count * copy->run,
                                             .count = {nrows},
                                             .source = {(ptrdiff_t)(count * copy->run)},
                                             .destination = {row}};
            redist__copy_run_with(&out, tile, to + (ptrdiff_t)r * row + c * copy->run,
                                  redist__copy_choose(&out, use));
        }
}

/* Chooses the stores of the rows of tiles. */
static enum redist__copy_use store_use(const struct redist__copy *copy, enum redist__copy_use use) {
    int past = use == REDIST__COPY_NONTEMPORAL || use == REDIST__COPY_STORE_NONTEMPORAL ||
               (use == REDIST__COPY_AUTO &&
                redist__copy_bytes(copy) > redist__copy_table()->nontemporal_bytes);
    return past ? REDIST__COPY_STORE_NONTEMPORAL : REDIST__COPY_STORE;
}

int redist__copy_transposed(const struct redist__copy *copy, const void *source, void *destination,
                            enum redist__copy_use use) {
    struct matrix matrix;
    size_t side;
    if (gather_of(copy->run, &side) == NULL || !find_matrix(copy, &matrix))
        return 0;
    enum redist__copy_use store = store_use(copy, use);
    size_t index[REDIST_MAX_NDIMS] = {0};
    for (;;) {
        const char *from = source;
        char *to = destination;
        for (int i = 0; i < copy->ndims; i++) {
            from += (ptrdiff_t)index[i] * copy->source[i];
            to += (ptrdiff_t)index[i] * copy->destination[i];
        }
        transpose(copy, &matrix, from, to, store);
        int loop = copy->ndims - 1; /* an odometer over the loops around the matrix */
        while (loop >= 0 &&
               (loop == matrix.near || loop == matrix.far || ++index[loop] == copy->count[loop]))
            index[loop--] = 0;
        if (loop < 0)
            break;
    }
    redist__copy_fence();
    return 1;
}
