# SPDX-License-Identifier: BSD-3-Clause
# The C interface of redist.h, and the used part of MPI.
from libc.stdint cimport int64_t
from libc.stddef cimport ptrdiff_t


cdef extern from "mpi.h" nogil:
    ctypedef struct _mpi_comm_t
    ctypedef _mpi_comm_t *MPI_Comm
    ctypedef struct _mpi_datatype_t
    ctypedef _mpi_datatype_t *MPI_Datatype
    ctypedef struct _mpi_op_t
    ctypedef _mpi_op_t *MPI_Op
    MPI_Comm MPI_COMM_NULL
    int MPI_Type_size(MPI_Datatype datatype, int *size) nogil
    MPI_Comm MPI_COMM_WORLD
    MPI_Datatype MPI_BYTE
    MPI_Datatype MPI_FLOAT
    MPI_Datatype MPI_DOUBLE
    MPI_Datatype MPI_LONG_DOUBLE
    MPI_Datatype MPI_C_FLOAT_COMPLEX
    MPI_Datatype MPI_C_DOUBLE_COMPLEX
    MPI_Datatype MPI_C_LONG_DOUBLE_COMPLEX
    MPI_Datatype MPI_INT8_T
    MPI_Datatype MPI_INT16_T
    MPI_Datatype MPI_INT32_T
    MPI_Datatype MPI_INT64_T
    MPI_Datatype MPI_UINT8_T
    MPI_Datatype MPI_UINT16_T
    MPI_Datatype MPI_UINT32_T
    MPI_Datatype MPI_UINT64_T
    MPI_Op MPI_BAND
    void *MPI_IN_PLACE
    enum: MPI_MAX_LIBRARY_VERSION_STRING
    int MPI_Get_library_version(char *text, int *length)
    int MPI_Initialized(int *flag)
    int MPI_Finalized(int *flag)
    int MPI_Type_contiguous(int count, MPI_Datatype of, MPI_Datatype *type)
    int MPI_Type_commit(MPI_Datatype *type)
    int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)


cdef extern from "redist.h" nogil:
    ctypedef int64_t redist_index
    enum: REDIST_MAX_NDIMS
    enum: REDIST_ERR_ARGUMENT
    enum: REDIST_ERR_METHOD
    enum: REDIST_ERR_STATE
    enum: REDIST_ERR_MEMORY
    enum redist_space:
        REDIST_SPACE_AUTO
        REDIST_SPACE_HOST
        REDIST_SPACE_CUDA
    enum redist_direction:
        REDIST_FORWARD
        REDIST_BACKWARD
    enum redist_effort:
        REDIST_MEASURE
        REDIST_ESTIMATE
    enum redist_binding:
        REDIST_BIND_AT_PLAN
        REDIST_BIND_AT_EXECUTION
        REDIST_BIND_AT_EXECUTION_MAPPED
    enum redist_overlap:
        REDIST_OVERLAP_REFUSED
        REDIST_OVERLAP_READ
        REDIST_OVERLAP_ADD
    enum redist_wire:
        REDIST_WIRE_SAME
        REDIST_WIRE_FLOAT
        REDIST_WIRE_16_BITS
    enum redist_wire_scope:
        REDIST_WIRE_BETWEEN_NODES
        REDIST_WIRE_EVERYWHERE
    enum redist_staging:
        REDIST_STAGING_AUTO
        REDIST_STAGING_ALWAYS
        REDIST_STAGING_NEVER

    void redist_version(int *major, int *minor, int *patch)
    const char *redist_error_name(int code)
    const char *redist_error_string(int code)
    const char *redist_error_message()
    void redist_refuse(const char *text)

    int redist_decompose(redist_index n, int nparts, int part, redist_index *count, redist_index *start)
    int redist_subcomm(MPI_Comm comm, int ndims, MPI_Comm *subcomms)

    ctypedef struct redist_grid
    int redist_grid_create(MPI_Comm comm, int ndims, const int *dims, redist_grid **grid)
    int redist_grid_create_by_node(MPI_Comm comm, int ndims, const int *dims, redist_grid **grid)
    int redist_grid_free(redist_grid **grid)
    int redist_grid_get(const redist_grid *grid, int *ndims, int *dims, int *coords)
    int redist_grid_comm(const redist_grid *grid, MPI_Comm *comm)
    int redist_grid_subcomm(const redist_grid *grid, int dim, MPI_Comm *subcomm)

    ctypedef struct redist_box:
        size_t size
        redist_index *start
        redist_index *count
        redist_index *extent
        redist_index *offset
    int redist_box_init(redist_box *box, size_t size)
    int redist_grid_box(const redist_grid *grid, int ndims, const redist_index *sizes, const int *axes,
                        redist_box *box)

    int redist_alloc_in(MPI_Comm comm, redist_space space, size_t bytes, void **array)
    int redist_alloc_info(const void *array, int *mappable)
    int redist_free(void **array)

    ctypedef struct redist_options:
        const char *method
        redist_effort effort
        int verbose
        double tune_seconds
        const char *wisdom_file
        size_t nontemporal_bytes
        redist_space space
        redist_staging staging
        void *stream
        redist_binding bind_a
        redist_binding bind_b
        int skip_agreement
        int phases
        int asynchronous
        double wait_seconds
        redist_overlap overlap
        const MPI_Op *operation
        redist_wire wire
        redist_wire_scope wire_scope
    int redist_options_init(redist_options *options, size_t size)

    ctypedef struct redist_plan
    int redist_exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims, const redist_index *sizes_a,
                        const void *a, int axis_a, const redist_index *sizes_b, void *b, int axis_b)
    int redist_plan_exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims, const redist_index *sizes_a,
                             void *a, int axis_a, const redist_index *sizes_b, void *b, int axis_b,
                             const redist_options *options, redist_plan **plan)
    int redist_plan_boxes(MPI_Comm comm, MPI_Datatype datatype, int ndims, const redist_index *sizes,
                          const redist_box *box_a, void *a, const redist_box *box_b, void *b,
                          const redist_options *options, redist_plan **plan)
    int redist_plan_execute_arrays(redist_plan *plan, int direction, void *a, void *b)
    int redist_plan_start_arrays(redist_plan *plan, int direction, void *a, void *b)
    int redist_plan_wait(redist_plan *plan)
    int redist_plan_query(redist_plan *plan)
    int redist_plan_free(redist_plan **plan)

    ctypedef struct redist_plan_info:
        const char *method
        size_t workspace_bytes
        size_t moved_bytes
        redist_space space
        redist_wire wire
        size_t sent_bytes
    int redist_plan_info_init(redist_plan_info *info, size_t size)
    int redist_plan_get_info(const redist_plan *plan, redist_plan_info *info)

    ctypedef struct redist_phases:
        long long executions
        double total
        double pack
        double first_message
        double communicate
        double unpack
        double own_part
    int redist_phases_init(redist_phases *phases, size_t size)
    int redist_plan_get_phases(const redist_plan *plan, redist_phases *phases)

    int redist_method_count()
    const char *redist_method_name(int index)
    const char *redist_method_summary(int index)
    void redist_forget_wisdom()


cdef extern from "redist_halo.h" nogil:
    enum redist_halo_direction:
        REDIST_FILL
        REDIST_ACCUMULATE
    ctypedef struct redist_halo:
        redist_index *low
        redist_index *high
        int *periodic
        int corners
    int redist_halo_init(redist_halo *halo, size_t size)
    int redist_plan_halo(MPI_Comm comm, MPI_Datatype datatype, int ndims, const redist_index *sizes,
                         const redist_box *box, void *array, const redist_halo *halo, const redist_options *options,
                         redist_plan **plan)


cdef extern from "redist_file.h" nogil:
    ctypedef struct redist_field:
        const char *name
        MPI_Datatype datatype
        int ndims
        redist_index *sizes
        redist_index *start
        redist_index *count
        ptrdiff_t *stride
        ptrdiff_t offset
        redist_index *selected_start
        redist_index *selected_count
        redist_index *selected_step
        redist_space space
        void *array
    int redist_field_init(redist_field *field, size_t size)

    ctypedef struct redist_file_options:
        const char *method
        redist_index offset
        int writers_per_node
        int truncate
        int flush
        size_t buffer_bytes
    int redist_file_options_init(redist_file_options *options, size_t size)
    int redist_write(MPI_Comm comm, const char *path, int nfields, const redist_field *fields,
                     const redist_file_options *options)
    int redist_read(MPI_Comm comm, const char *path, int nfields, const redist_field *fields,
                    const redist_file_options *options)
    ctypedef struct redist_file_request
    int redist_write_start(MPI_Comm comm, const char *path, int nfields, const redist_field *fields,
                           const redist_file_options *options, redist_file_request **request)
    int redist_file_wait(redist_file_request **request)


cdef extern from "redist_checkpoint.h" nogil:
    ctypedef struct redist_checkpoint_options:
        int keep
        int convert
        int writers_per_node
        size_t piece_bytes
    int redist_checkpoint_options_init(redist_checkpoint_options *options, size_t size)
    int redist_checkpoint_write(MPI_Comm comm, const char *path, int nfields, const redist_field *fields,
                                const void *parameters, size_t parameter_bytes, const redist_checkpoint_options *options)
    ctypedef struct redist_checkpoint_request
    int redist_checkpoint_write_start(MPI_Comm comm, const char *path, int nfields, const redist_field *fields,
                                      const void *parameters, size_t parameter_bytes,
                                      const redist_checkpoint_options *options, redist_checkpoint_request **request)
    int redist_checkpoint_wait(redist_checkpoint_request **request)
    int redist_checkpoint_read(MPI_Comm comm, const char *path, int nfields, const redist_field *fields,
                               void *parameters, size_t parameter_bytes, const redist_checkpoint_options *options)

    ctypedef struct redist_checkpoint_field:
        const char *name
        const char *type
        size_t element_bytes
        int ndims
        redist_index *sizes
    ctypedef struct redist_checkpoint_info:
        int nfields
        const redist_checkpoint_field *const *fields
        size_t parameter_bytes
        const void *parameters
        int64_t seconds
        int *version
    int redist_checkpoint_get_info(MPI_Comm comm, const char *path, redist_checkpoint_info **info)
    int redist_checkpoint_info_free(redist_checkpoint_info **info)


# Not collective: the array states whether its address is of device memory
cdef extern from *:
    """
    #include <string.h>
    static MPI_Comm redist_py_comm(const void *address) {
        MPI_Comm comm;
        memcpy(&comm, address, sizeof comm);
        return comm;
    }
    static void redist_py_set_comm(void *address, MPI_Comm comm) { memcpy(address, &comm, sizeof comm); }
    """
    MPI_Comm redist_py_comm(const void *address) nogil
    void redist_py_set_comm(void *address, MPI_Comm comm) nogil
