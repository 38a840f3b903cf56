# SPDX-License-Identifier: BSD-3-Clause
# The plan: arrays, transforms, queries.

cdef struct Side:  # of the local array, with the batch as an axis of its own if there is one
    int ndim
    redist_index[REDIST_MAX_NDIMS] shape
    ptrdiff_t[REDIST_MAX_NDIMS] stride
    bint empty, has_ghosts
    int code
    size_t bytes, offset  # of the whole memory, and before the first element


cdef tuple _shape(const Side *side):
    return tuple([side.shape[i] for i in range(side.ndim)])


cdef tuple _strides(const Side *side):
    return tuple([side.stride[i] for i in range(side.ndim)])


def _indices(layout):
    """A rank's part of one side, as slices are written."""
    return f"[{', '.join([f'{one.start}:{one.stop}' for one in layout.slices])}]"


class _Alias:
    """The memory of an array, which it keeps, for the other side's array (as redist.Memory)."""

    def __init__(self, array, address, nbytes, space):
        self.array, self.address, self.nbytes, self.space = array, address, nbytes, space
        self.__array_interface__ = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}


def _memory_of(array):
    """The address and the bytes of an array's memory; None = unknown."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    if isinstance(array, np.ndarray):
        return (array.ctypes.data, array.nbytes) if array.flags.owndata else None
    if isinstance(array, (Memory, _Alias)):
        return array.address, array.nbytes
    return _streams.memory_of(array)


@cython.no_gc_clear
cdef class Plan:
    """A distributed transform, forward and backward.

    Attributes:
        comm, shape, kind, batch, ghosts: as it was made
        physical, spectral: the Layout of either side on this rank

    Arguments behind dtype are given by name.

    Args:
        comm: the ranks (mpi4py.MPI.Comm)
        shape: global extents in points (of the real array for "r2c")
        kind: "r2c", "c2c", or a real-to-real transform ("dct1".."dct4", "dst1".."dst4", "r2hc", "hc2r", "dht"); or
            one of these, or "none" (not transformed), for each axis, with "r2c" at most once; None = "r2c" for a real
            dtype and "c2c" for a complex one
        dtype: float64 or complex128 (double precision), float32 or complex64 (single precision), longdouble or
            clongdouble (of host arrays)

    The process grid:
        grid: processes along each grid dimension, 0 = choose; or the number of dimensions; None = choose all
        order: the axes in the order of the chain; None = 0..d-1, with filled one that may send less (info)
        by_node: the ranks of a node are neighbours in the grid

    The transform:
        scaling: the direction that divides by the number of points: "backward" (NumPy's usual), "forward", "unitary",
            "none"
        alignment: "chain" (the spectral side is whole along axis 0) or "input" (it is split as the physical side is)
        batch: fields transformed at once: an additional axis of the arrays, which is not split; None = no such axis
        batch_position: "first" or "last", the place of that axis
        retained_modes: modes retained along each axis (dealiasing), None = all: the 3/2 rule is shape = 3N/2 and
            retained_modes = N
        halved_axis: of "r2c"; -1 = the last

    The sides, as pairs (physical, spectral), in which None stands for the usual:
        memory_order: the axes from the slowest in memory to the fastest
        padding: additional elements of the local array along each axis
        offset: of these, elements before this rank's part, None = none; arrays of the plan are the part without padding
        blocks: "balanced" or "ceiling" (FFTW's), or a pair of these: how grid dimensions split axes
        bounds: for each grid dimension the first index of each block of the axis that it splits, and its extent; with
            grid and order
        split: the axis that each grid dimension splits; with grid
        box: this rank's redist.Box, in place of a part of the process grid

    The physical side:
        filled: points of it along each axis, the first ones; None = all. The others are zero, and neither stored nor sent:
            shape = 2N and filled = N for convolutions that do not wrap around
        ghosts: a redist.Halo: copies of neighbours' points around each rank's part, for which arrays have room
            (empty_physical(); with a box, by its extent and offset); with_ghosts() shows them
        fill_ghosts: backward transforms fill them
        accumulate_ghosts: forward transforms add them to the points that they show; the array may have these sums
            afterwards

    The arrays:
        in_place: input and output are the same memory, which may have to be larger than either side: empty_physical and
            empty_spectral make it so
        overwrite_input: the input array may be used as work space; the same then holds for both arrays
        mapped_arrays: all arrays are from empty_physical, empty_spectral or redist.empty
        user_workspace: work space comes from set_workspace
        space: memory of the arrays: "host" or "cuda" (the device that is current when the plan is made)
        stream: of the device arrays: a stream of CuPy or PyTorch, a number, None = the array library's current one
        device: "cuda": transform arrays of the host on the device, tile by tile
        pin_arrays, device_bytes: as in fftnd.h

    The execution: effort: "estimate", "measure" or "patient"
        fusion, local_transpose, staging: "auto", "never" or "always"
        method: method of the exchanges, None = auto (redist.methods)
        wisdom_file: file in which rank 0 remembers measurements
        plan_seconds: approximate time of measurements
        tile_bytes: size of a tile, 0 = choose
        threads: threads of each rank that transform
        skip_agreement: transforms do not check with the other ranks whether all arrays are valid
        verbose: rank 0 prints measurements
        phases: time the phases of transforms
        asynchronous: of arrays on a device: transforms only enqueue their work in `stream`; arrays live until the work
            is done
        wait_seconds: for which the device then waits for a peer; 0 = 600
        ranks: the first ones of `comm`, on which alone the chain runs, 0 = all; "choose": as many as are fastest; the
            arrays remain on all ranks
        keep: a plan that is freed is kept for the next one with the same arguments on `comm` (cache_clear)
        wire: numbers between ranks: "same" as in the arrays, "float" for double precision, or "16 bits"
        wire_scope: "between nodes" or "everywhere": the messages that `wire` is for
        tolerance: instead of `wire`: the narrowest with which the relative L2 error of a round trip is at most this

    fftnd.h says more about each of these. A plan whose last reference goes is freed in a later collective call on
    `comm` (redist.collect); free() and `with` free it at once.

    All arguments must agree, except box, stream, wisdom_file, plan_seconds, verbose, phases. Collective on comm.
    Errors: redist.Error, and TypeError or ValueError on a rank whose arguments are wrong (the other ranks get
    redist.ArgumentError, which says the same).
    """
    cdef Handle handle
    cdef readonly object comm
    cdef readonly tuple shape
    cdef readonly str kind
    cdef readonly object batch
    cdef readonly object ghosts
    cdef redist_halo halo
    cdef Side[2] side
    cdef readonly object physical
    cdef readonly object spectral
    cdef tuple dtypes
    cdef object started, workspace
    cdef list operators  # handles of those that were made for it
    cdef bint in_place, overwrites, accumulates, skip, last, cuda, works_on_device, kept
    cdef size_t stream
    cdef str kinds, ranks_and_grid  # for repr

    def __init__(self, comm, shape, kind=None, dtype=float, *, grid=None, order=None, by_node=False,
                 scaling="backward", alignment="chain", batch=None, batch_position="first", retained_modes=None,
                 halved_axis=-1, memory_order=None, padding=None, blocks="balanced", bounds=None,
                 split=None, box=None, in_place=False, overwrite_input=False, mapped_arrays=False, user_workspace=False,
                 space="auto", stream=None, device="auto", pin_arrays=False, device_bytes=0, effort="measure",
                 fusion="auto", local_transpose="auto", staging="auto", method=None, wisdom_file=None,
                 plan_seconds=0.0, tile_bytes=0, threads=1, skip_agreement=False, verbose=False, phases=False,
                 asynchronous=False, wait_seconds=0.0, ranks=0, offset=None, ghosts=None, fill_ghosts=True,
                 accumulate_ghosts=False, keep=False, wire="same", wire_scope="between nodes", tolerance=0.0,
                 filled=None):
        cdef Owner owner = owner_of(comm)
        cdef MPI_Comm c = comm_of(comm)
        cdef fftnd_plan *plan = NULL
        cdef Arguments given
        cdef int code
        try:
            given = Arguments(shape, kind, dtype)
            given.set_grid(grid, order, by_node)
            given.set_transform(scaling, alignment, batch, batch_position, retained_modes, filled,
                                halved_axis)
            given.set_arrays(in_place, overwrite_input, mapped_arrays, user_workspace, space, stream, device,
                             pin_arrays, device_bytes)
            given.set_execution(effort, fusion, local_transpose, staging, method, wisdom_file, plan_seconds,
                                tile_bytes, threads, skip_agreement, verbose, phases, asynchronous, wait_seconds, ranks)
            given.set_sides(memory_order, padding, blocks, bounds, split, box, offset)
            given.set_ghosts(ghosts, fill_ghosts, accumulate_ghosts)
            given.options.keep = _arguments.flag("keep", keep)
            given.set_wire(wire, wire_scope, tolerance)
        except BaseException as error:
            refuse(error)
            with nogil:
                fftnd_plan_create(c, 0, NULL, FFTND_C2C, FFTND_DOUBLE, NULL, &plan)
            raise refused(error)
        with nogil:
            code = fftnd_plan_create(c, given.ndims, given.sizes, given.kind, given.precision, &given.options, &plan)
        check(code)
        self.handle = own(owner, plan, <release_function>fftnd_plan_free, RELEASE_FFT)
        self.comm = comm
        self.shape = tuple([given.sizes[i] for i in range(given.ndims)])
        self.kind = given.name
        self.batch = batch
        self.operators = []
        self.in_place, self.overwrites = given.options.in_place, given.options.overwrite_input
        self.skip = given.options.skip_agreement or given.options.asynchronous
        self.kept = given.options.asynchronous
        self.ghosts, self.halo = ghosts, given.ghosts
        self.accumulates = ghosts is not None and given.options.accumulate_ghosts
        self.last = given.options.batch_position == FFTND_BATCH_LAST
        self.cuda = given.options.space == REDIST_SPACE_CUDA
        self.works_on_device = self.cuda or given.options.device == REDIST_SPACE_CUDA
        self.stream = <size_t>given.options.stream
        types = _TYPES[given.name][given.letter]
        self.dtypes = np.dtype(types[0]), np.dtype(types[1])
        self.physical = self._read(FFTND_PHYSICAL)
        self.spectral = self._read(FFTND_SPECTRAL)
        self.kinds = repr(given.kinds)
        info = self.info
        self.ranks_and_grid = f"{comm.Get_size()} ranks as grid {info['grid']}, method {info['method']!r}"

    def __dealloc__(self):
        if self.handle is not None:
            self.handle.dropped = True

    cdef object _read(self, int which):
        """The layout of one side, kept in C as well."""
        cdef fftnd_layout layout
        fftnd_layout_init(&layout, sizeof(layout))
        check(fftnd_plan_layout(self._plan(), <fftnd_side>which, &layout))
        self._fill(&self.side[which], &layout, self.dtypes[which], which == FFTND_PHYSICAL)
        n = range(layout.ndims)
        start, count = tuple([layout.start[i] for i in n]), tuple([layout.count[i] for i in n])
        return Layout(tuple([layout.sizes[i] for i in n]), start, count,
                      tuple([layout.stride[i] * <ptrdiff_t>layout.element_bytes for i in n]),
                      layout.batch_stride * <ptrdiff_t>layout.element_bytes, layout.element_bytes, layout.bytes,
                      tuple([slice(s, s + k) for s, k in zip(start, count)]))

    cdef int _fill(self, Side *side, const fftnd_layout *layout, dtype, bint is_physical) except -1:
        """An array of the plan, or of an operator of it, with all fields along one axis."""
        cdef int i, at = 0
        side.ndim = layout.ndims
        if self.batch is not None or layout.batch > 1:
            side.ndim += 1
            at = layout.ndims if self.last else 0
            side.shape[at] = layout.batch
            side.stride[at] = layout.batch_stride * <ptrdiff_t>layout.element_bytes
            at = 0 if self.last else 1
        for i in range(layout.ndims):
            side.shape[at + i] = layout.count[i]
            side.stride[at + i] = layout.stride[i] * <ptrdiff_t>layout.element_bytes
        side.empty = False
        for i in range(side.ndim):
            side.empty = side.empty or side.shape[i] == 0
        side.has_ghosts = is_physical and self.ghosts is not None and not side.empty
        side.code = ord(dtype.char)
        side.bytes = layout.bytes
        side.offset = <size_t>layout.offset * layout.element_bytes
        return 0

    cdef fftnd_plan *_plan(self) except NULL:
        return <fftnd_plan *>alive(self.handle, "the plan")

    # ------------------------------------------------------------ arrays

    @property
    def physical_shape(self):
        """The shape of this rank's array on the physical side, batch included."""
        return _shape(&self.side[0])

    @property
    def spectral_shape(self):
        """The shape of this rank's array on the spectral side, batch included."""
        return _shape(&self.side[1])

    @property
    def physical_slices(self):
        """This rank's part of the global physical array, as slices (without the batch)."""
        return self.physical.slices

    @property
    def spectral_slices(self):
        """This rank's part of the global spectral array, as slices (without the batch)."""
        return self.spectral.slices

    @property
    def physical_dtype(self):
        """The type of the elements on the physical side."""
        return self.dtypes[0]

    @property
    def spectral_dtype(self):
        """The type of the elements on the spectral side."""
        return self.dtypes[1]

    cdef object _empty(self, const Side *side, dtype):
        self._plan()
        memory = Memory(self.comm, side.bytes, "cuda" if self.cuda else "host")
        return array_in(memory, _shape(side), dtype, _strides(side), side.offset)

    def empty_physical(self):
        """An array for the physical side, in memory that the other ranks of the node can map (redist.empty), contents
        undefined. Collective on the plan's ranks."""
        return self._empty(&self.side[0], self.dtypes[0])

    def empty_spectral(self):
        """An array for the spectral side; as empty_physical. In place, forward() returns it."""
        return self._empty(&self.side[1], self.dtypes[1])

    def with_ghosts(self, physical):
        """An array of the physical side together with the ghosts around it: a view of its memory, of NumPy, or of CuPy
        on a device. A rank without elements has no ghosts. Not collective. Errors: TypeError, ValueError."""
        return self._with_ghosts(physical, &self.side[0], "physical")

    cdef object _with_ghosts(self, object array, const Side *side, str name):
        cdef View view = self._view(array, side, name, True)
        cdef int i, d = len(self.shape), first = 0 if self.last else side.ndim - d
        cdef ptrdiff_t begin = <ptrdiff_t>side.offset
        if not side.has_ghosts:
            return array
        shape = list(_shape(side))
        for i in range(d):
            shape[first + i] += self.halo.low[i] + self.halo.high[i]
            begin -= self.halo.low[i] * side.stride[first + i]
        alias = _Alias(array, <uintptr_t>view.data, side.bytes, "cuda" if self.cuda else "host")
        return array_in(alias, tuple(shape), np.dtype(chr(side.code)), _strides(side), begin)

    cdef View _view(self, object array, const Side *side, str name, bint writable):
        """The address of an array, if it fits the plan."""
        cdef View view = self._elements(array, side, name, writable)
        if self.in_place or self.overwrites or side.has_ghosts:
            self._check_memory(array, <uintptr_t>view.data, side, name)
        return view

    cdef View _elements(self, object array, const Side *side, str name, bint writable):
        """As _view, of an array of which the library uses the elements alone, not the room around them."""
        cdef View view = view_of(name, array, writable, self.stream)
        cdef int i
        if view.code != side.code:
            raise TypeError(f"{name} is of {type_of_elements(array)}; this side of the plan is of "
                            f"{np.dtype(chr(side.code))}")
        if view.cuda != self.cuda:
            raise ValueError(f"{name} {self._not_in_space(view)}")
        shape = tuple([view.shape[i] for i in range(view.ndim)])
        if shape != _shape(side):
            raise ValueError(f"{name} has the shape {shape}; this rank's part has {_shape(side)}")
        for i in range(side.ndim):
            if not side.empty and view.shape[i] > 1 and view.stride[i] != side.stride[i]:
                raise ValueError(f"{name} has strides of {tuple([view.stride[k] for k in range(view.ndim)])} bytes; those "
                                 f"of the plan are {_strides(side)}, as in the arrays that it makes (empty_physical, "
                                 "empty_spectral)")
        view.data = <char *>view.data - side.offset
        return view

    cdef str _not_in_space(self, View view):
        return (f"is {'on a device' if view.cuda else 'in host memory'}; the plan was made with "
                f"space={'cuda' if self.cuda else 'host'!r}")

    cdef int _check_memory(self, object array, uintptr_t begin, const Side *side, str name) except -1:
        """Ghosts are around the elements, and steps in between, which may be larger than both sides, are stored in the
        arrays."""
        memory = _memory_of(array) if side.bytes > 0 else None
        if memory is not None and not memory[0] <= begin <= memory[0] + memory[1] - side.bytes:
            before = begin + side.offset - memory[0]
            raise ValueError(f"{name} is in {memory[1]} bytes of memory; with in_place, overwrite_input or ghosts it needs "
                             f"{side.bytes}, of which {side.offset} are before its first element, where it has {before}; "
                             "arrays of empty_physical() and empty_spectral() have that room (of an operator empty_input() "
                             "and empty_output())")
        return 0

    cdef object _output(self, object given, View input, const Side *side):
        """A new array for the result."""
        if not self.in_place:
            return self._new(given, side)
        alias = _Alias(given, <uintptr_t>input.data, side.bytes, "cuda" if self.cuda else "host")
        return array_in(alias, _shape(side), np.dtype(chr(side.code)), _strides(side), side.offset)

    cdef object _new(self, object given, const Side *side):
        """A new array, of the library of another one."""
        cdef size_t nbytes = side.bytes
        shape, dtype, strides = _shape(side), np.dtype(chr(side.code)), _strides(side)
        if not self.cuda:
            return np.ndarray(shape, dtype, np.empty(nbytes, np.uint8), side.offset, strides)
        return _streams.new_array(given, nbytes, shape, dtype, strides, side.offset)

    cdef bint _writes(self, int source):
        """Whether a transform changes its input."""
        return self.in_place or self.overwrites or (self.accumulates and source == FFTND_PHYSICAL)

    # ------------------------------------------------------------ transforms

    cdef object _run(self, object direction, str name, object given, object out, bint start):
        cdef fftnd_plan *plan = self._plan()
        cdef int source = FFTND_PHYSICAL, target, code
        cdef View a, b
        try:
            source = FFTND_PHYSICAL if choice("direction", direction, _DIRECTIONS) == REDIST_FORWARD else FFTND_SPECTRAL
            target = 1 - source
            a = self._view(given, &self.side[source], name, self._writes(source))
            if out is None:
                out = self._output(given, a, &self.side[target])
            b = self._view(out, &self.side[target], "out", True)
        except BaseException as error:
            if not self.skip:
                refuse(error)
                with nogil:
                    if fftnd_start(plan, source, NULL, NULL) == 0:  # the only rank, without elements
                        fftnd_wait(plan)
            raise refused(error)
        if self.kept:  # the device may use them after an error too
            self.started = given, out
        with nogil:
            if start:
                code = fftnd_start(plan, source, a.data, b.data)
            elif source == FFTND_PHYSICAL:
                code = fftnd_forward(plan, a.data, b.data)
            else:
                code = fftnd_backward(plan, a.data, b.data)
        check(code)
        if not self.kept:
            self.started = (given, out) if start else None
        return out

    def _transform(self, direction, name, array, out):
        """As forward or backward, with the caller's name of the array."""
        return self._run(direction, name, array, out, False)

    def forward(self, physical, out=None):
        """Transforms this rank's part of the physical side.

        Args:
            physical: array of physical_shape and the plan's strides (C order unless in place); left as it was, unless
                the plan is in place or has overwrite_input (then empty_physical() makes it, and empty_spectral() `out`)
                or accumulate_ghosts
            out: array of spectral_shape; None = a new array each time (in place: the same memory)
        Returns:
            out
        Collective on the plan's ranks; the other threads of the process run meanwhile. Errors: redist.Error, and
        TypeError or ValueError on a rank whose arrays do not fit (the other ranks get redist.ArgumentError, which says the
        same).
        """
        return self._run("forward", "physical", physical, out, False)

    def backward(self, spectral, out=None):
        """Transforms this rank's part of the spectral side to the physical one; as forward."""
        return self._run("backward", "spectral", spectral, out, False)

    def start(self, direction, array, out=None):
        """Starts a transform ("forward" or "backward") that wait() completes; in between neither array may be
        touched, and the communicator belongs to the transform. fftnd_start in fftnd.h says what overlaps.

        Returns:
            out, which has no meaning before wait()
        Collective on the plan's ranks. Errors: as forward.
        """
        return self._run(direction, "array", array, out, True)

    def wait(self):
        """Completes a transform of start(). Collective on the plan's ranks. Errors: redist.Error."""
        cdef fftnd_plan *plan = self._plan()
        cdef int code
        with nogil:
            code = fftnd_wait(plan)
        self.started = None
        check(code)

    def query(self):
        """Whether transforms have failed, as far as the device has reached them (asynchronous). Not collective.
        Errors: redist.Error, the first failure of the plan."""
        check(fftnd_plan_query(self._plan()))

    # ------------------------------------------------------------ files

    def field(self, array, side="physical", *, selection=None):
        """An array of this plan as a redist.Field, for checkpoints and other files (redist.write_checkpoint,
        redist.write, redist.HDF5). A batch is its first axis. Not collective; what is wrong is an error where it is used.

        Args:
            array: this rank's part, as forward and backward take it
            side: "physical" or "spectral"
            selection: what the file has, as in redist.Field
        """
        return _PlanField(self, array, side, selection)

    def save(self, path, array, side="physical", *, selection=None, **options):
        """Writes an array of this plan to a raw file: the global array in C order, a batch as its first axis.

        Args:
            path: name of the file
            array, side, selection: as in field()
            options: keywords of redist.write
        Collective on the plan's ranks. Errors: as redist.write.
        """
        redist.write(self.comm, path, self.field(array, side, selection=selection), **options)

    def load(self, path, array=None, side="physical", *, selection=None, **options):
        """Reads an array of this plan from a raw file, which any number of ranks has written.

        Args:
            path: name of the file
            array: is overwritten; None = a new one
            side, selection: as in field()
            options: keywords of redist.read
        Returns:
            array
        Collective on the plan's ranks. Errors: as redist.read.
        """
        if array is None:
            try:
                array = self._new(None, &self.side[choice("side", side, _SIDES)])
            except Exception as error:  # which read() raises on all ranks
                array = error
        redist.read(self.comm, path, self.field(array, side, selection=selection), **options)
        return array

    def to_numpy(self, array, side="physical", *, root=None):
        """Gathers the global array of one side, for plots, on all ranks or on `root`: an array of NumPy, with a batch as
        its first axis, or None on other ranks. As redist.to_numpy."""
        return redist.to_numpy(self.comm, self.field(array, side), root=root)

    # ------------------------------------------------------------ questions

    def operator(self, kind, **options):
        """An operator that apply() of it puts between a transform and the one back, fused with both.

        Args:
            kind: what it does, as in fftnd_operators.h:
                "derivative" (with orders), "laplacian", "helmholtz" (with coefficient), "biharmonic", and
                    "inverse_laplacian", "inverse_helmholtz", "inverse_biharmonic", which solve: one field to one
                "gradient", "divergence", "curl", "leray": of as many fields as axes take part
                "shell" (keeps shell[0] <= |k| < shell[1]), "shift" (u(x + shift)), "symbols": one field to one
                "multiply" (with multiplier), "open_poisson" (with free_axes and green): one field to one
                "modes", "points": a function of yours for boxes of modes, or for boxes of points of spectral arrays
            lengths: physical length along each axis; None = 2 pi (of DCT and DST pi), so that k is the wavenumbers
            axes: the axes that take part; None = all that are transformed
            orders: order of the derivative along each axis
            shift: distance along each axis
            zero_mode: factor of the modes that an inverse would divide by 0
            coefficient: of Helmholtz's operator, laplacian + coefficient
            shell: (smallest |k|, first |k| beyond)
            symbols: for each axis None or a table of factors, one for each mode of the whole spectral side
            function: called with an OperatorBox for each box of modes or points, on the host of some thousand, on a device
                of more; it fills box.outputs and calls neither MPI nor plans. With threads > 1 several threads may be in
                it at once, as Python's threads are: what else it writes needs a lock. On a device its arrays are of
                CuPy, whose current stream is then that of the operator; that stream must not be captured, as CuPy's
                temporary arrays do not live as long as the graph
            inputs, outputs: fields of "modes" and "points"
            multiplier: array of the spectral side with the factor of each mode, of which the operator keeps a copy; of a
                batch the first field. It may be of real numbers
            conjugated: multiply by the conjugates
            free_axes: the axes in free space, of which the first half is the domain; None = all that take part
            green: Green's function of "open_poisson": "truncated", "integrated", or "point"
        Returns:
            Operator
        All arguments must agree, except function. Collective on the plan's ranks. Errors: redist.Error, and TypeError or
        ValueError on a rank whose arguments cannot be understood (the other ranks get redist.ArgumentError).
        """
        return Operator(self, kind, **options)

    def convolution(self, kernel, *, conjugated=False, kernel_plan=None):
        """The operator that convolves fields with a kernel, which is transformed once.

        Args:
            kernel: array of the physical side: its value at 0 is element 0, negative offsets are at the end of each axis;
                of a batch the first field
            conjugated: the correlation instead
            kernel_plan: the plan that the kernel is an array of, None = this one. For a plan with filled axes it is one
                without, so that the kernel has negative offsets; otherwise of the same axes, shape, modes and dtype
        Returns:
            Operator
        Collective on the plan's ranks. Errors as operator.
        """
        return Operator(self, _KERNEL, kernel=kernel, conjugated=conjugated, kernel_plan=kernel_plan)

    def apply(self, kind, array, out=None, **options):
        """operator(kind, ...).apply(array, out) with an operator for this call alone; in a loop make it once."""
        with Operator(self, kind, **options) as operator:
            return operator.apply(array, out)

    def wavenumbers(self, axis, broadcast=False):
        """The wavenumbers of this rank's part of the spectral side along one axis, in the order of the elements.

        Along a Fourier axis a mode is exp(2 pi i k x / L), with k < 0 for the negative ones; along an axis of a DCT or
        DST it is a cosine or sine of pi k x / L. With an even number K of modes the last one is K/2 along the halved
        axis and -K/2 along others.

        Args:
            axis: negative ones count from the end
            broadcast: return them in a shape that broadcasts to a spectral array (without the batch)
        Returns:
            array of float64. Not collective. Errors: redist.Error, TypeError, ValueError.
        """
        cdef double[::1] found
        cdef int d = len(self.shape)
        axis = _arguments.axis("axis", axis, d)
        count = self.spectral.count[axis]
        k = np.empty(count)
        found = k
        check(fftnd_plan_wavenumbers(self._plan(), axis, &found[0] if count else NULL))
        return k.reshape([-1 if i == axis else 1 for i in range(d)]) if _arguments.flag("broadcast", broadcast) else k

    @property
    def info(self):
        """Properties of the plan: a dictionary of the fields of fftnd_plan_info (fftnd.h)."""
        cdef fftnd_plan_info i
        fftnd_plan_info_init(&i, sizeof(i))
        check(fftnd_plan_get_info(self._plan(), &i))
        wires = {value: name for name, value in _WIRES.items()}
        return {"wire": wires[i.wire], "wire_error": (i.wire_error[0], i.wire_error[1]),
                "grid": tuple([i.grid[k] for k in range(i.grid_ndims)]),
                "order": tuple([i.order[k] for k in range(len(self.shape))]), "nexchanges": i.nexchanges,
                "scale_forward": i.scale_forward, "scale_backward": i.scale_backward, "method": i.method.decode(),
                "threads": i.threads, "fused": bool(i.fused), "tiled": bool(i.tiled),
                "locally_transposed": bool(i.locally_transposed), "segments": i.segments, "partitions": i.partitions,
                "workspace_bytes": i.workspace_bytes, "tile_bytes": i.tile_bytes, "device_bytes": i.device_bytes,
                "transfer_bytes": i.transfer_bytes, "buffered": bool(i.buffered), "halved_axis": i.halved_axis,
                "exchange_seconds": i.exchange_seconds, "serial_seconds": i.serial_seconds,
                "scratch_bytes": i.scratch_bytes, "ranks": i.ranks, "sent_bytes": i.sent_bytes,
                "operator_bytes": i.operator_bytes}

    @property
    def phases(self):
        """The time of transforms by phase, in seconds on this rank since the plan was made; 0 unless the plan was
        made with phases=True."""
        cdef fftnd_phases p
        fftnd_phases_init(&p, sizeof(p))
        check(fftnd_plan_get_phases(self._plan(), &p))
        return {"executions": p.executions, "total": p.total, "transform": p.transform, "pack": p.pack,
                "first_message": p.first_message, "communicate": p.communicate, "unpack": p.unpack,
                "own_part": p.own_part, "rest": p.rest}

    @property
    def ranks(self):
        """The communicator of the plan's ranks in the order of its grid; the library owns it: use it for its size and
        ranks, and Dup, not for messages."""
        cdef MPI_Comm found
        check(fftnd_plan_get_comm(self._plan(), &found))
        return comm_from(found)

    def set_workspace(self, workspace):
        """Gives work space to a plan made with user_workspace; plans that do not run at the same time may share it.

        Args:
            workspace: contiguous array of at least info["workspace_bytes"] bytes, preferably of redist.empty
        Collective on the plan's ranks. Errors: redist.Error, and TypeError or ValueError on a rank whose array does not
        fit (the other ranks get redist.ArgumentError, which says the same).
        """
        cdef fftnd_plan *plan = self._plan()
        cdef View view
        cdef size_t bytes
        cdef int code
        try:
            view = view_of("workspace", workspace, True, self.stream)
            contiguous(view, "workspace")
            if view.cuda != self.cuda:
                raise ValueError(f"workspace {self._not_in_space(view)}")
        except BaseException as error:
            refuse(error)
            with nogil:
                fftnd_plan_set_workspace(plan, NULL, 0)
            raise refused(error)
        bytes = view.itemsize
        for i in range(view.ndim):
            bytes *= view.shape[i]
        with nogil:
            code = fftnd_plan_set_workspace(plan, view.data, bytes)
        check(code)
        self.workspace = workspace

    def __repr__(self):
        if self.handle is None or self.handle.object == NULL:
            return f"<fftnd.Plan, {'not made' if self.handle is None else 'freed'}>"
        batch = "" if self.batch is None else f"{self.batch} fields of "
        return (f"<fftnd.Plan of {batch}{self.shape}, {self.kinds}, {self.dtypes[0]} to {self.dtypes[1]}, on "
                f"{self.ranks_and_grid}; this rank: {_indices(self.physical)} to {_indices(self.spectral)}>")

    def free(self):
        """Frees the plan and its operators. Collective on its ranks; does nothing the second time."""
        for operator in self.operators:
            free_handle(operator)
        free_handle(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()


def cache_clear(comm):
    """Frees the plans that a communicator keeps for Plan(keep=True).

    Args:
        comm: the communicator (mpi4py.MPI.Comm)
    Collective on comm. Errors: redist.Error.
    """
    owner_of(comm)  # frees dropped plans, which are kept then
    cdef MPI_Comm c = comm_of(comm)
    cdef int code
    with nogil:
        code = fftnd_cache_clear(c)
    check(code)


def version():
    """The version of the loaded C library, as a tuple of three numbers."""
    cdef int major, minor, patch
    fftnd_version(&major, &minor, &patch)
    return major, minor, patch
