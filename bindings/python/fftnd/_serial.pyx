# SPDX-License-Identifier: BSD-3-Clause
"""Serial transforms of FFTW along some axes of a local array, for fftnd.mpi4py_fft."""
from cpython.buffer cimport (PyBUF_STRIDES, PyBUF_WRITABLE, Py_buffer, PyBuffer_Release, PyObject_GetBuffer)
from libc.stddef cimport ptrdiff_t

cdef extern from *:
    """
    #include <fftw3.h>
    enum { SERIAL_DFT, SERIAL_R2C, SERIAL_C2R, SERIAL_R2R };
    #define DOUBLE(name) fftw_##name
    #define SERIAL_PLAN(X)                                                                              \\
        switch (kind) {                                                                                 \\
        case SERIAL_DFT: return X(plan_guru64_dft)(rank, dims, n, loops, in, out, kinds[0], flags);     \\
        case SERIAL_R2C: return X(plan_guru64_dft_r2c)(rank, dims, n, loops, in, out, flags);           \\
        case SERIAL_C2R: return X(plan_guru64_dft_c2r)(rank, dims, n, loops, in, out, flags);           \\
        default: return X(plan_guru64_r2r)(rank, dims, n, loops, in, out, (const fftw_r2r_kind *)kinds, flags); \\
        }
    /* kinds: the sign of a Fourier transform, or a real-to-real kind for each axis */
    static void *serial_plan(int single, int kind, int rank, const fftw_iodim64 *dims, int n,
                             const fftw_iodim64 *loops, void *in, void *out, const int *kinds, unsigned flags) {
        if (single) {
            SERIAL_PLAN(SINGLE)
        }
        SERIAL_PLAN(DOUBLE)
    }
    #define SERIAL_EXECUTE(X)                                                                           \\
        switch (kind) {                                                                                 \\
        case SERIAL_DFT: X(execute_dft)(plan, in, out); break;                                          \\
        case SERIAL_R2C: X(execute_dft_r2c)(plan, in, out); break;                                      \\
        case SERIAL_C2R: X(execute_dft_c2r)(plan, in, out); break;                                      \\
        default: X(execute_r2r)(plan, in, out);                                                         \\
        }
    static void serial_execute(int single, int kind, void *plan, void *in, void *out) {
        if (single) {
            SERIAL_EXECUTE(SINGLE)
        } else {
            SERIAL_EXECUTE(DOUBLE)
        }
    }
    static void serial_destroy(int single, void *plan) {
        if (single)
            SINGLE(destroy_plan)(plan);
        else
            fftw_destroy_plan(plan);
    }
    """
    ctypedef struct fftw_iodim64:
        ptrdiff_t n
        ptrdiff_t stride "is"
        ptrdiff_t out_stride "os"
    int HAS_SINGLE, SERIAL_DFT, SERIAL_R2C, SERIAL_C2R, SERIAL_R2R
    void *serial_plan(int single, int kind, int rank, const fftw_iodim64 *dims, int n, const fftw_iodim64 *loops,
                      void *input, void *output, const int *kinds, unsigned flags)
    void serial_execute(int single, int kind, void *plan, void *input, void *output) nogil
    void serial_destroy(int single, void *plan)
    int fftw_alignment_of(double *address)
    void fftw_set_timelimit(double seconds)
    void fftwf_set_timelimit "SINGLE(set_timelimit)"(double seconds)
    int fftw_export_wisdom_to_filename(const char *name)
    int fftw_import_wisdom_from_filename(const char *name)
    int fftwf_export_wisdom_to_filename "SINGLE(export_wisdom_to_filename)"(const char *name)
    int fftwf_import_wisdom_from_filename "SINGLE(import_wisdom_from_filename)"(const char *name)
    void fftw_forget_wisdom()
    void fftwf_forget_wisdom "SINGLE(forget_wisdom)"()

cdef enum:
    MAX_NDIMS = 32


cdef void *address_of(array, bint writable) except? NULL:
    cdef Py_buffer buffer
    PyObject_GetBuffer(array, &buffer, PyBUF_STRIDES | (PyBUF_WRITABLE if writable else 0))
    cdef void *address = buffer.buf
    PyBuffer_Release(&buffer)
    return address


def check_precision(single):
    """Refuses float if this was built without FFTW's library for it."""
    if single and not HAS_SINGLE:
        raise RuntimeError("FFTW in single precision is missing (Debian: libfftw3-dev): install it and build again")


cdef class Transform:
    """FFTW's plan for two arrays; it transforms others of their shapes and strides too.

    Args:
        kind: "c2c", "r2c", "c2r" or "r2r"
        input, output: NumPy arrays; overwritten unless flags has FFTW_ESTIMATE
        axes: the axes that are transformed; the last one is halved
        numbers: FFTW's sign, or its kinds of real-to-real transforms, one for each axis
        flags: FFTW's flags
    """
    cdef void *plan
    cdef int kind
    cdef bint single
    cdef int input_alignment, output_alignment
    cdef readonly object input_array
    cdef readonly object output_array

    def __init__(self, str kind, input, output, axes, numbers, unsigned flags):
        cdef fftw_iodim64[MAX_NDIMS] dims
        cdef fftw_iodim64[MAX_NDIMS] loops
        cdef int[MAX_NDIMS] kinds
        cdef int i, rank = 0, nloops = 0
        if input.ndim > MAX_NDIMS:
            raise ValueError(f"an array of {input.ndim} axes; at most {MAX_NDIMS} are possible")
        self.single = input.dtype.char in "fF"
        check_precision(self.single)
        self.kind = {"c2c": SERIAL_DFT, "r2c": SERIAL_R2C, "c2r": SERIAL_C2R, "r2r": SERIAL_R2R}[kind]
        points = output if kind == "c2r" else input
        for axis in axes:
            self.set(&dims[rank], input, output, axis, points.shape[axis])
            rank += 1
        for axis in range(input.ndim):
            if axis not in axes:
                self.set(&loops[nloops], input, output, axis, input.shape[axis])
                nloops += 1
        for i in range(len(numbers)):
            kinds[i] = numbers[i]
        self.input_array, self.output_array = input, output
        if 0 not in input.shape and 0 not in output.shape:
            self.plan = serial_plan(self.single, self.kind, rank, dims, nloops, loops, address_of(input, True),
                                    address_of(output, True), kinds, flags)
            if self.plan == NULL:
                raise RuntimeError(f"FFTW has no plan {kind} along axes {tuple(axes)} of an array {input.shape}")
            self.input_alignment = fftw_alignment_of(<double *>address_of(input, False))
            self.output_alignment = fftw_alignment_of(<double *>address_of(output, False))

    cdef int set(self, fftw_iodim64 *dim, input, output, axis, n) except -1:
        dim.n = n
        dim.stride = input.strides[axis] // input.itemsize
        dim.out_stride = output.strides[axis] // output.itemsize
        return 0

    def __dealloc__(self):
        if self.plan != NULL:
            serial_destroy(self.single, self.plan)

    def fits(self, input, output):
        """Whether the plan transforms these arrays as they are."""
        if not (input.shape == self.input_array.shape and output.shape == self.output_array.shape
                and input.strides == self.input_array.strides and output.strides == self.output_array.strides
                and input.dtype == self.input_array.dtype and output.dtype == self.output_array.dtype):
            return False
        return self.plan == NULL or (
            fftw_alignment_of(<double *>address_of(input, False)) == self.input_alignment
            and fftw_alignment_of(<double *>address_of(output, True)) == self.output_alignment)

    def execute(self, input, output):
        """Transforms arrays that fit."""
        cdef void *a = address_of(input, False)
        cdef void *b = address_of(output, True)
        if self.plan != NULL:
            with nogil:
                serial_execute(self.single, self.kind, self.plan, a, b)


def export_wisdom(name, single):
    """Writes FFTW's wisdom of one precision to a file; returns success."""
    check_precision(single)
    cdef bytes text = str(name).encode()
    return bool(fftwf_export_wisdom_to_filename(text) if single else fftw_export_wisdom_to_filename(text))


def import_wisdom(name, single):
    """Reads FFTW's wisdom of one precision from a file; returns success."""
    check_precision(single)
    cdef bytes text = str(name).encode()
    return bool(fftwf_import_wisdom_from_filename(text) if single else fftw_import_wisdom_from_filename(text))


def forget_wisdom():
    fftw_forget_wisdom()
    fftwf_forget_wisdom()


def set_timelimit(double seconds):
    fftw_set_timelimit(seconds)
    fftwf_set_timelimit(seconds)
