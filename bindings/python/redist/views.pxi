# SPDX-License-Identifier: BSD-3-Clause
# Arrays of any library, as address, extents and strides, without copies.

cdef extern from *:
    """
    #include <stdint.h>
    /* The tensor of DLPack's C interface; a capsule "dltensor" points to one, with what its owner needs behind. */
    typedef struct {
        void *data;
        int32_t device_type;
        int32_t device_id;
        int32_t ndim;
        uint8_t code;
        uint8_t bits;
        uint16_t lanes;
        int64_t *shape;
        int64_t *strides;
        uint64_t byte_offset;
    } redist_py_tensor;
    """
    ctypedef struct redist_py_tensor:
        char *data
        int32_t device_type
        int32_t ndim
        uint8_t code
        uint8_t bits
        uint16_t lanes
        int64_t *shape
        int64_t *strides
        uint64_t byte_offset

cdef enum:
    DLPACK_CPU = 1
    DLPACK_CUDA = 2
    DLPACK_CUDA_HOST = 3
    DLPACK_CUDA_MANAGED = 13
    DLPACK_INTEGER = 0
    DLPACK_UNSIGNED = 1
    DLPACK_FLOAT = 2
    DLPACK_COMPLEX = 5


cdef class View:
    """An array of the caller. `code` is the character of NumPy's type, 0 for other types than those transformed;
    `is_integer` and `is_unsigned` say whether it is one of integers."""

    def __dealloc__(self):
        if self.has_buffer:
            PyBuffer_Release(&self.buffer)


cdef void _set_format(View view, const char *format) noexcept:
    """Sets the type of the elements from the format of a buffer."""
    if format == NULL:
        return
    if format[0] in b"=<@":
        format += 1
    if format[0] == b"Z" and format[1] in b"fdg" and format[2] == 0:
        view.code = b"F" if format[1] == b"f" else b"D" if format[1] == b"d" else b"G"
    elif format[0] in b"fdg" and format[1] == 0:
        view.code = format[0]
    view.is_integer = format[0] in b"bBhHiIlLqQnN" and format[1] == 0
    view.is_unsigned = view.is_integer and format[0] in b"BHILQN"


cdef int _set_dtype(View view, dtype) except -1:
    """Sets the type of the elements from NumPy's."""
    view.code = ord(dtype.char) if dtype.isnative and dtype.char in "fdgFDG" else 0
    view.is_integer = dtype.isnative and dtype.kind in "iu"
    view.is_unsigned = view.is_integer and dtype.kind == "u"
    return 0


cdef int _set_shape(View view, shape, strides, size_t itemsize) except -1:
    """Sets extents and strides from Python's sequences; strides may be None, for C order."""
    cdef ptrdiff_t step = itemsize
    cdef int i
    if len(shape) > REDIST_MAX_NDIMS:
        raise ValueError(f"{view.name} has {len(shape)} axes; at most {REDIST_MAX_NDIMS} are possible")
    view.ndim = len(shape)
    view.itemsize = itemsize
    for i in range(view.ndim - 1, -1, -1):
        view.shape[i] = shape[i]
        view.stride[i] = step if strides is None else strides[i]
        step *= view.shape[i]
    return 0


cdef str _read_only(str name):
    return f"{name} cannot be written: it is read-only, and the result goes there"


cdef int _from_buffer(View view, array, bint writable) except -1:
    cdef int i
    try:
        PyObject_GetBuffer(array, &view.buffer, PyBUF_FORMAT | PyBUF_STRIDES)
    except (BufferError, ValueError) as error:  # NumPy raises ValueError
        raise ValueError(f"{view.name} cannot be read: {error}") from None
    view.has_buffer = True
    if writable and view.buffer.readonly:
        raise ValueError(_read_only(view.name))
    if view.buffer.ndim > REDIST_MAX_NDIMS:
        raise ValueError(f"{view.name} has {view.buffer.ndim} axes; at most {REDIST_MAX_NDIMS} are possible")
    view.data = view.buffer.buf
    view.read_only = view.buffer.readonly
    view.ndim = view.buffer.ndim
    view.itemsize = view.buffer.itemsize
    _set_format(view, view.buffer.format)
    for i in range(view.ndim):
        view.shape[i] = view.buffer.shape[i]
        view.stride[i] = view.buffer.strides[i]
    return 0


cdef dict _dtypes = {}  # by their names in interfaces: NumPy takes half a microsecond to find one


cdef int _from_interface(View view, dict interface, bint writable) except -1:
    """From __array_interface__ or __cuda_array_interface__."""
    address, read_only = interface["data"]
    view.read_only = read_only
    if writable and read_only:
        raise ValueError(_read_only(view.name))
    dtype = _dtypes.get(interface["typestr"])
    if dtype is None:
        dtype = _dtypes[interface["typestr"]] = np.dtype(interface["typestr"])
    view.data = <void *><uintptr_t>address
    _set_dtype(view, dtype)
    return _set_shape(view, interface["shape"], interface.get("strides"), dtype.itemsize)


cdef object _capsule(str name, array, bint cuda, size_t stream):
    """The tensor of DLPack of an array; on a device, `stream` waits for the work of the array's library."""
    try:
        if not cuda:
            return array.__dlpack__()
        if stream == 2 and type(array).__module__.split(".")[0] == "torch":  # refuses the default stream of a thread
            _streams.synchronize(_streams.pointer(None, array))
            return array.__dlpack__(stream=-1)
        return array.__dlpack__(stream=stream or 1)
    except BufferError as error:
        raise ValueError(f"{name} cannot be exported: {error}") from None


cdef int _from_dlpack(View view, array, size_t stream) except -1:
    """The capsule is kept, not consumed, so that the array stays its owner's."""
    device = array.__dlpack_device__()[0]
    view.cuda = device in (DLPACK_CUDA, DLPACK_CUDA_MANAGED)
    if not view.cuda and device not in (DLPACK_CPU, DLPACK_CUDA_HOST):
        raise TypeError(f"{view.name} is on a device of DLPack's type {int(device)}, neither the host nor CUDA")
    capsule = _capsule(view.name, array, view.cuda, stream)
    cdef redist_py_tensor *tensor = <redist_py_tensor *>PyCapsule_GetPointer(capsule, "dltensor")
    if tensor.lanes != 1:
        raise TypeError(f"{view.name} has elements of several lanes (DLPack)")
    view.held = capsule
    view.data = tensor.data + tensor.byte_offset
    itemsize = tensor.bits // 8
    if tensor.code == DLPACK_FLOAT:
        view.code = {32: b"f"[0], 64: b"d"[0]}.get(tensor.bits, 0)
    elif tensor.code == DLPACK_COMPLEX:
        view.code = {64: b"F"[0], 128: b"D"[0]}.get(tensor.bits, 0)
    view.is_integer = tensor.code in (DLPACK_INTEGER, DLPACK_UNSIGNED)
    view.is_unsigned = tensor.code == DLPACK_UNSIGNED
    shape = [tensor.shape[i] for i in range(tensor.ndim)]
    strides = None if tensor.strides == NULL else [tensor.strides[i] * itemsize for i in range(tensor.ndim)]
    return _set_shape(view, shape, strides, itemsize)


cdef int _from_cuda(View view, array, dict interface, bint writable, size_t stream) except -1:
    """From __cuda_array_interface__; what the array's library has still to do, `stream` waits for."""
    view.cuda = True
    view.held = array
    _from_interface(view, interface, writable)
    view.stream = interface.get("stream") or 0
    if view.stream:
        if view.stream != (stream or 1):
            _streams.synchronize(view.stream)
    elif interface.get("version", 0) < 3 and hasattr(array, "__dlpack__"):  # it names no stream (PyTorch, JAX)
        _capsule(view.name, array, True, stream)
    return 0


cdef View view_of(str name, object array, bint writable, size_t stream):
    """The view of an array, the argument `name`. On a device, its own stream's work precedes that in `stream`."""
    cdef View view = View()
    if isinstance(array, Exception):  # of what was to make it: the call fails with that on all ranks
        raise array
    view.name = name
    if isinstance(array, np.ndarray):
        if array.dtype.hasobject:
            raise TypeError(f"{name} is of {array.dtype}: references to objects of Python mean nothing on other ranks")
        if array.dtype.kind in "Mm":  # no buffer has a format for dates
            _from_buffer(view, array.view("i8"), writable)
            view.is_integer = False
        else:
            _from_buffer(view, array, writable)
        return view
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        _from_cuda(view, array, interface, writable, stream)
    elif PyObject_CheckBuffer(array) and not _streams.is_device_array(array):  # arrays on devices may have one to refuse
        _from_buffer(view, array, writable)
    elif hasattr(array, "__dlpack__"):
        _from_dlpack(view, array, stream)
    elif hasattr(array, "__array_interface__"):
        view.held = array
        _from_interface(view, array.__array_interface__, writable)
    else:
        raise TypeError(f"{name} is {_arguments.shown(array)}; it is an array of NumPy, CuPy, PyTorch or JAX, or of a "
                        "library with Python's buffer protocol, __cuda_array_interface__ or __dlpack__")
    return view


cdef str type_of_elements(object array):
    """The type of an array's elements, for messages."""
    found = getattr(array, "dtype", None)
    return str(getattr(array, "format", "another type") if found is None else found)


cdef int contiguous(View view, str name) except -1:
    """Refuses an array that is not in C order."""
    cdef ptrdiff_t step = view.itemsize
    cdef int i
    for i in range(view.ndim):
        if view.shape[i] == 0:
            return 0
    for i in range(view.ndim - 1, -1, -1):
        if view.shape[i] != 1 and view.stride[i] != step:
            raise ValueError(f"{name} has strides of {tuple([view.stride[k] for k in range(view.ndim)])} bytes for the "
                             f"shape {tuple([view.shape[k] for k in range(view.ndim)])}; it is contiguous in C order, as "
                             "numpy.ascontiguousarray copies it")
        step *= view.shape[i]
    return 0


cdef dict _types = {}  # of element sizes without a type of MPI


cdef MPI_Datatype _type_of_bytes(size_t itemsize) except *:
    cdef MPI_Datatype found
    if itemsize not in _types:
        MPI_Type_contiguous(<int>itemsize, MPI_BYTE, &found)
        MPI_Type_commit(&found)
        _types[itemsize] = (<char *>&found)[:sizeof(MPI_Datatype)]
    cdef bytes kept = _types[itemsize]
    return (<MPI_Datatype *><char *>kept)[0]


cdef MPI_Datatype datatype_of(View view) except *:
    """The MPI type of an array's elements: of their number where they are one, as sums need it, else of bytes."""
    if view.code:
        return (MPI_FLOAT if view.code == b"f"[0] else MPI_DOUBLE if view.code == b"d"[0] else
                MPI_LONG_DOUBLE if view.code == b"g"[0] else MPI_C_FLOAT_COMPLEX if view.code == b"F"[0] else
                MPI_C_DOUBLE_COMPLEX if view.code == b"D"[0] else MPI_C_LONG_DOUBLE_COMPLEX)
    if view.is_unsigned:
        return (MPI_UINT8_T if view.itemsize == 1 else MPI_UINT16_T if view.itemsize == 2 else
                MPI_UINT32_T if view.itemsize == 4 else MPI_UINT64_T)
    if view.is_integer:
        return (MPI_INT8_T if view.itemsize == 1 else MPI_INT16_T if view.itemsize == 2 else
                MPI_INT32_T if view.itemsize == 4 else MPI_INT64_T)
    return MPI_BYTE if view.itemsize == 1 else _type_of_bytes(view.itemsize)
