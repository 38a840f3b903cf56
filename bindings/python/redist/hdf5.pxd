# SPDX-License-Identifier: BSD-3-Clause
# The C interface of redist_hdf5.h.
from libc.stdint cimport int64_t
from redist.c cimport MPI_Comm, MPI_Datatype, redist_field, redist_index


cdef extern from "redist_hdf5.h" nogil:
    enum: REDIST_HDF5_NO_STEP
    enum: REDIST_HDF5_NEXT_STEP
    enum: REDIST_HDF5_LAST_STEP
    enum: REDIST_HDF5_NAME_BYTES
    enum redist_hdf5_mode:
        REDIST_HDF5_READ
        REDIST_HDF5_CREATE
        REDIST_HDF5_APPEND
    enum redist_hdf5_access:
        REDIST_HDF5_AUTO
        REDIST_HDF5_ALL
        REDIST_HDF5_ROOT

    ctypedef struct redist_hdf5
    ctypedef struct redist_hdf5_file_options:
        redist_hdf5_access access
        size_t buffer_bytes
    int redist_hdf5_file_options_init(redist_hdf5_file_options *options, size_t size)
    int redist_hdf5_open(MPI_Comm comm, const char *path, redist_hdf5_mode mode, const redist_hdf5_file_options *options,
                         redist_hdf5 **file)
    int redist_hdf5_close(redist_hdf5 **file)

    ctypedef struct redist_hdf5_options:
        redist_index step
        double time
        redist_index *chunk
        int compression
        const char **axes
        double *spacing
        double *origin
    int redist_hdf5_options_init(redist_hdf5_options *options, size_t size)
    int redist_hdf5_write(redist_hdf5 *file, int nfields, const redist_field *fields, const redist_hdf5_options *options)
    int redist_hdf5_read(redist_hdf5 *file, int nfields, const redist_field *fields, const redist_hdf5_options *options)

    int redist_hdf5_set_numbers(redist_hdf5 *file, const char *object, const char *key, int n, const double *values)
    int redist_hdf5_set_integers(redist_hdf5 *file, const char *object, const char *key, int n, const int64_t *values)
    int redist_hdf5_set_text(redist_hdf5 *file, const char *object, const char *key, const char *text)
    int redist_hdf5_get_numbers(redist_hdf5 *file, const char *object, const char *key, int most, double *values, int *n)
    int redist_hdf5_get_text(redist_hdf5 *file, const char *object, const char *key, int bytes, char *text)

    ctypedef struct redist_hdf5_dataset:
        char *name
        int ndims
        int items
        redist_index *sizes
        redist_index steps
        MPI_Datatype number
    int redist_hdf5_dataset_init(redist_hdf5_dataset *dataset, size_t size)
    int redist_hdf5_count(redist_hdf5 *file, int *count)
    int redist_hdf5_info(redist_hdf5 *file, int index, redist_hdf5_dataset *dataset)
    int redist_hdf5_xdmf(redist_hdf5 *file, const char *path)
