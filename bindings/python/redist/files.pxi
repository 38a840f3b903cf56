# SPDX-License-Identifier: BSD-3-Clause
# Distributed arrays in files, and gathered.


cdef class Field:
    """A distributed array for files: what this rank holds of it, and what a file has of it.

    Plan.field() of package fftnd makes one of a transform's array. Calls that take fields check them.

    Args:
        array: the local array, of NumPy or any library, in host or device memory, with any strides
        box: what this rank holds of the global array, and its place in the local array, a Box (Grid.box), which leaves
            ghosts out; None = the local array is the global one
        shape: global extents; None = those of the array, without a box; must agree
        selection: what the file has of the global array, a slice or an index for each axis, such as
            numpy.s_[:, 3, ::2]; an index leaves an axis of one element; None = all; must agree
    """

    def __init__(self, array, box=None, shape=None, *, selection=None):
        self.array, self.box, self.shape, self.selection = array, box, shape, selection

    cdef int fill(self, redist_field *field, str prefix, bint writable, list held) except -1:
        """Describes the array in C; `prefix` stands before names in messages, `held` keeps the array."""
        cdef View view = view_of(f"{prefix}array", self.array, writable, 0)
        cdef redist_box box
        cdef int i
        cdef ptrdiff_t begin = 0
        held.append(view)
        given = Box((0,) * view.ndim, _extents(view)) if self.box is None else self.box
        fill_box(&box, f"{prefix}box", given, view.ndim)
        _check_extents(view, given, f"{prefix}array")
        shape = _extents(view) if self.box is None and self.shape is None else self.shape
        shape = _arguments.integers(f"{prefix}shape", shape, view.ndim, "axis of the array", 0)
        for i in range(view.ndim):
            if not 0 <= box.offset[i] <= box.extent[i] - box.count[i]:
                raise ValueError(f"{prefix}box is {given}: along axis {i} the box is not within its local array")
            if view.itemsize == 0 or view.stride[i] % <ptrdiff_t>view.itemsize != 0:
                raise ValueError(f"{prefix}array has elements of {view.itemsize} bytes and a stride of {view.stride[i]} "
                                 f"bytes along axis {i}; strides are whole numbers of elements")
            field.sizes[i], field.start[i], field.count[i] = shape[i], box.start[i], box.count[i]
            field.stride[i] = view.stride[i] // <ptrdiff_t>view.itemsize if view.shape[i] > 1 else 1
            begin += box.offset[i] * view.stride[i]
        field.ndims = view.ndim
        field.datatype = datatype_of(view)
        field.space = REDIST_SPACE_CUDA if view.cuda else REDIST_SPACE_HOST
        field.array = <char *>view.data + begin
        return self.select(field, prefix)

    cdef int select(self, redist_field *field, str prefix) except -1:
        """Sets what the file has."""
        if self.selection is None:
            return 0
        name = f"{prefix}selection"
        given = self.selection if isinstance(self.selection, (tuple, list)) else (self.selection,)
        if len(given) > field.ndims:
            raise ValueError(f"{name} is {_arguments.shown(given)}, of {len(given)} axes; the array has {field.ndims}")
        for i, one in enumerate(given):
            start, stop, step = _selected(f"{name}[{i}]", one, field.sizes[i])
            field.selected_start[i], field.selected_count[i], field.selected_step[i] = start, stop - start, step
        return 0

    cdef object dtype(self, View view):
        """NumPy's type of the elements."""
        found = getattr(self.array, "dtype", None)
        if view.code:
            return np.dtype(chr(view.code))
        return np.dtype(str(found).split(".")[-1] if type(found).__module__.startswith("torch") else
                        np.asarray(self.array).dtype if found is None else found)

    def __repr__(self):
        selection = "" if self.selection is None else f", selection={self.selection}"
        return f"<redist.Field of {_arguments.shown(self.array)}, {self.box}, shape={self.shape}{selection}>"


def _selected(name, given, extent):
    """The first element, the end, and the step of a slice, or of an index."""
    if not isinstance(given, slice):
        index = _arguments.axis(name, given, extent)
        return index, index + 1, 1
    start, stop, step = given.indices(extent)
    if step < 1 or (stop <= start and extent > 0):
        raise ValueError(f"{name} is {given}, of {extent} elements; it selects at least one, in their order")
    return start, stop, step


cdef class Fields:
    """The fields of a call as an array of C."""

    def __cinit__(self, given, bint writable, bint named):
        cdef Field field
        self.number, self.held = 0, [given]
        if named:
            given = _arguments.instance("fields", given, dict, "a dictionary of names and fields")
            items = [(f"fields[{name!r}].", _arguments.text("a name in fields", name or ""), one)
                     for name, one in given.items()]
        elif isinstance(given, Field):
            items = [("", None, given)]
        else:
            given = _arguments.sequence("fields", given, "fields")
            items = [(f"fields[{i}].", None, one) for i, one in enumerate(given)]
        self.fields = <redist_field *>calloc(len(items) + 1, sizeof(redist_field))
        if self.fields == NULL:
            raise MemoryError
        for prefix, name, one in items:
            field = _arguments.instance(prefix[:-1] or "fields", one, Field, "a redist.Field, or that of a plan")
            redist_field_init(&self.fields[self.number], sizeof(redist_field))
            field.fill(&self.fields[self.number], prefix, writable, self.held)
            if name is not None:
                self.held.append(name)
                self.fields[self.number].name = <bytes>name
            self.number += 1

    def __dealloc__(self):
        free(self.fields)

    cdef int64_t bytes(self):
        """Returns the bytes of a file that has the fields."""
        cdef int64_t total = 0, count
        cdef int64_t step
        cdef int size, i, axis
        for i in range(self.number):
            MPI_Type_size(self.fields[i].datatype, &size)
            count = size
            for axis in range(self.fields[i].ndims):
                step = max(self.fields[i].selected_step[axis], 1)
                count *= ((self.fields[i].selected_count[axis] or self.fields[i].sizes[axis]) + step - 1) // step
            total += count
        return total


@cython.no_gc_clear
cdef class Write:
    """A write that write_start() or write_checkpoint_start() has started: the arrays may be changed, while threads of a few
    ranks write copies. `with` completes it at its end. One whose last reference goes is completed in a later collective
    call on `comm` (see collect).
    """
    cdef Handle handle
    cdef readonly object comm, path

    def __init__(self, *arguments, **keywords):
        raise TypeError("redist.Write is made by redist.write_start() and redist.write_checkpoint_start()")

    def __dealloc__(self):
        if self.handle is not None:
            self.handle.dropped = True

    def __repr__(self):
        return f"<redist.Write of {self.path!r}, {'started' if self.handle.object != NULL else 'complete'}>"

    def wait(self):
        """Completes the write; does nothing the second time. Collective on comm. Errors: Error."""
        free_handle(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.wait()


cdef Write _started(Owner owner, path, void *request, release_function wait):
    cdef Write write = Write.__new__(Write)
    write.handle, write.comm, write.path = own(owner, request, wait, RELEASE_FILE), owner.comm, path
    return write


cdef enum Move:
    READ
    WRITE
    START


cdef object _move(Move way, object comm, object path, object fields, offset, truncate, flush, method, writers_per_node,
                  buffer_bytes):
    cdef Owner owner = owner_of(comm) if way == START else None
    cdef MPI_Comm c = comm_of(comm)
    cdef redist_file_request *request = NULL
    cdef redist_file_options options
    cdef Fields given
    cdef const char *name = NULL
    cdef int code
    redist_file_options_init(&options, sizeof(options))
    try:
        held = _arguments.filename("path", path), _arguments.text("method", method)
        name = <bytes>held[0]
        if held[1] is not None:
            options.method = <bytes>held[1]
        given = Fields(fields, way == READ, False)
        options.offset = _arguments.integer("offset", offset, 0)
        options.truncate, options.flush = _arguments.flag("truncate", truncate), _arguments.flag("flush", flush)
        options.writers_per_node = _arguments.integer("writers_per_node", writers_per_node, 0, _C_INT[1])
        options.buffer_bytes = _arguments.integer("buffer_bytes", buffer_bytes, 0)
    except BaseException as error:
        refuse(error)
        with nogil:
            redist_write(c, NULL, 0, NULL, NULL)
        raise refused(error)
    with nogil:
        if way == WRITE:
            code = redist_write(c, name, given.number, given.fields, &options)
        elif way == START:
            code = redist_write_start(c, name, given.number, given.fields, &options, &request)
        else:
            code = redist_read(c, name, given.number, given.fields, &options)
    check(code)
    return _started(owner, path, request, <release_function>redist_file_wait) if way == START else given.bytes()


def write(comm, path, fields, *, offset=0, truncate=True, flush=False, method=None, writers_per_node=0, buffer_bytes=0):
    """Writes distributed arrays to a raw file, one behind the other, each in C order of its global array:
    numpy.fromfile reads it.

    Args:
        comm: the ranks; must agree
        path: name of the file, on a file system that all nodes see; must agree
        fields: a Field, or a sequence of them
        offset: bytes of the file before the first field
        truncate: the file ends behind the last field
        flush: the data have reached the disk on return
        method: "stripes" (by a few writers of each node), "mpi" (MPI-IO), None = choose
        writers_per_node: 0 = choose
        buffer_bytes: memory of each writer; 0 = 2 MiB
    Returns:
        the bytes of the fields in the file
    All but the arrays and boxes must agree. Collective on comm. Errors: Error, and TypeError or ValueError on a rank whose
    arguments are wrong (the other ranks get ArgumentError, which says the same).
    """
    return _move(WRITE, comm, path, fields, offset, truncate, flush, method, writers_per_node, buffer_bytes)


def write_start(comm, path, fields, *, offset=0, truncate=True, flush=False, method=None, writers_per_node=0,
                buffer_bytes=0):
    """Starts a write(), which wait() of the result completes. On return the arrays may be changed: the writers have copies
    of their stripes, and threads write them.

        with redist.write_start(comm, "u.raw", field):
            step()

    Returns:
        a Write
    Collective on comm. Errors: as write; later ones from wait().
    """
    return _move(START, comm, path, fields, offset, truncate, flush, method, writers_per_node, buffer_bytes)


def read(comm, path, fields, *, offset=0, method=None, writers_per_node=0, buffer_bytes=0):
    """Reads distributed arrays from a raw file, as write() writes it, on any number of ranks. What ranks read may overlap,
    and leave holes. As write; a file that is too short is refused before an array is changed."""
    return _move(READ, comm, path, fields, offset, True, False, method, writers_per_node, buffer_bytes)


class File:
    """A raw file that is written or read in several calls, each from where the one before it ended.

        with redist.File(comm, "u.raw", "w") as file:
            for step in range(10):
                file.write(field)
        redist.File(comm, "u.raw").read(field)              # the first of them

    Args:
        comm: the ranks; must agree
        path: as write()
        mode: "r" reads, "w" writes it anew: it ends where the last write() ended; "r+" does both and shortens nothing
        position: bytes before what the next call moves
        keywords: those of write(), and of read() with mode "r", without offset and truncate
    All must agree. Nothing is opened between calls. Errors: ValueError, on this rank.
    """

    def __init__(self, comm, path, mode="r", *, position=0, **keywords):
        self.comm, self.path, self.position, self.keywords = comm, path, position, keywords
        self.mode = _arguments.one_of("mode", mode, ("r", "w", "r+"))

    def __repr__(self):
        return f"<redist.File {self.path!r}, mode {self.mode!r}, at byte {self.position}>"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def write(self, fields):
        """Writes fields at the position, which is behind them afterwards. Collective on comm. Errors: as write()."""
        if self.mode == "r":
            raise ValueError(f"{self!r} is for reading; a file is written with mode 'w' or 'r+'")
        self.position += write(self.comm, self.path, fields, offset=self.position, truncate=self.mode == "w", **self.keywords)

    def read(self, fields):
        """Reads fields from the position, which is behind them afterwards. Collective on comm. Errors: as read()."""
        keywords = {key: value for key, value in self.keywords.items() if key != "flush"}
        self.position += read(self.comm, self.path, fields, offset=self.position, **keywords)


class _Bare:
    """Memory of an array, by its address (as Memory)."""

    def __init__(self, address, shape, strides, dtype, space):
        self.address, self.space = address, space
        self.nbytes = dtype.itemsize + sum([(n - 1) * step for n, step in zip(shape, strides)])
        self.__array_interface__ = {"data": (address, False), "shape": shape, "strides": strides, "version": 3,
                                    "typestr": f"|V{dtype.itemsize}"}


cdef tuple _own_part(Field field):
    """This rank's part of a field as a contiguous array of NumPy, its Box, the global extents, and the selection."""
    cdef redist_field given
    cdef list held = []
    cdef int i
    redist_field_init(&given, sizeof(given))
    field.fill(&given, "", False, held)
    n = range(given.ndims)
    dtype = field.dtype(held[0])
    start, count = tuple([given.start[i] for i in n]), tuple([given.count[i] for i in n])
    shape = tuple([given.sizes[i] for i in n])
    selection = tuple([slice(given.selected_start[i], given.selected_start[i] + given.selected_count[i]
                             if given.selected_count[i] else None, given.selected_step[i] or 1) for i in n])
    if 0 in count:
        return np.empty(count, dtype), Box(start, count), shape, selection
    strides = tuple([given.stride[i] * dtype.itemsize for i in n])
    address = <uintptr_t>(<char *>given.array + given.offset * <ptrdiff_t>dtype.itemsize)
    bare = _Bare(address, count, strides, dtype, "cuda" if given.space == REDIST_SPACE_CUDA else "host")
    part = _streams.to_host(bare, count, dtype, strides) if bare.space == "cuda" else np.asarray(bare).view(dtype)
    return np.ascontiguousarray(part), Box(start, count), shape, selection


def to_numpy(comm, field, *, root=None):
    """Gathers a distributed array, for plots.

    Args:
        comm: the ranks; must agree
        field: a Field, of which the selected elements are returned
        root: the rank that gets the array, None = all; must agree
    Returns:
        an array of NumPy; None on the other ranks
    Collective on comm. Errors: as write.
    """
    owner_of(comm)
    shape, rank = (), comm.Get_rank()
    try:
        part, own, shape, selection = _own_part(_arguments.instance("field", field, Field, "a redist.Field"))
        root = None if root is None else _arguments.integer("root", root, 0, comm.Get_size() - 1)
    except Exception as error:  # the plan raises it, so that the call fails on all ranks
        part = error
        own = None
    whole = shape if root in (None, rank) else (0,) * len(shape)
    result = np.empty(whole, part.dtype if own else float)
    with Plan(comm, part, own or Box((), ()), result, Box((0,) * len(shape), whole), shape=shape, effort="estimate",
              overlap="read") as plan:
        plan.forward()
    return result[selection] if root in (None, rank) else None
