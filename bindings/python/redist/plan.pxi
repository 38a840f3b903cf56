# SPDX-License-Identifier: BSD-3-Clause
# Exchanges: once, and by plans; what plans have in common.


def exchange(comm, a, axis_a, b, axis_b):
    """Moves a distributed array from one alignment to another, once: from `a`, which is whole along axis_a and split
    along axis_b, to `b`, which is whole along axis_b and split along axis_a, both in balanced blocks.

    Args:
        comm: the ranks among which the axes are exchanged; must agree
        a: this rank's part before, in C order; of NumPy or any library, in host or in device memory
        axis_a: the axis along which `a` is whole; must agree; negative ones count from the end
        b: this rank's part afterwards, of the same type, overwritten
        axis_b: the axis along which `b` is whole; must agree
    Returns:
        b
    Collective on comm. Errors: Error, and TypeError or ValueError on a rank whose arguments are wrong (the other ranks
    get ArgumentError, which says the same).
    """
    cdef MPI_Comm c = comm_of(comm)
    cdef View va, vb
    cdef MPI_Datatype type
    cdef int first, second, code
    try:
        va = view_of("a", a, False, 0)
        vb = view_of("b", b, True, 0)
        _check_pair(va, vb, a, b)
        first, second = _axis("axis_a", axis_a, va.ndim), _axis("axis_b", axis_b, va.ndim)
    except BaseException as error:
        refuse(error)
        with nogil:
            redist_exchange(c, MPI_DOUBLE, 0, NULL, NULL, 0, NULL, NULL, 0)
        raise refused(error)
    type = datatype_of(va)
    with nogil:
        code = redist_exchange(c, type, va.ndim, va.shape, va.data, first, vb.shape, vb.data, second)
    check(code)
    return b


cdef int _axis(str name, object axis, int ndims) except -1:
    """The number of an axis; negative ones count from the end."""
    if isinstance(axis, Box):
        raise TypeError(f"{name} is {axis}; with boxes both axis_a and axis_b are a redist.Box")
    if isinstance(axis, (tuple, list, slice)):
        raise TypeError(f"{name} is {_arguments.shown(axis)}; it is the number of an axis, or a redist.Box(start, count)")
    return _arguments.axis(name, axis, max(1, ndims))


cdef str _place(View view):
    return "on a device" if view.cuda else "in host memory"


cdef int _check_pair(View a, View b, object given_a, object given_b) except -1:
    """Checks that both are arrays, or both shapes."""
    contiguous(a, "a")
    contiguous(b, "b")
    if a.itemsize != b.itemsize or a.code != b.code or (
            isinstance(given_a, np.ndarray) and isinstance(given_b, np.ndarray) and given_a.dtype != given_b.dtype):
        raise TypeError(f"a is of {type_of_elements(given_a)} and b of {type_of_elements(given_b)}; both have the same type "
                        "of elements")
    if a.ndim != b.ndim:
        raise ValueError(f"a has {a.ndim} axes and b has {b.ndim}; both have as many as the global array")
    if a.cuda != b.cuda:
        raise ValueError(f"a is {_place(a)} and b {_place(b)}; both are in the same kind of memory")
    return 0


cdef object _typed(object array, object dtype):
    """The object with the type of the elements, for messages."""
    return np.empty(0, dtype) if isinstance(array, (tuple, list)) else array


cdef View _planned(object array, object dtype, str name, bint writable, size_t stream):
    """An array, or the extents of a later one."""
    cdef View view
    if array is not None and not isinstance(array, (tuple, list)):
        return view_of(name, array, writable, stream)
    if array is None or dtype is None:
        raise TypeError(f"{name} is {_arguments.shown(array)}; it is an array, or a shape together with dtype=")
    view = View()
    view.name = name
    dtype = _arguments.dtype("dtype", dtype)
    _set_shape(view, _arguments.shape(name, array, REDIST_MAX_NDIMS), None, dtype.itemsize)
    _set_dtype(view, dtype)
    return view


cdef class _Options:
    """The structure redist_options of keywords, with the memory of its texts."""
    cdef redist_options options
    cdef size_t stream
    cdef bytes method, wisdom_file

    def __init__(self, str name_a, bind_a, str name_b, bind_b, method, effort, tune_seconds, wisdom_file,
                 nontemporal_bytes, space, staging, skip_agreement, verbose, phases, asynchronous, wait_seconds, overlap,
                 operation, wire, wire_scope):
        cdef redist_options *options = &self.options
        redist_options_init(options, sizeof(redist_options))
        self.method, self.wisdom_file = _arguments.text("method", method), _arguments.path("wisdom_file", wisdom_file)
        if self.method is not None:
            options.method = self.method
        if self.wisdom_file is not None:
            options.wisdom_file = self.wisdom_file
        options.effort = <redist_effort>choice("effort", effort, _EFFORTS)
        options.bind_a = <redist_binding>choice(name_a, bind_a, _BINDINGS)
        options.bind_b = <redist_binding>choice(name_b, bind_b, _BINDINGS)
        options.space = <redist_space>choice("space", space, _SPACES)
        options.staging = <redist_staging>choice("staging", staging, _STAGINGS)
        options.overlap = <redist_overlap>choice("overlap", overlap, _OVERLAPS)
        options.wire = <redist_wire>choice("wire", wire, _WIRES)
        options.wire_scope = <redist_wire_scope>choice("wire_scope", wire_scope, _WIRE_SCOPES)
        if operation is not None:
            _arguments.instance("operation", operation, MPI.Op, "an operation of mpi4py, such as MPI.MAX, or None")
            options.operation = <const MPI_Op *><uintptr_t>MPI._addressof(operation)
        options.tune_seconds = _arguments.number("tune_seconds", tune_seconds)
        options.nontemporal_bytes = _arguments.integer("nontemporal_bytes", nontemporal_bytes, 0)
        options.verbose, options.phases = _arguments.flag("verbose", verbose), _arguments.flag("phases", phases)
        options.skip_agreement = _arguments.flag("skip_agreement", skip_agreement)
        options.asynchronous = _arguments.flag("asynchronous", asynchronous)
        options.wait_seconds = _arguments.number("wait_seconds", wait_seconds)

    cdef int set_stream(self, stream, array) except -1:
        self.stream = _streams.pointer(stream, array, self.options.space == REDIST_SPACE_CUDA)
        self.options.stream = <void *>self.stream
        return 0

    cdef int set_space(self, View view) except -1:
        """The space of the arrays: no array tells it that is bound later."""
        if self.options.space == REDIST_SPACE_AUTO and view.cuda:
            self.options.space = REDIST_SPACE_CUDA
        return 0


cdef int fill_sizes(redist_index *sizes, shape, int ndims, str each) except -1:
    """The global extents."""
    for i, extent in enumerate(_arguments.integers("shape", shape, ndims, each, 0)):
        sizes[i] = extent
    return 0


cdef int _refuse_plan(MPI_Comm comm, object error) except -1:
    """Lets the creation of a plan fail on all ranks because of an argument of this one."""
    cdef redist_plan *plan = NULL
    refuse(error)
    with nogil:
        redist_plan_exchange(comm, MPI_DOUBLE, 0, NULL, NULL, 0, NULL, NULL, 0, NULL, &plan)
    raise refused(error)


@cython.no_gc_clear
cdef class AnyPlan:
    """What Plan and HaloPlan have in common."""
    cdef Handle handle
    cdef readonly object comm
    cdef object started, operation
    cdef bint skip, cuda, strict
    cdef size_t stream
    cdef str sides  # for repr

    cdef int _own(self, Owner owner, object comm, redist_plan *plan, _Options given, str sides) except -1:
        self.handle = own(owner, plan, <release_function>redist_plan_free, RELEASE_PLAN)
        self.comm = comm
        self.skip = given.options.skip_agreement or given.options.asynchronous
        self.stream = given.stream
        self.cuda = self.info["space"] == "cuda"
        self.sides = f"{sides} on {comm.Get_size()} ranks"
        return 0

    def __dealloc__(self):
        if self.handle is not None:
            self.handle.dropped = True

    cdef void *_address(self, object array, object bound, View shape, str name, bint writable) except? NULL:
        """The address of an array that fits the plan."""
        cdef View view
        cdef int i
        if array is None or array is bound:
            if bound is None:
                raise TypeError(f"{name} is not given, and the plan is not bound to one (bind)")
            if writable and shape.read_only:
                raise ValueError(f"{name}, to which the plan is bound, cannot be written: it is read-only")
            if shape.cuda:  # begins after the work in the array's own stream
                view_of(name, bound, writable, self.stream)
            return shape.data
        view = view_of(name, array, writable, self.stream)
        if view.cuda != self.cuda:
            raise ValueError(f"{name} is {_place(view)}, unlike those of the plan")
        if view.itemsize != shape.itemsize or (view.code and shape.code and view.code != shape.code) or (
                self.strict and (view.code != shape.code or view.is_integer != shape.is_integer)):
            raise TypeError(f"{name} is of {type_of_elements(array)}, with elements of {view.itemsize} bytes; those of the "
                            f"plan have {_elements(shape)}")
        if _extents(view) != _extents(shape):
            raise ValueError(f"{name} has the shape {_extents(view)}; that of the plan has {_extents(shape)} on this rank")
        contiguous(view, name)
        return view.data

    cdef int _refuse(self, int direction, object error) except -1:
        """Lets an execution fail on all ranks because of an argument of this one."""
        cdef redist_plan *plan = <redist_plan *>alive(self.handle, "the plan")
        if not self.skip:
            refuse(error)
            with nogil:
                redist_plan_execute_arrays(plan, direction, NULL, NULL)
        raise refused(error)

    cdef int _run(self, int direction, void *a, void *b, bint start) except -1:
        """Always with arrays, even where the plan is bound to them: whether a rank names them must not decide whether
        it agrees with the others that all arrays are valid."""
        cdef redist_plan *plan = <redist_plan *>alive(self.handle, "the plan")
        cdef int code
        with nogil:
            if start:
                code = redist_plan_start_arrays(plan, direction, a, b)
            else:
                code = redist_plan_execute_arrays(plan, direction, a, b)
        return check(code)

    def wait(self):
        """Completes an execution of start(). Collective. Errors: Error."""
        cdef redist_plan *plan = <redist_plan *>alive(self.handle, "the plan")
        cdef int code
        with nogil:
            code = redist_plan_wait(plan)
        self.started = None
        check(code)

    def query(self):
        """Whether executions have failed, as far as the device has reached them (asynchronous). Not collective.
        Errors: Error, the first failure of the plan."""
        check(redist_plan_query(<redist_plan *>alive(self.handle, "the plan")))

    @property
    def info(self):
        """Properties: method, workspace_bytes, moved_bytes (of one forward execution), sent_bytes (of these to other
        ranks, in the format of the messages), space, wire."""
        cdef redist_plan_info info
        redist_plan_info_init(&info, sizeof(info))
        check(redist_plan_get_info(<redist_plan *>alive(self.handle, "the plan"), &info))
        wires = {value: name for name, value in _WIRES.items()}
        return {"method": info.method.decode(), "wire": wires[info.wire], "workspace_bytes": info.workspace_bytes,
                "moved_bytes": info.moved_bytes, "sent_bytes": info.sent_bytes,
                "space": "cuda" if info.space == REDIST_SPACE_CUDA else "host"}

    @property
    def method(self):
        """The method's name, with its variant."""
        return self.info["method"]

    @property
    def phases(self):
        """The time of executions by phase, in seconds on this rank since the plan was made; 0 unless the plan was
        made with phases=True."""
        cdef redist_phases p
        redist_phases_init(&p, sizeof(p))
        check(redist_plan_get_phases(<redist_plan *>alive(self.handle, "the plan"), &p))
        return {"executions": p.executions, "total": p.total, "pack": p.pack, "first_message": p.first_message,
                "communicate": p.communicate, "unpack": p.unpack, "own_part": p.own_part}

    def __repr__(self):
        if self.handle is None or self.handle.object == NULL:
            return f"<redist.{type(self).__name__}, {'not made' if self.handle is None else 'freed'}>"
        return f"<redist.{type(self).__name__} of {self.sides}, method {self.method!r}>"

    def free(self):
        """Frees the plan. Collective; does nothing the second time."""
        free_handle(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()


@cython.no_gc_clear
cdef class Plan(AnyPlan):
    """A reusable exchange between two distributed arrays, in both directions.

    Plan(comm, a, axis_a, b, axis_b) is the exchange of redist.exchange; Plan(comm, a, box_a, b, box_b, shape=...)
    moves between arbitrary boxes of a global array, where `a` has the extents of box_a. A plan whose last reference
    goes is freed in a later collective call on `comm` (see collect); free() and `with` free it at once. Arguments behind
    axis_b are given by name.

    Args:
        comm: the ranks; must agree
        a, b: the arrays; or their local shapes, together with dtype and `bind`
        axis_a, axis_b: the axes along which `a` and `b` are whole, or a Box for each
        shape: global extents, with boxes
        dtype: type of the elements where there are no arrays yet
        method: "auto", or a method of methods(), with a variant behind a colon
        effort: "measure" or "estimate", for method "auto"
        bind, bind_a, bind_b: when the plan is bound to the arrays: "plan", "execution" (any memory), or "mapped"
            (each time to memory of redist.empty)
        tune_seconds: time budget of "auto"; 0 = 1 s
        wisdom_file: file in which rank 0 remembers measurements
        nontemporal_bytes: local arrays with more bytes are written past the caches; 0 = choose
        space: "auto" (that of the arrays), "host" or "cuda"
        staging: "auto", "always" or "never": whether MPI gets device arrays through host memory
        stream: of the device arrays: a stream of CuPy or PyTorch, a number, or None = the array library's current one
        skip_agreement: executions do not check with the other ranks whether all arrays are valid
        verbose: rank 0 prints the candidates
        phases: time the phases of executions
        asynchronous: of arrays on a device: executions only enqueue their work in `stream`; the arrays live until the
            work is done
        wait_seconds: for which the device then waits for a peer; 0 = 600
        overlap: "refused"; "read": boxes of `b` on several ranks may have the same elements, and the plan goes forward
            only; or "add": backward then adds these to `a`, in the order of ranks, where forward copies
        operation: in the place of the sum, an operation of mpi4py, which is freed behind the plan; arrays in host
            memory. y op x for an element x and each y that arrives; MPI.Op.Create makes one for elements of any type
            without gaps. Whether it is given must agree
        wire: numbers between ranks: "same" as in the arrays, "float" for double precision, or "16 bits"
        wire_scope: "between nodes" or "everywhere": the messages that `wire` is for
    What may differ between ranks: arrays, boxes, wisdom_file, stream, verbose. Collective on comm. Errors: Error, and
    TypeError or ValueError on a rank whose arguments are wrong (the other ranks get ArgumentError, which says the same).
    """
    cdef object a, b
    cdef View shape_a, shape_b

    def __init__(self, comm, a, axis_a, b, axis_b, *, shape=None, dtype=None, method=None, effort="measure",
                 bind="plan", bind_a=None, bind_b=None, tune_seconds=0.0, wisdom_file=None, nontemporal_bytes=0,
                 space="auto", staging="auto", stream=None, skip_agreement=False, verbose=False, phases=False,
                 asynchronous=False, wait_seconds=0.0, overlap="refused", operation=None, wire="same",
                 wire_scope="between nodes"):
        cdef Owner owner = owner_of(comm)
        cdef MPI_Comm c = comm_of(comm)
        cdef _Options given
        cdef redist_plan *plan = NULL
        cdef redist_box box_a, box_b
        cdef redist_index[REDIST_MAX_NDIMS] sizes
        cdef int first = 0, second = 0, code, ndims
        cdef MPI_Datatype type
        cdef void *pa
        cdef void *pb
        cdef bint boxes = isinstance(axis_a, Box)
        try:
            given = _Options("bind" if bind_a is None else "bind_a", bind if bind_a is None else bind_a,
                             "bind" if bind_b is None else "bind_b", bind if bind_b is None else bind_b, method, effort,
                             tune_seconds, wisdom_file, nontemporal_bytes, space, staging, skip_agreement, verbose,
                             phases, asynchronous, wait_seconds, overlap, operation, wire, wire_scope)
            given.set_stream(stream, b if isinstance(a, (tuple, list)) else a)
            self.shape_a = _planned(a, dtype, "a", False, given.stream)
            self.shape_b = _planned(b, dtype, "b", False, given.stream)
            if isinstance(a, (tuple, list)):  # will be where the other array is
                self.shape_a.cuda = self.shape_b.cuda
            elif isinstance(b, (tuple, list)):
                self.shape_b.cuda = self.shape_a.cuda
            _check_pair(self.shape_a, self.shape_b, _typed(a, dtype), _typed(b, dtype))
            given.set_space(self.shape_a)
            ndims = self.shape_a.ndim
            if boxes:
                if shape is None:
                    raise TypeError("shape is None; with boxes it is the shape of the global array")
                fill_sizes(sizes, shape, ndims, "axis of a")
                fill_box(&box_a, "axis_a", axis_a, ndims)
                fill_box(&box_b, "axis_b", axis_b, ndims)
                _check_extents(self.shape_a, axis_a, "a")
                _check_extents(self.shape_b, axis_b, "b")
            else:
                if shape is not None:
                    raise TypeError(f"shape is {_arguments.shown(shape)}; it is for boxes, and axis_a is "
                                    f"{_arguments.shown(axis_a)}")
                first, second = _axis("axis_a", axis_a, ndims), _axis("axis_b", axis_b, ndims)
        except BaseException as error:
            _refuse_plan(c, error)
        pa = self.shape_a.data if given.options.bind_a == REDIST_BIND_AT_PLAN else NULL
        pb = self.shape_b.data if given.options.bind_b == REDIST_BIND_AT_PLAN else NULL
        type = datatype_of(self.shape_a)
        with nogil:
            if boxes:
                code = redist_plan_boxes(c, type, ndims, sizes, &box_a, pa, &box_b, pb, &given.options, &plan)
            else:
                code = redist_plan_exchange(c, type, ndims, self.shape_a.shape, pa, first, self.shape_b.shape, pb,
                                            second, &given.options, &plan)
        check(code)
        self._own(owner, comm, plan, given, f"{_elements(self.shape_a)}, {_side(self.shape_a, axis_a)} to "
                                            f"{_side(self.shape_b, axis_b)}")
        self.strict = given.options.overlap == REDIST_OVERLAP_ADD
        self.operation = operation
        self.a = a if given.options.bind_a == REDIST_BIND_AT_PLAN else None
        self.b = b if given.options.bind_b == REDIST_BIND_AT_PLAN else None

    cdef int _begin(self, object way, a, b, bint start) except -1:
        cdef void *pa = NULL
        cdef void *pb = NULL
        cdef int direction = REDIST_FORWARD
        alive(self.handle, "the plan")
        try:
            direction = choice("direction", way, _DIRECTIONS)
            pa = self._address(a, self.a, self.shape_a, "a", direction == REDIST_BACKWARD)
            pb = self._address(b, self.b, self.shape_b, "b", direction == REDIST_FORWARD)
        except BaseException as error:
            self._refuse(direction, error)
        return self._run(direction, pa, pb, start)

    def forward(self, a=None, b=None):
        """Moves array a to array b: the arrays that the plan is bound to, or others of the same shapes.

        Returns:
            b
        Collective on the plan's ranks. Errors: Error, and TypeError or ValueError on a rank whose arrays do not fit (the
        other ranks get ArgumentError, which says the same).
        """
        self._begin("forward", a, b, False)
        return self.b if b is None else b

    def backward(self, b=None, a=None):
        """Moves array b to array a, and returns a; as forward."""
        self._begin("backward", a, b, False)
        return self.a if a is None else a

    def start(self, direction="forward", a=None, b=None):
        """Starts an execution that wait() completes; in between neither array may be touched. Collective."""
        self._begin(direction, a, b, True)
        self.started = a, b


cdef tuple _extents(View view):
    return tuple([view.shape[i] for i in range(view.ndim)])


cdef str _elements(View view):
    return (str(np.dtype(chr(view.code))) if view.code else
            f"{'integers' if view.is_integer else 'elements'} of {view.itemsize} bytes")


cdef str _side(View view, place):
    """One side of a plan on this rank, in words."""
    return f"{_extents(view)} {'in ' if isinstance(place, Box) else 'whole along axis '}{place}"


cdef int _check_extents(View view, box, name) except -1:
    if _extents(view) != tuple(box.extent):
        raise ValueError(f"{name} has the shape {_extents(view)}; the local array of its box has {tuple(box.extent)} "
                         "(extent)")
    return 0


def methods():
    """The methods of exchanges: a dictionary from name to one sentence on how it moves the bytes. Not collective."""
    return {redist_method_name(i).decode(): redist_method_summary(i).decode() for i in range(redist_method_count())}


def forget_wisdom():
    """Forgets the measurements of "auto" in this process. All ranks alike."""
    redist_forget_wisdom()
