/* SPDX-License-Identifier: BSD-3-Clause */
/* Truncation: an array has some of the modes, or of the points, that its pieces have. */
#ifndef FFTND__TRUNCATION_H
#define FFTND__TRUNCATION_H

#include "../../liblines/lines.h"
#include "../program/steps.h"

/* All axes along which a piece has more modes, or points, than the array. Of points the array has the first ones. */
struct fftnd__truncation {
    int n;
    struct lines__retained axes[REDIST_MAX_NDIMS];
};

/* A piece in memory, with all modes or points, of which its array may have some. */
struct fftnd__block {
    enum fftnd_precision precision;
    int ndims;
    const redist_index *start; /* in the array of this rank */
    redist_index count[REDIST_MAX_NDIMS];
    const ptrdiff_t *stride; /* bytes */
    size_t item;
    char *memory;
    const struct fftnd__truncation *truncation; /* NULL = none */
    const struct lines__library *library;       /* of the memory, NULL = the host's */
    void *stream;
};

/* Numbers of an element: 1 if it is real, else 2. */
static inline int fftnd__numbers(const struct fftnd__block *block) {
    return block->item == lines__item_bytes(block->precision, 1) ? 1 : 2;
}

/* Modes of a piece that are a box in the array too. */
struct fftnd__retained_box {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS]; /* in the array */
    ptrdiff_t offset;                                              /* bytes, in the piece */
};

/* Finds the truncation of arrays of a side by a step, without axes if they have all modes or points. */
void fftnd__truncation_of(struct fftnd__truncation *truncation,
                          const struct fftnd__transform *transform, const struct fftnd__step *step,
                          enum fftnd_side side);

/* Sets the modes and points that the arrays have in a problem of the step's axes, on the sides where its library does
 * the truncation. */
void fftnd__retain(const struct fftnd__transform *transform, struct lines__problem *problem,
                   const struct fftnd__step *step);

/* Finds the extents of a piece whose array has `extent`. A truncation that is NULL has no axes, here and below. */
void fftnd__widen(const struct fftnd__truncation *truncation, int ndims,
                  const redist_index extent[], redist_index wide[]);

/* The number of retained boxes of a piece, and one of them, number `which`. The piece is the box at `start`, `count` of
 * the array. Returns 0 if the retained box is empty. */
int fftnd__count_retained(const struct fftnd__truncation *truncation);
int fftnd__find_retained(const struct fftnd__truncation *truncation, int which, int ndims,
                         const redist_index start[], const redist_index count[],
                         const ptrdiff_t stride[], struct fftnd__retained_box *box);

/* Adds to modes half-way of this kind, after a forward transform, those that the array drops. Mirror images are added
 * before the axes that are transformed with the halved one. */
int fftnd__add_half_way(enum lines__nyquist nyquist, const struct fftnd__block *block);

/* Pads the modes or points before a transform: those that the array does not have are zero, and modes half-way are
 * halved between both. */
int fftnd__pad(const struct fftnd__block *block);

#endif
