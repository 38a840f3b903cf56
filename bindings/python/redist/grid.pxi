# SPDX-License-Identifier: BSD-3-Clause
# Process grids, and boxes of global arrays.


class Box:
    """The part of a global array that one rank holds, and its place in that rank's local array.

    Args:
        start: first global index along each axis
        count: elements along each axis; any 0 = an empty box
        extent: allocated extents of the local array; None = count
        offset: start of the box in the local array; None = its beginning
    """
    __slots__ = ("start", "count", "extent", "offset")

    def __init__(self, start, count, extent=None, offset=None):
        self.start = _arguments.integers("start", start)
        ndims = len(self.start)
        self.count = _arguments.integers("count", count, ndims, "axis of start")
        self.extent = self.count if extent is None else _arguments.integers("extent", extent, ndims, "axis of start")
        self.offset = (0,) * ndims if offset is None else _arguments.integers("offset", offset, ndims, "axis of start")

    @property
    def slices(self):
        """The box as slices of the global array."""
        return tuple(slice(s, s + n) for s, n in zip(self.start, self.count))

    @property
    def local(self):
        """The box as slices of the local array."""
        return tuple(slice(s, s + n) for s, n in zip(self.offset, self.count))

    def neighbours(self, axis, distance):
        """The neighbours of the box's elements, `distance` (which may be negative) behind them along an axis, as slices
        of the local array."""
        axis = _arguments.axis("axis", axis, len(self.start))
        distance = _arguments.integer("distance", distance)
        if not 0 <= self.offset[axis] + distance <= self.extent[axis] - self.count[axis]:
            raise ValueError(f"distance is {distance}; the local array has {self.offset[axis]} elements before the box "
                             f"along axis {axis} and {self.extent[axis] - self.count[axis] - self.offset[axis]} behind it")
        return tuple([slice(part.start + distance * (i == axis), part.stop + distance * (i == axis))
                      for i, part in enumerate(self.local)])

    def with_ghosts(self, low, high=None):
        """This box in a local array with room for ghosts before and behind it along each axis: a number for each axis,
        or one for all; high=None is low."""
        ndims = len(self.start)
        low, high = _for_each("low", low, ndims), _for_each("high", low if high is None else high, ndims)
        low, high = _arguments.integers("low", low, low=0), _arguments.integers("high", high, low=0)
        return Box(self.start, self.count, [n + a + b for n, a, b in zip(self.count, low, high)], low)

    def __eq__(self, other):
        return isinstance(other, Box) and all(getattr(self, k) == getattr(other, k) for k in self.__slots__)

    def __repr__(self):
        return f"Box(start={self.start}, count={self.count}, extent={self.extent}, offset={self.offset})"


cdef int fill_box(redist_box *box, str name, object given, int ndims) except -1:
    cdef int i
    redist_box_init(box, sizeof(redist_box))
    if not isinstance(given, Box):
        raise TypeError(f"{name} is {_arguments.shown(given)}; it is a redist.Box(start, count)")
    if len(given.count) != ndims:
        raise ValueError(f"{name} is {given}, of {len(given.count)} axes; the array has {ndims}")
    for i in range(ndims):
        box.start[i] = given.start[i]
        box.count[i] = given.count[i]
        box.extent[i] = given.extent[i]
        box.offset[i] = given.offset[i]
    return 0


cdef int read_dims(str name, object dims, int *given) except? -1:
    """The dimensions of a grid, and their number."""
    cdef int i
    if isinstance(dims, (int, np.integer)):
        dims = [0] * _arguments.integer(name, dims, 1, REDIST_MAX_NDIMS)
    elif not isinstance(dims, (tuple, list, np.ndarray)):
        raise TypeError(f"{name} is {_arguments.shown(dims)}; it is the number of processes along each dimension, in which "
                        "0 is chosen, such as (2, 0), or the number of dimensions")
    dims = _arguments.integers(name, dims, low=_C_INT[0], high=_C_INT[1])
    if len(dims) > REDIST_MAX_NDIMS:
        raise ValueError(f"{name} is {dims}, of {len(dims)} dimensions; at most {REDIST_MAX_NDIMS} are possible")
    for i in range(<int>len(dims)):
        given[i] = dims[i]
    return <int>len(dims)


@cython.no_gc_clear
cdef class Grid:
    """A Cartesian process grid, in rank order: the last dimension varies fastest.

    Args:
        comm: the ranks; must agree
        dims: processes along each dimension, 0 = choose; or the number of dimensions; must agree
        by_node: the ranks of a node are neighbours in the grid; must agree
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
        cdef int number, code
        cdef bint nodes
        try:
            nodes = _arguments.flag("by_node", by_node)
            number = read_dims("dims", dims, given)
        except BaseException as error:
            refuse(error)
            with nogil:
                redist_grid_create(c, -1, NULL, &grid)
            raise refused(error)
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
        check(redist_grid_get(<redist_grid *>alive(self.handle, "the grid"), &number, dims, coords))
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
        check(redist_grid_comm(<redist_grid *>alive(self.handle, "the grid"), &found))
        return comm_from(found)

    @property
    def subcomms(self):
        """For each dimension the communicator of the ranks that differ only there; the grid owns it."""
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
        Not collective. Errors: ArgumentError, TypeError, ValueError.
        """
        cdef redist_box box
        cdef redist_index[REDIST_MAX_NDIMS] sizes
        cdef int[REDIST_MAX_NDIMS] split
        cdef int i, ndims
        shape = _arguments.shape("shape", shape, REDIST_MAX_NDIMS)
        axes = _arguments.integers("axes", axes, len(self.dims), "dimension of the grid", 0, len(shape) - 1)
        ndims = len(shape)
        for i in range(ndims):
            sizes[i] = shape[i]
        for i in range(len(axes)):
            split[i] = axes[i]
        redist_box_init(&box, sizeof(redist_box))
        check(redist_grid_box(<redist_grid *>self.handle.object, ndims, sizes, split, &box))
        return Box([box.start[i] for i in range(ndims)], [box.count[i] for i in range(ndims)])

    def __repr__(self):
        if self.handle is None or self.handle.object == NULL:
            return "<redist.Grid, freed>"
        dims, coords = self._get()
        return f"<redist.Grid {dims}, this rank at {coords}>"

    def free(self):
        """Frees the grid; its communicators must not be used afterwards. Collective."""
        free_handle(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()
