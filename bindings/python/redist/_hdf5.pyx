# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files of distributed arrays: redist.HDF5."""
cimport cython
from libc.stdint cimport int64_t, uintptr_t
from redist.c cimport *
from redist.hdf5 cimport *
from redist._redist cimport (Fields, Handle, Owner, RELEASE_FILE, alive, check, choice, comm_of, free_handle, own, owner_of,
                             refuse, refused, release_function)

from collections import namedtuple

import numpy as np

from redist import _arguments
from redist._redist import _C_INT

_MODES = {"r": REDIST_HDF5_READ, "w": REDIST_HDF5_CREATE, "a": REDIST_HDF5_APPEND}
_ACCESSES = {"auto": REDIST_HDF5_AUTO, "all": REDIST_HDF5_ALL, "root": REDIST_HDF5_ROOT}
_STEPS = {"next": REDIST_HDF5_NEXT_STEP, "last": REDIST_HDF5_LAST_STEP}

Dataset = namedtuple("Dataset", "shape steps items")
Dataset.__doc__ = """A dataset: global extents, number of steps (None without an axis of steps), numbers in an element."""


cdef redist_index _step(object step) except? -9:
    if step is None:
        return REDIST_HDF5_NO_STEP
    if isinstance(step, str):
        return choice("step", step, _STEPS)
    return _arguments.integer("step", step, 0)


cdef class _Options:
    """The options of a write, with the memory of their texts."""
    cdef redist_hdf5_options options
    cdef list names

    def __init__(self, step, time, chunk, compression, axes, spacing, origin):
        redist_hdf5_options_init(&self.options, sizeof(redist_hdf5_options))
        self.options.step, self.options.time = _step(step), _arguments.number("time", time)
        self.options.compression = _arguments.integer("compression", compression, 0, 9)
        for i, extent in enumerate(_limited("chunk", _arguments.integers("chunk", chunk, low=0))):
            self.options.chunk[i] = extent
        self.names = [_arguments.text(f"axes[{i}]", name) for i, name in enumerate(
            _limited("axes", _arguments.sequence("axes", axes, "names")))]
        for i, name in enumerate(self.names):
            if name is not None:
                self.options.axes[i] = <bytes>name
        for i, value in enumerate(_limited("spacing", _arguments.numbers("spacing", spacing))):
            self.options.spacing[i] = value
        for i, value in enumerate(_limited("origin", _arguments.numbers("origin", origin))):
            self.options.origin[i] = value


def _limited(name, values):
    if len(values) > REDIST_MAX_NDIMS:
        raise ValueError(f"{name} is {_arguments.shown(values)}, of {len(values)} values; at most {REDIST_MAX_NDIMS} axes are "
                         "possible")
    return values


@cython.no_gc_clear
cdef class HDF5:
    """An HDF5 file of distributed arrays, of global extents and in C order, as h5py and ParaView read it.

        with redist.HDF5(comm, "flow.h5", "w") as file:
            file.write({"flow/u": plan.field(u)}, step="next", time=0.5)

    Args:
        comm: the ranks; must agree
        path: name of the file; must agree
        mode: "r" reads an existing file, "w" makes a new one, "a" reads and writes one, which is made if it does not exist;
            must agree
        access: the ranks that call HDF5: "all", "root" (rank 0 for all), or "auto": all where HDF5 is parallel; must agree
        buffer_bytes: bytes of a piece of a dataset; 0 = 64 MiB; must agree
    A file that is not closed is closed in a later collective call on `comm` after its last reference has gone. Collective
    on comm, as its methods are. Errors: redist.Error, and TypeError or ValueError on a rank whose arguments are wrong (the
    other ranks get redist.ArgumentError, which says the same).
    """
    cdef Handle handle
    cdef readonly object comm, path, mode

    def __init__(self, comm, path, mode="r", *, access="auto", buffer_bytes=0):
        cdef Owner owner = owner_of(comm)
        cdef MPI_Comm c = comm_of(comm)
        cdef redist_hdf5_file_options options
        cdef redist_hdf5 *file = NULL
        cdef const char *name = NULL
        cdef int way = 0, code
        redist_hdf5_file_options_init(&options, sizeof(options))
        try:
            held = _arguments.filename("path", path)
            name, way = <bytes>held, choice("mode", mode, _MODES)
            options.access = <redist_hdf5_access>choice("access", access, _ACCESSES)
            options.buffer_bytes = _arguments.integer("buffer_bytes", buffer_bytes, 0)
        except BaseException as error:
            refuse(error)
            with nogil:
                redist_hdf5_open(c, NULL, REDIST_HDF5_READ, NULL, &file)
            raise refused(error)
        with nogil:
            code = redist_hdf5_open(c, name, <redist_hdf5_mode>way, &options, &file)
        check(code)
        self.handle = own(owner, file, <release_function>redist_hdf5_close, RELEASE_FILE)
        self.comm, self.path, self.mode = comm, path, mode

    def __dealloc__(self):
        if self.handle is not None:
            self.handle.dropped = True

    cdef redist_hdf5 *_file(self) except NULL:
        return <redist_hdf5 *>alive(self.handle, "the file")

    cdef int _move(self, bint writes, fields, step, time, chunk, compression, axes, spacing, origin) except -1:
        cdef redist_hdf5 *file = self._file()
        cdef _Options given
        cdef Fields arrays
        cdef int code
        try:
            given = _Options(step, time, chunk, compression, axes, spacing, origin)
            arrays = Fields(fields, not writes, True)
        except BaseException as error:
            refuse(error)
            with nogil:
                redist_hdf5_write(file, -1, NULL, NULL)
            raise refused(error)
        with nogil:
            if writes:
                code = redist_hdf5_write(file, arrays.number, arrays.fields, &given.options)
            else:
                code = redist_hdf5_read(file, arrays.number, arrays.fields, &given.options)
        return check(code)

    def write(self, fields, *, step=None, time=0.0, chunk=(), compression=0, axes=(), spacing=(), origin=()):
        """Writes distributed arrays to datasets, which are made where they do not exist.

        Args:
            fields: a dictionary of the datasets' names ("flow/u") and redist.Field; elements are numbers
            step: None, or the datasets have an axis of steps before the others: "next", or the step's number
            time: of the step, for the dataset "time"
            chunk: extents of a chunk; () = choose
            compression: 0 = none, 1..9
            axes: names of the axes, dimensions for xarray; () = axis0, axis1, ...
            spacing, origin: distance of neighbours, and coordinate of the first element, along each axis
        All but the arrays and boxes must agree. Errors: as HDF5.
        """
        self._move(True, fields, step, time, chunk, compression, axes, spacing, origin)

    def read(self, fields, *, step=None):
        """Reads distributed arrays from datasets, on any number of ranks, as other programs may have written them; `step` is
        None, "last", or a number. As write."""
        self._move(False, fields, step, 0.0, (), 0, (), (), ())

    @property
    def datasets(self):
        """A dictionary of the names of datasets, and a Dataset for each. Collective, as all of a file."""
        cdef redist_hdf5 *file = self._file()
        cdef redist_hdf5_dataset found
        cdef int number, i, code
        with nogil:
            code = redist_hdf5_count(file, &number)
        check(code)
        result = {}
        for i in range(number):
            redist_hdf5_dataset_init(&found, sizeof(found))
            with nogil:
                code = redist_hdf5_info(file, i, &found)
            check(code)
            shape = tuple([found.sizes[k] for k in range(found.ndims)])
            result[(<const char *>found.name).decode()] = Dataset(shape, found.steps if found.steps >= 0 else None, found.items)
        return result

    def set_attribute(self, key, value, object=None):
        """Sets an attribute of a dataset or group, of the file without `object`: a string, a number, or a sequence of
        numbers. All arguments must agree."""
        cdef redist_hdf5 *file = self._file()
        cdef const char *name = NULL
        cdef const char *where = NULL
        cdef const void *values = NULL
        cdef int code, n = 0, whole = 0, is_text = isinstance(value, str)
        try:
            held = _key(key), _arguments.text("object", object), _value(value)
            name = <bytes>held[0]
            if object is not None:
                where = <bytes>held[1]
            if is_text:
                values = <const char *><bytes>held[2]
            else:
                values = <const void *><uintptr_t>held[2].ctypes.data
                n, whole = len(held[2]), held[2].dtype == np.int64
        except BaseException as error:
            refuse(error)
            with nogil:
                redist_hdf5_set_text(file, NULL, NULL, NULL)
            raise refused(error)
        with nogil:
            if is_text:
                code = redist_hdf5_set_text(file, where, name, <const char *>values)
            elif whole:
                code = redist_hdf5_set_integers(file, where, name, n, <const int64_t *>values)
            else:
                code = redist_hdf5_set_numbers(file, where, name, n, <const double *>values)
        check(code)

    def attribute(self, key, object=None):
        """An attribute of a dataset or group, of the file without `object`: a string, a float, or an array of floats. All
        arguments must agree."""
        cdef redist_hdf5 *file = self._file()
        cdef const char *name = NULL
        cdef const char *where = NULL
        cdef char *text
        cdef double *numbers
        cdef int code, n = 0
        try:
            held = _key(key), _arguments.text("object", object)
            name = <bytes>held[0]
            if object is not None:
                where = <bytes>held[1]
        except BaseException as error:
            refuse(error)
            with nogil:
                redist_hdf5_get_numbers(file, NULL, NULL, 0, NULL, NULL)
            raise refused(error)
        room = bytearray(_TEXT_BYTES)
        text = room
        with nogil:
            code = redist_hdf5_get_text(file, where, name, _TEXT_BYTES, text)
        if code == 0:
            return text.decode(errors="replace")
        with nogil:
            code = redist_hdf5_get_numbers(file, where, name, 0, NULL, &n)
        check(code)
        found = np.empty(n)
        numbers = <double *><uintptr_t>found.ctypes.data
        with nogil:
            code = redist_hdf5_get_numbers(file, where, name, n, numbers, NULL)
        check(code)
        return found if n != 1 else float(found[0])

    def write_xdmf(self, path):
        """Writes a description of the file for ParaView, in the form of XDMF 2 if `path` ends in ".xdmf2" or ".xmf2", else of
        XDMF 3; call it again after later steps. `path` must agree."""
        cdef redist_hdf5 *file = self._file()
        cdef const char *name = NULL
        cdef int code
        try:
            held = _arguments.filename("path", path)
            name = <bytes>held
        except BaseException as error:
            refuse(error)
            with nogil:
                redist_hdf5_xdmf(file, NULL)
            raise refused(error)
        with nogil:
            code = redist_hdf5_xdmf(file, name)
        check(code)

    def __repr__(self):
        if self.handle is None or self.handle.object == NULL:
            return f"<redist.HDF5, {'not open' if self.handle is None else 'closed'}>"
        return f"<redist.HDF5 {self.path!r}, mode {self.mode!r}, on {self.comm.Get_size()} ranks>"

    def close(self):
        """Closes the file; does nothing the second time."""
        free_handle(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


cdef enum:
    _TEXT_BYTES = 65536


def _key(key):
    return _arguments.text("key", _arguments.instance("key", key, str, "the name of an attribute"))


def _value(value):
    """An attribute's value for C: bytes of a text, or an array of int64 or float64."""
    if isinstance(value, str):
        return _arguments.text("value", value)
    array = np.atleast_1d(np.asarray(value))
    if array.ndim != 1 or array.dtype.kind not in "iufb" or not 0 < array.size <= _C_INT[1]:
        raise TypeError(f"value is {_arguments.shown(value)}; it is a string, a number, or a sequence of numbers")
    return np.ascontiguousarray(array, float if array.dtype.kind == "f" else np.int64)
