/* SPDX-License-Identifier: BSD-3-Clause */
/* A box inside an N-d array, and the ready-made loop that copies one box to another. */
#ifndef REDIST__BOX_H
#define REDIST__BOX_H

#include "number.h"
#include "redist_pieces.h"
#include "redist_support.h"

/* A loop nest that copies a box: contiguous runs, and strides in bytes around them. Axes that are
 * contiguous on both sides are merged, so that few and long runs remain. */
struct redist__copy {
    int ndims;                      /* loops around a run, outermost first */
    const struct redist__sum *adds; /* to the destination; NULL = the bytes replace it */
    /* of the destination, else of the source if it `widens`, which is contiguous: its strides are those of exact
     * numbers and unused. NULL = both ends have the same bytes */
    const struct redist__format *format;
    int widens;
    int beside; /* in a batch: adds to other elements than those before it, up to one that is not beside them */
    size_t run;                         /* bytes of one contiguous run; 0 = nothing to copy */
    size_t count[REDIST_MAX_NDIMS];     /* iterations of each loop */
    ptrdiff_t source[REDIST_MAX_NDIMS]; /* bytes from one iteration to the next */
    ptrdiff_t destination[REDIST_MAX_NDIMS];
};

/* Prepares the copy of `count` items of `item` bytes; strides are in bytes. */
void redist__copy_prepare(struct redist__copy *copy, int ndims, const redist_index count[],
                          size_t item, const ptrdiff_t source[], const ptrdiff_t destination[]);

/* Strides in bytes of a C-ordered array. */
void redist__strides(int ndims, const redist_index extent[], size_t item, ptrdiff_t stride[]);

/* Bytes of an array with these extents; SIZE_MAX if that does not fit. */
size_t redist__array_bytes(int ndims, const redist_index extent[], size_t item);

/* Bytes that a copy moves; and those of its end that is in a format, else the same. */
size_t redist__copy_bytes(const struct redist__copy *copy);
size_t redist__copy_packed_bytes(const struct redist__copy *copy);

/* Bytes of `bytes` bytes of numbers in a format; NULL = as they are. */
size_t redist__format_bytes(const struct redist__format *format, size_t bytes);

/* Returns whether two boxes have a byte in common in memory; `tail` bytes at the end of an item hold nothing. */
int redist__boxes_meet(const struct redist__copy boxes[2], const void *const first[2], size_t tail);

#endif
