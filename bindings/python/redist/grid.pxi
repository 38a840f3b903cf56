# SPDX-License-Identifier: BSD-3-Clause
# Process grids, and boxes of global arrays.


class Box:
    """The part of a global array that one rank holds, and how it lies in that rank's local array.

    Args:
        start: first global index along each axis
        count: elements along each axis; any 0 = an empty box
        extent: allocated extents of the local array; None = count
        offset: where in the local array the box begins; None = at its beginning
    """
    __slots__ = ("start", "count", "extent", "offset")

    def __init__(self, start, count, extent=None, offset=None):
        self.start = tuple(int(i) for i in start)
        self.count = tuple(int(i) for i in count)
        self.extent = self.count if extent is None else tuple(int(i) for i in extent)
        self.offset = (0,) * len(self.count) if offset is None else tuple(int(i) for i in offset)
        if not len(self.start) == len(self.count) == len(self.extent) == len(self.offset):
            raise ValueError("start, count, extent and offset of a box have different lengths")

    @property
    def slices(self):
        """The box as slices of the global array."""
        return tuple(slice(s, s + n) for s, n in zip(self.start, self.count))

    @property
    def local(self):
        """The box as slices of the local array."""
        return tuple(slice(s, s + n) for s, n in zip(self.offset, self.count))

    def __eq__(self, other):
        return isinstance(other, Box) and all(getattr(self, k) == getattr(other, k) for k in self.__slots__)

    def __repr__(self):
        return f"Box(start={self.start}, count={self.count}, extent={self.extent}, offset={self.offset})"


cdef int fill_box(redist_box *box, object given, int ndims) except -1:
    cdef int i
    redist_box_init(box, sizeof(redist_box))
    if len(given.count) != ndims:
        raise ValueError(f"a box has {len(given.count)} axes, the array {ndims}")
    for i in range(ndims):
        box.start[i] = given.start[i]
        box.count[i] = given.count[i]
        box.extent[i] = given.extent[i]
        box.offset[i] = given.offset[i]
    return 0


cdef int read_dims(object dims, int *given) except? -1:
    """The dimensions of a grid, and how many there are; -1 = too many."""
    cdef int i
    dims = [0] * dims if isinstance(dims, int) else list(dims)
    if len(dims) > REDIST_MAX_NDIMS:
        return -1
    for i in range(<int>len(dims)):
        given[i] = dims[i]
    return <int>len(dims)


@cython.no_gc_clear
cdef class Grid:
    """A Cartesian process grid, in rank order: the last dimension varies fastest.

    Args:
        comm: the ranks; must agree
        dims: processes along each dimension, 0 = choose; or the number of dimensions; must agree
        by_node: the ranks of a node follow one another in the grid whatever their numbers are; must agree
    Collective on comm. Errors: Error, and TypeError or ValueError on a rank whose arguments cannot be understood (the
    other ranks get ArgumentError).
    """
    cdef Handle handle
    cdef readonly object comm

    def __init__(self, comm, dims, by_node=False):
        cdef Owner owner = owner_of(comm)
        cdef MPI_Comm c = comm_of(comm)
        cdef redist_grid *grid = NULL
        cdef int[REDIST_MAX_NDIMS] given
        cdef int number = -1, code  # the C library refuses -1, on all ranks
        cdef bint nodes = False
        try:
            nodes = bool(by_node)
            number = read_dims(dims, given)
        except BaseException:
            redist_grid_create(c, -1, NULL, &grid)
            raise
        with nogil:
            if nodes:
                code = redist_grid_create_by_node(c, number, given, &grid)
            else:
                code = redist_grid_create(c, number, given, &grid)
        check(code)
        self.handle = own(owner, grid, <release_function>redist_grid_free, RELEASE_GRID)
        self.comm = comm

    def __dealloc__(self):
        if self.handle is not None:
            self.handle.dropped = True

    cdef tuple _get(self):
        cdef int number
        cdef int[REDIST_MAX_NDIMS] dims
        cdef int[REDIST_MAX_NDIMS] coords
        check(redist_grid_get(<redist_grid *>self.handle.object, &number, dims, coords))
        return tuple([dims[i] for i in range(number)]), tuple([coords[i] for i in range(number)])

    @property
    def dims(self):
        """Processes along each dimension."""
        return self._get()[0]

    @property
    def coords(self):
        """This rank's coordinates."""
        return self._get()[1]

    @property
    def ranks(self):
        """The communicator of all ranks in grid order; the grid owns it."""
        cdef MPI_Comm found
        check(redist_grid_comm(<redist_grid *>self.handle.object, &found))
        return comm_from(found)

    @property
    def subcomms(self):
        """For each dimension the ranks that differ from this one only there; the grid owns the communicators."""
        cdef MPI_Comm found
        result = []
        for i in range(len(self.dims)):
            check(redist_grid_subcomm(<redist_grid *>self.handle.object, i, &found))
            result.append(comm_from(found))
        return result

    def box(self, shape, axes):
        """The box of a global array that this rank holds when grid dimension i splits axis axes[i].

        Args:
            shape: global extents
            axes: one axis for each grid dimension, all different
        Not collective. Errors: ArgumentError.
        """
        cdef redist_box box
        cdef redist_index[REDIST_MAX_NDIMS] sizes
        cdef int[REDIST_MAX_NDIMS] split
        cdef int i, ndims = len(shape)
        if ndims > REDIST_MAX_NDIMS or len(axes) != len(self.dims):
            raise ValueError(f"shape is {shape} and axes is {axes}, on a grid of {len(self.dims)} dimensions")
        for i in range(ndims):
            sizes[i] = shape[i]
        for i in range(len(axes)):
            split[i] = axes[i]
        redist_box_init(&box, sizeof(redist_box))
        check(redist_grid_box(<redist_grid *>self.handle.object, ndims, sizes, split, &box))
        return Box([box.start[i] for i in range(ndims)], [box.count[i] for i in range(ndims)])

    def free(self):
        """Frees the grid; its communicators must not be used afterwards. Collective."""
        free_handle(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()
