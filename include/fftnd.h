/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * libfftnd: distributed FFTs of any dimension over process grids of any dimension (slab, pencil and beyond),
 * by chaining serial transforms with the exchanges of libredist.
 *
 * The chain (Dalcin, Mortensen, Keyes, sections 3.3 to 3.6): with a grid of g dimensions the input is whole
 * along its last d-g axes. These are transformed at once; then, for i = g-1 .. 0, an exchange among the
 * subgroup of grid dimension i makes axis i whole (and splits axis i+1), and axis i is transformed. The output
 * is whole along axis 0 and split along axes 1..g. The backward transform runs the chain in reverse. For real
 * input the halved axis is the last; another one can be chosen, and then takes the last place in the chain.
 * With fftnd_options.order the chain takes the axes in another order: read "axis order[i]" for "axis i" above.
 * For d = 3 on a slab grid (g = 1) the usual order splits axes 0 and 1 (Egger's 2D-1D slab), the order 0, 2, 1
 * splits axes 0 and 2 (the 1D-2D slab).
 *
 * Each axis may have its own transform (FFTND_MIXED): none, complex, halved, or any real-to-real transform. An axis
 * that is split and not transformed stays split, and costs no exchange. The split axes, their blocks and their order in
 * memory are free on either side; any boxes may replace blocks (the last fields of fftnd_options). fftnd_plan_layout
 * describes a rank's part.
 *
 * One axis over all ranks: a complex axis that is the only one (d = 1) is transformed as an array of n0 rows and n1
 * columns, n = n0 n1, by transforms along the columns, twiddle factors and transforms along the rows (Bailey, 1990),
 * both sides in whole rows. With FFTND_ALIGN_INPUT the spectral side is in natural order. With FFTND_ALIGN_CHAIN, which
 * saves an exchange, element i n1 + j of it is mode i + n0 j, as fftnd_plan_wavenumbers returns. n0 is the divisor of n
 * next to its square root; a prime length is correct, but one rank's work. Other axes, not transformed, are a batch
 * then, first or last. FFTND_MIXED with `split` naming the axis for both sides does the same in natural order with two
 * exchanges, between which the other axes are split.
 *
 * Dealiasing: fftnd_options.retained_modes makes the spectral side shorter than the transforms. Let an axis
 * have n = sizes[i] points and K = retained_modes[i] <= n modes, let X[k] be its transform of n points without
 * scaling, with k modulo n, and Y the spectral side. Along a complex axis of the spectral side
 *
 *     forward   Y[k] = X[k]                for |k| < K/2
 *               Y[k] = X[k] + X[-k]        for k = K/2, if K is even and K < n
 *     backward  X[k] = Y[k]                for |k| < K/2
 *               X[k] = X[-k] = Y[k] / 2    for k = K/2, if K is even and K < n
 *               X[k] = 0                   for all others
 *
 * and Y is stored as a transform of K points would be: k = 0 .. ceil(K/2) - 1, then the negative ones -floor(K/2) ..
 * -1. Of the halved axis k = 0 .. floor(K/2) are stored and X[-k] is the mirror image, the conjugate of X[k] with all
 * other wavenumbers negated. Of FFTND_DHT and FFTND_R2HC axes the modes with |k| <= K/2 are retained in the same way,
 * as a transform of K points would store them. Other real-to-real axes have the first K coefficients, and backward
 * takes the others as zero. K = n is the transform without `retained_modes`. With any K, backward followed by forward
 * is the identity on the modes of a field, up to scaling. The scalings divide by products of `sizes`, not of
 * `retained_modes`: amplitudes (FFTND_SCALE_FORWARD) are unchanged. The 3/2 rule is sizes = 3N/2 and retained_modes =
 * N, the 2/3 rule is sizes = N and retained_modes = 2N/3. Each axis is truncated right after its transform and filled
 * with zeros right before, in the caches: dropped modes are neither sent nor stored. fftnd_plan_wavenumbers returns the
 * k of each element.
 *
 * Zero padding: with fftnd_options.filled the physical side has only the first F = filled[i] of the n = sizes[i] points
 * along each axis: a layout of this side has sizes[i] = F. Forward takes the others as zero; backward drops them. With
 * sizes = 2N (or 2N - 1) and filled = N, a forward transform, a product of modes and a backward one are a convolution
 * that does not wrap around. Each axis gets its zeros right before its transform and loses its dropped points right
 * after the one back, in the caches: the axes that are transformed later are as short as the array meanwhile, and no
 * zeros are stored or sent. An axis with fewer points than modes that no grid dimension splits, other than the halved
 * one, is transformed behind all exchanges. Axes of any kind that are transformed may be filled in part, with
 * retained_modes, too. The scalings divide by products of `sizes`. Functions of points (fftnd_apply_physical) get the
 * filled ones. Ghosts of such an axis are not periodic.
 *
 * Arrays larger than a device: with fftnd_options.device or device_bytes the arrays are in host memory and the serial
 * transforms run on a device, tile by tile: a tile holds some axes whole, which are transformed, and as much of the
 * others as the limit allows. It is uploaded, transformed and downloaded, while other tiles are being copied; between
 * ranks the exchange's method moves it from and to the host. Arrays that the device cannot access (page-locked neither
 * by their allocation nor by pin_arrays) are copied through buffers of the plan by the host; `threads` share that work,
 * and the exchange's if its method permits. With retained_modes and `filled` a tile has all modes and points, and what
 * the arrays have of them is copied. FFTND_LOCAL_TRANSPOSE_ALWAYS is unavailable there. Such a plan measures no
 * configurations and methods, which may need too much memory: it takes those remembered, named by `method`, or usual
 * (Chen, Cui, Mei: "Large-Scale Fast Fourier Transform", sections 39.3 and 39.4).
 *
 * Ghosts: with fftnd_options.ghosts the physical side has copies of neighbours' points around each rank's part, as in
 * redist_halo.h. Backward fills them: each becomes the point that it shows. With accumulate_ghosts forward transforms
 * the sum of each point and the ghosts that show it, added in the order of ranks; the array may have these sums as its
 * points afterwards. Ghosts themselves are not transformed. The array has room for them between a rank's part and its
 * padding (fftnd_layout.offset); a box has that room by `offset` and `extent`, also at the ends of an axis that is not
 * periodic, where redist_plan_halo needs none. Where backward ends with an exchange of all ranks, since the physical
 * side has boxes, another split, or more ranks than the chain, that exchange fills them, too, and the one with which
 * forward begins adds them, unless the transform beside it does it in mapped_arrays; else one exchange more moves the
 * ghosts alone, after the last transform or before the first one. Asynchronous plans add ghosts in a copy of the input
 * in work space, or, with in_place or overwrite_input, by that exchange alone. A method that is named has to serve
 * these exchanges (redist_plan_halo). Not for one axis over several ranks.
 *
 * Conventions, failures and threads are those of redist.h: C order, REDIST_OK (0) or a code of REDIST_ERRORS, and
 * redist_error_message() explains. Wrong arguments, and failures while something is made, are an error on all ranks,
 * without changes. A transform that fails in the middle fails on all ranks, in that call or in the next one with the
 * plan, which is broken then. docs/guarantees.md also has the rules for programs that use FFTW themselves.
 */
#ifndef FFTND_H
#define FFTND_H

#include "fftnd_info.h"
#include "fftnd_kinds.h"
#include "redist_halo.h"
#include "redist_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this header. */
#define FFTND_VERSION_MAJOR 0
#define FFTND_VERSION_MINOR 3
#define FFTND_VERSION_PATCH 0

/** Returns the version of the loaded library; arguments may be NULL. Not collective. */
REDIST_API void fftnd_version(int *major, int *minor, int *patch);

/** Options of a transform. All must agree, lists being given on all ranks or on none, unless stated otherwise. All
 * lists, boxes and texts may be freed once the plan is made: grid, order, r2r, retained_modes, method, wisdom_file,
 * axes, memory_order, padding, bounds (its lists, too), split, box, offset, ghosts, filled. The stream lives as long as
 * the plan. */
typedef struct fftnd_options {
    size_t size; /**< sizeof(fftnd_options) */

    /* The process grid */
    int grid_ndims; /**< process grid dimensions, 1..d-1; 0 = choose */
    /** nonzero: the ranks of a node are neighbours in the grid (redist_grid_create_by_node); fftnd_plan_layout returns
     * a rank's part */
    int by_node;
    /** processes along each grid dimension (grid_ndims values), 0 = choose; NULL = choose all */
    const int *grid;
    /** the axes in the order of the chain (d values, each axis once): grid dimension i splits axis order[i] of the
     * input and axis order[i + 1] of the output; the halved axis is not among the first g. NULL = 0..d-1, the halved
     * axis last; with `filled` one that sends least, unless `split` is given or all arrays are in the host memory of
     * one node. fftnd_plan_get_info returns it */
    const int *order;

    /* The transform */
    enum fftnd_scaling scaling;
    enum fftnd_alignment alignment;
    int batch; /**< fields transformed at once, >= 1 */
    enum fftnd_batch_position batch_position;
    const enum fftnd_r2r *r2r; /**< FFTND_R2R: the forward transforms (d values); else ignored */
    /** modes retained along each axis (d values, 1..sizes[i]): the spectral side has K/2 + 1
     * (halved axis) or K elements for K modes; NULL = all. See "Dealiasing" above */
    const redist_index *retained_modes;
    int halved_axis; /**< FFTND_R2C: the halved axis; -1 = the last; else ignored */

    /* The arrays */
    /** nonzero: input and output are the same array, each side of `bytes` of fftnd_layout; for FFTND_R2C the real side
     * is padded: one or two numbers at the end of each row, part of the row's modes, with any value */
    int in_place;
    /** nonzero: the input array may be used as work space; then both arrays have `bytes` of fftnd_layout. This and
     * in_place save a work array, unless modes or points are dropped */
    int overwrite_input;
    /** nonzero: all arrays that are transformed are from redist_alloc (on a device redist_alloc_in) over the plan's
     * ranks, or parts of such arrays. Exchanges then begin and end in them, which saves work space and leaves more of
     * the arrays in the caches; with overwrite_input a slab transform needs no work space. If redist_alloc found no
     * shared memory (redist_alloc_info), the first transform makes the plan one for any memory, with its own work
     * space */
    int mapped_arrays;
    int user_workspace; /**< nonzero: work space comes from fftnd_plan_set_workspace */
    /** of the arrays and work space; REDIST_SPACE_AUTO = host. REDIST_SPACE_CUDA is the device that is current when the
     * plan is made, on which calls with the plan work. With real-to-real axes, dropped modes or dropped points, work
     * space also has room for parts of the array */
    enum redist_space space;
    /** for REDIST_SPACE_CUDA, a cudaStream_t (NULL = the default stream): transforms begin after all earlier work in
     * it, and are complete on return unless `asynchronous` is set; of the plan's device, and not captured while the
     * plan is made; need not agree */
    void *stream;

    /* Arrays of the host on a device, see "Arrays larger than a device" above */
    /** place of the transforms of arrays in host memory: REDIST_SPACE_AUTO or REDIST_SPACE_HOST = the host,
     * REDIST_SPACE_CUDA = the current device of the rank */
    enum redist_space device;
    /** nonzero: the first transform of each of the user's arrays and work spaces page-locks it for direct access of the
     * device; it must exist until the plan is freed or has transformed others */
    int pin_arrays;
    /** limit of this rank's memory on it, besides that of its serial library; 0 = its part of four fifths of the free
     * memory. With a number the host acts as a device of that many bytes */
    size_t device_bytes;

    /* The execution */
    enum fftnd_effort effort;
    enum fftnd_fusion fusion;
    enum fftnd_local_transpose local_transpose;
    enum redist_staging staging; /**< as redist_options.staging */
    const char *method;      /**< method of the exchanges, as redist_options.method; NULL = auto */
    const char *wisdom_file; /**< as redist_options.wisdom_file; need not agree */
    /** approximate seconds of measurements (FFTND_MEASURE, FFTND_PATIENT); 0 = 3, or 30 when patient, or 0.04 for
     * arrays in host memory of less than 1 MiB on all ranks together; need not agree. In host memory of one node only
     * methods and serial libraries are measured */
    double plan_seconds;
    /** largest tile (in device memory, with dropped modes: of the modes that are transformed at once), if the axes
     * permit; 0 = choose */
    size_t tile_bytes;
    /** threads of each rank that transform, >= 1; the calling thread is one of them, the others live as long as the
     * plan and call MPI only if it was initialised with MPI_THREAD_SERIALIZED at least (else methods that send tiles as
     * messages move the tiles in one thread). Bind each rank to that many cores */
    int threads;
    /** nonzero: transforms and operators do not check with the other ranks whether all arrays are valid, which saves
     * one reduction; then a wrong argument is an error on its rank only, while the others wait for it */
    int skip_agreement;
    int verbose; /**< nonzero: rank 0 prints measurements to stderr; need not agree */
    int phases;  /**< nonzero: times phases for fftnd_plan_get_phases; need not agree */

    /* The axes, and the layout of each side: [FFTND_PHYSICAL], [FFTND_SPECTRAL] */
    /** FFTND_MIXED: the transform of each axis (d values); else NULL. `r2r` is then for the axes of FFTND_AXIS_R2R,
     * `halved_axis` is ignored, and with `order` NULL the chain sends the fewest bytes: an axis that is split and not
     * transformed stays split */
    const enum fftnd_axis *axes;
    /** the axes of a side from the slowest in memory to the fastest (d values); NULL = 0..d-1, C order. With `order`
     * NULL the chain takes the axes in their memory order on the physical side */
    const int *memory_order[2];
    /** additional elements of a side's local array along each axis (d values); NULL = none. They are neither read nor
     * changed, also in place and with overwrite_input, which save no work array then, since a padded array is no work
     * space */
    const redist_index *padding[2];
    enum fftnd_blocks blocks[2]; /**< how grid dimensions split the axes of a side */
    /** for each grid dimension the first index of each block of the axis that it splits on a side, and the extent:
     * grid[i] + 1 nondecreasing values, or NULL = by `blocks`. With `grid` and `order` only; NULL = none */
    const redist_index *const *bounds[2];
    /** the axis that each grid dimension splits on a side (grid_ndims values, no axis twice), by one exchange more if
     * necessary; NULL = that of the chain, or of `alignment` */
    const int *split[2];
    /** this rank's box of a side, instead of a part of the process grid; boxes cover all elements of the side once.
     * `extent` and `offset` of the box replace `padding` and `offset`. Needs one exchange more, unless all ranks' boxes
     * are their default parts without padding (not in place). NULL on all ranks = none */
    const redist_box *box[2];

    /** nonzero, with arrays of a device: transforms, and operators of the plan, only enqueue their work in `stream` and
     * return, also while it is captured in a CUDA graph; the next call with the plan or the operator and
     * fftnd_plan_query report later failures. "Work that stays on the stream" in redist.h applies; exchanges end in
     * work space, so that the arrays may be any of the device. The third call with the same arrays captures its work as
     * a CUDA graph, which later calls replay by a single launch: for arrays that are sent whole, in streams made with
     * cudaStreamNonBlocking that the user does not capture, unless MPI was initialised with MPI_THREAD_MULTIPLE,
     * `phases` is set, or a function of the user is called. During that one call no other thread may wait for the whole
     * device (cudaDeviceSynchronize, cudaFree) or query the stream: it would get an error, and the plan no graph. Times
     * in fftnd_plan_info and fftnd_phases are those of the host */
    int asynchronous;
    double wait_seconds; /**< as redist_options.wait_seconds; need not agree */
    /** ranks on which the chain runs, since small transforms are faster on few: 0 = all; 1 or more: the first ones of
     * the communicator, by_node sorted by node; FFTND_CHOOSE_RANKS: all, half of them, a quarter and so on, measured
     * unless effort is FFTND_ESTIMATE, which takes all. Arrays lie on all ranks as they do without this option: grid,
     * blocks, bounds, split, alignment and box describe the sides, and the planner chooses the grid of the chain. The
     * first exchange leads from the layout of all ranks to that of the chain, the last one back; in place the rows of a
     * real side are not padded then. With ndims = 1 over several ranks only 0 */
    redist_index ranks;
    /** elements of `padding` before this rank's part of a side along each axis (d values, 0..padding); NULL = none, all
     * are behind it */
    const redist_index *offset[2];

    /* Ghosts around the points of each rank, see "Ghosts" above */
    const redist_halo *ghosts; /**< their widths along each axis, in points; NULL = none */
    int fill_ghosts;           /**< nonzero, the default: backward transforms fill them */
    /** nonzero: forward transforms add them to the points that they show. Without `ghosts` no effect */
    int accumulate_ghosts;

    /** nonzero: fftnd_plan_free keeps the plan, and the next fftnd_plan_create on its communicator with the same
     * arguments returns it, after one reduction. Freeing waits for all ranks then, which free such plans in the same
     * order. See fftnd_cache_clear */
    int keep;

    /* Fewer bytes between ranks, of float and double */
    /** format of the numbers of the exchanges on their way, as redist_options.wire. The plan measures the error of a
     * round trip (fftnd_plan_info.wire_error), for which it needs the memory of three more arrays while it is made; of
     * two on a device, and two on the host; of none if wisdom has it */
    enum redist_wire wire;
    enum redist_wire_scope wire_scope; /**< as redist_options.wire_scope */
    /** instead of `wire`: the narrowest format with which the relative L2 error of a round trip on random numbers is at
     * most this, or that of the arrays if there is none; 0 = none. Not below 2^-27 in double (2^-19 in float), which no
     * format can be expected to reach */
    double tolerance;

    /** points that the physical side has along each axis (d values, 1..sizes[i]), the first ones; NULL = all. See "Zero
     * padding" above */
    const redist_index *filled;
} fftnd_options;

/** One field, measured (FFTND_MEASURE), scaled backward, with all modes and points, in arrays of the host. */
#define FFTND_OPTIONS_DEFAULT                                                                      \
    REDIST_VALUE(fftnd_options) {                                                                  \
        .size = sizeof(fftnd_options), .grid_ndims = 0, .by_node = 0, .grid = NULL, .order = NULL, \
        .scaling = FFTND_SCALE_BACKWARD, .alignment = FFTND_ALIGN_CHAIN, .batch = 1,               \
        .batch_position = FFTND_BATCH_FIRST, .r2r = NULL, .retained_modes = NULL,                  \
        .halved_axis = -1, .in_place = 0, .overwrite_input = 0, .mapped_arrays = 0,                \
        .user_workspace = 0, .space = REDIST_SPACE_AUTO, .stream = NULL,                           \
        .device = REDIST_SPACE_AUTO, .pin_arrays = 0, .device_bytes = 0, .effort = FFTND_MEASURE,  \
        .fusion = FFTND_FUSION_AUTO, .local_transpose = FFTND_LOCAL_TRANSPOSE_AUTO,                \
        .staging = REDIST_STAGING_AUTO, .method = NULL, .wisdom_file = NULL, .plan_seconds = 0.0,  \
        .tile_bytes = 0, .threads = 1, .skip_agreement = 0, .verbose = 0, .phases = 0,             \
        .axes = NULL, .memory_order = {NULL, NULL}, .padding = {NULL, NULL},                       \
        .blocks = {FFTND_BLOCKS_BALANCED, FFTND_BLOCKS_BALANCED}, .bounds = {NULL, NULL},          \
        .split = {NULL, NULL}, .box = {NULL, NULL}, .asynchronous = 0, .wait_seconds = 0.0,        \
        .ranks = 0, .offset = {NULL, NULL}, .ghosts = NULL, .fill_ghosts = 1,                      \
        .accumulate_ghosts = 0, .keep = 0, .wire = REDIST_WIRE_SAME,                               \
        .wire_scope = REDIST_WIRE_BETWEEN_NODES, .tolerance = 0.0, .filled = NULL                  \
    }

/** FFTND_OPTIONS_DEFAULT as a function; as redist_box_init. */
REDIST_API int fftnd_options_init(fftnd_options *options, size_t size);

/** A distributed transform, forward and backward. */
typedef struct fftnd_plan fftnd_plan;

/**
 * Plans a distributed transform.
 *   comm       the ranks. They are arranged in rank order, last grid dimension fastest, unless
 *              options->by_node says otherwise. The choice of a grid over several nodes minimises
 *              the traffic between nodes
 *   ndims      array axes d, 1..REDIST_MAX_NDIMS - 1; over several ranks d = 1 needs a complex axis in host memory
 *   sizes      global extents in points (of the real array for FFTND_R2C), each >= 1
 *   kind       of the transform
 *   precision  of the elements on both sides
 *   options    NULL = defaults
 *   plan       out: the plan, freed with fftnd_plan_free
 * All arguments must agree. Collective on comm.
 * Errors: ERR_COMM, ERR_ARGUMENT, ERR_SIZE (sizes, retained_modes, filled, padding, bounds, boxes that leave holes),
 * ERR_GRID, ERR_AXIS (halved_axis, order, axes, memory_order, split), ERR_OVERLAP (boxes),
 * ERR_METHOD, ERR_NULL, ERR_DISAGREE, ERR_LIMIT, ERR_STATE, ERR_MEMORY, ERR_MPI, ERR_SERIAL (also a precision that
 * FFTW lacks in this build), ERR_DEVICE.
 */
REDIST_API int fftnd_plan_create(MPI_Comm comm, int ndims, const redist_index sizes[],
                                 enum fftnd_kind kind, enum fftnd_precision precision,
                                 const fftnd_options *options, fftnd_plan **plan);

/** One rank's part of one side of a transform; extents and strides are in elements of that side. */
typedef struct fftnd_layout {
    size_t size;                          /**< sizeof(fftnd_layout) */
    int ndims;                            /**< array axes d; the batch is not counted */
    redist_index sizes[REDIST_MAX_NDIMS]; /**< global extents */
    redist_index start[REDIST_MAX_NDIMS]; /**< first global index on this rank */
    redist_index count[REDIST_MAX_NDIMS]; /**< elements on this rank, may be 0 */
    ptrdiff_t stride[REDIST_MAX_NDIMS];   /**< distance between neighbours along each axis */
    ptrdiff_t batch_stride;               /**< distance between the fields of a batch */
    size_t element_bytes;                 /**< bytes of one real or complex element */
    /** bytes to allocate for the local array, batch, padding and scratch use (in place,
     * overwrite) included */
    size_t bytes;
    /** elements along the batch: fftnd_options.batch, times the fields for an operator's array */
    redist_index batch;
    ptrdiff_t offset; /**< elements in the array before the first one of this rank */
} fftnd_layout;

/** Nothing known; sets the size for fftnd_plan_layout. */
#define FFTND_LAYOUT_DEFAULT                                                                       \
    REDIST_VALUE(fftnd_layout) {                                                                   \
        .size = sizeof(fftnd_layout), .ndims = 0, .sizes = {0}, .start = {0}, .count = {0},        \
        .stride = {0}, .batch_stride = 0, .element_bytes = 0, .bytes = 0, .batch = 1, .offset = 0  \
    }

/** FFTND_LAYOUT_DEFAULT as a function; as redist_box_init. */
REDIST_API int fftnd_layout_init(fftnd_layout *layout, size_t size);

/**
 * Returns the layout of the local array of one side.
 *   layout  in: size; out: the rest
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT (side, size), ERR_STATE.
 */
REDIST_API int fftnd_plan_layout(const fftnd_plan *plan, enum fftnd_side side,
                                 fftnd_layout *layout);

/**
 * Finds an element of the global array on this rank.
 *   layout  from fftnd_plan_layout or fftnd_operator_layout
 *   array   the local array that it describes; only its address counts
 *   index   global index along each axis (layout->ndims values), from 0
 *   field   number in the batch, 0 <= field < layout->batch
 * Returns the element's address in `array`; NULL if another rank has it, if it does not exist, or for NULL arguments.
 * Loops over all elements use the strides of the layout instead.
 * Not collective.
 */
REDIST_API void *fftnd_layout_at(const fftnd_layout *layout, void *array,
                                 const redist_index index[], redist_index field);

/**
 * Returns the wavenumbers of this rank's part of the spectral side along one axis, in the order of its elements. Along
 * a Fourier axis a mode is exp(2 pi i k x / L), with k < 0 for the negative ones, and a halved axis has those from 0
 * on; with an even number K of modes the last one is K/2 along the halved axis and -K/2 along others. Along an axis of
 * FFTND_R2R a mode is a cosine or sine of pi k x / L, where L is half the logical size in points: k = 0, 1, .. for DCT1
 * and DCT2, 1, 2, .. for DST1 and DST2, 1/2, 3/2, .. for types 3 and 4. R2HC and DHT axes have the k of exp(2 pi i k x
 * / L), of R2HC the sines as negative ones; HC2R axes and those that are not transformed have the indices.
 *   axis  0..d-1
 *   k     out: room for as many values as the layout's count[axis]; may be NULL if that is 0
 * Not collective. Errors: ERR_AXIS, ERR_NULL, ERR_STATE.
 */
REDIST_API int fftnd_plan_wavenumbers(const fftnd_plan *plan, int axis, double k[]);

/**
 * Transforms `physical` to `spectral`.
 *   physical  array of fftnd_plan_layout(plan, FFTND_PHYSICAL); unchanged unless options allow otherwise
 *   spectral  array of fftnd_plan_layout(plan, FFTND_SPECTRAL), overwritten; the same pointer if and only if
 *             the plan is in place
 * The arrays may be any memory of options.space, unless options.mapped_arrays. An array without elements may be NULL.
 * Collective on the plan's communicator. After an error that is not one of arguments the output is undefined.
 * Errors: ERR_STATE (freed, or a transform is pending), on this rank only; ERR_NULL, ERR_OVERLAP, ERR_ARGUMENT
 * (different arrays though the plan is in place; not mappable though options.mapped_arrays), ERR_STATE (no work space),
 * on all ranks, with options.skip_agreement on this one only; ERR_MPI, ERR_SERIAL, ERR_DEVICE, ERR_MEMORY, ERR_PEER, on
 * all ranks, now or in the next transform of the plan.
 */
REDIST_API int fftnd_forward(fftnd_plan *plan, void *physical, void *spectral);

/** Transforms `spectral` to `physical`; as fftnd_forward with the roles exchanged. */
REDIST_API int fftnd_backward(fftnd_plan *plan, void *spectral, void *physical);

/**
 * Returns whether transforms, or the plan's operators, have failed, as far as the device has reached them; as
 * redist_plan_query. Not collective. Errors: ERR_STATE (freed); the first failure of the plan, else of an operator;
 * ERR_DEVICE if it is one of the stream.
 */
REDIST_API int fftnd_plan_query(fftnd_plan *plan);

/**
 * Starts a transform that fftnd_wait completes; in between neither array may be touched, and the communicator with all
 * its plans, grids and arrays belongs to the transform: use a duplicate of it for other work. Overlap: if MPI was
 * initialised with MPI_THREAD_MULTIPLE and the arrays are in host memory and transformed there, a thread of the library
 * runs the whole transform concurrently, preferably on its own core. Otherwise fftnd_wait runs the transform, with the
 * same result.
 *   direction  REDIST_FORWARD or REDIST_BACKWARD; must agree
 *   input      array of the side that this direction begins with; input and output as in fftnd_forward
 *   output     array of the other side
 * Collective on the plan's communicator. After an error nothing was started; fftnd_wait returns later failures.
 * Errors: those of fftnd_forward that concern arguments and state, ERR_ARGUMENT (direction).
 */
REDIST_API int fftnd_start(fftnd_plan *plan, int direction, void *input, void *output);

/**
 * Completes a transform of fftnd_start.
 * Collective on the plan's communicator. Errors: ERR_STATE (freed, or not started), on this rank only; those of
 * fftnd_forward in the middle of a transform.
 */
REDIST_API int fftnd_wait(fftnd_plan *plan);

/**
 * Makes the copies of one direction of a plan with tiles on a device, in the same order, without transforms, to time
 * the link and the exchanges alone. Afterwards the output is undefined. The arguments are those of fftnd_start.
 * Collective on the plan's communicator. Errors: those of fftnd_forward, ERR_ARGUMENT (direction), ERR_STATE (the plan
 * has no tiles on a device).
 */
REDIST_API int fftnd_plan_transfer(fftnd_plan *plan, int direction, void *input, void *output);

/**
 * Returns the properties of a plan.
 *   info  in: size; out: the rest
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT (size), ERR_STATE (freed, or a transform is pending).
 */
REDIST_API int fftnd_plan_get_info(const fftnd_plan *plan, fftnd_plan_info *info);

/**
 * Returns the communicator of all of the plan's ranks in the order of its grid, or of `comm` with options.ranks. The
 * library owns it; use it for its size, its ranks and MPI_Comm_dup, not for messages.
 * Not collective. Errors: ERR_NULL, ERR_STATE.
 */
REDIST_API int fftnd_plan_get_comm(const fftnd_plan *plan, MPI_Comm *comm);

/**
 * Returns the plan's process grid, for redist_grid_get; NULL if ndims = 1. The plan owns it. Ranks outside of it, with
 * fftnd_options.ranks, have coordinates of -1.
 * Not collective. Errors: ERR_NULL, ERR_STATE.
 */
REDIST_API int fftnd_plan_get_grid(const fftnd_plan *plan, const redist_grid **grid);

/** Returns the method of the first exchange, as fftnd_plan_info.method. Not collective. Errors: ERR_NULL, ERR_STATE. */
REDIST_API int fftnd_plan_get_method(const fftnd_plan *plan, const char **method);

/**
 * Returns the time of a plan's transforms by phase; all 0 unless the plan was made with options.phases.
 *   phases  in: size; out: the rest
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT (size), ERR_STATE (freed, or a transform is pending).
 */
REDIST_API int fftnd_plan_get_phases(const fftnd_plan *plan, fftnd_phases *phases);

/**
 * Gives work space to a plan made with options.user_workspace; several plans may share it if they do not run at the
 * same time.
 *   workspace  at least fftnd_plan_info.workspace_bytes, aligned to 64 bytes (on a device: 256); from redist_alloc
 *              or redist_alloc_in (over the plan's ranks) it lets the `direct` method work without staging. On
 *              all ranks from redist_alloc, or on none. The user owns it and keeps it while the plan is used
 *   bytes      its size
 * Collective on the plan's communicator. Errors: ERR_NULL, ERR_SIZE, ERR_ARGUMENT (alignment), ERR_STATE, ERR_METHOD,
 * ERR_MEMORY, ERR_MPI.
 */
REDIST_API int fftnd_plan_set_workspace(fftnd_plan *plan, void *workspace, size_t bytes);

/**
 * Predicts the time of the exchanges of a transform in one direction (Egger, section 2.5.3: slab against pencil grids),
 * on a process grid that need not exist.
 *   model      from redist_model_fit, or of known numbers
 *   nranks     ranks, in the grid's order
 *   ndims, sizes, kind, precision  as in fftnd_plan_create
 *   options    not NULL; used: grid_ndims and grid (both given, the product is nranks), batch, halved_axis, order,
 *              retained_modes, filled
 *   seconds    out: of all exchanges together
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT, ERR_SIZE, ERR_GRID, ERR_AXIS.
 */
REDIST_API int fftnd_predict(const redist_model *model, int nranks, int ndims,
                             const redist_index sizes[], enum fftnd_kind kind,
                             enum fftnd_precision precision, const fftnd_options *options,
                             double *seconds);

/**
 * Frees a plan and sets *plan to NULL; does nothing when *plan is NULL. Completes a pending transform first. Device
 * memory that the plan has used, except redist_alloc_in's, may be freed only after that. After MPI_Finalize as
 * redist_plan_free. With fftnd_options.keep the call waits for all ranks, unless this one has seen a failure of the
 * plan: ranks that free two such plans in different orders wait for ever.
 * Collective on the plan's communicator. Errors: ERR_NULL, ERR_STATE (not freed then: no plan, or it has operators, see
 * fftnd_operators.h); those of the completed transform.
 */
REDIST_API int fftnd_plan_free(fftnd_plan **plan);

/**
 * Frees what a communicator keeps of freed plans: work space of up to 4 MiB on each rank, which waits for the next
 * plan in host memory, and whole plans: those made with fftnd_options.keep, or while the environment variable
 * FFTND_KEEP was 1 on all ranks (0: none are kept), and freed without a failure. Each communicator keeps the last 8,
 * with at most 256 MiB of work space, tiles and buffers of exchanges together on each rank; the least recently used
 * are freed first, all of them with the communicator. A plan is the same for the same arguments and options by value,
 * except `plan`. Plans of a device, or with options.user_workspace or options.phases, are not kept, nor those that
 * failed, or whose mapped arrays turned out not to be mapped, or for which there is no memory or no tag to keep them.
 * Environment variables and wisdom count when a plan is first made.
 *   comm  a communicator; nothing happens if it keeps none. MPI_COMM_NULL: all that keep some, as is needed before
 *         fftw_cleanup, which leaves FFTW's plans so that they cannot even be freed
 * Collective on comm, or on all of them. Errors: ERR_STATE (MPI is not running), ERR_COMM, ERR_MPI.
 */
REDIST_API int fftnd_cache_clear(MPI_Comm comm);

#ifdef __cplusplus
}
#endif

#endif
