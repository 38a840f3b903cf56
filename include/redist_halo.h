/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Ghosts of distributed arrays: points of neighbours around each rank's box, filled from their owners, or added to
 * them. The conventions are those of redist.h.
 */
#ifndef REDIST_HALO_H
#define REDIST_HALO_H

#include "redist.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Directions of a plan of redist_plan_halo. */
enum redist_halo_direction {
    REDIST_FILL = 0,      /**< each ghost becomes a copy of its owner's element */
    REDIST_ACCUMULATE = 1 /**< each ghost is added to its owner's element; ghosts are unchanged */
};

/** Ghosts around the box of each rank. All fields must agree. */
typedef struct redist_halo {
    size_t size; /**< sizeof(redist_halo) */
    redist_index
        low[REDIST_MAX_NDIMS]; /**< ghosts before the box along each axis, in elements, >= 0; */
    redist_index high[REDIST_MAX_NDIMS]; /**< and behind it. May exceed the neighbours' boxes */
    /** nonzero: the last element along the axis is followed by the first one; else there are no
     * ghosts beyond the ends of the global array */
    int periodic[REDIST_MAX_NDIMS];
    int corners;  /**< nonzero: also the ghosts that are outside of the box along several axes */
    int reserved; /**< 0; no padding follows the last field */
} redist_halo;

/** No ghosts. */
#define REDIST_HALO_DEFAULT                                                                        \
    REDIST_VALUE(redist_halo) {                                                                    \
        .size = sizeof(redist_halo), .low = {0}, .high = {0}, .periodic = {0}, .corners = 0,       \
        .reserved = 0                                                                              \
    }

/** REDIST_HALO_DEFAULT as a function; as redist_box_init. Not collective. Errors: ERR_NULL, ERR_ARGUMENT (size). */
REDIST_API int redist_halo_init(redist_halo *halo, size_t size);

/**
 * Plans the exchange of ghosts in a distributed array. redist_plan_execute(plan, REDIST_FILL) copies elements to the
 * ghosts that show them, redist_plan_execute(plan, REDIST_ACCUMULATE) adds ghosts to the elements that they show, in
 * the order of ranks, or combines them by options.operation. If a rank has several ghosts of one element, those along
 * axis 0 come first, before the box and then behind it, each in the order of memory, then those along axis 1, and so
 * on; a ghost outside of the box along several axes counts as one along the last of them. Between redist_plan_start and
 * redist_plan_wait the program leaves ghosts alone, and elements that ghosts show: these it may read in REDIST_FILL. It
 * may work on all other elements of its box.
 *   comm      the ranks among which the array is distributed; must agree
 *   datatype  one element, as in redist_plan_exchange. REDIST_ACCUMULATE needs integers, or floating-point numbers,
 *             real or complex, of one kind, or options.operation; with other elements, and long doubles on a device, it
 *             returns ERR_ARGUMENT
 *   ndims     array axes, 1..REDIST_MAX_NDIMS; must agree. Several fields are an axis without ghosts that each rank has
 *             whole, or elements of several numbers
 *   sizes     global extents (ndims values); must agree
 *   box       what this rank holds of the global array, such as that of redist_grid_box, and its place in `array`. The
 *             boxes of all ranks cover the global array without overlaps; a rank without elements has no ghosts
 *   array     the local array, with room for the ghosts: offset >= low, and extent - offset - count >= high, along each
 *             axis, except where the global array ends before
 *   halo      the ghosts
 *   options   NULL = defaults. bind_a is that of the array, and bind_b has no effect; no tiles. asynchronous
 *             takes any array: unless it is bound when the plan is made, in memory that peers can map, ghosts pass
 *             through buffers of the plan. overlap: REDIST_OVERLAP_READ is a plan without REDIST_ACCUMULATE, which more
 *             methods serve, and REDIST_OVERLAP_ADD refuses elements that cannot be added
 *   plan      out: the plan, freed with redist_plan_free
 * The functions of redist.h that execute a plan on other arrays take the same array twice. The array is not touched
 * here. Collective on comm. Errors: those of redist_plan_boxes; ERR_ARGUMENT also for tiles; ERR_SIZE also for a width
 * that is negative, wider than the global extent of an axis that is not periodic, or has no room in the array, and for
 * boxes that leave a hole.
 */
REDIST_API int redist_plan_halo(MPI_Comm comm, MPI_Datatype datatype, int ndims,
                                const redist_index sizes[], const redist_box *box, void *array,
                                const redist_halo *halo, const redist_options *options,
                                redist_plan **plan);

#ifdef __cplusplus
}
#endif

#endif
