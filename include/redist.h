/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * libredist: moves N-dimensional arrays between distributions.
 *
 * An exchange is fully described by which box of array A goes to each peer and which box of array B
 * comes from it (Dalcin, Mortensen, Keyes: "Fast parallel multidimensional FFT using advanced
 * MPI"). The library builds that description once and offers several methods to carry it out.
 *
 * Conventions, valid for every function:
 *   - arrays are in C order (the last axis is contiguous); axes count from 0; extents are in
 * elements;
 *   - functions return REDIST_OK (0) or a code of REDIST_ERRORS; redist_error_message() then names
 *     the argument, its value and the rank;
 *   - "collective" functions are called by all ranks of the communicator, in the same order;
 *   - a call refused because MPI is not running or the communicator is null returns at once,
 * without communication;
 *   - the caller owns arrays and communicators; the library owns what `create`, `plan` and `alloc`
 *     functions hand out, until the matching `free`;
 *   - MPI calls are made from the calling thread only.
 *
 * Failures. What a collective function promises depends on what it does:
 *   - those that make something (plans, grids, arrays, subgroups, models) or move an array without a plan
 *     (redist_exchange): wrong arguments, or a failure on one rank, and all ranks return an error, the same
 *     one where an argument is wrong; nothing has been touched, and nothing is left behind;
 *   - those that execute a plan (execute, start and wait, tiles) check the arguments of the calling rank. With
 *     arrays among them (redist_plan_execute_arrays, redist_plan_start_arrays) all ranks return the error,
 *     unless the plan was made with options.skip_agreement. Elsewhere what can be wrong is the handle, its state or
 *     the direction: that rank returns at once and takes no part, while the others wait until it makes the
 *     call as they did;
 *   - an execution that fails in the middle (a call of MPI or of a device, memory, a peer) fails on all ranks,
 *     in that call or in the next collective call on the plan. No rank waits for another one for ever, and
 *     none returns REDIST_OK with incomplete data; where the call returns an error, the destination has no
 *     meaning. When it returns, neither MPI nor a device nor a peer uses the arrays any more. Between nodes, a
 *     rank that exchanges no elements with the one that failed, not even through others, may learn of it
 *     later, in an agreement. The plan is broken: all its executions fail from then on. It can be freed, and
 *     a new one made;
 *   - an execution in which the process of another rank of the node has ended returns REDIST_ERR_PEER. So does
 *     each later call that would wait for that rank, unless MPI itself waits for it inside a call of its own:
 *     alltoallw and alltoallv (but not started), what makes something, and redist_exchange. Plans can be freed then, but shared memory stays until
 *     the process ends. That a rank of another node is gone, only MPI can tell;
 *   - those that free something refuse a handle that is not alive, on the calling rank only. With a handle
 *     that is alive they always free it, and return what an execution that they had to complete returned.
 *
 * Threads:
 *   - different communicators are independent of each other: under MPI_THREAD_MULTIPLE several threads may
 *     do everything at the same time, each with communicators of its own and the plans, grids and arrays
 *     made from these. With less (MPI_THREAD_SERIALIZED) one thread is in the library at a time, but for
 *     what redist_plan_put and redist_plan_get say;
 *   - one communicator, with all its plans, grids and arrays, is used by one thread at a time, since
 *     collective calls need an order that is the same on all ranks. Which thread may change if one call
 *     happens after the other;
 *   - functions that are not collective and only answer questions (redist_plan_get_info, redist_grid_get and
 *     the like) may run beside each other, and beside executions of other plans, but not beside a call that
 *     executes or frees what they ask about. Those without a handle (redist_decompose, names of methods and
 *     errors, redist_model_seconds) may run at any time, and redist_error_message() belongs to its thread;
 *   - redist_forget_wisdom may run at any time; redist_set_allocator (redist_support.h) before any other call;
 *   - the environment variables that the library reads must not be changed while it is in use.
 */
#ifndef REDIST_H
#define REDIST_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDIST_VERSION_MAJOR 0
#define REDIST_VERSION_MINOR 1
#define REDIST_VERSION_PATCH 0

/** Extents, counts and indices of array axes, in elements. */
typedef int redist_index;

/** The largest number of array axes, and of process grid dimensions. */
#define REDIST_MAX_NDIMS 16

#if defined(__GNUC__)
#define REDIST_API                       __attribute__((visibility("default")))
#define REDIST_PRINTF(text_index, first) __attribute__((format(printf, text_index, first)))
#else
#define REDIST_API
#define REDIST_PRINTF(text_index, first)
#endif

/* ---------------------------------------------------------------- errors */

/** Every code that a function can return: name and sentence. */
#define REDIST_ERRORS(X)                                                                           \
    X(OK, "no error")                                                                              \
    X(ERR_ARGUMENT, "an argument has a value that is not allowed")                                 \
    X(ERR_NULL, "a pointer that must not be null is null")                                         \
    X(ERR_OVERLAP, "two arrays or boxes overlap")                                                  \
    X(ERR_SIZE, "an extent is negative or does not fit the other extents")                         \
    X(ERR_AXIS, "an axis is out of range or given twice")                                          \
    X(ERR_COMM, "the communicator is null or of the wrong kind")                                   \
    X(ERR_GRID, "the process grid does not fit the communicator or the array")                     \
    X(ERR_DATATYPE, "the datatype is null, not committed, or of size zero")                        \
    X(ERR_DISAGREE, "ranks disagree on an argument that must be the same on all")                  \
    X(ERR_LIMIT, "a total is larger than this method or this machine can carry")                   \
    X(ERR_METHOD, "the method does not exist or does not apply here")                              \
    X(ERR_STATE, "called in the wrong state: before MPI_Init, after free, or out of order")        \
    X(ERR_MEMORY, "out of memory")                                                                 \
    X(ERR_MPI, "an MPI call failed")                                                               \
    X(ERR_FILE, "a file could not be read or written")                                             \
    X(ERR_SERIAL, "the serial transform library failed")                                           \
    X(ERR_DEVICE, "a call of the device's library failed")                                         \
    X(ERR_PEER, "an execution failed on another rank, or its process is gone")

enum redist_error {
#define REDIST_ERROR_CODE(name, sentence) REDIST_##name,
    REDIST_ERRORS(REDIST_ERROR_CODE)
#undef REDIST_ERROR_CODE
};

/** The name of a code, such as "REDIST_ERR_AXIS"; "unknown" for other values. Not collective. */
REDIST_API const char *redist_error_name(int code);

/** The sentence that explains a code. Not collective. */
REDIST_API const char *redist_error_string(int code);

/**
 * What went wrong in this thread's last failed call: function, argument, value and rank.
 * The library owns the string; the next failing call of this thread overwrites it. Not collective.
 */
REDIST_API const char *redist_error_message(void);

/* ---------------------------------------------------------------- who owns what */

/**
 * Balanced block decomposition of `n` elements in `nparts` parts (paper, Listing 1): the first
 * n % nparts parts have one element more.
 *   n       number of elements, >= 0
 *   nparts  number of parts, >= 1
 *   part    which part, 0 <= part < nparts
 *   count   out: elements in this part, may be 0
 *   start   out: index of its first element
 * Not collective. Errors: ERR_ARGUMENT, ERR_NULL.
 */
REDIST_API int redist_decompose(int n, int nparts, int part, int *count, int *start);

/**
 * Splits a communicator in the one-dimensional subgroups of a balanced Cartesian grid (paper,
 * Listing 4).
 *   comm      the ranks to arrange; same on all ranks
 *   ndims     grid dimensions, 1..REDIST_MAX_NDIMS; same on all ranks
 *   subcomms  out: ndims communicators; the caller owns each and frees it with MPI_Comm_free
 * Collective on comm. Errors: ERR_COMM, ERR_GRID, ERR_NULL, ERR_DISAGREE, ERR_STATE, ERR_MPI.
 */
REDIST_API int redist_subcomm(MPI_Comm comm, int ndims, MPI_Comm subcomms[]);

/** A Cartesian process grid with its one-dimensional subgroups. */
typedef struct redist_grid redist_grid;

/**
 * Arranges the ranks of a communicator as a Cartesian grid, in rank order: the last dimension varies
 * fastest.
 *   comm   the ranks; same on all
 *   ndims  grid dimensions, 1..REDIST_MAX_NDIMS; same on all ranks
 *   dims   processes along each dimension, 0 = choose (balanced); same on all ranks; the product
 *          must be the size of comm
 *   grid   out: the grid; owned by the caller, freed with redist_grid_free
 * Grids of the same comm and dims share their communicators. When the last of them is freed, these are kept
 * for the next one, but only those of the last two such shapes.
 * Collective on comm. Errors: ERR_COMM, ERR_GRID, ERR_NULL, ERR_DISAGREE, ERR_STATE, ERR_MEMORY,
 * ERR_MPI.
 */
REDIST_API int redist_grid_create(MPI_Comm comm, int ndims, const int dims[], redist_grid **grid);

/**
 * The same, but the ranks of a node follow one another whatever their numbers are: first those of the node
 * of rank 0, in the order of their numbers. Where the last dimensions divide the ranks of a node, their
 * subgroups stay inside it.
 * Collective on comm. Errors: as redist_grid_create.
 */
REDIST_API int redist_grid_create_by_node(MPI_Comm comm, int ndims, const int dims[],
                                          redist_grid **grid);

/**
 * Gives a grid back and sets *grid to NULL. Plans and arrays made on its subgroups stay valid; the
 * communicators of redist_grid_comm and redist_grid_subcomm do not, they may be freed now.
 * Collective on the grid's communicator. Errors: ERR_NULL, ERR_STATE.
 */
REDIST_API int redist_grid_free(redist_grid **grid);

/**
 * Asks a grid for its shape and this rank's place in it.
 *   ndims   out: grid dimensions; may be NULL
 *   dims    out: processes along each dimension (ndims values); may be NULL
 *   coords  out: this rank's coordinates (ndims values); may be NULL
 * Not collective. Errors: ERR_STATE.
 */
REDIST_API int redist_grid_get(const redist_grid *grid, int *ndims, int dims[], int coords[]);

/**
 * The communicator of all ranks of the grid, in grid order. The grid owns it.
 * Not collective. Errors: ERR_NULL, ERR_STATE.
 */
REDIST_API int redist_grid_comm(const redist_grid *grid, MPI_Comm *comm);

/**
 * The ranks that differ from this one only in grid coordinate `dim`. The grid owns the
 * communicator. Not collective. Errors: ERR_NULL, ERR_GRID (dim out of range), ERR_STATE.
 */
REDIST_API int redist_grid_subcomm(const redist_grid *grid, int dim, MPI_Comm *subcomm);

/** The part of a global array that one rank holds, and how it lies in that rank's local array. */
typedef struct redist_box {
    int start[REDIST_MAX_NDIMS];  /**< first global index along each axis */
    int count[REDIST_MAX_NDIMS];  /**< elements along each axis; any 0 makes the box empty */
    int extent[REDIST_MAX_NDIMS]; /**< allocated extents of the local array; 0 = count (no padding)
                                   */
    int offset[REDIST_MAX_NDIMS]; /**< where in the local array the box begins; 0 if not padded */
} redist_box;

/**
 * The box of a global array that this rank holds when each grid dimension splits one axis in
 * balanced blocks.
 *   ndims  array axes
 *   sizes  global extents (ndims values)
 *   axes   axes[i] is the axis that grid dimension i splits; one for each grid dimension, all
 *          different
 *   box    out: start and count are set, extent and offset are 0
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT, ERR_SIZE, ERR_AXIS, ERR_GRID, ERR_STATE.
 */
REDIST_API int redist_grid_box(const redist_grid *grid, int ndims, const int sizes[],
                               const int axes[], redist_box *box);

/* ---------------------------------------------------------------- memory that peers can map */

/** Where arrays live. */
enum redist_space {
    REDIST_SPACE_AUTO =
        0, /**< the addresses of the arrays tell; host memory if none is given yet */
    REDIST_SPACE_HOST = 1, /**< host memory */
    REDIST_SPACE_CUDA = 2  /**< memory of the current CUDA device */
};

/**
 * Allocates an array that the ranks of `comm` on the same node can map, which lets the `direct`
 * method copy straight into or out of it.
 *   comm   the ranks that take part; same on all
 *   bytes  size on this rank; may differ between ranks and may be 0
 *   array  out: the array, aligned to at least 64 bytes, contents undefined; freed with redist_free
 * Where the node offers no shared memory, plain memory is handed out and other methods serve it.
 * Collective on comm. Errors: ERR_COMM, ERR_NULL, ERR_STATE, ERR_LIMIT, ERR_MEMORY, ERR_MPI.
 */
REDIST_API int redist_alloc(MPI_Comm comm, size_t bytes, void **array);

/**
 * redist_alloc in a space of choice (REDIST_SPACE_AUTO = REDIST_SPACE_HOST). Memory of
 * REDIST_SPACE_CUDA lies on the device that is current on the calling rank; ranks may share a
 * device.
 *   space  same on all ranks
 * Collective on comm. Errors: those of redist_alloc, ERR_ARGUMENT (space: not known, or none in this
 * build or on this machine), ERR_DEVICE.
 */
REDIST_API int redist_alloc_in(MPI_Comm comm, enum redist_space space, size_t bytes, void **array);

/**
 * Frees an array of redist_alloc or redist_alloc_in and sets *array to NULL; does nothing when *array
 * is NULL.
 * No plan bound to the array, or executed on it, may be executed on it afterwards; such plans are freed before or
 * later. Plans of a communicator with other ranks, for memory of a device, are freed before.
 * Collective on the communicator of the allocation. Errors: ERR_NULL, ERR_STATE (not such an
 * array).
 */
REDIST_API int redist_free(void **array);

/* ---------------------------------------------------------------- plans */

/** Directions of a plan. */
enum redist_direction {
    REDIST_FORWARD = 0, /**< from array A to array B */
    REDIST_BACKWARD = 1 /**< from array B to array A */
};

/** How much work a plan of method "auto" spends to choose. */
enum redist_effort {
    REDIST_MEASURE = 0, /**< time the methods that apply on scratch arrays of the real shape */
    REDIST_ESTIMATE = 1 /**< use what is remembered, else a fixed order of preference */
};

/** Whether a plan hands arrays over in tiles (redist_plan_put_begin, redist_plan_get_begin). */
enum redist_tiles {
    REDIST_WHOLE = 0, /**< no: redist_plan_execute and its kin only */
    REDIST_PUT = 1,   /**< forward's source, array A, is handed over in tiles; it need not exist */
    REDIST_GET = 2    /**< forward's destination, array B, is fetched in tiles; it need not exist */
};

/** When a plan learns where an array is. */
enum redist_binding {
    REDIST_BIND_AT_PLAN = 0,      /**< when it is made */
    REDIST_BIND_AT_EXECUTION = 1, /**< with each execution; any memory */
    REDIST_BIND_AT_EXECUTION_MAPPED =
        2 /**< with each execution; memory that peers can map: of redist_alloc, or
                                 on a device as redist_alloc_in gives it */
};

/** Whether MPI gets arrays of a device through pinned host memory. */
enum redist_staging {
    REDIST_STAGING_AUTO =
        0, /**< yes, unless MPI itself says that it takes addresses of the device */
    REDIST_STAGING_ALWAYS = 1, /**< yes */
    REDIST_STAGING_NEVER = 2   /**< no: the user knows that MPI takes them */
};

/** What a user may choose; set it up with REDIST_OPTIONS_DEFAULT. */
typedef struct redist_options {
    size_t size;        /**< sizeof(redist_options), so that the structure can grow */
    const char *method; /**< "auto" (or NULL), or a name of redist_method_name, optionally with a
                             variant behind a colon ("direct:push-nontemporal"); must agree */
    enum redist_effort effort; /**< for "auto"; must agree */
    double tune_seconds;       /**< time budget of "auto" for one plan, <= 0 = the default (1 s) */
    const char *wisdom_file;   /**< where "auto" remembers across runs; NULL = environment variable
                                    REDIST_WISDOM, or nowhere; read and written by rank 0. A file
                                    that cannot be used costs a warning on stderr, never the plan */
    enum redist_binding
        bind_a; /**< unless REDIST_BIND_AT_PLAN, array A is given to the functions *_arrays
                                    only, and a may be NULL at creation; must agree */
    enum redist_binding bind_b; /**< the same for array B */
    int skip_agreement; /**< nonzero: redist_plan_execute_arrays and its kin do not ask the other ranks
                      whether their arrays were in order, which saves one reduction; must agree */
    int verbose; /**< nonzero: rank 0 prints to stderr what "auto" tried; also REDIST_VERBOSE=1 */
    enum redist_tiles tiles;  /**< only methods that can do this are considered; must agree; on a
                                  device not REDIST_GET */
    size_t nontemporal_bytes; /**< local arrays with more bytes are written past the caches, where a
                              method can; 0 = choose; must agree */
    int concurrent;           /**< nonzero: several threads hand over or fetch tiles at once, if
                         redist_plan_info.concurrent says that they may */
    enum redist_space space;  /**< where both arrays live; must agree */
    void *stream; /**< with arrays of a device, a cudaStream_t (NULL = the default stream): an
                              execution begins after all work that it got before, and has completed its
                              own when it returns */
    enum redist_staging staging; /**< for methods that hand arrays of a device to MPI; must agree */
    int phases; /**< nonzero: redist_plan_get_phases says where the time of executions goes */
    int partitions; /**< with REDIST_PUT: array B is completed in so many partitions, one after the other, and
                     redist_plan_put_arrived says how many of them are there; only methods that can do
                     this are considered; <= 1 = array B is complete at the end; must agree */
    int partition_axis; /**< the axis along which each rank's local array B is cut into these, as
                         redist_decompose cuts its extent; must agree */
} redist_options;

#define REDIST_OPTIONS_DEFAULT                                                                     \
    {                                                                                              \
        sizeof(redist_options), NULL, REDIST_MEASURE, 0.0, NULL, REDIST_BIND_AT_PLAN,              \
            REDIST_BIND_AT_PLAN, 0, 0, REDIST_WHOLE, 0, 0, REDIST_SPACE_AUTO, NULL,                \
            REDIST_STAGING_AUTO, 0, 0, 0                                                           \
    }

/** A reusable exchange between two distributed arrays. */
typedef struct redist_plan redist_plan;

/**
 * Moves a distributed array from one alignment to another, once (paper, Listing 3).
 *   comm      the ranks among which axis_a and axis_b are exchanged; same on all
 *   datatype  one element; any committed type of non-zero size; same size and extent on all ranks
 *   ndims     array axes, 2..REDIST_MAX_NDIMS; same on all ranks
 *   sizes_a   local extents of A; sizes_a[axis_a] is the global extent of that axis
 *   a         the local array A, read only
 *   axis_a    the axis along which A is whole on every rank; same on all ranks
 *   sizes_b   local extents of B; sizes_b[axis_b] is the global extent of that axis
 *   b         the local array B, overwritten; must not overlap A
 *   axis_b    the axis along which B is whole; differs from axis_a; same on all ranks
 * The distributed axes are split as redist_decompose does: sizes_a[axis_b] is this rank's part of
 * sizes_b[axis_b], and sizes_b[axis_a] its part of sizes_a[axis_a]; all other extents are equal and
 * the same on all ranks. An array without elements may be NULL.
 * Both arrays lie in host memory, or both on the current device of the rank (redist_alloc_in).
 * The method is the one that "auto" remembers for these arguments, else the one that it takes without
 * measuring: `direct` on one node, MPI_Alltoallw between nodes.
 * What the last 8 calls with different arguments need (descriptions, buffers) is kept until comm is freed or
 * MPI is finalised: a call with the same arguments, on the same arrays or on others of the same kind of memory,
 * is then an execution and one small reduction. Arrays of redist_alloc count as the same only within the same
 * allocation.
 * An execution that fails on one rank only fails on the others in the next call on comm.
 * Collective on comm. Errors: ERR_COMM, ERR_DATATYPE, ERR_ARGUMENT (ndims), ERR_SIZE, ERR_AXIS,
 * ERR_NULL, ERR_OVERLAP, ERR_DISAGREE, ERR_LIMIT, ERR_STATE, ERR_MEMORY, ERR_MPI.
 */
REDIST_API int redist_exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims, const int sizes_a[],
                               const void *a, int axis_a, const int sizes_b[], void *b, int axis_b);

/**
 * Plans the exchange that redist_exchange does, for repeated use in both directions.
 *   options  NULL = defaults
 *   plan     out: the plan, freed with redist_plan_free
 * The other arguments, agreement and errors are those of redist_exchange; besides: ERR_METHOD
 * (unknown, or does not apply; the message says why), and ERR_LIMIT also if so many plans of comm are
 * alive that MPI has no message tags for another: MPI_TAG_UB / 16 of them, or 65,536 if that is less. The
 * arrays are not touched.
 * Collective on comm.
 */
REDIST_API int redist_plan_exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims,
                                    const int sizes_a[], void *a, int axis_a, const int sizes_b[],
                                    void *b, int axis_b, const redist_options *options,
                                    redist_plan **plan);

/**
 * Plans the exchange between two arbitrary box distributions of one global array.
 *   ndims  array axes, 1..REDIST_MAX_NDIMS; same on all ranks
 *   sizes  global extents (ndims values); same on all ranks
 *   box_a  what this rank holds of the array in A; inside sizes; boxes of different ranks must not
 *          overlap
 *   a      the local array A (extents box_a->extent, or count where that is 0)
 *   box_b  the same for B
 *   b      the local array B; must not overlap A
 * An element that lies in no box of the source stays as it was in the destination.
 * The other arguments are those of redist_plan_exchange.
 * Collective on comm. Errors: as redist_plan_exchange.
 */
REDIST_API int redist_plan_boxes(MPI_Comm comm, MPI_Datatype datatype, int ndims, const int sizes[],
                                 const redist_box *box_a, void *a, const redist_box *box_b, void *b,
                                 const redist_options *options, redist_plan **plan);

/**
 * Executes a plan: REDIST_FORWARD moves A to B, REDIST_BACKWARD moves B to A.
 * On return the destination is complete and the source may be reused on this rank.
 * Collective on the plan's communicator; direction must agree.
 * Errors: ERR_STATE (freed, already started, or an array is bound at execution) and ERR_ARGUMENT (direction), on
 * this rank only; ERR_MPI, ERR_DEVICE, ERR_MEMORY, ERR_PEER, on all ranks, now or in the next execution.
 */
REDIST_API int redist_plan_execute(redist_plan *plan, int direction);

/**
 * The same on other arrays of the plan's shapes. An array that was from redist_alloc when the plan
 * was made must be from redist_alloc (over the same or more ranks) here too.
 * Collective; direction must agree. Errors: those of redist_plan_execute, ERR_NULL, ERR_OVERLAP,
 * ERR_ARGUMENT (an array is not from redist_alloc though it has to be), on all ranks unless options.skip_agreement.
 */
REDIST_API int redist_plan_execute_arrays(redist_plan *plan, int direction, void *a, void *b);

/**
 * Starts an execution that redist_plan_wait completes; in between neither array may be touched.
 * Several plans may be under way at once; all ranks start them, and wait for them, in the same
 * order.
 * Collective on the plan's communicator; returns without waiting for peers where the method can. An error
 * says that nothing was started; what fails after that is for redist_plan_wait to return.
 * Errors: ERR_STATE and ERR_ARGUMENT, as redist_plan_execute.
 */
REDIST_API int redist_plan_start(redist_plan *plan, int direction);

/** redist_plan_start on other arrays, as redist_plan_execute_arrays. */
REDIST_API int redist_plan_start_arrays(redist_plan *plan, int direction, void *a, void *b);

/**
 * Completes what redist_plan_start began.
 * Collective on the plan's communicator. Errors: ERR_STATE (freed or not started), and those of
 * redist_plan_execute that come on all ranks.
 */
REDIST_API int redist_plan_wait(redist_plan *plan);

/**
 * Opens a forward execution of a plan made with options.tiles = REDIST_PUT, in which array A is handed
 * over piece by piece, as it is computed; redist_plan_put_end closes it.
 *   destination  array B: under the same conditions as in redist_plan_execute_arrays; complete when
 *                redist_plan_put_end returns
 * Collective on the plan's communicator. Errors: ERR_STATE, ERR_NULL, ERR_ARGUMENT (not from redist_alloc though
 * it has to be), on this rank only: nothing was opened, and the other ranks wait until it is. What fails after
 * that is for redist_plan_put_end to return.
 */
REDIST_API int redist_plan_put_begin(redist_plan *plan, void *destination);

/**
 * Hands over a tile: a box of array A. Each element is handed over exactly once.
 *   start   first index of the box in the local array A, along each axis
 *   count   its elements along each axis
 *   tile    its first element; may be overwritten as soon as the function returns. On a device the
 *           tile has to be complete before the call, and stays as it is until redist_plan_put_end
 *   stride  bytes from an element of the tile to its neighbour along each axis
 * Not collective: ranks may hand over different tiles in different orders. Where
 * redist_plan_info.concurrent is nonzero, several threads of a rank may do so at once, between begin
 * and end, which are called by one thread. After a failure redist_plan_put_end has to be called all the same; what
 * was not handed over may be left out. Errors: ERR_STATE, ERR_SIZE (outside of the array), and the first failure of
 * the plan: ERR_MPI, ERR_DEVICE, ERR_MEMORY, ERR_PEER.
 */
REDIST_API int redist_plan_put(redist_plan *plan, const int start[], const int count[],
                               const void *tile, const ptrdiff_t stride[]);

/**
 * Lets an execution that redist_plan_put_begin opened go on, without waiting for anything. On a device the
 * copies of a tile may have to wait for others, and only the host can begin them, in any call that
 * concerns the plan: a program that waits for its next tile for long does well to make this one
 * repeatedly. After many calls in a row it gives the core away for a moment. Not collective. Errors:
 * ERR_STATE.
 */
REDIST_API int redist_plan_put_progress(redist_plan *plan);

/**
 * Asks how much of array B is complete already, in an execution that redist_plan_put_begin opened of a plan
 * made with options.partitions > 1; lets it go on as redist_plan_put_progress does.
 *   partitions  out: so many of the partitions, counted from the first, have all their elements. All of them have
 *           at some time after each rank has handed over its whole array A, also before
 *           redist_plan_put_end
 * Not collective. Errors: ERR_STATE, ERR_NULL, ERR_DEVICE.
 */
REDIST_API int redist_plan_put_arrived(redist_plan *plan, int *partitions);

/**
 * Closes what redist_plan_put_begin opened; array B is complete if it returns REDIST_OK. Collective. Errors:
 * ERR_STATE, and those of redist_plan_execute that come on all ranks.
 */
REDIST_API int redist_plan_put_end(redist_plan *plan);

/**
 * Opens a forward execution of a plan made with options.tiles = REDIST_GET, in which array B is fetched
 * piece by piece, as it is needed; redist_plan_get_end closes it.
 *   source  array A, complete; it may be reused when redist_plan_get_end returns
 * Collective on the plan's communicator. Errors: as redist_plan_put_begin.
 */
REDIST_API int redist_plan_get_begin(redist_plan *plan, const void *source);

/**
 * Fetches a tile: a box of array B, described as in redist_plan_put; it is complete on return.
 * Not collective; several threads as in redist_plan_put. Errors: as redist_plan_put.
 */
REDIST_API int redist_plan_get(redist_plan *plan, const int start[], const int count[], void *tile,
                               const ptrdiff_t stride[]);

/**
 * Closes what redist_plan_get_begin opened; tiles may be left out. What was fetched is right if it returns
 * REDIST_OK. Collective. Errors: as redist_plan_put_end.
 */
REDIST_API int redist_plan_get_end(redist_plan *plan);

/** What a plan does. */
typedef struct redist_plan_info {
    const char *method;     /**< the method's name, with its variant; owned by the plan */
    size_t workspace_bytes; /**< memory of this rank that the plan holds for buffers */
    size_t moved_bytes; /**< bytes that this rank sends in one forward execution, own part too */
    int concurrent;     /**< nonzero: made with options.concurrent, and redist_plan_put or
                             redist_plan_get may run in several threads at once: always with methods
                             that only copy (direct), with others if MPI was initialised with
                             MPI_THREAD_SERIALIZED at least, since they call MPI there */
} redist_plan_info;

/** Asks what a plan does. Not collective. Errors: ERR_NULL, ERR_STATE. */
REDIST_API int redist_plan_get_info(const redist_plan *plan, redist_plan_info *info);

/**
 * Where the time of a plan's executions went, in seconds on this rank, added up since the plan was
 * made; start with REDIST_PHASES_DEFAULT. The phases (Egger, chapter 5) do not overlap, and together
 * they are `total`. A phase that a method does not have is 0.
 */
typedef struct redist_phases {
    size_t size;          /**< sizeof(redist_phases), so that the structure can grow */
    long long executions; /**< of either direction, whole or in tiles */
    double total; /**< inside the calls that execute, start, wait, or move tiles; where tiles are
                               moved by several threads, only in the calls around these */
    double pack;  /**< boxes for other ranks copied to messages, to where peers read them, or
                               from a device to the host */
    double
        first_message;  /**< sending and waiting until the first message is in; 0 with methods that
                               do not see single messages (alltoallw, alltoallv, nccl), or in stages
                               (kway) */
    double communicate; /**< the same after that, and all that is no other phase */
    double unpack;      /**< messages copied to their boxes, or from the host to a device */
    double own_part;    /**< copying the part that stays on this rank, where it is no message */
} redist_phases;

#define REDIST_PHASES_DEFAULT                                                                      \
    { sizeof(redist_phases), 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 }

/**
 * Asks where the time of a plan's executions went. All are 0 unless the plan was made with
 * options.phases.
 *   phases  in: size; out: the rest
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT (size), ERR_STATE.
 */
REDIST_API int redist_plan_get_phases(const redist_plan *plan, redist_phases *phases);

/**
 * Frees a plan and sets *plan to NULL; does nothing when *plan is NULL. An execution that is under
 * way is completed first; tiles must have been handed over by then.
 * Peers map device memory that is not from redist_alloc_in too: a rank frees such memory (cudaFree) only after
 * all plans that were made for it or executed on it are freed. When this function returns, no rank maps memory
 * for the plan any more.
 * Collective on the plan's communicator. Errors: ERR_NULL, ERR_STATE.
 */
REDIST_API int redist_plan_free(redist_plan **plan);

/* ---------------------------------------------------------------- the communication model */

/**
 * An exchange takes `start`, and for each message of d bytes latency + d / bandwidth (Egger, section
 * 2.5.3, where start is 0).
 */
typedef struct redist_link {
    double start; /**< seconds; what does not grow with the messages, such as waiting for a core */
    double latency;   /**< seconds */
    double bandwidth; /**< bytes per second; 0 = there is no such link, or it was not measured */
} redist_link;

/** What messages between ranks cost while all ranks exchange. */
typedef struct redist_model {
    size_t size;         /**< sizeof(redist_model), so that the structure can grow */
    int ranks_per_node;  /**< neighbouring ranks, so many of them, share a node */
    redist_link node;    /**< between ranks of one node */
    redist_link network; /**< between ranks of different nodes */
} redist_model;

#define REDIST_MODEL_DEFAULT                                                                       \
    {                                                                                              \
        sizeof(redist_model), 1, {0.0, 0.0, 0.0}, {                                                \
            0.0, 0.0, 0.0                                                                          \
        }                                                                                          \
    }

/**
 * Measures and fits the model: exchanges of contiguous messages of several sizes, first among the ranks
 * of each node, then among those that have the same place in different nodes, everywhere at the same
 * time; and in pairs of these. Takes some hundredths of a second.
 *   comm     the ranks; same on all
 *   options  method, space and staging of the exchanges; "auto" is not measured but estimated; NULL =
 *            defaults; must agree
 *   model    in: size; out: the rest, the same on all ranks
 * Collective on comm. Errors: those of redist_plan_exchange and redist_alloc_in.
 */
REDIST_API int redist_model_fit(MPI_Comm comm, const redist_options *options, redist_model *model);

/**
 * The time of an exchange by the model, in seconds: each rank of a subgroup sends one message to each of
 * the others; the rank with the most expensive peers counts.
 *   nranks  ranks in all
 *   nparts  ranks of a subgroup, those that are `stride` apart; a divisor of nranks / stride
 *   bytes   of the local array; each message has bytes / nparts
 * Where a link was not measured, the other one stands for it. Not collective; 0 for bad arguments.
 */
REDIST_API double redist_model_seconds(const redist_model *model, int nranks, int nparts,
                                       int stride, double bytes);

/* ---------------------------------------------------------------- methods */

/** The number of methods. Not collective. */
REDIST_API int redist_method_count(void);

/** The name of method `index`, 0 <= index < redist_method_count(), else NULL. Not collective. */
REDIST_API const char *redist_method_name(int index);

/** One sentence on how method `index` moves the bytes; NULL if out of range. Not collective. */
REDIST_API const char *redist_method_summary(int index);

/** Nonzero if options.method may be `request`: NULL, "auto", a method, or "method:variant". Not
 * collective. */
REDIST_API int redist_method_exists(const char *request);

/** Forgets what "auto" has measured in this process. Call it on all ranks. */
REDIST_API void redist_forget_wisdom(void);

#ifdef __cplusplus
}
#endif

#endif
