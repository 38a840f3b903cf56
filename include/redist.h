/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * libredist: moves N-dimensional arrays between distributions.
 *
 * An exchange is fully described by the box of array A sent to each peer and the box of array B received from it
 * (Dalcin, Mortensen, Keyes: "Fast parallel multidimensional FFT using advanced MPI"). The library builds that
 * description once and has several methods to carry it out.
 *
 * Conventions, valid for every function:
 *   - Arrays are in C order (the last axis is contiguous); axes count from 0; extents are in elements.
 *   - Functions return REDIST_OK (0) or a code of REDIST_ERRORS; redist_error_message() then names the
 *     argument, its value and the rank.
 *   - All ranks of the communicator call a "collective" function, in the same order.
 *   - The caller owns arrays and communicators; the library owns its objects until the matching `free`.
 *   - A structure begins with its size. Set it up with its *_DEFAULT macro, in an initialiser or an assignment, or its
 *     *_init function, never by position. Structures of older and newer headers are accepted (docs/guarantees.md).
 *   - Lists, texts and structures that are passed to a function are read during the call: the caller may free or change
 *     them afterwards. Exceptions are stated.
 *
 * Failures (docs/guarantees.md): functions that make something, and redist_exchange, fail on all ranks if they fail on
 * one, and leak nothing. An execution that fails in the middle fails on all ranks, in that call or in the next
 * collective call on the plan; then the plan is broken: free it and make a new one. With a wrong handle (null or freed:
 * ERR_STATE), state or direction of an execution only the calling rank fails, and takes no part. No rank waits for
 * ever. A call without MPI or with a null communicator returns at once, without communication.
 *
 * Work that stays on the stream (docs/guarantees.md): with options.asynchronous, executions of arrays on a device only
 * enqueue their work in options.stream, which may be captured in a CUDA graph. Each rank has its own device. Within a
 * node (method signals) a direction is available if its destination is bound when the plan is made
 * (REDIST_BIND_AT_PLAN), in memory that peers can map; if it adds elements its source is; with REDIST_OVERLAP_READ
 * either is; both of redist_plan_halo always are. Between nodes (methods nccl and hier:nccl) the library needs NCCL.
 * Arguments are not agreed on, as with options.skip_agreement. All ranks enqueue executions of plans with common ranks
 * in the same order.
 *
 * Devices (docs/guarantees.md): a plan works on the device that is current when it is made. Later calls accept, and
 * keep, any current device; arrays of another device are refused with ERR_ARGUMENT, an execution in a stream that is
 * captured with ERR_STATE unless the plan is asynchronous.
 *
 * Threads (docs/guarantees.md): under MPI_THREAD_MULTIPLE different threads may use different communicators, with the
 * plans, grids and arrays made from them, at the same time; one communicator is used by one thread at a time. The
 * library calls MPI from the calling thread only.
 */
#ifndef REDIST_H
#define REDIST_H

#include "redist_grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- memory that peers can map */

/**
 * Allocates an array that the ranks of `comm` on the same node can map, so that the `direct` method copies directly
 * into or out of it.
 *   comm   the ranks that take part; must agree
 *   bytes  size on this rank; may differ between ranks and may be 0
 *   array  out: the array, aligned to at least 64 bytes, contents undefined; freed with redist_free
 * With too little shared memory on the node, the array is plain memory, for other methods.
 * Collective on comm. Errors: ERR_COMM, ERR_NULL, ERR_STATE, ERR_LIMIT, ERR_MEMORY, ERR_MPI.
 */
REDIST_API int redist_alloc(MPI_Comm comm, size_t bytes, void **array);

/**
 * Allocates as redist_alloc, in a given space (REDIST_SPACE_AUTO = REDIST_SPACE_HOST). Memory of REDIST_SPACE_CUDA is
 * on the current device of the calling rank; ranks may share a device.
 *   space  must agree
 * Collective on comm. Errors: those of redist_alloc, ERR_ARGUMENT (space: unknown, or unavailable in this
 * build or on this machine), ERR_DEVICE.
 */
REDIST_API int redist_alloc_in(MPI_Comm comm, enum redist_space space, size_t bytes, void **array);

/**
 * Allocates host memory of this rank alone that the ranks of its node can still map, when a plan first uses it: it
 * replaces arrays of redist_alloc everywhere. Where they cannot map it (docs/guarantees.md), plans treat it as plain
 * memory.
 *   bytes  may be 0
 *   array  out: the array, aligned to at least 64 bytes, zeroed; freed with redist_free
 * Not collective; works before MPI_Init and after MPI_Finalize. Errors: ERR_NULL, ERR_LIMIT, ERR_MEMORY.
 */
REDIST_API int redist_alloc_local(size_t bytes, void **array);

/**
 * Returns whether peers can map an array of redist_alloc, redist_alloc_in or redist_alloc_local. If they cannot,
 * without shared memory, plans that were promised such arrays accept it with a warning, and move it by messages.
 *   array     an address in it
 *   mappable  out: 1 or 0; of redist_alloc on all ranks alike
 * Not collective. Errors: ERR_NULL, ERR_STATE (not such an array).
 */
REDIST_API int redist_alloc_info(const void *array, int *mappable);

/**
 * Frees an array of redist_alloc, redist_alloc_in or redist_alloc_local and sets *array to NULL; does nothing when
 * *array is NULL. No plan may be executed on it afterwards; such plans may be freed before or after, but before if the
 * array is device memory and the plan's communicator has other ranks.
 * Collective on the communicator of the allocation, if it had one. Errors: ERR_NULL, ERR_STATE (not such an array).
 */
REDIST_API int redist_free(void **array);

/* ---------------------------------------------------------------- plans */

/** Effort of method "auto" to choose. */
enum redist_effort {
    REDIST_MEASURE = 0, /**< time the methods that apply on scratch arrays of the real shape */
    REDIST_ESTIMATE = 1 /**< use what is remembered, else a fixed order of preference */
};

/** Tiles in which a plan moves arrays (redist_plan_put_begin, redist_plan_get_begin). */
enum redist_tiles {
    REDIST_WHOLE = 0, /**< none: redist_plan_execute and its variants only */
    /** the caller puts array A, forward's source, in tiles; it need not exist */
    REDIST_PUT = 1,
    /** the caller gets array B, forward's destination, in tiles; it need not exist */
    REDIST_GET = 2
};

/** The time at which a plan is bound to an array. */
enum redist_binding {
    REDIST_BIND_AT_PLAN = 0,      /**< when it is made */
    REDIST_BIND_AT_EXECUTION = 1, /**< with each execution; any memory */
    /** with each execution; memory that peers can map: from redist_alloc, or on a device as from redist_alloc_in. If
     * redist_alloc found no shared memory, the first execution on such an array makes the plan one for any memory */
    REDIST_BIND_AT_EXECUTION_MAPPED = 2
};

/** Staging of device arrays in pinned host memory for MPI. */
enum redist_staging {
    REDIST_STAGING_AUTO = 0,   /**< yes, unless MPI reports that it accepts device memory */
    REDIST_STAGING_ALWAYS = 1, /**< yes */
    REDIST_STAGING_NEVER = 2   /**< no: the user knows that MPI accepts it */
};

/** Elements in the boxes of several ranks. */
enum redist_overlap {
    REDIST_OVERLAP_REFUSED = 0, /**< boxes of different ranks must not overlap */
    /** boxes in B may: several ranks receive the same elements. The plan goes forward only */
    REDIST_OVERLAP_READ = 1,
    /** boxes in B may; backward adds their elements to those in A, in the order of ranks, where forward copies. The
     * datatype consists of integers or of floating-point numbers, real or complex, of one kind, unless
     * options.operation is given */
    REDIST_OVERLAP_ADD = 2
};

/** Formats in which numbers travel between ranks; arrays keep theirs. Each is for float and double, real or complex,
 * except as said. */
enum redist_wire {
    REDIST_WIRE_SAME = 0, /**< as they are in the arrays */
    /** double as float: each number changes by at most 2^-24 of itself, or 2^-150 if that is more; beyond the range of
     * float it becomes infinite */
    REDIST_WIRE_FLOAT = 1,
    /** integers of 16 bits, with a power of two for each row of 128 numbers of a message: each number changes by at
     * most 2^-15 of the largest one in its row. A row whose largest number is below 2^-1008 arrives as zeros, one with
     * a number that is not finite as NaN */
    REDIST_WIRE_16_BITS = 2
};

/** The messages that options.wire is for. */
enum redist_wire_scope {
    REDIST_WIRE_BETWEEN_NODES =
        0,                     /**< those between ranks on different nodes; the others are exact */
    REDIST_WIRE_EVERYWHERE = 1 /**< all; what stays on its rank is exact */
};

/** Options of a plan. "Must agree" = the same on all ranks. The texts may be freed once the plan is
 * made; the stream lives as long as the plan. */
typedef struct redist_options {
    size_t size; /**< sizeof(redist_options) */

    /* The choice of the method */
    /** "auto" (or NULL), or a name of redist_method_name, optionally with a variant behind a
     * colon ("direct:push-nontemporal"); must agree */
    const char *method;
    enum redist_effort effort; /**< for "auto"; must agree */
    /** nonzero: rank 0 prints the candidates of "auto" to stderr; also REDIST_VERBOSE=1 */
    int verbose;
    /** time budget of "auto" for one plan, <= 0 = the default (1 s); if one round of each method takes longer, the
     * leaders get some more rounds, which take at most as long again */
    double tune_seconds;
    /** file in which rank 0 remembers measurements of "auto"; NULL = the environment variable REDIST_WISDOM, or none.
     * An unusable file causes a warning on stderr, no failure */
    const char *wisdom_file;
    /** local arrays with more bytes are written past the caches, if the method supports it; 0 = choose; must agree */
    size_t nontemporal_bytes;

    /* The arrays */
    enum redist_space space; /**< of both arrays; must agree */
    /** for methods that pass device arrays to MPI; must agree */
    enum redist_staging staging;
    /** with device arrays, a cudaStream_t (NULL = the default stream): an execution begins after all earlier work in
     * it, and is complete when it returns. Stream and arrays are of the device that is current when the plan is made,
     * and the stream is not captured then */
    void *stream;
    /** when array A is bound; unless REDIST_BIND_AT_PLAN, only functions *_arrays take it, and a
     * may be NULL at creation; must agree */
    enum redist_binding bind_a;
    enum redist_binding bind_b; /**< the same for array B */

    /* The executions */
    /** only methods that support it are considered; not REDIST_GET on a device; must agree */
    enum redist_tiles tiles;
    /** nonzero: several threads put or get tiles at once, if redist_plan_info.concurrent is set */
    int concurrent;
    /** with REDIST_PUT: array B is completed in this many partitions, one after the other (redist_plan_put_arrived);
     * only methods that support it are considered; <= 1 = array B is complete at the end; must agree */
    int partitions;
    /** the axis along which redist_decompose cuts each rank's local array B into these; must agree */
    int partition_axis;
    /** nonzero: functions *_arrays do not check with the other ranks whether all arrays are
     * valid, which saves one reduction; must agree */
    int skip_agreement;
    int phases; /**< nonzero: executions are timed for redist_plan_get_phases */
    /** nonzero, with device arrays: executions only enqueue work in `stream`, and return; the next call with the plan
     * and redist_plan_query report later failures; must agree */
    int asynchronous;
    /** seconds for which the device waits for a peer, after which an asynchronous execution has failed; 0 = the default
     * (600 s); messages of NCCL wait without limit. The wait for a peer that has ended or given up takes about a second
     * at most */
    double wait_seconds;
    /** with REDIST_PUT: each rank puts its array A in this many segments, the boxes into which redist_decompose cuts it
     * along `segment_axis`, in their order; messages are cut alike, so that each leaves with its segment; in host
     * memory those in a format are cut along this axis, into pieces of their own. Other tiles are allowed; 0 = unknown;
     * must agree */
    int segments;
    int segment_axis; /**< the axis of these; must agree */

    /** whether boxes in B may overlap, and what backward does then; without tiles; must agree */
    enum redist_overlap overlap;
    int reserved; /**< 0 */
    /** the operation of REDIST_OVERLAP_ADD and REDIST_ACCUMULATE; NULL, or a pointer to MPI_OP_NULL, = the sum. An
     * element x of A becomes MPI_Reduce_local(y, x, 1, datatype, *operation), which is y op x, for each y that arrives,
     * in the order of ranks; the operation need not be commutative. A predefined one is applied to the numbers of which
     * the datatype consists, all of one predefined datatype; one of MPI_Op_create to whole elements without gaps, whose
     * datatype it gets, or a duplicate. Host memory only. Read when the plan is made, and valid as long as the plan is;
     * effort REDIST_MEASURE applies it to scratch arrays, too. Whether it is given must agree, and it is the same */
    const MPI_Op *operation;

    /** format of the numbers on their way; narrowed while they are packed, so that only methods that pack are
     * considered, of whole arrays or of tiles that are put. Elements consist of numbers of one kind that the format is
     * for. With REDIST_MEASURE the plan keeps the format of the arrays if this one is slower by more than 3 %, and says
     * so where it is verbose; must agree */
    enum redist_wire wire;
    enum redist_wire_scope wire_scope; /**< must agree */
} redist_options;

/** Whole arrays that are bound when the plan is made, by the method that is measured to be the fastest. */
#define REDIST_OPTIONS_DEFAULT                                                                     \
    REDIST_VALUE(redist_options) {                                                                 \
        .size = sizeof(redist_options), .method = NULL, .effort = REDIST_MEASURE, .verbose = 0,    \
        .tune_seconds = 0.0, .wisdom_file = NULL, .nontemporal_bytes = 0,                          \
        .space = REDIST_SPACE_AUTO, .staging = REDIST_STAGING_AUTO, .stream = NULL,                \
        .bind_a = REDIST_BIND_AT_PLAN, .bind_b = REDIST_BIND_AT_PLAN, .tiles = REDIST_WHOLE,       \
        .concurrent = 0, .partitions = 0, .partition_axis = 0, .skip_agreement = 0, .phases = 0,   \
        .asynchronous = 0, .wait_seconds = 0.0, .segments = 0, .segment_axis = 0,                  \
        .overlap = REDIST_OVERLAP_REFUSED, .reserved = 0, .operation = NULL,                       \
        .wire = REDIST_WIRE_SAME, .wire_scope = REDIST_WIRE_BETWEEN_NODES                          \
    }

/** REDIST_OPTIONS_DEFAULT as a function; as redist_box_init. */
REDIST_API int redist_options_init(redist_options *options, size_t size);

/**
 * Returns the local extents of both arrays of an exchange, for redist_exchange and redist_plan_exchange.
 *   comm     of the exchange
 *   ndims    array axes, 2..REDIST_MAX_NDIMS
 *   sizes    global extents (ndims values), each >= 0
 *   axis_a   the axis along which A is whole; B is split along it
 *   axis_b   the axis along which B is whole, another one; A is split along it
 *   sizes_a  out: extents of this rank's array A (ndims values)
 *   sizes_b  out: those of its array B
 * Axes that other communicators split have their local extents in `sizes`. Not collective.
 * Errors: ERR_COMM, ERR_STATE, ERR_ARGUMENT (ndims), ERR_NULL, ERR_AXIS, ERR_SIZE; nothing is written then.
 */
REDIST_API int redist_exchange_sizes(MPI_Comm comm, int ndims, const redist_index sizes[],
                                     int axis_a, int axis_b, redist_index sizes_a[],
                                     redist_index sizes_b[]);

/** A reusable exchange between two distributed arrays. */
typedef struct redist_plan redist_plan;

/**
 * Moves a distributed array from one alignment to another, once (paper, Listing 3).
 *   comm      the ranks among which axis_a and axis_b are exchanged; must agree
 *   datatype  one element; any committed type of non-zero size; size and extent must agree. Bytes of B outside of its
 *             data are unchanged. The methods that apply may depend on it (docs/guide.md)
 *   ndims     array axes, 2..REDIST_MAX_NDIMS; must agree
 *   sizes_a   local extents of A; sizes_a[axis_a] is the global extent of that axis
 *   a         the local array A, read only
 *   axis_a    the axis along which A is whole on every rank; must agree
 *   sizes_b   local extents of B; sizes_b[axis_b] is the global extent of that axis
 *   b         the local array B, overwritten; must not overlap A, nor lie between the data of A's elements
 *   axis_b    the axis along which B is whole; differs from axis_a; must agree
 * redist_decompose splits the distributed axes: sizes_a[axis_b] is this rank's part of sizes_b[axis_b], and
 * sizes_b[axis_a] its part of sizes_a[axis_a]; all other extents are equal and must agree. An array without elements
 * may be NULL. Both arrays lie in host memory, or both on the current device of the rank. The method is the one that
 * "auto" remembers for these arguments, else its choice without measurement. The library keeps the plans of the last 8
 * calls with different arguments until comm is freed or MPI is finalised: a call with the same arguments, on the same
 * arrays or on others of the same kind of memory (of redist_alloc: within the same allocation), is then an execution
 * and one small reduction. An execution that fails on one rank only fails on the others in the next call on comm.
 * Collective on comm. Errors: ERR_COMM, ERR_DATATYPE, ERR_ARGUMENT (ndims), ERR_SIZE, ERR_AXIS, ERR_NULL, ERR_OVERLAP,
 * ERR_DISAGREE, ERR_LIMIT, ERR_STATE, ERR_MEMORY, ERR_MPI.
 */
REDIST_API int redist_exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims,
                               const redist_index sizes_a[], const void *a, int axis_a,
                               const redist_index sizes_b[], void *b, int axis_b);

/**
 * Plans the exchange of redist_exchange, for repeated use in both directions.
 *   options  NULL = defaults
 *   plan     out: the plan, freed with redist_plan_free
 * The other arguments are those of redist_exchange. The arrays are not touched.
 * Collective on comm. Errors: those of redist_exchange, ERR_METHOD (unknown, or does not apply; the message says
 * why), ERR_DATATYPE also for elements that options.wire is not for, and ERR_LIMIT also if MPI has no message tags left
 * for another plan of comm: MPI_TAG_UB / 17 plans, or 65,536 if that is less, may be alive.
 */
REDIST_API int redist_plan_exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims,
                                    const redist_index sizes_a[], void *a, int axis_a,
                                    const redist_index sizes_b[], void *b, int axis_b,
                                    const redist_options *options, redist_plan **plan);

/**
 * Plans the exchange between two arbitrary box distributions of one global array.
 *   ndims  array axes, 1..REDIST_MAX_NDIMS; must agree
 *   sizes  global extents (ndims values); must agree
 *   box_a  what this rank holds of the array in A; inside sizes; boxes of different ranks must not overlap
 *   a      the local array A (extents box_a->extent, or count where that is 0)
 *   box_b  the same for B; boxes of different ranks may overlap if options.overlap allows it
 *   b      the local array B; the boxes must not overlap in memory, but the arrays may, or be one
 * An element in no box of the source is unchanged in the destination. The other arguments are those of
 * redist_plan_exchange.
 * Collective on comm. Errors: as redist_plan_exchange; ERR_ARGUMENT also for options.operation in a plan that adds
 * nothing, or with arrays in device memory, or of elements that lie across rows of options.wire, ERR_DATATYPE for
 * elements to which it does not apply, and ERR_MPI if MPI refuses it and MPI's error handler returns: that of
 * MPI_COMM_WORLD, since MPI 4 that of MPI_COMM_SELF.
 */
REDIST_API int redist_plan_boxes(MPI_Comm comm, MPI_Datatype datatype, int ndims,
                                 const redist_index sizes[], const redist_box *box_a, void *a,
                                 const redist_box *box_b, void *b, const redist_options *options,
                                 redist_plan **plan);

/**
 * Executes a plan: REDIST_FORWARD moves A to B, REDIST_BACKWARD moves B to A. On return the destination is
 * complete and the source may be reused on this rank.
 * Collective on the plan's communicator; direction must agree.
 * Errors: ERR_STATE (freed, already started, or an array is bound at execution) and ERR_ARGUMENT (direction), on
 * this rank only; ERR_MPI, ERR_DEVICE, ERR_MEMORY, ERR_PEER, on all ranks, now or in the next execution.
 */
REDIST_API int redist_plan_execute(redist_plan *plan, int direction);

/**
 * Executes a plan on other arrays of its shapes. If an array was from redist_alloc when the plan was made, so must be
 * the one given here (over the same or more ranks).
 * Collective; direction must agree. Errors: those of redist_plan_execute, ERR_NULL, ERR_OVERLAP, ERR_ARGUMENT (an array
 * is not from redist_alloc as required), on all ranks unless options.skip_agreement.
 */
REDIST_API int redist_plan_execute_arrays(redist_plan *plan, int direction, void *a, void *b);

/**
 * Starts an execution that redist_plan_wait completes; in between neither array may be touched. Several plans may be
 * started at once; all ranks start them, and wait for them, in the same order.
 * Collective on the plan's communicator; returns without waiting for peers if the method supports it. After an error
 * nothing was started; redist_plan_wait returns later failures. Errors: ERR_STATE and ERR_ARGUMENT, as
 * redist_plan_execute.
 */
REDIST_API int redist_plan_start(redist_plan *plan, int direction);

/**
 * Starts an execution on other arrays, as redist_plan_start; the arrays are those of redist_plan_execute_arrays.
 * Collective on the plan's communicator. Errors: those of redist_plan_execute_arrays that concern arguments and state.
 */
REDIST_API int redist_plan_start_arrays(redist_plan *plan, int direction, void *a, void *b);

/**
 * Completes an execution of redist_plan_start.
 * Collective on the plan's communicator. Errors: ERR_STATE (freed or not started), on this rank only; those of
 * redist_plan_execute on all ranks.
 */
REDIST_API int redist_plan_wait(redist_plan *plan);

/**
 * Opens a forward execution of a plan made with options.tiles = REDIST_PUT, in which the caller puts array A tile by
 * tile; redist_plan_put_end closes it, and returns later failures.
 *   destination  array B, as in redist_plan_execute_arrays; complete when redist_plan_put_end returns
 * Collective on the plan's communicator; the other ranks wait for one that fails. Errors: ERR_STATE, ERR_NULL,
 * ERR_ARGUMENT (not from redist_alloc as required), on this rank only: nothing was opened.
 */
REDIST_API int redist_plan_put_begin(redist_plan *plan, void *destination);

/**
 * Puts a tile: a box of array A. Each element is put exactly once.
 *   start   first index of the box in the local array A, along each axis
 *   count   its elements along each axis
 *   tile    its first element; may be overwritten as soon as the function returns. On a device the tile is
 *           complete before the call, and stays as it is until redist_plan_put_end
 *   stride  bytes from an element of the tile to its neighbour along each axis
 * Not collective: ranks may put different tiles in different orders. Where redist_plan_info.concurrent is nonzero,
 * several threads of a rank may do so at once, between begin and end, which one thread calls. After a failure
 * redist_plan_put_end still has to be called; tiles may be left out then. Errors: ERR_STATE, ERR_NULL (a list),
 * ERR_SIZE (outside of the array), and the first failure of the plan: ERR_MPI, ERR_DEVICE, ERR_MEMORY, ERR_PEER.
 */
REDIST_API int redist_plan_put(redist_plan *plan, const redist_index start[],
                               const redist_index count[], const void *tile,
                               const ptrdiff_t stride[]);

/**
 * Lets an execution of redist_plan_put_begin make progress, without waiting: call it repeatedly during a long
 * computation of the next tile, since on a device only the host can begin waiting copies. After many calls in a row it
 * yields the core.
 * Not collective. Errors: ERR_STATE, and the first failure of the plan.
 */
REDIST_API int redist_plan_put_progress(redist_plan *plan);

/**
 * Counts the partitions of array B that have arrived, in an execution of redist_plan_put_begin of a plan made with
 * options.partitions > 1; makes progress as redist_plan_put_progress does.
 *   partitions  out: the number of partitions, counted from the first, that have all their elements. It reaches
 *               options.partitions some time after each rank has put its whole array A, also before
 *               redist_plan_put_end
 * Not collective. Errors: ERR_STATE, ERR_NULL, and the first failure of the plan.
 */
REDIST_API int redist_plan_put_arrived(redist_plan *plan, int *partitions);

/**
 * Waits until partitions of array B have arrived, in an execution of redist_plan_put_begin of a plan made with
 * options.partitions > 1. With options.asynchronous the stream waits, not the host: work that is enqueued later finds
 * these partitions complete, and this rank has put all its tiles before.
 *   partitions  how many, counted from the first, 0..options.partitions; 0 does not wait
 * Not collective; the partitions arrive when each rank has put its array A. Errors: ERR_STATE, ERR_ARGUMENT, and the
 * first failure of the plan.
 */
REDIST_API int redist_plan_put_wait(redist_plan *plan, int partitions);

/**
 * Closes an execution of redist_plan_put_begin; array B is complete if it returns REDIST_OK. Collective.
 * Errors: ERR_STATE, and those of redist_plan_execute on all ranks.
 */
REDIST_API int redist_plan_put_end(redist_plan *plan);

/**
 * Opens a forward execution of a plan made with options.tiles = REDIST_GET, in which the caller gets array B tile
 * by tile; redist_plan_get_end closes it.
 *   source  array A, complete; it may be reused when redist_plan_get_end returns
 * Collective on the plan's communicator. Errors: as redist_plan_put_begin.
 */
REDIST_API int redist_plan_get_begin(redist_plan *plan, const void *source);

/**
 * Gets a tile: a box of array B, described as in redist_plan_put; it is complete on return.
 * Not collective; several threads as in redist_plan_put. Errors: as redist_plan_put.
 */
REDIST_API int redist_plan_get(redist_plan *plan, const redist_index start[],
                               const redist_index count[], void *tile, const ptrdiff_t stride[]);

/**
 * Closes an execution of redist_plan_get_begin; tiles may be left out. The tiles are right if it returns REDIST_OK.
 * Collective. Errors: as redist_plan_put_end.
 */
REDIST_API int redist_plan_get_end(redist_plan *plan);

/**
 * Frees a plan and sets *plan to NULL; does nothing when *plan is NULL. Completes a pending execution first, whose
 * tiles have to be put by then. When it returns, no rank maps memory for the plan any more. A rank frees device memory
 * that is not from redist_alloc_in (cudaFree) only after all plans that used it. MPI_Finalize releases the resources of
 * plans not freed before, unless an execution is pending; after it this function frees their remaining memory, not
 * collectively.
 * Collective on the plan's communicator. Errors: ERR_NULL, ERR_STATE (not freed then); those of the completed
 * execution.
 */
REDIST_API int redist_plan_free(redist_plan **plan);

/* ---------------------------------------------------------------- queries */

/** Properties of a plan. */
typedef struct redist_plan_info {
    size_t size;            /**< sizeof(redist_plan_info) */
    const char *method;     /**< the method's name, with its variant; owned by the plan */
    size_t workspace_bytes; /**< memory of this rank that the plan holds for buffers */
    /** sent by this rank in one forward execution, its own part included */
    size_t moved_bytes;
    enum redist_space space; /**< of the arrays */
    /** nonzero: made with options.concurrent, and several threads may put or get tiles at once:
     * always with methods that only copy (direct), with others if MPI was initialised with
     * MPI_THREAD_SERIALIZED at least */
    int concurrent;
    /** the format of its messages: options.wire, or REDIST_WIRE_SAME, also if no message is for it, or it was slower */
    enum redist_wire wire;
    int reserved; /**< 0 */
    /** sent by this rank to others in one forward execution, in the format of the messages; within a node some methods
     * copy as many bytes of arrays instead, and method kway passes on what it has got, which is not counted */
    size_t sent_bytes;
} redist_plan_info;

/** Nothing known; sets the size for redist_plan_get_info. */
#define REDIST_PLAN_INFO_DEFAULT                                                                   \
    REDIST_VALUE(redist_plan_info) {                                                               \
        .size = sizeof(redist_plan_info), .method = NULL, .workspace_bytes = 0, .moved_bytes = 0,  \
        .space = REDIST_SPACE_AUTO, .concurrent = 0, .wire = REDIST_WIRE_SAME, .reserved = 0,      \
        .sent_bytes = 0                                                                            \
    }

/** REDIST_PLAN_INFO_DEFAULT as a function; as redist_box_init. */
REDIST_API int redist_plan_info_init(redist_plan_info *info, size_t size);

/**
 * Returns the properties of a plan.
 *   info  in: size; out: the rest
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT (size), ERR_STATE.
 */
REDIST_API int redist_plan_get_info(const redist_plan *plan, redist_plan_info *info);

/**
 * Returns the plan's communicator: the library's duplicate of the one that the plan was made with. The library owns it;
 * use it for its size, its ranks and MPI_Comm_dup, not for messages.
 * Not collective. Errors: ERR_NULL, ERR_STATE.
 */
REDIST_API int redist_plan_get_comm(const redist_plan *plan, MPI_Comm *comm);

/**
 * Returns whether executions have failed, as far as the device has reached them: with options.asynchronous a call that
 * returned REDIST_OK has only enqueued its work. After the program has waited for the stream, REDIST_OK means that all
 * its executions so far are complete, also those of a graph. Any failure in options.stream fails the plan, also of the
 * program's own kernels.
 * Not collective. Errors: ERR_STATE (freed); the first failure of the plan, ERR_DEVICE if it is one of the stream.
 */
REDIST_API int redist_plan_query(redist_plan *plan);

/** Returns the plan's method, as redist_plan_info.method. Not collective. Errors: ERR_NULL, ERR_STATE. */
REDIST_API int redist_plan_get_method(const redist_plan *plan, const char **method);

/**
 * The time of a plan's executions by phase, in seconds on this rank, added up since the plan was made. The phases
 * (Egger, chapter 5) do not overlap, and together they are `total`. A phase that the method lacks is 0.
 */
typedef struct redist_phases {
    size_t size;          /**< sizeof(redist_phases) */
    long long executions; /**< of either direction, whole or in tiles */
    /** inside the calls that execute, start, wait, or move tiles; where several threads move
     * tiles, only in the calls around these */
    double total;
    /** boxes for other ranks copied to messages, to memory that peers read, or from a device to the host */
    double pack;
    /** sending and waiting for the first message; 0 with methods that do not see single messages (alltoallw, alltoallv,
     * nccl, kway) */
    double first_message;
    double communicate; /**< the same after that, and the remainder */
    double unpack;      /**< messages copied to their boxes, or from the host to a device */
    /** copying the part that stays on this rank, unless it is a message; 0 if one copy is for all ranks together
     * (direct) */
    double own_part;
} redist_phases;

/** No time; sets the size for redist_plan_get_phases. */
#define REDIST_PHASES_DEFAULT                                                                      \
    REDIST_VALUE(redist_phases) {                                                                  \
        .size = sizeof(redist_phases), .executions = 0, .total = 0.0, .pack = 0.0,                 \
        .first_message = 0.0, .communicate = 0.0, .unpack = 0.0, .own_part = 0.0                   \
    }

/** REDIST_PHASES_DEFAULT as a function; as redist_box_init. */
REDIST_API int redist_phases_init(redist_phases *phases, size_t size);

/**
 * Returns the time of a plan's executions by phase; all 0 unless the plan was made with options.phases.
 *   phases  in: size; out: the rest
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT (size), ERR_STATE.
 */
REDIST_API int redist_plan_get_phases(const redist_plan *plan, redist_phases *phases);

/* ---------------------------------------------------------------- methods */

/** Returns the number of methods. Not collective. */
REDIST_API int redist_method_count(void);

/** Returns the name of method `index`, 0 <= index < redist_method_count(), else NULL. Not collective. */
REDIST_API const char *redist_method_name(int index);

/** Returns one sentence on how method `index` moves the bytes; NULL if out of range. Not collective. */
REDIST_API const char *redist_method_summary(int index);

/** Returns nonzero if options.method may be `request`: NULL, "auto", a method, or "method:variant". Not collective. */
REDIST_API int redist_method_exists(const char *request);

/** Forgets the measurements of "auto" and of transforms in this process, not those in files. May run at any time; all
 * ranks call it, or none. Not collective. */
REDIST_API void redist_forget_wisdom(void);

#ifdef __cplusplus
}
#endif

#endif
