/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of an array in C order (redist_pieces.h). */
#include "../geometry/box.h"

#include <stdint.h>

/* Finds the first axis whose rows fit a piece; the last one if no row does. */
static void find_axis(struct redist_pieces *pieces, size_t most_bytes) {
    pieces->axis = pieces->ndims - 1;
    pieces->row_bytes = pieces->item;
    while (pieces->axis > 0) {
        size_t row_bytes = pieces->row_bytes * (size_t)pieces->extent[pieces->axis];
        if (row_bytes > most_bytes)
            return;
        pieces->row_bytes = row_bytes;
        pieces->axis--;
    }
}

int redist_pieces_cut(struct redist_pieces *pieces, int ndims, const redist_index extent[],
                      size_t item, size_t most_bytes) {
    *pieces = (struct redist_pieces){.ndims = ndims, .item = item};
    for (int i = 0; i < ndims; i++)
        pieces->extent[i] = extent[i];
    size_t bytes = redist__array_bytes(ndims, extent, item);
    if (bytes == SIZE_MAX)
        return REDIST_ERR_LIMIT;
    if (bytes == 0)
        return REDIST_OK;
    find_axis(pieces, most_bytes);
    redist_index rows = (redist_index)(most_bytes / pieces->row_bytes);
    redist_index whole = extent[pieces->axis];
    pieces->rows = rows < 1 ? 1 : rows > whole ? whole : rows;
    pieces->cuts = (whole - 1) / pieces->rows + 1;
    pieces->count = pieces->cuts;
    for (int i = 0; i < pieces->axis; i++)
        pieces->count *= extent[i];
    return REDIST_OK;
}

struct redist_piece redist_piece_at(const struct redist_pieces *pieces, redist_index index) {
    struct redist_piece piece = {.offset = 0};
    const redist_index *extent = pieces->extent;
    int axis = pieces->axis;
    redist_index lead = index / pieces->cuts, first = index % pieces->cuts * pieces->rows;
    redist_index left = extent[axis] - first;
    piece.start[axis] = first;
    piece.count[axis] = left < pieces->rows ? left : pieces->rows;
    piece.bytes = (size_t)piece.count[axis] * pieces->row_bytes;
    piece.offset = (lead * extent[axis] + first) * (redist_index)pieces->row_bytes;
    for (int i = axis - 1; i >= 0; lead /= extent[i], i--) {
        piece.start[i] = lead % extent[i];
        piece.count[i] = 1;
    }
    for (int i = axis + 1; i < pieces->ndims; i++)
        piece.count[i] = extent[i];
    return piece;
}

size_t redist_pieces_largest(const struct redist_pieces *pieces) {
    return (size_t)pieces->rows * pieces->row_bytes;
}

redist_index redist_pieces_bytes(const struct redist_pieces *pieces) {
    return (redist_index)redist__array_bytes(pieces->ndims, pieces->extent, pieces->item);
}
