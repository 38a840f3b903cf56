/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms that drop modes: which part of a tile's modes the array has. */
#ifndef FFTND__BANDS_H
#define FFTND__BANDS_H

#include "steps.h"

/* What happens to the mode half-way, which stands for two frequencies of the longer transform. */
enum fftnd__nyquist {
    FFTND__NYQUIST_NONE,  /* there is none */
    FFTND__NYQUIST_PAIR,  /* both are in the tile */
    FFTND__NYQUIST_MIRROR /* the halved axis: one is, the other is its mirror image */
};

/* Of an axis with `modes` modes in a tile, the array has the first `low` and the last `high`. */
struct fftnd__band {
    int axis; /* of the tile */
    int modes, low, high;
    enum fftnd__nyquist nyquist;
};

/* Those of all axes along which a tile has more modes than the array. */
struct fftnd__bands {
    int n;
    struct fftnd__band band[REDIST_MAX_NDIMS];
};

/* A tile in memory, with all modes. */
struct fftnd__block {
    enum fftnd_precision precision;
    int ndims;
    int count[REDIST_MAX_NDIMS];
    const ptrdiff_t *stride; /* bytes */
    size_t item;
    char *memory;
};

/* A part of a tile that is a box in the array too. */
struct fftnd__piece {
    int start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS]; /* in the array */
    ptrdiff_t offset;                                     /* bytes, in the tile */
};

/* The bands of a step that truncates; none if it does not. */
void fftnd__bands_of(struct fftnd__bands *bands, const struct fftnd__transform *transform,
                     const struct fftnd__step *step);

/* Extents of a tile whose array has `extent`. */
void fftnd__bands_widen(const struct fftnd__bands *bands, int ndims, const int extent[],
                        int wide[]);

/* Piece number `which` of the box at `start`, `count` of the array; there are 1 << bands->n. Returns 0
 * if it is empty. */
int fftnd__bands_piece(const struct fftnd__bands *bands, int which, int ndims, const int start[],
                       const int count[], const ptrdiff_t stride[], struct fftnd__piece *piece);

/* After a forward transform: modes half-way of this kind are the sum of both. The mirror image is at
 * hand only as long as no other axis of the halved one's transform is transformed. */
void fftnd__bands_join(const struct fftnd__bands *bands, enum fftnd__nyquist nyquist,
                       const struct fftnd__block *block);

/* Before a backward transform: half of a mode half-way goes to each of both, and all modes that the
 * array does not have are zero. */
void fftnd__bands_spread(const struct fftnd__bands *bands, const struct fftnd__block *block);

#endif
