# SPDX-License-Identifier: BSD-3-Clause
# Ghosts of distributed arrays.

Halo = namedtuple("Halo", "low high periodic corners", defaults=(None, False, False))
Halo.__doc__ = """Ghosts around each rank's part of an array, for fftnd.Plan.

Args:
    low, high: ghosts before and behind the part along each axis, or one number for all axes; high=None is low
    periodic: whether the last element along an axis is followed by the first one, for each axis or for all; else there
        are no ghosts beyond the ends
    corners: also the ghosts that are outside of the part along several axes"""


cdef tuple _for_each(str name, value, int ndims):
    """One value for each axis, of a sequence or of one value for all."""
    if isinstance(value, (int, np.integer, np.bool_)):
        return (value,) * ndims
    return _arguments.sequence(name, value, "values, or one for all", ndims, "axis of the array")


cdef int fill_halo(redist_halo *halo, str prefix, object given, int ndims) except -1:
    """Reads a Halo; `prefix` stands before the names of its fields in messages."""
    redist_halo_init(halo, sizeof(redist_halo))
    low, high, periodic = [_for_each(f"{prefix}{name}", value, ndims) for name, value in (
        ("low", given.low), ("high", given.low if given.high is None else given.high), ("periodic", given.periodic))]
    for i in range(ndims):
        halo.low[i] = _arguments.integer(f"{prefix}low[{i}]", low[i])
        halo.high[i] = _arguments.integer(f"{prefix}high[{i}]", high[i])
        halo.periodic[i] = _arguments.flag(f"{prefix}periodic[{i}]", periodic[i])
    halo.corners = _arguments.flag(f"{prefix}corners", given.corners)
    return 0


@cython.no_gc_clear
cdef class HaloPlan(AnyPlan):
    """Ghosts of a distributed array: points of neighbours around each rank's box, filled from their owners, or added to
    them.

        box = grid.box(shape, axes).with_ghosts(1)
        u = redist.zeros(box.extent, comm=comm)
        with redist.HaloPlan(comm, u, box, 1, shape=shape, periodic=True) as plan:
            plan.interior()[...] = 1
            plan.fill()

    A plan whose last reference goes is freed as a Plan is. Keywords that are not explained here are those of Plan; "bind"
    is that of the array.

    Args:
        comm: the ranks among which the array is distributed; must agree
        array: the local array, in C order; or its shape, together with dtype and `bind`
        box: what this rank holds of the global array, and its place in the local array, a Box. The boxes of all ranks
            cover the global array without overlaps; a rank without elements has no ghosts
        low, high: ghosts before and behind the box along each axis, or one number for all axes; high=None is low. 0 along
            an axis of several fields, which each rank has whole; may exceed the neighbours' boxes; must agree
        shape: global extents; must agree
        periodic: whether the last element along an axis is followed by the first one, for each axis or for all; else
            there are no ghosts beyond the ends; must agree
        corners: also the ghosts that are outside of the box along several axes; must agree
        overlap: "refused"; "read": a plan without accumulate, which more methods serve; "add": refuses elements that
            cannot be added
        operation: that of accumulate in the place of the sum, as that of Plan; redist_halo.h has the order of ghosts
        wire, wire_scope: as in Plan
    What may differ between ranks: array, box, wisdom_file, stream, verbose. Collective on comm. Errors: Error, and
    TypeError or ValueError on a rank whose arguments are wrong (the other ranks get ArgumentError, which says the same).
    """
    cdef object array
    cdef readonly object box
    cdef View local

    def __init__(self, comm, array, box, low, high=None, *, shape=None, periodic=False, corners=False, dtype=None,
                 method=None, effort="measure", bind="plan", tune_seconds=0.0, wisdom_file=None, nontemporal_bytes=0,
                 space="auto", staging="auto", stream=None, skip_agreement=False, verbose=False, phases=False,
                 asynchronous=False, wait_seconds=0.0, overlap="refused", operation=None, wire="same",
                 wire_scope="between nodes"):
        cdef Owner owner = owner_of(comm)
        cdef MPI_Comm c = comm_of(comm)
        cdef _Options given
        cdef redist_plan *plan = NULL
        cdef redist_box held
        cdef redist_halo halo
        cdef redist_index[REDIST_MAX_NDIMS] sizes
        cdef MPI_Datatype type
        cdef void *data
        cdef int code, ndims
        try:
            given = _Options("bind", bind, "bind", bind, method, effort, tune_seconds, wisdom_file, nontemporal_bytes,
                             space, staging, skip_agreement, verbose, phases, asynchronous, wait_seconds, overlap,
                             operation, wire, wire_scope)
            given.set_stream(stream, array)
            self.local = _planned(array, dtype, "array", True, given.stream)
            contiguous(self.local, "array")
            given.set_space(self.local)
            ndims = self.local.ndim
            fill_sizes(sizes, shape, ndims, "axis of the array")
            fill_box(&held, "box", box, ndims)
            _check_extents(self.local, box, "array")
            fill_halo(&halo, "", Halo(low, high, periodic, corners), ndims)
        except BaseException as error:
            _refuse_plan(c, error)
        data = self.local.data if given.options.bind_a == REDIST_BIND_AT_PLAN else NULL
        type = datatype_of(self.local)
        with nogil:
            code = redist_plan_halo(c, type, ndims, sizes, &held, data, &halo, &given.options, &plan)
        check(code)
        self._own(owner, comm, plan, given, f"{_elements(self.local)}, {_side(self.local, box)}")
        self.strict = True
        self.operation = operation
        self.box = box
        self.array = array if given.options.bind_a == REDIST_BIND_AT_PLAN else None

    cdef int _begin(self, object way, array, bint start) except -1:
        cdef void *data = NULL
        cdef int direction = REDIST_FILL
        alive(self.handle, "the plan")
        try:
            direction = choice("direction", way, _HALO_DIRECTIONS)
            data = self._address(array, self.array, self.local, "array", True)
        except BaseException as error:
            self._refuse(direction, error)
        return self._run(direction, data, data, start)

    def fill(self, array=None):
        """Copies elements to the ghosts that show them, in the array that the plan is bound to, or another one of its
        shape.

        Returns:
            the array
        Collective on the plan's ranks. Errors: Error, and TypeError or ValueError on a rank whose array does not fit (the
        other ranks get ArgumentError, which says the same).
        """
        self._begin("fill", array, False)
        return self.array if array is None else array

    def accumulate(self, array=None):
        """Adds ghosts to the elements that they show, in the order of ranks, and returns the array; ghosts are
        unchanged. The elements are integers, or real or complex numbers, or those of `operation`. As fill."""
        self._begin("accumulate", array, False)
        return self.array if array is None else array

    def start(self, direction="fill", array=None):
        """Starts an execution, "fill" or "accumulate", that wait() completes. In between ghosts are left alone, and
        elements that ghosts show: these may be read while ghosts are filled. Collective."""
        self._begin(direction, array, True)
        self.started = array

    def interior(self, array=None):
        """The box of this rank in its array, without ghosts: a view. Not collective."""
        array = self.array if array is None else array
        if array is None:
            raise TypeError("array is not given, and the plan is not bound to one (bind)")
        return array[self.box.local]
