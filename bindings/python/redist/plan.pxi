# SPDX-License-Identifier: BSD-3-Clause
# Exchanges: once, and by plans.


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
    type = datatype_of(va.itemsize)
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
    view.code = ord(dtype.char) if dtype.char in "fdgFDG" else 0
    return view


@cython.no_gc_clear
cdef class Plan:
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
    What may differ between ranks: arrays, boxes, wisdom_file, stream, verbose. Collective on comm. Errors: Error, and
    TypeError or ValueError on a rank whose arguments are wrong (the other ranks get ArgumentError, which says the same).
    """
    cdef Handle handle
    cdef readonly object comm
    cdef object a, b, started
    cdef View shape_a, shape_b
    cdef bint bound_a, bound_b, skip, cuda
    cdef size_t stream
    cdef str sides  # for repr

    def __init__(self, comm, a, axis_a, b, axis_b, *, shape=None, dtype=None, method=None, effort="measure",
                 bind="plan", bind_a=None, bind_b=None, tune_seconds=0.0, wisdom_file=None, nontemporal_bytes=0,
                 space="auto", staging="auto", stream=None, skip_agreement=False, verbose=False, phases=False,
                 asynchronous=False, wait_seconds=0.0):
        cdef Owner owner = owner_of(comm)
        cdef MPI_Comm c = comm_of(comm)
        cdef redist_options options
        cdef redist_plan *plan = NULL
        cdef redist_box box_a, box_b
        cdef redist_index[REDIST_MAX_NDIMS] sizes
        cdef int first = 0, second = 0, code, ndims
        cdef MPI_Datatype type
        cdef void *pa
        cdef void *pb
        cdef bint boxes = isinstance(axis_a, Box)
        try:
            redist_options_init(&options, sizeof(options))
            name, file = _arguments.text("method", method), _arguments.path("wisdom_file", wisdom_file)
            if name is not None:
                options.method = name
            if file is not None:
                options.wisdom_file = file
            options.effort = <redist_effort>choice("effort", effort, _EFFORTS)
            options.bind_a = <redist_binding>choice("bind" if bind_a is None else "bind_a",
                                                     bind if bind_a is None else bind_a, _BINDINGS)
            options.bind_b = <redist_binding>choice("bind" if bind_b is None else "bind_b",
                                                     bind if bind_b is None else bind_b, _BINDINGS)
            options.space = <redist_space>choice("space", space, _SPACES)
            options.staging = <redist_staging>choice("staging", staging, _STAGINGS)
            options.tune_seconds = _arguments.number("tune_seconds", tune_seconds)
            options.nontemporal_bytes = _arguments.integer("nontemporal_bytes", nontemporal_bytes, 0)
            options.verbose, options.phases = _arguments.flag("verbose", verbose), _arguments.flag("phases", phases)
            options.skip_agreement = _arguments.flag("skip_agreement", skip_agreement)
            options.asynchronous = _arguments.flag("asynchronous", asynchronous)
            options.wait_seconds = _arguments.number("wait_seconds", wait_seconds)
            self.stream = _streams.pointer(stream, b if isinstance(a, (tuple, list)) else a,
                                           options.space == REDIST_SPACE_CUDA)
            options.stream = <void *>self.stream
            self.shape_a = _planned(a, dtype, "a", False, self.stream)
            self.shape_b = _planned(b, dtype, "b", False, self.stream)
            if isinstance(a, (tuple, list)):  # will be where the other array is
                self.shape_a.cuda = self.shape_b.cuda
            elif isinstance(b, (tuple, list)):
                self.shape_b.cuda = self.shape_a.cuda
            _check_pair(self.shape_a, self.shape_b, _typed(a, dtype), _typed(b, dtype))
            if options.space == REDIST_SPACE_AUTO and self.shape_a.cuda:  # no array tells it that is bound later
                options.space = REDIST_SPACE_CUDA
            ndims = self.shape_a.ndim
            if boxes:
                if shape is None:
                    raise TypeError("shape is None; with boxes it is the shape of the global array")
                for i, extent in enumerate(_arguments.integers("shape", shape, ndims, "axis of a", 0)):
                    sizes[i] = extent
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
            refuse(error)
            with nogil:
                redist_plan_exchange(c, MPI_DOUBLE, 0, NULL, NULL, 0, NULL, NULL, 0, NULL, &plan)
            raise refused(error)
        self.bound_a = options.bind_a == REDIST_BIND_AT_PLAN
        self.bound_b = options.bind_b == REDIST_BIND_AT_PLAN
        self.skip = options.skip_agreement or options.asynchronous
        pa = self.shape_a.data if self.bound_a else NULL
        pb = self.shape_b.data if self.bound_b else NULL
        type = datatype_of(self.shape_a.itemsize)
        with nogil:
            if boxes:
                code = redist_plan_boxes(c, type, ndims, sizes, &box_a, pa, &box_b, pb, &options, &plan)
            else:
                code = redist_plan_exchange(c, type, ndims, self.shape_a.shape, pa, first, self.shape_b.shape, pb,
                                            second, &options, &plan)
        check(code)
        self.handle = own(owner, plan, <release_function>redist_plan_free, RELEASE_PLAN)
        self.comm = comm
        self.sides = f"{_side(self.shape_a, axis_a)} to {_side(self.shape_b, axis_b)} on {comm.Get_size()} ranks"
        self.cuda = self.info["space"] == "cuda"
        self.a = a if self.bound_a else None
        self.b = b if self.bound_b else None

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
        if view.itemsize != shape.itemsize or (view.code and shape.code and view.code != shape.code):
            raise TypeError(f"{name} is of {type_of_elements(array)}, with elements of {view.itemsize} bytes; those of the "
                            f"plan have {_elements(shape)}")
        if _extents(view) != _extents(shape):
            raise ValueError(f"{name} has the shape {_extents(view)}; that of the plan has {_extents(shape)} on this rank")
        contiguous(view, name)
        return view.data

    cdef int _begin(self, object way, a, b, bint start) except -1:
        """Always with arrays, even where the plan is bound to them: whether a rank names them must not decide whether
        it agrees with the others that all arrays are valid."""
        cdef redist_plan *plan = <redist_plan *>alive(self.handle, "the plan")
        cdef void *pa = NULL
        cdef void *pb = NULL
        cdef int direction = REDIST_FORWARD, code
        try:
            direction = choice("direction", way, _DIRECTIONS)
            pa = self._address(a, self.a, self.shape_a, "a", direction == REDIST_BACKWARD)
            pb = self._address(b, self.b, self.shape_b, "b", direction == REDIST_FORWARD)
        except BaseException as error:
            if not self.skip:
                refuse(error)
                with nogil:
                    redist_plan_execute_arrays(plan, direction, NULL, NULL)
            raise refused(error)
        with nogil:
            if start:
                code = redist_plan_start_arrays(plan, direction, pa, pb)
            else:
                code = redist_plan_execute_arrays(plan, direction, pa, pb)
        return check(code)

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
        """Properties: method, workspace_bytes, moved_bytes (sent in one forward execution), space."""
        cdef redist_plan_info info
        redist_plan_info_init(&info, sizeof(info))
        check(redist_plan_get_info(<redist_plan *>alive(self.handle, "the plan"), &info))
        return {"method": info.method.decode(), "workspace_bytes": info.workspace_bytes,
                "moved_bytes": info.moved_bytes, "space": "cuda" if info.space == REDIST_SPACE_CUDA else "host"}

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
            return f"<redist.Plan, {'not made' if self.handle is None else 'freed'}>"
        return f"<redist.Plan of {_elements(self.shape_a)}, {self.sides}, method {self.method!r}>"

    def free(self):
        """Frees the plan. Collective; does nothing the second time."""
        free_handle(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()


cdef tuple _extents(View view):
    return tuple([view.shape[i] for i in range(view.ndim)])


cdef str _elements(View view):
    return str(np.dtype(chr(view.code))) if view.code else f"elements of {view.itemsize} bytes"


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
