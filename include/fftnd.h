/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * libfftnd: distributed FFTs of any dimension over process grids of any dimension (slab, pencil and
 * beyond), by chaining serial transforms with the exchanges of libredist.
 *
 * The chain (Dalcin, Mortensen, Keyes, sections 3.3 to 3.6): with a grid of g dimensions the input
 * is whole along its last d-g axes. These are transformed at once; then, for i = g-1 .. 0, an
 * exchange among the subgroup of grid dimension i makes axis i whole (and splits axis i+1), and
 * axis i is transformed. The output is whole along axis 0 and split along axes 1..g. The backward
 * transform runs the chain in reverse. For real input the halved axis is the last; another one can
 * be chosen, and then takes the last place in the chain. With fftnd_options.order the chain takes the
 * axes in another order: read "axis order[i]" for "axis i" above. For d = 3 on a slab grid (g = 1) the
 * usual order splits axes 0 and 1 (Egger's 2D-1D slab), the order 0, 2, 1 splits axes 0 and 2 (the
 * 1D-2D slab).
 *
 * Dealiasing: fftnd_options.retained_modes makes the spectral side shorter than the transforms. Let an axis have
 * n = sizes[i] points and K = retained_modes[i] <= n modes, let X[k] be its transform of n points without
 * scaling, with k modulo n, and Y the spectral side. Along a complex axis of the spectral side
 *
 *     forward   Y[k] = X[k]                for |k| < K/2
 *               Y[k] = X[k] + X[-k]        for k = K/2, if K is even and K < n
 *     backward  X[k] = Y[k]                for |k| < K/2
 *               X[k] = X[-k] = Y[k] / 2    for k = K/2, if K is even and K < n
 *               X[k] = 0                   for all others
 *
 * and Y is stored as a transform of K points would be: k = 0 .. ceil(K/2) - 1, then the negative ones
 * -floor(K/2) .. -1. Of the halved axis k = 0 .. floor(K/2) are stored and X[-k] is the mirror image,
 * the conjugate of X[k] with all other wavenumbers negated. Real-to-real axes have the first K
 * coefficients, and backward takes the others as zero. K = n is the transform without `retained_modes`. With any
 * K, backward followed by forward is the identity on the modes of a field, up to scaling. The scalings
 * divide by products of `sizes`, not of `retained_modes`: amplitudes (FFTND_SCALE_FORWARD) stay what they are.
 *
 * The 3/2 rule is sizes = 3N/2 and retained_modes = N, the 2/3 rule is sizes = N and retained_modes = 2N/3. Each axis is cut
 * right after its transform and filled with zeros right before, in the caches: what is not retained is
 * neither sent nor stored.
 *
 * Arrays larger than a device: with fftnd_options.device or device_bytes the arrays are in host memory and
 * the serial transforms run on a device, tile by tile: a tile holds some axes whole, which are transformed,
 * and as much of the others as the limit allows. It is copied up, transformed and copied down, while other
 * tiles are on their way; between ranks it goes from and to the host by the exchange's method. Arrays that
 * the device cannot reach (neither allocated as page-locked memory, nor by pin_arrays) go through buffers of
 * the plan, which the host fills and empties; `threads` share that work, and the exchange's where its method
 * lets them. There is no `retained_modes`, no FFTND_LOCAL_TRANSPOSE_ALWAYS and, on a device, no FFTND_R2R. Such a plan tries no
 * ways and methods of exchange, since there may be no memory to try them in: it takes what is remembered, named
 * by `method`, or usual (Chen, Cui, Mei: "Large-Scale Fast Fourier Transform", sections 39.3 and 39.4).
 *
 * Conventions are those of redist.h: C order, REDIST_OK (0) or a code of REDIST_ERRORS, and
 * redist_error_message() explains. Wrong arguments, and failures while something is made, give an error on
 * all ranks, and nothing has been touched. A transform that fails in the middle fails on all ranks, in that
 * call or in the next one with the plan, which is broken then: no rank waits for ever, and none returns
 * REDIST_OK with incomplete results.
 *
 * Threads: as in redist.h, different communicators may be used by different threads at the same time, with
 * their plans, under MPI_THREAD_MULTIPLE; one communicator by one thread at a time. Threads of a plan
 * (fftnd_options.threads) are the library's own. With FFTW: the program may make and execute plans of FFTW in
 * other threads, since the library calls fftw_make_planner_thread_safe and fftwf_make_planner_thread_safe.
 * What FFTW keeps for all its users belongs to the library for a while, so that the program must neither set
 * it nor rely on it then: the number of threads (fftw_plan_with_nthreads) while a plan is made; the time limit
 * (fftw_set_timelimit) while a plan is made that measures, after which there is no limit; and the callback of
 * threads (fftw_threads_set_callback) while a plan with threads > 1 is made or executed, after which there is
 * none. The number of threads is then what it was.
 */
#ifndef FFTND_H
#define FFTND_H

#include "redist.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a transform maps to what. */
enum fftnd_kind {
    FFTND_C2C, /**< complex to complex, sizes alike on both sides */
    FFTND_R2C, /**< forward real to complex, backward complex to real; the halved axis has n/2 + 1
                    elements on the complex side */
    FFTND_R2R  /**< real to real: a DCT or DST along each axis */
};

enum fftnd_precision { FFTND_DOUBLE, FFTND_FLOAT };

/** Real-to-real transforms (the names and definitions of FFTW's manual, "1d Real-even DFTs" ff.).
 */
enum fftnd_r2r {
    FFTND_DCT1, /**< REDFT00, its own inverse, logical size 2(n-1); n >= 2 */
    FFTND_DCT2, /**< REDFT10, inverse DCT3, logical size 2n */
    FFTND_DCT3, /**< REDFT01, inverse DCT2 */
    FFTND_DCT4, /**< REDFT11, its own inverse */
    FFTND_DST1, /**< RODFT00, its own inverse, logical size 2(n+1) */
    FFTND_DST2, /**< RODFT10, inverse DST3 */
    FFTND_DST3, /**< RODFT01, inverse DST2 */
    FFTND_DST4  /**< RODFT11, its own inverse */
};

/** Which direction divides by the product of the logical sizes. */
enum fftnd_scaling {
    FFTND_SCALE_NONE,     /**< neither: a round trip multiplies by the product */
    FFTND_SCALE_BACKWARD, /**< backward divides: a round trip is the identity */
    FFTND_SCALE_FORWARD,  /**< forward divides: coefficients are amplitudes */
    FFTND_SCALE_UNITARY   /**< both divide by the square root */
};

/** How hard the serial library's planner and the choice of method try. */
enum fftnd_effort { FFTND_ESTIMATE, FFTND_MEASURE, FFTND_PATIENT };

/** In which alignment the spectral side is handed over. */
enum fftnd_alignment {
    FFTND_ALIGN_CHAIN, /**< as the chain ends: whole along axis 0 (no further exchange) */
    FFTND_ALIGN_INPUT  /**< carried back to the input's alignment (one more exchange) */
};

/** Where the batch index stands in the local arrays. */
enum fftnd_batch_position {
    FFTND_BATCH_FIRST, /**< whole fields one after the other: the slowest index */
    FFTND_BATCH_LAST   /**< components side by side at each point: the fastest index */
};

/** Whether serial transforms and exchanges are joined in one pass over memory. */
enum fftnd_fusion {
    FFTND_FUSION_AUTO,  /**< where the peers' memory can be mapped and tiles fit the caches */
    FFTND_FUSION_NEVER, /**< one after the other, over whole arrays */
    FFTND_FUSION_ALWAYS /**< ERR_METHOD where it cannot be done, as on a device always */
};

/** Whether transforms over whole arrays turn the axes in memory, so that the lines of the next transform are
 * contiguous (Egger, chapter 4: Realigned); input and output always lie in C order. */
enum fftnd_local_transpose {
    FFTND_LOCAL_TRANSPOSE_AUTO,  /**< on a device as measured, else not */
    FFTND_LOCAL_TRANSPOSE_NEVER, /**< all arrays in C order (Default) */
    FFTND_LOCAL_TRANSPOSE_ALWAYS /**< not with FFTND_FUSION_ALWAYS, nor where `retained_modes` drops modes; in place and
                              with overwrite_input it may need a second work array */
};

/** What a user may choose; set it up with FFTND_OPTIONS_DEFAULT. All must agree across ranks. */
typedef struct fftnd_options {
    size_t size;     /**< sizeof(fftnd_options), so that the structure can grow */
    int grid_ndims;  /**< process grid dimensions, 1..d-1; 0 = choose */
    const int *grid; /**< processes along each grid dimension, 0 = choose; NULL = choose all */
    enum fftnd_effort effort;
    enum fftnd_scaling scaling;
    enum fftnd_alignment alignment;
    int batch; /**< fields transformed at once, >= 1 */
    enum fftnd_batch_position batch_position;
    int halved_axis;           /**< FFTND_R2C: the axis that is halved; -1 = the last */
    const enum fftnd_r2r *r2r; /**< FFTND_R2R: the forward transform of each axis (d values) */
    int in_place;              /**< nonzero: input and output are the same array, each side of
                                    `bytes` of fftnd_layout; for FFTND_R2C the real side is padded */
    int overwrite_input;       /**< nonzero: the input array may be used as work space; both arrays
                                    are then of `bytes` of fftnd_layout. This and in_place save a
                                    work array, unless `retained_modes` drops modes */
    int user_workspace;        /**< nonzero: work space comes from fftnd_plan_set_workspace */
    const char *method;      /**< method of the exchanges, as redist_options.method; NULL = auto */
    const char *wisdom_file; /**< as redist_options.wisdom_file */
    int verbose;             /**< nonzero: rank 0 prints to stderr what was tried */
    enum fftnd_fusion fusion;
    const int *
        retained_modes; /**< modes retained along each axis (d values, 1..sizes[i]): the spectral side has
                          K/2 + 1 (halved axis) or K elements for K modes; NULL = all. See
                          "Dealiasing" above */
    int threads; /**< threads of each rank that transform, >= 1; the calling thread is one of them,
                      the others live as long as the plan and call MPI only if it was initialised
                      with MPI_THREAD_SERIALIZED at least (methods that send tiles as messages leave
                      the tiles to one thread otherwise). Ranks have to be bound to that many cores */
    size_t tile_bytes;   /**< of a tile, at most, where the axes allow; 0 = choose */
    double plan_seconds; /**< time to spend on trying (FFTND_MEASURE, FFTND_PATIENT), about; 0 = 3,
                              or 30 when patient */
    enum redist_space
        space;    /**< where the arrays and work space live; REDIST_SPACE_AUTO = host. For
                                  REDIST_SPACE_CUDA: no FFTND_R2R, no `retained_modes`; the device has to be
                                  chosen (cudaSetDevice) before the plan is made and stays the
                                  current one in all calls with the plan */
    void *stream; /**< for REDIST_SPACE_CUDA, a cudaStream_t (NULL = the default stream): transforms
                       begin after all work that the stream got before, and are complete on return;
                       not compared across ranks */
    const int *order; /**< the axes in the order of the chain (d values, each axis once): grid
                           dimension i splits axis order[i] of the input and axis order[i + 1] of the
                           output; the halved axis is not among the first g. NULL = 0..d-1, the
                           halved axis last; on a device, if the grid is left open too, measured */
    enum fftnd_local_transpose local_transpose;
    enum redist_space device; /**< where arrays in host memory are transformed: REDIST_SPACE_AUTO or
                                   REDIST_SPACE_HOST = there, REDIST_SPACE_CUDA = on the current device
                                   of the rank. See "Arrays larger than a device" above */
    size_t device_bytes; /**< memory on it that this rank may take, besides what its serial library
                              keeps for itself; 0 = its part of four fifths of what is free. With a
                              number the host does as if it were a device of so many bytes */
    int pin_arrays; /**< nonzero: the device gets direct access to the user's arrays and work space
                              (they are page-locked) in the first transform of each of them; they
                              have to stay allocated until the plan is freed or has transformed
                              others */
    enum redist_staging staging; /**< as redist_options.staging */
    int phases; /**< nonzero: fftnd_plan_get_phases says where the time goes; as in redist_options */
    int by_node; /**< nonzero: the ranks of a node are neighbours in the grid whatever their numbers
                      are (redist_grid_create_by_node); fftnd_plan_layout tells which part a rank has */
    int mapped_arrays; /**< nonzero: all arrays that are transformed are from redist_alloc (on a device
                            redist_alloc_in) over the plan's ranks, or parts of such arrays. Exchanges
                            then begin and end in them, which saves work space and keeps more of the
                            arrays in the caches; with overwrite_input a slab transform needs no work
                            space */
    int skip_agreement; /**< nonzero: fftnd_forward and fftnd_backward do not ask the other ranks whether their
                      arrays were in order, which saves one reduction; an error of one rank's arguments is
                      then returned on that rank only, while the others wait for it */
} fftnd_options;

#define FFTND_OPTIONS_DEFAULT                                                                      \
    {                                                                                              \
        sizeof(fftnd_options), 0, NULL, FFTND_MEASURE, FFTND_SCALE_BACKWARD, FFTND_ALIGN_CHAIN, 1, \
            FFTND_BATCH_FIRST, -1, NULL, 0, 0, 0, NULL, NULL, 0, FFTND_FUSION_AUTO, NULL, 1, 0, 0, \
            REDIST_SPACE_AUTO, NULL, NULL, FFTND_LOCAL_TRANSPOSE_AUTO, REDIST_SPACE_AUTO, 0, 0,    \
            REDIST_STAGING_AUTO, 0, 0, 0, 0                                                        \
    }

/** A distributed transform, forward and backward. */
typedef struct fftnd_plan fftnd_plan;

/**
 * Plans a distributed transform.
 *   comm       the ranks; same on all. They are arranged in rank order, last grid dimension fastest,
 *              unless options->by_node says otherwise. A grid over several nodes that is left open is
 *              one with which ranks send least between nodes
 *   ndims      array axes d, 1..REDIST_MAX_NDIMS - 1; d = 1 needs a communicator of one rank
 *   sizes      global extents in points (of the real array for FFTND_R2C), each >= 1
 *   kind       what maps to what
 *   precision  of the elements on both sides
 *   options    NULL = defaults
 *   plan       out: the plan, freed with fftnd_plan_free
 * All arguments must agree. Collective on comm.
 * Errors: ERR_COMM, ERR_ARGUMENT, ERR_SIZE (sizes, retained_modes), ERR_GRID, ERR_AXIS (halved_axis, order), ERR_METHOD, ERR_NULL, ERR_DISAGREE,
 * ERR_LIMIT, ERR_STATE, ERR_MEMORY, ERR_MPI, ERR_SERIAL.
 */
REDIST_API int fftnd_plan_create(MPI_Comm comm, int ndims, const int sizes[], enum fftnd_kind kind,
                                 enum fftnd_precision precision, const fftnd_options *options,
                                 fftnd_plan **plan);

/** The two sides of a transform. */
enum fftnd_side {
    FFTND_PHYSICAL, /**< input of forward, output of backward */
    FFTND_SPECTRAL  /**< output of forward, input of backward */
};

/** One rank's part of one side of a transform; extents and strides are in elements of that side. */
typedef struct fftnd_layout {
    int ndims;                          /**< array axes d; the batch is not counted */
    int size[REDIST_MAX_NDIMS];         /**< global extents */
    int start[REDIST_MAX_NDIMS];        /**< first global index on this rank */
    int count[REDIST_MAX_NDIMS];        /**< elements on this rank, may be 0 */
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /**< distance between neighbours along each axis */
    ptrdiff_t batch_stride;             /**< distance between the fields of a batch */
    size_t element_bytes;               /**< bytes of one real or complex element */
    size_t bytes;                       /**< bytes to allocate for the local array, batch, padding
                                             and scratch use (in place, overwrite) included */
} fftnd_layout;

/** Asks for the local array of one side. Not collective. Errors: ERR_NULL, ERR_ARGUMENT, ERR_STATE.
 */
REDIST_API int fftnd_plan_layout(const fftnd_plan *plan, enum fftnd_side side,
                                 fftnd_layout *layout);

/**
 * Transforms `physical` to `spectral`.
 *   physical  array of fftnd_plan_layout(plan, FFTND_PHYSICAL); left as it was unless options allow
 *             otherwise
 *   spectral  array of fftnd_plan_layout(plan, FFTND_SPECTRAL), overwritten; the same pointer if
 *             and only if the plan is in place
 * Any memory of options.space will do, unless options.mapped_arrays. An array without elements may be NULL.
 * Collective on the plan's communicator. After an error that is not one of arguments the output has no meaning.
 * Errors: ERR_NULL, ERR_OVERLAP, ERR_ARGUMENT (different arrays though the plan is in place; not mappable though
 * options.mapped_arrays), ERR_STATE (freed, or no work space), on all ranks; ERR_MPI, ERR_SERIAL, ERR_DEVICE,
 * ERR_MEMORY, ERR_PEER, on all ranks, now or in the next transform of the plan. With options.skip_agreement the errors
 * of arguments are this rank's own.
 */
REDIST_API int fftnd_forward(fftnd_plan *plan, void *physical, void *spectral);

/** Transforms `spectral` to `physical`; as fftnd_forward with the roles exchanged. */
REDIST_API int fftnd_backward(fftnd_plan *plan, void *spectral, void *physical);

/**
 * Moves what one direction of a plan with tiles on a device moves, by the same copies in the same order, but
 * transforms nothing: what the link and the exchanges alone take. Afterwards the output has no meaning.
 *   direction  REDIST_FORWARD or REDIST_BACKWARD
 *   input      array of the side that this direction begins with; input and output as in fftnd_forward
 *   output     array of the other side
 * Collective on the plan's communicator. Errors: those of fftnd_forward, ERR_ARGUMENT (direction), ERR_STATE
 * (the plan has no tiles on a device).
 */
REDIST_API int fftnd_plan_transfer(fftnd_plan *plan, int direction, void *input, void *output);

/** What a plan does and needs. */
typedef struct fftnd_plan_info {
    int grid_ndims;             /**< process grid dimensions */
    int grid[REDIST_MAX_NDIMS]; /**< processes along each */
    int nexchanges;             /**< exchanges in one direction */
    const char *method;      /**< method of the first exchange, "none" without one; owned by plan */
    size_t workspace_bytes;  /**< work space of this rank */
    double scale_forward;    /**< factor applied by forward */
    double scale_backward;   /**< factor applied by backward */
    double exchange_seconds; /**< time spent in exchanges since the plan was made, on this rank */
    double serial_seconds;   /**< time spent in serial transforms since then; in a fused plan those
                                     within tiles, and all that moves data counts as exchange */
    int fused;               /**< nonzero: transforms and exchanges are joined in tiles */
    int tiled;               /**< nonzero: transforms work in tiles, joined or not */
    size_t tile_bytes;       /**< of a tile, about; 0 where there are none */
    int threads;             /**< threads of each rank that transform */
    int order[REDIST_MAX_NDIMS]; /**< the axes in the order of the chain */
    int segments;                /**< of a transform that are sent as they are done */
    int locally_transposed;      /**< nonzero: transforms turn the axes in memory */
    size_t device_bytes;         /**< memory on the device for tiles, of this rank; 0 = none: all is
                                  transformed where it lies */
    size_t transfer_bytes; /**< that one forward transform copies to the device and back, on this
                                  rank; backward as many */
    int buffered;   /**< nonzero: in the last transform arrays of this rank went to the device
                                  through buffers, since it could not reach them */
    int partitions; /**< of a transform that begin as they arrive; 1 = it begins when all is there */
} fftnd_plan_info;

/** Asks what a plan does. Not collective. Errors: ERR_NULL, ERR_STATE. */
REDIST_API int fftnd_plan_get_info(const fftnd_plan *plan, fftnd_plan_info *info);

/**
 * Where the time of fftnd_forward and fftnd_backward went, in seconds on this rank, added up since the
 * plan was made; start with FFTND_PHASES_DEFAULT. The phases (Egger, chapter 5) do not overlap, and
 * together with `rest` they are `total`.
 */
typedef struct fftnd_phases {
    size_t size;          /**< sizeof(fftnd_phases), so that the structure can grow */
    long long executions; /**< of either direction */
    double total;
    double transform; /**< serial transforms, with scaling and copies between them; in a fused plan
                           those within tiles, the mean of the threads */
    double pack; /**< of the exchanges, as in redist_phases; where several threads move tiles, what
                           they do is part of `rest` */
    double first_message;
    double communicate;
    double unpack;
    double own_part;
    double rest; /**< in a fused plan, loading and storing tiles in this rank's own arrays */
} fftnd_phases;

#define FFTND_PHASES_DEFAULT                                                                       \
    { sizeof(fftnd_phases), 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 }

/**
 * Asks where the time of a plan's transforms went. Unless the plan was made with options.phases, all
 * is 0.
 *   phases  in: size; out: the rest
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT (size), ERR_STATE.
 */
REDIST_API int fftnd_plan_get_phases(const fftnd_plan *plan, fftnd_phases *phases);

/**
 * Hands work space to a plan made with options.user_workspace; several plans may share it as long as
 * they do not run at the same time.
 *   workspace  at least fftnd_plan_info.workspace_bytes, aligned to 64 bytes (on a device: 256); from
 *              redist_alloc or redist_alloc_in (over the plan's ranks) it lets the `direct` method work without staging. On all ranks from
 *              redist_alloc, or on none. The user owns it and keeps it while the plan is used
 *   bytes      its size
 * Collective on the plan's communicator. Errors: ERR_NULL, ERR_SIZE, ERR_ARGUMENT (alignment),
 * ERR_STATE, ERR_METHOD, ERR_MEMORY, ERR_MPI.
 */
REDIST_API int fftnd_plan_set_workspace(fftnd_plan *plan, void *workspace, size_t bytes);

/**
 * Predicts how long the exchanges of a transform take in one direction (Egger, section 2.5.3: slab against
 * pencil grids), on a process grid that need not exist.
 *   model      from redist_model_fit, or of numbers that are known
 *   nranks     ranks, in the grid's order
 *   ndims, sizes, kind, precision  as in fftnd_plan_create
 *   options    grid_ndims and grid (both given, the product is nranks), batch, halved_axis, order and
 *              retained_modes count
 *   seconds    out: of all exchanges together
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT, ERR_SIZE, ERR_GRID, ERR_AXIS.
 */
REDIST_API int fftnd_predict(const redist_model *model, int nranks, int ndims, const int sizes[],
                             enum fftnd_kind kind, enum fftnd_precision precision,
                             const fftnd_options *options, double *seconds);

/**
 * Frees a plan and sets *plan to NULL; does nothing when *plan is NULL. A rank frees device memory that the plan
 * has used, but redist_alloc_in's, only after that.
 * Collective on the plan's communicator. Errors: ERR_NULL, ERR_STATE.
 */
REDIST_API int fftnd_plan_free(fftnd_plan **plan);

#ifdef __cplusplus
}
#endif

#endif
