# SPDX-License-Identifier: BSD-3-Clause
# Declarations for the extension module of fftnd.
from cpython.buffer cimport Py_buffer
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int64_t
from redist.c cimport MPI_Comm, redist_box, redist_field, redist_halo, redist_index

cdef enum Release:  # in the order in which dropped objects are freed
    RELEASE_FILE
    RELEASE_OPERATOR
    RELEASE_FFT
    RELEASE_PLAN
    RELEASE_GRID
    RELEASE_MEMORY

ctypedef int (*release_function)(void **object) noexcept nogil


cdef class Owner:
    cdef object comm
    cdef list living
    cdef readonly list cache


cdef class Handle:
    cdef void *object
    cdef release_function release
    cdef Release order
    cdef Owner owner
    cdef bint dropped


cdef class View:
    cdef str name  # of the argument
    cdef void *data
    cdef int ndim
    cdef redist_index[16] shape
    cdef ptrdiff_t[16] stride
    cdef size_t itemsize
    cdef int code
    cdef bint is_integer, is_unsigned
    cdef bint cuda
    cdef bint read_only
    cdef size_t stream
    cdef object held
    cdef Py_buffer buffer
    cdef bint has_buffer


cdef class Field:
    cdef readonly object array, box, shape, selection
    cdef int fill(self, redist_field *field, str prefix, bint writable, list held) except -1
    cdef int select(self, redist_field *field, str prefix) except -1
    cdef object dtype(self, View view)


cdef class Fields:
    cdef redist_field *fields
    cdef int number
    cdef list held
    cdef int64_t bytes(self)


cdef int check(int code) except -1
cdef int refuse(object error) except -1
cdef object refused(object error)
cdef MPI_Comm comm_of(object comm) except *
cdef object comm_from(MPI_Comm comm)
cdef Owner owner_of(object comm)
cdef Handle own(Owner owner, void *object, release_function release, Release order)
cdef void *alive(Handle handle, str what) except NULL
cdef int free_handle(Handle handle) except -1
cdef View view_of(str name, object array, bint writable, size_t stream)
cdef int contiguous(View view, str name) except -1
cdef str type_of_elements(object array)
cdef int choice(str name, object value, dict choices) except -1
cdef int fill_box(redist_box *box, str name, object given, int ndims) except -1
cdef int fill_halo(redist_halo *halo, str prefix, object given, int ndims) except -1
cdef int read_dims(str name, object dims, int *given) except? -1
