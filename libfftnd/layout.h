/* SPDX-License-Identifier: BSD-3-Clause */
/* The chain of alignments: which axes are whole, and transformed, at each stage, on any grid. */
#ifndef FFTND__LAYOUT_H
#define FFTND__LAYOUT_H

#include "fftnd.h"

#include <stdint.h>

/* How one rank holds the array: batch not counted. */
struct fftnd__alignment {
    redist_index size[REDIST_MAX_NDIMS]; /* global extents */
    redist_index start[REDIST_MAX_NDIMS];
    redist_index count[REDIST_MAX_NDIMS];
};

/* An alignment and the axes that are transformed in it. */
struct fftnd__stage {
    struct fftnd__alignment physical; /* extents before the transforms of a forward chain */
    struct fftnd__alignment spectral; /* and after them */
    int naxes;
    int axes[REDIST_MAX_NDIMS]; /* the halved axis, if it is here, last */
    int grid_dim;               /* among whose subgroup the exchange into this stage happens */
    int axis_before;            /* whole before that exchange, split after */
    int axis_after;             /* split before, whole after */
};

/* The whole transform. Stage 0 is where forward begins. */
struct fftnd__chain {
    int ndims;
    int halved;                            /* axis, or -1 */
    redist_index points[REDIST_MAX_NDIMS]; /* of the transforms along each axis */
    redist_index modes[REDIST_MAX_NDIMS];  /* that are retained on the spectral side */
    int nstages;
    struct fftnd__stage stages[REDIST_MAX_NDIMS];
    struct fftnd__alignment returned; /* the end of the chain, aligned as its beginning */
};

/* Extent of an axis with this number of modes. */
static inline redist_index fftnd__spectral_extent(const struct fftnd__chain *chain, int axis,
                                                  redist_index modes) {
    return axis == chain->halved ? modes / 2 + 1 : modes;
}

/* Makes an axis whole. */
static inline void fftnd__set_whole(struct fftnd__alignment *alignment, int axis,
                                    redist_index extent) {
    alignment->size[axis] = alignment->count[axis] = extent;
    alignment->start[axis] = 0;
}

/* This many elements always have a number of bytes that fits; a larger array counts one more. */
#define FFTND__MOST_ELEMENTS ((size_t)PTRDIFF_MAX / 64)

/* Elements of one element type in a local array, and how far apart; batch and padding included. */
struct fftnd__local {
    int ndims;                   /* array axes, the batch counted if there is one */
    int order[REDIST_MAX_NDIMS]; /* array axes from the slowest in memory to the fastest */
    redist_index extent[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* in elements */
    size_t elements;
};

/* The batch as an array axis. */
struct fftnd__batch {
    int count;
    int axis;  /* of the array; -1 without a batch */
    int shift; /* array axis of transform axis 0 */
};

/* All axes in their order, but the halved one at the end: it has to be transformed first, so it must be
 * whole at the start. */
void fftnd__usual_order(int ndims, int halved, int order[]);

/* Grid dimension i splits axis order[i] first; one stage for each exchange that is needed. The halved
 * axis is not among those that are split first. `grid` may be NULL when it has no dimensions. */
int fftnd__chain_build(struct fftnd__chain *chain, int ndims, const redist_index sizes[],
                       const redist_index modes[], int halved, const int order[],
                       const redist_grid *grid);

struct fftnd__batch fftnd__batch_of(const fftnd_options *options, int ndims);

/* The local array of an alignment, with its axes in C order in memory, or as `memory` lists them from the
 * slowest to the fastest; the batch keeps its place. `padded_axis` is made even and two longer as an
 * in-place r2c needs it, -1 = none. */
struct fftnd__local fftnd__local_of(const struct fftnd__alignment *alignment, int ndims,
                                    const int memory[], const struct fftnd__batch *batch,
                                    int padded_axis);

/* With a grid of more dimensions the halved axis would be split first. */
int fftnd__most_grid_ndims(int ndims, int halved, const int order[]);

#endif
