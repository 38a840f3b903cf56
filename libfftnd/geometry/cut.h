/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts of an array into pieces, and the layout of a piece in memory: geometry alone. */
#ifndef FFTND__CUT_H
#define FFTND__CUT_H

#include "redist.h"

#include <stdint.h>

static inline size_t fftnd__round_up(size_t bytes, size_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/* Returns the first aligned address of memory. */
static inline char *fftnd__align(void *memory, size_t alignment) {
    return (char *)memory + (alignment - (uintptr_t)memory % alignment) % alignment;
}

/* A cut of an array along its axes. Axes that are whole in every piece may have other extents after the transform. All
 * pieces are equal except the last ones along one axis, which are shorter. */
struct fftnd__cut {
    int ndims;
    _Bool whole[REDIST_MAX_NDIMS];
    redist_index *before, *after; /* extents of the array */
    redist_index *count;          /* of a piece, along axes that are not whole */
    int uneven;                   /* the axis whose pieces may differ, -1 = none */
    redist_index
        longer;  /* number of pieces with one element more, the first ones along that axis */
    long long n; /* pieces */
};

/* Gives a cut memory for its numbers: 3 * ndims. */
void fftnd__place_cut(struct fftnd__cut *cut, int ndims, redist_index numbers[]);

/* Copies a cut into the memory of another one. */
void fftnd__copy_cut(struct fftnd__cut *to, const struct fftnd__cut *from);

struct fftnd__piece {
    redist_index start[REDIST_MAX_NDIMS], before[REDIST_MAX_NDIMS], after[REDIST_MAX_NDIMS];
    int shorter; /* than the first piece */
};

/* Range `i` of `n` into which `extent` elements are divided evenly; the longer ones come first. */
void fftnd__divide(redist_index extent, int n, int i, redist_index *start, redist_index *count);

/* Returns the number of the range that has element `at`. */
int fftnd__locate(redist_index extent, int n, redist_index at);

/* Returns the first of these axes with `n` elements, else the longest; -1 = all are empty. */
int fftnd__choose_axis(int naxes, const int axes[], const redist_index extents[], int n);

/* Cuts an array of the set extents into pieces of about `bytes`, as long as possible along the last axes. An element
 * has `item` bytes, a piece of one element along each axis that is not whole `smallest`. */
void fftnd__cut_to_fit(struct fftnd__cut *cut, size_t item, size_t smallest, size_t bytes);

/* Cuts an array along one axis only, in `n` pieces at most; -1 = not at all. */
void fftnd__cut_along(struct fftnd__cut *cut, int axis, int n);

/* Merges neighbouring axes that can be cut, if their elements are contiguous in both arrays: the outer one gets 1
 * element, the inner one all. */
void fftnd__merge_axes(struct fftnd__cut *cut, const ptrdiff_t before[], const ptrdiff_t after[]);

void fftnd__find_piece(const struct fftnd__cut *cut, long long number, struct fftnd__piece *piece);

/* Returns 2 if some pieces are shorter than the first one, so that they need other plans, else 1. */
int fftnd__count_lengths(const struct fftnd__cut *cut);

/* Returns nonzero if pieces cannot be smaller. */
int fftnd__is_smallest(const struct fftnd__cut *cut);

/* Returns the bytes that are contiguous both in a piece of an array of `array` elements and in another array, of
 * `extent`, that has a `box` of these. */
long long fftnd__run_bytes(const struct fftnd__cut *cut, const redist_index array[],
                           const redist_index box[], const redist_index extent[], size_t item);

/* Finds the strides, in bytes, of a piece in memory of its own. Returns its bytes, a multiple of `alignment`. `pads`
 * avoids strides of powers of two, which put all elements of a line into few sets of a cache. */
size_t fftnd__lay_out(int ndims, const redist_index count[], size_t item, int pads,
                      size_t alignment, ptrdiff_t stride[]);

/* Returns nonzero if a piece has the same layout with both strides. */
int fftnd__lies_alike(int ndims, const redist_index count[], const ptrdiff_t a[],
                      const ptrdiff_t b[]);

/* Bytes from the first element to the end of the last. */
size_t fftnd__span(int ndims, const redist_index count[], const ptrdiff_t stride[], size_t item);

/* Bytes from the first element of an array to that at `start`. */
ptrdiff_t fftnd__offset(int ndims, const redist_index start[], const ptrdiff_t stride[]);

#endif
