/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel of a step with an operator: a transform, the operator row by row, the transform back. A piece of all
 * fields that is larger than a tile, such as planes of several, is cut inside: all axes except one are transformed in
 * the whole piece, field by field, that one and the operator in a few rows of all fields at once. On a device one axis
 * and the operator may be a round trip of the library; the two transforms are then those of the other axes.
 */
#ifndef FFTND__APPLIED_H
#define FFTND__APPLIED_H

#include "../operators/operator.h"
#include "kernel.h"

/* The last transform before an operator, the operator and the first transform back at once (round_trip.c). */
struct fftnd__round_trip {
    const struct lines__round_trips *library; /* NULL = none */
    void *plans[2];                           /* for pieces like the first one, and shorter ones */
    int axis;                                 /* of the array */
    redist_index modes;                       /* along it */
};

/* Returns the axis of a step with an operator that can make a round trip, the slowest in the array before, or -1. All
 * modes have to be retained. */
int fftnd__round_trip_axis(const struct fftnd__transform *transform, const struct fftnd__step *step,
                           const struct lines__library *library);

/* Plans a round trip between two sides, on which a piece has the elements of the cut. trip->library stays NULL if the
 * library cannot. As fftnd__kernel_create. */
int fftnd__round_trip_create(struct fftnd__round_trip *trip,
                             const struct fftnd__kernel_problem *problem, int axis);
void fftnd__round_trip_free(struct fftnd__round_trip *trip);

/* Executes the round trip of a piece from one block to the other, or enqueues it. */
int fftnd__round_trip_run(const struct fftnd__round_trip *trip, int is_shorter,
                          const struct lines__operation *operation, const struct fftnd__block *in,
                          const struct fftnd__block *out);

/* The kernel of a step with an operator. */
struct fftnd__applied {
    const struct fftnd__operator *op;
    struct fftnd__kernel kernels[2]; /* there and back */
    struct fftnd__kernel
        others[2]; /* before and after these: all axes except one, of a whole piece */
    struct fftnd__round_trip trip; /* between both, if the library has one */
    int kept;                 /* an axis of which the middle has the points outside, -1 = none */
    struct fftnd__cut inside; /* of a piece; 0 axes = not cut */
    struct fftnd__truncation truncation;        /* of the middle */
    struct fftnd__side middle[2];               /* before and after the operator */
    redist_index numbers[3 * REDIST_MAX_NDIMS]; /* of `inside`, */
    ptrdiff_t strides[2][REDIST_MAX_NDIMS];     /* and of the middle */
    redist_index
        extent[2][REDIST_MAX_NDIMS]; /* of the middle along whole axes, as retained; -1 = others */
    redist_index start[REDIST_MAX_NDIMS]; /* global, of this rank's elements in the middle */
    redist_index count[REDIST_MAX_NDIMS]; /* of these; pieces may be cut along merged axes */
    struct {
        size_t in, middle[2], out, rows, bytes;
    } places;     /* of all blocks in the memory of a piece */
    int in_place; /* the middle takes the memory of the piece before */
    int batch, shift,
        fields; /* array axes: of the fields or -1, and of axis 0; fields of a batch */
};

/* Places the blocks of a piece in memory. Not collective. REDIST_ERR_MEMORY. */
int fftnd__applied_create(const struct fftnd__kernel_problem *problem,
                          struct fftnd__applied **applied);

/* Plans on the memory of the first piece. REDIST_ERR_SERIAL, REDIST_ERR_MEMORY. */
int fftnd__applied_plan(struct fftnd__applied *applied, const struct fftnd__kernel_problem *problem,
                        char *memory);
void fftnd__applied_free(struct fftnd__applied *applied);

/* Scratch memory of both transforms, which use it one at a time: its bytes, and setting it. NULL needs none. */
size_t fftnd__applied_area(const struct fftnd__applied *applied);
int fftnd__applied_set_area(const struct fftnd__applied *applied, void *area);

/* Runs a piece, whose memory is at `memory`. The blocks are the piece before and after. */
int fftnd__applied_run(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                       char *memory, const struct fftnd__block *in, const struct fftnd__block *out);

/* ---------------------------------------------------------------- boxes.c: boxes of a piece */

/* Applies the operator to a piece whose array retains `count`, between the blocks before and after it; `room` is for
 * rows. A function of the user for boxes takes scaled elements. */
int fftnd__boxes_run(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                     const struct fftnd__block blocks[2], const redist_index count[], char *room);

/* Describes the operator, one of the library's kinds, on all modes of a piece, in a block before and after it. */
void fftnd__boxes_describe(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                           const struct fftnd__block *block, const redist_index count[],
                           struct lines__operation *operation);

/* Applies the operator to a retained box, row by row (rows.c). */
int fftnd__box_run_rows(const struct fftnd__applied *applied, const struct fftnd__block blocks[2],
                        const struct fftnd__retained_box retained[2], char *room);

#endif
