/* SPDX-License-Identifier: BSD-3-Clause */
/** Distributions of arrays: balanced blocks, process grids, boxes. Included by redist.h, whose conventions hold. */
#ifndef REDIST_GRID_H
#define REDIST_GRID_H

#include "redist_base.h"

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Balanced block decomposition (paper, Listing 1): the first n % nparts parts have one element more.
 *   n       number of elements, >= 0
 *   nparts  number of parts, >= 1
 *   part    which part, 0 <= part < nparts
 *   count   out: elements in this part, may be 0
 *   start   out: index of its first element
 * Not collective. Errors: ERR_ARGUMENT, ERR_NULL.
 */
REDIST_API int redist_decompose(redist_index n, int nparts, int part, redist_index *count,
                                redist_index *start);

/**
 * Splits a communicator in the one-dimensional subgroups of a balanced Cartesian grid (paper, Listing 4).
 *   comm      the ranks to arrange; must agree
 *   ndims     grid dimensions, 1..REDIST_MAX_NDIMS; must agree
 *   subcomms  out: ndims communicators; the caller owns each and frees it with MPI_Comm_free
 * Collective on comm. Errors: ERR_COMM, ERR_GRID, ERR_NULL, ERR_DISAGREE, ERR_STATE, ERR_MPI.
 */
REDIST_API int redist_subcomm(MPI_Comm comm, int ndims, MPI_Comm subcomms[]);

/** A Cartesian process grid with its one-dimensional subgroups. */
typedef struct redist_grid redist_grid;

/**
 * Arranges the ranks of a communicator as a Cartesian grid, in rank order: the last dimension varies fastest.
 *   comm   the ranks; must agree
 *   ndims  grid dimensions, 1..REDIST_MAX_NDIMS; must agree
 *   dims   processes along each dimension, 0 = choose (balanced); must agree; the product must be the size of comm
 *   grid   out: the grid, freed with redist_grid_free
 * Grids of the same comm and dims share their communicators, and those of the last two such shapes that were freed
 * are retained for the next one.
 * Collective on comm. Errors: ERR_COMM, ERR_GRID, ERR_NULL, ERR_DISAGREE, ERR_STATE, ERR_MEMORY, ERR_MPI.
 */
REDIST_API int redist_grid_create(MPI_Comm comm, int ndims, const int dims[], redist_grid **grid);

/**
 * Arranges ranks as redist_grid_create, but sorted by node: first those of the node of rank 0, in rank order. If the
 * last dimensions divide the ranks of a node, their subgroups stay inside it.
 * Collective on comm. Errors: as redist_grid_create.
 */
REDIST_API int redist_grid_create_by_node(MPI_Comm comm, int ndims, const int dims[],
                                          redist_grid **grid);

/**
 * Frees a grid and sets *grid to NULL; does nothing when *grid is NULL. Plans and arrays made on its subgroups stay
 * valid; the communicators of redist_grid_comm and redist_grid_subcomm do not.
 * Collective on the grid's communicator. Errors: ERR_NULL, ERR_STATE.
 */
REDIST_API int redist_grid_free(redist_grid **grid);

/**
 * Returns the shape of a grid and this rank's coordinates.
 *   ndims   out: grid dimensions; may be NULL
 *   dims    out: processes along each dimension (ndims values); may be NULL
 *   coords  out: this rank's coordinates (ndims values); may be NULL
 * Not collective. Errors: ERR_STATE.
 */
REDIST_API int redist_grid_get(const redist_grid *grid, int *ndims, int dims[], int coords[]);

/** Returns the communicator of all ranks in grid order, which the grid owns. Not collective. Errors: ERR_NULL,
 * ERR_STATE. */
REDIST_API int redist_grid_comm(const redist_grid *grid, MPI_Comm *comm);

/**
 * Returns the communicator of the ranks that differ from this one only in grid coordinate `dim`. The grid owns it. Not
 * collective. Errors: ERR_NULL, ERR_GRID (dim out of range), ERR_STATE.
 */
REDIST_API int redist_grid_subcomm(const redist_grid *grid, int dim, MPI_Comm *subcomm);

/** The part of a global array that one rank holds, and its place in that rank's local array. */
typedef struct redist_box {
    size_t size;                          /**< sizeof(redist_box) */
    redist_index start[REDIST_MAX_NDIMS]; /**< first global index along each axis */
    redist_index count[REDIST_MAX_NDIMS]; /**< elements along each axis; any 0 = an empty box */
    /** allocated extents of the local array; 0 = count */
    redist_index extent[REDIST_MAX_NDIMS];
    redist_index offset[REDIST_MAX_NDIMS]; /**< start of the box in the local array */
} redist_box;

/** An empty box. */
#define REDIST_BOX_DEFAULT                                                                         \
    REDIST_VALUE(redist_box) {                                                                     \
        .size = sizeof(redist_box), .start = {0}, .count = {0}, .extent = {0}, .offset = { 0 }     \
    }

/**
 * Sets a structure to its defaults, as its macro does, for languages without designated initialisers.
 *   size  sizeof the structure in the caller's header
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT (size). The other *_init functions are alike.
 */
REDIST_API int redist_box_init(redist_box *box, size_t size);

/**
 * Returns this rank's box of a global array of which each grid dimension splits one axis in balanced blocks.
 *   ndims  array axes
 *   sizes  global extents (ndims values)
 *   axes   axes[i] is the axis that grid dimension i splits; one for each grid dimension, all different
 *   box    in: size; out: start and count; extent and offset are 0
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT, ERR_SIZE, ERR_AXIS, ERR_GRID, ERR_STATE.
 */
REDIST_API int redist_grid_box(const redist_grid *grid, int ndims, const redist_index sizes[],
                               const int axes[], redist_box *box);

#ifdef __cplusplus
}
#endif

#endif
