# SPDX-License-Identifier: BSD-3-Clause
# Memory that the other ranks of a node can map, and arrays in it.


@cython.no_gc_clear
cdef class Memory:
    """Memory of redist_alloc_in. NumPy, CuPy, PyTorch and others make arrays of it by the array interfaces; these
    arrays keep it.

    Args:
        comm: the ranks that take part; must agree
        nbytes: size on this rank; may differ between ranks
        space: "host" or "cuda" (memory of the current device); must agree
    Collective on comm. Errors: Error, and TypeError or ValueError on a rank whose arguments are wrong (the other ranks
    get ArgumentError, which says the same).
    """
    cdef Handle handle
    cdef readonly size_t nbytes
    cdef readonly str space

    def __init__(self, comm, nbytes, space="host"):
        cdef Owner owner = owner_of(comm)
        cdef MPI_Comm c = comm_of(comm)
        cdef int where, code
        cdef void *memory = NULL
        try:
            if isinstance(nbytes, Exception):  # of what was to say how many
                raise nbytes
            where = choice("space", space, _MEMORIES)
            self.nbytes = _arguments.integer("nbytes", nbytes, 0)
        except BaseException as error:
            refuse(error)
            with nogil:
                redist_alloc_in(c, <redist_space>-1, 0, &memory)
            raise refused(error)
        with nogil:
            code = redist_alloc_in(c, <redist_space>where, self.nbytes, &memory)
        check(code)
        self.handle = own(owner, memory, redist_free, RELEASE_MEMORY)
        self.space = "cuda" if where == REDIST_SPACE_CUDA else "host"

    def __dealloc__(self):
        if self.handle is not None:
            self.handle.dropped = True

    @property
    def address(self):
        """The address, as a number."""
        return <uintptr_t>(alive(self.handle, "the memory") if self.nbytes > 0 else NULL)

    @property
    def mappable(self):
        """Whether the other ranks of the node can map it: False without shared memory."""
        cdef int found = 0
        check(redist_alloc_info(alive(self.handle, "the memory"), &found))
        return bool(found)

    @property
    def _interface(self):
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False), "version": 3}

    def __getattr__(self, name):
        wanted = "__cuda_array_interface__" if self.space == "cuda" else "__array_interface__"
        if name == wanted:
            return self._interface
        raise AttributeError(name)

    def __repr__(self):
        freed = "" if self.handle is not None and self.handle.object != NULL or self.nbytes == 0 else ", freed"
        return f"<redist.Memory of {self.nbytes} bytes, {self.space}{freed}>"

    def free(self):
        """Frees the memory. No array in it may be used afterwards. Collective."""
        free_handle(self.handle)


def as_array(memory, shape, dtype, strides=None):
    """An array in a Memory, from its beginning: of NumPy, or of CuPy in device memory.

    Args:
        memory: a Memory with room for the array
        shape: extents
        dtype: type of the elements
        strides: bytes from an element to its neighbour along each axis, not negative; None = C order
    Not collective. Errors: Error, TypeError, ValueError.
    """
    if not isinstance(memory, Memory):
        raise TypeError(f"memory is {_arguments.shown(memory)}; it is a redist.Memory")
    dtype = _arguments.dtype("dtype", dtype)
    shape = _arguments.shape("shape", shape, REDIST_MAX_NDIMS)
    if strides is not None:
        strides = _arguments.integers("strides", strides, len(shape), "axis", 0)
    nbytes = _arguments.size("shape", shape, dtype.itemsize)
    if strides is not None and nbytes > 0:
        nbytes = dtype.itemsize + sum([(extent - 1) * step for extent, step in zip(shape, strides)])
    if nbytes > memory.nbytes:
        raise ValueError(f"shape is {shape}: with elements of {dtype} the array has {nbytes} bytes, the memory "
                         f"{memory.nbytes}")
    return array_in(memory, shape, dtype, strides)


def array_in(memory, shape, dtype, strides, offset=0):
    """As as_array, without checks, for any object with the attributes of a Memory."""
    if memory.space == "cuda":
        return _streams.device_array(memory, shape, dtype, strides, offset)
    if memory.nbytes == 0:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, np.asarray(memory), offset, strides)


def empty(shape, dtype=float, comm=None, space="host"):
    """An array in memory that the other ranks of the node can map, so that exchanges copy directly.

    Args:
        shape: local extents; may differ between ranks
        dtype: type of the elements
        comm: the ranks that take part; must agree; None = mpi4py.MPI.COMM_WORLD
        space: "host" (a NumPy array) or "cuda" (a CuPy array, where CuPy is installed); must agree
    Returns:
        an array with undefined contents. When it and its views are gone on all ranks, a later collective call on
        `comm` frees the memory (see collect)
    Collective on comm. Errors: Error, and TypeError or ValueError on a rank whose arguments are wrong (the other ranks
    get ArgumentError, which says the same).
    """
    try:
        dtype = _arguments.dtype("dtype", dtype)
        shape = _arguments.shape("shape", (shape,) if isinstance(shape, (int, np.integer)) else shape, REDIST_MAX_NDIMS)
        nbytes = _arguments.size("shape", shape, dtype.itemsize)
    except Exception as error:  # Memory raises it, so that the call fails on all ranks
        nbytes = error
    return array_in(Memory(MPI.COMM_WORLD if comm is None else comm, nbytes, space), shape, dtype, None)


def zeros(shape, dtype=float, comm=None, space="host"):
    """As empty, filled with zeros."""
    array = empty(shape, dtype, comm, space)
    array[...] = 0
    return array
