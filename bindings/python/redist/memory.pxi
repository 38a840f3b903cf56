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
    Collective on comm. Errors: Error, and TypeError, ValueError or OverflowError on a rank whose arguments cannot be
    understood (the other ranks get ArgumentError).
    """
    cdef Handle handle
    cdef readonly size_t nbytes
    cdef readonly str space

    def __init__(self, comm, nbytes, space="host"):
        cdef Owner owner = owner_of(comm)
        cdef MPI_Comm c = comm_of(comm)
        cdef int where = -1, code  # the C library refuses -1, on all ranks
        cdef void *memory = NULL
        try:
            if isinstance(nbytes, Exception):  # of what was to say how many
                raise nbytes
            where = choice("space", space, _SPACES)
            self.nbytes = nbytes
        except BaseException:
            redist_alloc_in(c, <redist_space>-1, 0, &memory)
            raise
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
        """Where it begins, as a number."""
        return <uintptr_t>self.handle.object

    @property
    def mappable(self):
        """Whether the other ranks of the node can map it: False where there was no shared memory for it."""
        cdef int found = 0
        check(redist_alloc_info(self.handle.object, &found))
        return bool(found)

    @property
    def _interface(self):
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False), "version": 3}

    def __getattr__(self, name):
        wanted = "__cuda_array_interface__" if self.space == "cuda" else "__array_interface__"
        if name == wanted:
            return self._interface
        raise AttributeError(name)

    def free(self):
        """Frees the memory. No array in it may be used afterwards. Collective."""
        free_handle(self.handle)


def as_array(memory, shape, dtype, strides=None):
    """An array in a Memory, from its beginning: of NumPy, or of CuPy in device memory.

    Args:
        shape: extents
        dtype: type of the elements
        strides: bytes from an element to its neighbour along each axis; None = C order
    Not collective.
    """
    dtype = np.dtype(dtype)
    if memory.space == "cuda":
        return _streams.device_array(memory, shape, dtype, strides)
    if memory.nbytes == 0:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, buffer=np.asarray(memory), strides=strides)


def empty(shape, dtype=float, comm=None, space="host"):
    """An array in memory that the other ranks of the node can map, with which exchanges copy straight into it.

    Args:
        shape: local extents; may differ between ranks
        dtype: type of the elements
        comm: the ranks that take part; must agree; None = mpi4py.MPI.COMM_WORLD
        space: "host" (a NumPy array) or "cuda" (a CuPy array, where CuPy is installed); must agree
    Returns:
        an array with undefined contents. When it and its views are gone on all ranks, a later collective call on
        `comm` frees the memory (see collect)
    Collective on comm. Errors: Error, and TypeError, ValueError or OverflowError on a rank whose arguments cannot be
    understood (the other ranks get ArgumentError).
    """
    try:
        dtype = np.dtype(dtype)
        shape = (int(shape),) if np.ndim(shape) == 0 else tuple([int(extent) for extent in shape])
        if min(shape, default=0) < 0:
            raise ValueError(f"shape is {shape}; extents are not negative")
        nbytes = dtype.itemsize
        for extent in shape:
            nbytes *= extent
    except Exception as error:  # Memory raises it, so that the call fails on all ranks
        nbytes = error
    return as_array(Memory(MPI.COMM_WORLD if comm is None else comm, nbytes, space), shape, dtype)


def zeros(shape, dtype=float, comm=None, space="host"):
    """As empty, filled with zeros."""
    array = empty(shape, dtype, comm, space)
    array[...] = 0
    return array
