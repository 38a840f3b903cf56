/* SPDX-License-Identifier: BSD-3-Clause */
/* The chain of alignments: axes that are whole, and transformed, at each link, on any grid. */
#ifndef FFTND__LAYOUT_H
#define FFTND__LAYOUT_H

#include "fftnd_kinds.h"
#include "redist_halo.h"

#include <stdint.h>
#include <string.h>

/* The box of an array that this rank has, without the batch: global extents, start, count. A plan has many, so each has
 * numbers for its axes only. */
struct fftnd__alignment {
    redist_index *size, *start, *count;
};

/* Gives an alignment memory for its numbers: 3 * ndims. */
static inline void fftnd__place_alignment(struct fftnd__alignment *alignment, int ndims,
                                          redist_index numbers[]) {
    alignment->size = numbers;
    alignment->start = numbers + ndims;
    alignment->count = numbers + 2 * ndims;
}

static inline void fftnd__copy_alignment(const struct fftnd__alignment *to,
                                         const struct fftnd__alignment *from, int ndims) {
    memcpy(to->size, from->size, 3 * (size_t)ndims * sizeof *to->size);
}

/* Returns the elements of a box. */
static inline size_t fftnd__volume(int ndims, const redist_index count[]) {
    size_t n = 1;
    for (int axis = 0; axis < ndims; axis++)
        n *= (size_t)count[axis];
    return n;
}

/* Returns the place of an axis in a list of all axes. */
static inline int fftnd__place_of(const int list[], int axis) {
    int place = 0;
    while (list[place] != axis)
        place++;
    return place;
}

/* An alignment and the axes that are transformed in it. */
struct fftnd__link {
    struct fftnd__alignment physical; /* extents before the transforms of a forward chain */
    struct fftnd__alignment spectral; /* and after them */
    int naxes;
    int axes[REDIST_MAX_NDIMS]; /* the halved axis, if any, last */
    int grid_dim;               /* of the exchange into this link */
    int axis_before;            /* whole before that exchange, split after */
    int axis_after;             /* split before, whole after */
};

/* Blocks of the axis that a grid dimension splits. */
struct fftnd__blocks {
    enum fftnd_blocks rule;
    const redist_index *bounds; /* beginning of each block, and the end; NULL = by the rule */
};

/* Input of a chain. Axes are numbered in their order in memory on the physical side. */
struct fftnd__shape {
    int ndims;
    int halved;                            /* axis, or -1 */
    redist_index points[REDIST_MAX_NDIMS]; /* of the transforms along each axis */
    redist_index filled[REDIST_MAX_NDIMS]; /* of them, that the physical side has */
    redist_index modes[REDIST_MAX_NDIMS];  /* that are retained on the spectral side */
    enum fftnd_axis axes[REDIST_MAX_NDIMS];
    struct fftnd__blocks blocks[2][REDIST_MAX_NDIMS]; /* of each side and grid dimension */
    int has_box[2];                                   /* a side is in boxes; this rank's is: */
    redist_box box[2];
    int aligns_input; /* the spectral side splits the axes that the chain splits first */
    int has_split[2]; /* or a side those listed for the grid dimensions */
    int split[2][REDIST_MAX_NDIMS];
    int twiddles; /* axes 0 and 1 are one long axis */
};

/* The whole transform. Forward begins at link 0. */
struct fftnd__chain {
    int ndims;
    int halved;
    redist_index points[REDIST_MAX_NDIMS];
    redist_index filled[REDIST_MAX_NDIMS];
    redist_index modes[REDIST_MAX_NDIMS];
    enum fftnd_axis axes[REDIST_MAX_NDIMS];
    int real[2];    /* elements of each side are real */
    int balanced;   /* all blocks are */
    int is_outside; /* this rank has elements on the sides only: the chain is one of other ranks */
    int twiddles;   /* between the transforms of axes 0 and 1 */
    int nlinks;
    struct fftnd__link *links;       /* behind them the numbers of all alignments */
    int is_borrowed;                 /* links are another chain's */
    int moves[2];                    /* a side is one more exchange away from the link at its end */
    struct fftnd__alignment ends[2]; /* of each side */
};

/* Returns the spectral extent of an axis with this number of modes. */
static inline redist_index fftnd__spectral_extent(const struct fftnd__chain *chain, int axis,
                                                  redist_index modes) {
    return axis == chain->halved ? modes / 2 + 1 : modes;
}

/* Returns the extent along an axis of an array of a side. */
static inline redist_index fftnd__side_extent(const struct fftnd__chain *chain, int axis,
                                              enum fftnd_side side) {
    return side == FFTND_PHYSICAL ? chain->filled[axis]
                                  : fftnd__spectral_extent(chain, axis, chain->modes[axis]);
}

/* Returns nonzero if an array of a side has fewer elements along an axis than its transform. */
static inline int fftnd__is_truncated(const struct fftnd__chain *chain, int axis,
                                      enum fftnd_side side) {
    return (side == FFTND_PHYSICAL ? chain->filled : chain->modes)[axis] < chain->points[axis];
}

/* Returns the factor of a forward and a backward transform of an axis without scaling (FFTW's manual, section 4.8). */
static inline long double fftnd__logical_extent(enum fftnd_axis axis, enum fftnd_r2r r2r,
                                                redist_index points) {
    long double n = (long double)points;
    if (axis == FFTND_AXIS_NONE)
        return 1;
    if (axis != FFTND_AXIS_R2R || r2r > FFTND_DST4)
        return n;
    return 2 * (r2r == FFTND_DCT1 ? n - 1 : r2r == FFTND_DST1 ? n + 1 : n);
}

/* Makes an axis whole; a rank outside of the chain has nothing of it. */
static inline void fftnd__set_whole(const struct fftnd__alignment *alignment, int axis,
                                    redist_index extent, int is_outside) {
    alignment->size[axis] = extent;
    alignment->count[axis] = is_outside ? 0 : extent;
    alignment->start[axis] = 0;
}

/* Most elements of an array: their bytes always fit. A larger array counts one more. */
#define FFTND__MOST_ELEMENTS ((size_t)PTRDIFF_MAX / 64)

/* Layout of a local array, with batch and padding. */
struct fftnd__local {
    int ndims;                   /* array axes, with that of a batch */
    int order[REDIST_MAX_NDIMS]; /* array axes from the slowest in memory to the fastest */
    redist_index *extent;
    ptrdiff_t *stride; /* in elements */
    ptrdiff_t offset;  /* of this rank's first element: those of padding before it */
    size_t elements;
};

/* The batch as an array axis. */
struct fftnd__batch {
    int count;
    int axis;  /* of the array; -1 without a batch */
    int shift; /* array axis of transform axis 0 */
};

/* Sets the usual order: axes that are not transformed, all others, and the halved one, which is transformed first. */
void fftnd__usual_order(const struct fftnd__shape *shape, int order[]);

/* Returns nonzero if an axis that is split first stays so, as it is not transformed. */
static inline int fftnd__stays_split(const enum fftnd_axis axes[], int axis) {
    return axes[axis] == FFTND_AXIS_NONE;
}

/* Returns the place in the order of the axis that grid dimension `dim` splits when order[dim] becomes whole: the next
 * one that is whole then. */
int fftnd__place_split_next(const enum fftnd_axis axes[], const int order[], int grid_ndims,
                            int dim);

/* Returns nonzero if the axis at a place of the order is transformed behind all exchanges: it has fewer points than
 * modes, and no grid dimension ever splits it. */
int fftnd__is_late(const struct fftnd__shape *shape, const int order[], int grid_ndims, int place);

/* Place of a rank in a process grid; coordinates of -1 are outside of it. */
struct fftnd__place {
    int ndims, dims[REDIST_MAX_NDIMS], coords[REDIST_MAX_NDIMS];
};

/* Builds a chain, with one link for each exchange. Grid dimension i splits axis order[i] first. No complex axis is
 * transformed before the halved one. `grid` may be NULL without dimensions. Not collective. REDIST_ERR_MEMORY. */
int fftnd__chain_build_at(struct fftnd__chain *chain, const struct fftnd__shape *shape,
                          const int order[], const struct fftnd__place *place);
int fftnd__chain_build(struct fftnd__chain *chain, const struct fftnd__shape *shape,
                       const int order[], const redist_grid *grid);
void fftnd__chain_free(struct fftnd__chain *chain);

/* Returns nonzero if the chain begins or ends with this rank's box of a side. */
int fftnd__chain_meets(const struct fftnd__chain *chain, enum fftnd_side side);

/* Returns the array axis of a batch of `count`, and of several fields of an operator, beside `ndims` others. */
struct fftnd__batch fftnd__batch_of(int count, int fields, enum fftnd_batch_position position,
                                    int ndims);

/* Elements added to the axes of a local array, of which `offset` are before this rank's part. */
struct fftnd__padding {
    redist_index added[REDIST_MAX_NDIMS], offset[REDIST_MAX_NDIMS];
};

/* Room in the arrays of the user. */
struct fftnd__room {
    struct fftnd__padding padding[2]; /* of each side, ghosts included */
    redist_halo ghosts;               /* of the physical one, */
    int accumulates, fills;           /* when a transform begins there, and ends there */
};

/* Describes the local array of an alignment, its axes in C order, or as `memory` lists them from the slowest to the
 * fastest; the batch keeps its place. `padding` may be NULL. */
void fftnd__set_local(struct fftnd__local *local, const struct fftnd__alignment *alignment,
                      int ndims, const int memory[], const struct fftnd__batch *batch,
                      const struct fftnd__padding *padding);

/* Returns the most grid dimensions with which no complex axis is transformed before the halved one. */
int fftnd__most_grid_ndims(const struct fftnd__shape *shape, const int order[]);

#endif
