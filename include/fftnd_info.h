/* SPDX-License-Identifier: BSD-3-Clause */
/** Reports of plans: their properties, and the times of their transforms by phase. Included by fftnd.h. */
#ifndef FFTND_INFO_H
#define FFTND_INFO_H

#include "fftnd_kinds.h"
#include "redist.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Properties of a plan. */
typedef struct fftnd_plan_info {
    size_t size; /**< sizeof(fftnd_plan_info) */

    /* The process grid and the chain */
    int grid_ndims;              /**< process grid dimensions */
    int nexchanges;              /**< exchanges in one direction */
    int grid[REDIST_MAX_NDIMS];  /**< processes along each grid dimension */
    int order[REDIST_MAX_NDIMS]; /**< the axes in the order of the chain */
    double scale_forward;        /**< factor applied by forward */
    double scale_backward;       /**< factor applied by backward */

    /* The execution */
    /** method of the first exchange, "none" without one; owned by the plan */
    const char *method;
    int threads;            /**< threads of each rank that transform */
    int fused;              /**< nonzero: transforms and exchanges are fused in tiles */
    int tiled;              /**< nonzero: transforms work in tiles, fused or not */
    int locally_transposed; /**< nonzero: transforms transpose the local array */
    int segments;           /**< of a transform, each sent when complete; 1 = sent as a whole */
    int partitions;         /**< of a transform, each begun on its arrival; 1 = none */

    /* Memory of this rank */
    size_t workspace_bytes; /**< work space, in which operators work, too */
    size_t tile_bytes;      /**< of a tile, approximately; 0 without tiles */
    size_t device_bytes;    /**< on the device for tiles; 0 = transforms in the arrays' memory */
    size_t transfer_bytes;  /**< copied by one transform to the device, and as many back */
    /** nonzero: the last transform copied arrays through buffers, as the device could not access them */
    int buffered;
    int halved_axis; /**< or -1 */

    /* Time on this rank since the plan was made */
    double exchange_seconds; /**< in exchanges; in a fused plan in all that moves data */
    double serial_seconds;   /**< in serial transforms; in a fused plan in those within tiles */

    size_t
        scratch_bytes; /**< for tiles and lines of all threads, usually in the caches, besides the work space */
    redist_index ranks; /**< on which the chain runs, those of `grid` */

    /* Time in which this rank made the plan; that of a kept plan is of the first time */
    double planning_seconds;   /**< all of it */
    double choice_seconds;     /**< of these, choosing or measuring a configuration */
    double steps_seconds;      /**< process grid, steps, serial transforms */
    double allocation_seconds; /**< work space */
    double
        connection_seconds; /**< choosing or measuring methods of exchanges, and connecting the ranks */
    /** format of the exchanges' numbers: options.wire or that of the tolerance, or REDIST_WIRE_SAME, also if no message
     * is for it, or if it was slower by more than 3 % when the plan was measured */
    enum redist_wire wire;
    int reserved; /**< 0 */
    /** what a round trip with it, on random numbers when the plan was made, differed by from the exact one: the
     * relative L2 error, and the largest one of a number relative to the largest number; 0 without a format */
    double wire_error[2];
    /** sent by this rank to others in one forward transform, as redist_plan_info.sent_bytes */
    size_t sent_bytes;
    /** work space that the plan's operators have allocated, besides the plan's */
    size_t operator_bytes;
} fftnd_plan_info;

/** Nothing known; sets the size for fftnd_plan_get_info. */
#define FFTND_PLAN_INFO_DEFAULT                                                                    \
    REDIST_VALUE(fftnd_plan_info) {                                                                \
        .size = sizeof(fftnd_plan_info), .grid_ndims = 0, .nexchanges = 0, .grid = {0},            \
        .order = {0}, .scale_forward = 0.0, .scale_backward = 0.0, .method = NULL, .threads = 0,   \
        .fused = 0, .tiled = 0, .locally_transposed = 0, .segments = 0, .partitions = 0,           \
        .workspace_bytes = 0, .tile_bytes = 0, .device_bytes = 0, .transfer_bytes = 0,             \
        .buffered = 0, .halved_axis = -1, .exchange_seconds = 0.0, .serial_seconds = 0.0,          \
        .scratch_bytes = 0, .ranks = 0, .planning_seconds = 0.0, .choice_seconds = 0.0,            \
        .steps_seconds = 0.0, .allocation_seconds = 0.0, .connection_seconds = 0.0,                \
        .wire = REDIST_WIRE_SAME, .reserved = 0, .wire_error = {0.0, 0.0}, .sent_bytes = 0,        \
        .operator_bytes = 0                                                                        \
    }

/** FFTND_PLAN_INFO_DEFAULT as a function; as redist_box_init. */
REDIST_API int fftnd_plan_info_init(fftnd_plan_info *info, size_t size);

/**
 * The time of transforms by phase, in seconds on this rank, added up since the plan was made. The phases (Egger,
 * chapter 5) do not overlap, and together with `rest` they are `total`.
 */
typedef struct fftnd_phases {
    size_t size;          /**< sizeof(fftnd_phases) */
    long long executions; /**< of either direction */
    double total;
    /** serial transforms, with scaling and copies between them; in a fused plan those within
     * tiles, the mean of the threads */
    double transform;
    /** of the exchanges, as in redist_phases; if several threads move tiles, part of `rest` */
    double pack;
    double first_message;
    double communicate;
    double unpack;
    double own_part;
    double rest; /**< in a fused plan, loading and storing tiles in this rank's own arrays */
} fftnd_phases;

/** No time; sets the size for fftnd_plan_get_phases. */
#define FFTND_PHASES_DEFAULT                                                                       \
    REDIST_VALUE(fftnd_phases) {                                                                   \
        .size = sizeof(fftnd_phases), .executions = 0, .total = 0.0, .transform = 0.0,             \
        .pack = 0.0, .first_message = 0.0, .communicate = 0.0, .unpack = 0.0, .own_part = 0.0,     \
        .rest = 0.0                                                                                \
    }

/** FFTND_PHASES_DEFAULT as a function; as redist_box_init. */
REDIST_API int fftnd_phases_init(fftnd_phases *phases, size_t size);

#ifdef __cplusplus
}
#endif

#endif
