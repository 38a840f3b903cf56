# SPDX-License-Identifier: BSD-3-Clause
# The C interface of fftnd.h.
from libc.stddef cimport ptrdiff_t
from redist.c cimport (MPI_Comm, REDIST_MAX_NDIMS, redist_box, redist_field, redist_grid, redist_halo, redist_index, redist_space,
                       redist_staging, redist_wire, redist_wire_scope)


cdef extern from "fftnd.h" nogil:
    enum fftnd_kind:
        FFTND_C2C
        FFTND_R2C
        FFTND_R2R
        FFTND_MIXED
    enum fftnd_axis:
        FFTND_AXIS_NONE
        FFTND_AXIS_COMPLEX
        FFTND_AXIS_HALVED
        FFTND_AXIS_R2R
    enum fftnd_blocks:
        FFTND_BLOCKS_BALANCED
        FFTND_BLOCKS_CEILING
    enum fftnd_precision:
        FFTND_DOUBLE
        FFTND_FLOAT
        FFTND_LONG_DOUBLE
    enum fftnd_r2r:
        FFTND_DCT1
        FFTND_DCT2
        FFTND_DCT3
        FFTND_DCT4
        FFTND_DST1
        FFTND_DST2
        FFTND_DST3
        FFTND_DST4
        FFTND_R2HC
        FFTND_HC2R
        FFTND_DHT
    enum fftnd_scaling:
        FFTND_SCALE_NONE
        FFTND_SCALE_BACKWARD
        FFTND_SCALE_FORWARD
        FFTND_SCALE_UNITARY
    enum fftnd_effort:
        FFTND_ESTIMATE
        FFTND_MEASURE
        FFTND_PATIENT
    enum fftnd_alignment:
        FFTND_ALIGN_CHAIN
        FFTND_ALIGN_INPUT
    enum fftnd_batch_position:
        FFTND_BATCH_FIRST
        FFTND_BATCH_LAST
    enum fftnd_ranks:
        FFTND_CHOOSE_RANKS
    enum fftnd_fusion:
        FFTND_FUSION_AUTO
        FFTND_FUSION_NEVER
        FFTND_FUSION_ALWAYS
    enum fftnd_local_transpose:
        FFTND_LOCAL_TRANSPOSE_AUTO
        FFTND_LOCAL_TRANSPOSE_NEVER
        FFTND_LOCAL_TRANSPOSE_ALWAYS
    enum fftnd_side:
        FFTND_PHYSICAL
        FFTND_SPECTRAL

    ctypedef struct fftnd_options:
        int grid_ndims
        int by_node
        const int *grid
        const int *order
        fftnd_scaling scaling
        fftnd_alignment alignment
        int batch
        fftnd_batch_position batch_position
        const fftnd_r2r *r2r
        const redist_index *retained_modes
        int halved_axis
        int in_place
        int overwrite_input
        int mapped_arrays
        int user_workspace
        redist_space space
        void *stream
        redist_space device
        int pin_arrays
        size_t device_bytes
        fftnd_effort effort
        fftnd_fusion fusion
        fftnd_local_transpose local_transpose
        redist_staging staging
        const char *method
        const char *wisdom_file
        double plan_seconds
        size_t tile_bytes
        int threads
        int skip_agreement
        int verbose
        int phases
        const fftnd_axis *axes
        const int **memory_order
        const redist_index **padding
        fftnd_blocks *blocks
        const void **bounds
        const int **split
        const redist_box **box
        int asynchronous
        double wait_seconds
        redist_index ranks
        const redist_index **offset
        const redist_halo *ghosts
        int fill_ghosts
        int accumulate_ghosts
        int keep
        redist_wire wire
        redist_wire_scope wire_scope
        double tolerance
        const redist_index *filled
    int fftnd_options_init(fftnd_options *options, size_t size)

    ctypedef struct fftnd_plan
    int fftnd_plan_create(MPI_Comm comm, int ndims, const redist_index *sizes, fftnd_kind kind,
                          fftnd_precision precision, const fftnd_options *options, fftnd_plan **plan)
    int fftnd_plan_free(fftnd_plan **plan)
    int fftnd_cache_clear(MPI_Comm comm)

    ctypedef struct fftnd_layout:
        int ndims
        redist_index *sizes
        redist_index *start
        redist_index *count
        ptrdiff_t *stride
        ptrdiff_t batch_stride
        size_t element_bytes
        size_t bytes
        redist_index batch
        ptrdiff_t offset
    int fftnd_layout_init(fftnd_layout *layout, size_t size)
    int fftnd_plan_layout(const fftnd_plan *plan, fftnd_side side, fftnd_layout *layout)
    int fftnd_plan_wavenumbers(const fftnd_plan *plan, int axis, double *k)

    int fftnd_forward(fftnd_plan *plan, void *physical, void *spectral)
    int fftnd_backward(fftnd_plan *plan, void *spectral, void *physical)
    int fftnd_start(fftnd_plan *plan, int direction, void *input, void *output)
    int fftnd_wait(fftnd_plan *plan)
    int fftnd_plan_query(fftnd_plan *plan)

    ctypedef struct fftnd_plan_info:
        int grid_ndims
        int nexchanges
        int *grid
        int *order
        double scale_forward
        double scale_backward
        const char *method
        int threads
        int fused
        int tiled
        int locally_transposed
        int segments
        int partitions
        size_t workspace_bytes
        size_t tile_bytes
        size_t device_bytes
        size_t transfer_bytes
        int buffered
        int halved_axis
        double exchange_seconds
        double serial_seconds
        size_t scratch_bytes
        redist_index ranks
        redist_wire wire
        double *wire_error
        size_t sent_bytes
        size_t operator_bytes
    int fftnd_plan_info_init(fftnd_plan_info *info, size_t size)
    int fftnd_plan_get_info(const fftnd_plan *plan, fftnd_plan_info *info)
    int fftnd_plan_get_comm(const fftnd_plan *plan, MPI_Comm *comm)

    ctypedef struct fftnd_phases:
        long long executions
        double total
        double transform
        double pack
        double first_message
        double communicate
        double unpack
        double own_part
        double rest
    int fftnd_phases_init(fftnd_phases *phases, size_t size)
    int fftnd_plan_get_phases(const fftnd_plan *plan, fftnd_phases *phases)
    int fftnd_plan_set_workspace(fftnd_plan *plan, void *workspace, size_t bytes)
    void fftnd_version(int *major, int *minor, int *patch)


cdef extern from "fftnd_file.h" nogil:
    int fftnd_plan_field(const fftnd_plan *plan, fftnd_side side, void *array, redist_field *field)


cdef extern from "fftnd_operators.h" nogil:
    enum fftnd_operator_kind:
        FFTND_DERIVATIVE
        FFTND_GRADIENT
        FFTND_DIVERGENCE
        FFTND_CURL
        FFTND_LERAY
        FFTND_LAPLACIAN
        FFTND_INVERSE_LAPLACIAN
        FFTND_HELMHOLTZ
        FFTND_INVERSE_HELMHOLTZ
        FFTND_BIHARMONIC
        FFTND_INVERSE_BIHARMONIC
        FFTND_SHELL
        FFTND_SHIFT
        FFTND_SYMBOLS
        FFTND_MODES
        FFTND_POINTS
        FFTND_MULTIPLY
        FFTND_OPEN_POISSON

    enum fftnd_green:
        FFTND_GREEN_TRUNCATED
        FFTND_GREEN_INTEGRATED
        FFTND_GREEN_POINT

    ctypedef struct fftnd_box:
        fftnd_precision precision
        int ndims
        int numbers
        int ninputs
        int noutputs
        const redist_index *start
        const redist_index *count
        const ptrdiff_t *input_stride
        const ptrdiff_t *output_stride
        const double *const *k
        const double *const *odd
        const void *const *inputs
        void *const *outputs
        void *stream
    ctypedef int (*fftnd_box_function)(void *data, const fftnd_box *box) noexcept

    ctypedef struct fftnd_operator_options:
        const double *lengths
        const int *axes
        const int *orders
        const double *shift
        double zero_mode
        double coefficient
        double *shell
        const double **symbols
        int inputs
        int outputs
        void *data
        fftnd_box_function box_function
        const void *multiplier
        int real_multiplier
        int conjugated
        const int *free_axes
        fftnd_green green
        fftnd_plan *kernel_plan
        size_t size
    int fftnd_operator_options_init(fftnd_operator_options *options, size_t size)

    ctypedef struct fftnd_operator
    int fftnd_operator_create(fftnd_plan *plan, fftnd_operator_kind kind, const fftnd_operator_options *options,
                              fftnd_operator **op)
    int fftnd_operator_from_kernel(fftnd_plan *plan, const void *kernel, const fftnd_operator_options *options,
                                   fftnd_operator **op)
    int fftnd_operator_free(fftnd_operator **op)
    int fftnd_operator_layout(const fftnd_operator *op, int is_output, fftnd_layout *layout)
    int fftnd_apply(fftnd_plan *plan, fftnd_operator *op, void *input, void *output)
    int fftnd_apply_physical(fftnd_plan *plan, fftnd_operator *op, void *input, void *output)
