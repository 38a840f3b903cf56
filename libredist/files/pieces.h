/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of an array in C order, as a file has it: boxes that are contiguous there. They depend on the array alone,
 * neither on ranks nor on their memory, so that the same pieces are written, read and checked by any number of ranks.
 */
#ifndef REDIST__PIECES_H
#define REDIST__PIECES_H

#include "redist_support.h"

/* How an array is cut: leading indices are fixed, one axis is cut into runs of rows, the axes behind it are whole. */
struct redist__pieces {
    int ndims, axis; /* axis: the one that is cut */
    redist_index extent[REDIST_MAX_NDIMS];
    size_t item;       /* bytes of an element */
    size_t row_bytes;  /* of one index along the cut axis */
    redist_index rows; /* along it, of all pieces but the last one of each run */
    redist_index cuts; /* pieces for each leading index */
    redist_index count;
};

/* A piece: a box, and its bytes in the file, counted from the start of the array. */
struct redist__piece {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    redist_index offset;
    size_t bytes;
};

/* Cuts an array of `ndims` axes of `extent` elements of `item` bytes into the largest pieces of at most `most_bytes`
 * bytes, or of one element if that is larger. REDIST_ERR_LIMIT (without message) beyond 2^63 - 1 bytes. */
int redist__pieces_cut(struct redist__pieces *pieces, int ndims, const redist_index extent[],
                       size_t item, size_t most_bytes);

/* Finds piece `index`, 0 <= index < pieces->count, in the order of the file. */
struct redist__piece redist__piece_at(const struct redist__pieces *pieces, redist_index index);

/* Returns the bytes of the largest piece; 0 without any. */
size_t redist__pieces_largest(const struct redist__pieces *pieces);

/* Returns the bytes of the whole array. */
redist_index redist__pieces_bytes(const struct redist__pieces *pieces);

#endif
