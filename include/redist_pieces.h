/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Pieces of an array in C order, as a file has it: boxes that are contiguous there. They depend on the array alone,
 * neither on ranks nor on their memory, so that the same pieces are written, read and checked by any number of ranks.
 * Nothing is collective. Between the libraries: not installed.
 */
#ifndef REDIST_PIECES_H
#define REDIST_PIECES_H

#include "redist_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How an array is cut: leading indices are fixed, one axis is cut into runs of rows, the axes behind it are whole. */
struct redist_pieces {
    int ndims, axis; /**< axis: the one that is cut */
    redist_index extent[REDIST_MAX_NDIMS];
    size_t item;       /**< bytes of an element */
    size_t row_bytes;  /**< of one index along the cut axis */
    redist_index rows; /**< along it, of all pieces but the last one of each run */
    redist_index cuts; /**< pieces for each leading index */
    redist_index count;
};

/** A piece: a box, and its bytes in the file, counted from the start of the array. */
struct redist_piece {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    redist_index offset;
    size_t bytes;
};

/** Cuts an array of `ndims` axes of `extent` elements of `item` bytes into the largest pieces of at most `most_bytes`
 * bytes, or of one element if that is larger. ERR_LIMIT (without message) beyond 2^63 - 1 bytes. */
REDIST_API int redist_pieces_cut(struct redist_pieces *pieces, int ndims,
                                 const redist_index extent[], size_t item, size_t most_bytes);

/** Finds piece `index`, 0 <= index < pieces->count, in the order of the file. */
REDIST_API struct redist_piece redist_piece_at(const struct redist_pieces *pieces,
                                               redist_index index);

/** Returns the bytes of the largest piece; 0 without any. */
REDIST_API size_t redist_pieces_largest(const struct redist_pieces *pieces);

/** Returns the bytes of the whole array. */
REDIST_API redist_index redist_pieces_bytes(const struct redist_pieces *pieces);

/** Finds what two boxes, given by start and count, have in common; returns its elements. */
REDIST_API size_t redist_intersect(int ndims, const redist_index start_a[],
                                   const redist_index count_a[], const redist_index start_b[],
                                   const redist_index count_b[], redist_index start[],
                                   redist_index count[]);

#ifdef __cplusplus
}
#endif

#endif
