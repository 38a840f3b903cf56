# SPDX-License-Identifier: BSD-3-Clause
# Operators between a transform and the one back.

_OPERATORS = {"derivative": FFTND_DERIVATIVE, "gradient": FFTND_GRADIENT, "divergence": FFTND_DIVERGENCE,
              "curl": FFTND_CURL, "leray": FFTND_LERAY, "laplacian": FFTND_LAPLACIAN,
              "inverse_laplacian": FFTND_INVERSE_LAPLACIAN, "helmholtz": FFTND_HELMHOLTZ,
              "inverse_helmholtz": FFTND_INVERSE_HELMHOLTZ, "biharmonic": FFTND_BIHARMONIC,
              "inverse_biharmonic": FFTND_INVERSE_BIHARMONIC, "shell": FFTND_SHELL, "shift": FFTND_SHIFT,
              "symbols": FFTND_SYMBOLS, "modes": FFTND_MODES, "points": FFTND_POINTS,
              "multiply": FFTND_MULTIPLY, "open_poisson": FFTND_OPEN_POISSON}
_KERNEL = object()  # instead of a kind: Plan.convolution makes the operator
_GREEN = {"truncated": FFTND_GREEN_TRUNCATED, "integrated": FFTND_GREEN_INTEGRATED, "point": FFTND_GREEN_POINT}


cdef class OperatorBox:
    """A box of modes or points of all fields, as a function of the user gets it. Its arrays are of NumPy, on a device of
    CuPy; they are valid during the call.

    Attributes:
        start: global index of the first mode or point along each axis
        shape: how many there are along each axis
        inputs: an array of this shape for each field, in the plan's precision: complex, or real for points of a real side
            and modes of a real one; not to be written
        outputs: the same, to be filled in
        k, odd: of modes: the wavenumbers along each axis, in the shape in which they multiply the arrays, None for axes
            that take no part; in odd 0 where derivatives of odd order are 0
    """
    cdef const fftnd_box *box
    cdef bint cuda
    cdef tuple _inputs

    cdef const fftnd_box *here(self) except NULL:
        if self.box == NULL:
            raise ValueError("an OperatorBox is valid only in the call that it is passed to")
        return self.box

    cdef object array(self, const void *data, dtype, tuple shape, tuple strides, bint writable):
        cdef size_t nbytes = dtype.itemsize
        for extent, step in zip(shape, strides):
            nbytes += (extent - 1) * step
        if self.cuda:
            return _streams.device_array(_Alias(None, <uintptr_t>data, nbytes, "cuda"), shape, dtype, strides)
        return np.ndarray(shape, dtype, PyMemoryView_FromMemory(<char *>data, nbytes,
                                                                PyBUF_WRITE if writable else PyBUF_READ), 0, strides)

    cdef tuple fields(self, const void *const *data, int number, const ptrdiff_t *stride, bint writable):
        shape, dtype = self.shape, _TYPE_OF_NUMBERS[self.box.precision, self.box.numbers]
        strides = tuple([stride[axis] * <ptrdiff_t>dtype.itemsize for axis in range(self.box.ndims)])
        return tuple([self.array(data[i], dtype, shape, strides, writable) for i in range(number)])

    cdef int read_inputs(self) except -1:
        """The inputs, copied where they are in the memory of the outputs, which may then be filled in any order."""
        cdef const fftnd_box *box = self.box
        self._inputs = self.fields(box.inputs, box.ninputs, box.input_stride, False)
        if box.inputs[0] == box.outputs[0]:
            self._inputs = tuple([field.copy() for field in self._inputs])
        return 0

    cdef tuple along_axes(self, const double *const *tables):
        cdef int d = self.here().ndims
        shape = self.shape
        return tuple([None if tables == NULL or tables[axis] == NULL else
                      self.array(tables[axis], _DOUBLE, shape[axis:axis + 1], (sizeof(double),), False).reshape(
                          [shape[i] if i == axis else 1 for i in range(d)]) for axis in range(d)])

    def __repr__(self):
        if self.box == NULL:
            return "<fftnd.OperatorBox, no longer valid>"
        return f"<fftnd.OperatorBox at {self.start} of the shape {self.shape}>"

    @property
    def start(self):
        return tuple([self.here().start[axis] for axis in range(self.here().ndims)])

    @property
    def shape(self):
        return tuple([self.here().count[axis] for axis in range(self.here().ndims)])

    @property
    def inputs(self):
        self.here()
        return self._inputs

    @property
    def outputs(self):
        return self.fields(self.here().outputs, self.box.noutputs, self.box.output_stride, True)

    @property
    def k(self):
        return self.along_axes(self.here().k)

    @property
    def odd(self):
        return self.along_axes(self.here().odd)


cdef class Operator


_DOUBLE = np.dtype(float)
_TYPE_OF_NUMBERS = {(_PRECISIONS[letter], numbers): np.dtype(letter if numbers == 1 else letter.upper())
                    for letter in _PRECISIONS for numbers in (1, 2)}


cdef int _call(void *data, const fftnd_box *given) noexcept with gil:
    """The function that the library calls; its exception is kept for the caller of the operator."""
    cdef Operator op = <Operator>data
    cdef OperatorBox box = OperatorBox.__new__(OperatorBox)
    box.box, box.cuda = given, op.on_device
    try:
        if op.on_device:
            with _streams.working_in(<uintptr_t>given.stream):
                box.read_inputs()
                op.function(box)
        else:
            box.read_inputs()
            op.function(box)
        return 0
    except BaseException as error:
        if op.raised is None:
            op.raised = error
        return 1
    finally:
        box.box = NULL


cdef class OperatorArguments:
    """The options of fftnd_operator_create, with the memory of their pointers."""
    cdef fftnd_operator_options options
    cdef double[REDIST_MAX_NDIMS] lengths
    cdef int[REDIST_MAX_NDIMS] axes
    cdef int[REDIST_MAX_NDIMS] free_axes
    cdef int[REDIST_MAX_NDIMS] orders
    cdef double[REDIST_MAX_NDIMS] shift
    cdef const double *symbols[REDIST_MAX_NDIMS]
    cdef list kept

    def __init__(self):
        fftnd_operator_options_init(&self.options, sizeof(fftnd_operator_options))
        self.kept = []

    cdef int set_axes(self, int d, lengths, axes, orders, shift) except -1:
        if lengths is not None:
            for i, value in enumerate(_arguments.numbers("lengths", lengths, d, "axis")):
                self.lengths[i] = value
            self.options.lengths = self.lengths
        if axes is not None:
            for i in range(d):
                self.axes[i] = 0
            for axis in _arguments.integers("axes", axes, low=-d, high=d - 1):
                self.axes[axis % d] = 1
            self.options.axes = self.axes
        if orders is not None:
            for i, value in enumerate(_arguments.integers("orders", orders, d, "axis", *_C_INT)):
                self.orders[i] = value
            self.options.orders = self.orders
        if shift is not None:
            for i, value in enumerate(_arguments.numbers("shift", shift, d, "axis")):
                self.shift[i] = value
            self.options.shift = self.shift
        return 0

    cdef int set_factors(self, Plan plan, multiplier, conjugated, free_axes, green) except -1:
        cdef int d = len(plan.shape)
        if multiplier is not None:
            self.set_multiplier(plan, multiplier)
        self.options.conjugated = _arguments.flag("conjugated", conjugated)
        self.options.green = <fftnd_green>(<int>choice("green", green, _GREEN))
        if free_axes is not None:
            for i in range(d):
                self.free_axes[i] = 0
            for axis in _arguments.integers("free_axes", free_axes, low=-d, high=d - 1):
                self.free_axes[axis % d] = 1
            self.options.free_axes = self.free_axes
        return 0

    cdef int set_multiplier(self, Plan plan, multiplier) except -1:
        """Factors of the type of the spectral side, or real ones, a real number for each complex one of its layout."""
        cdef Side side = plan.side[1]
        cdef int i
        real = np.dtype(chr(side.code).lower())
        if side.code != ord(real.char) and view_of("multiplier", multiplier, False, plan.stream).code == ord(real.char):
            self.options.real_multiplier = 1
            side.code = ord(real.char)
            side.offset //= 2
            for i in range(side.ndim):
                side.stride[i] //= 2
        self.options.multiplier = plan._elements(multiplier, &side, "multiplier", False).data
        return 0

    cdef int set_symbols(self, symbols, sizes) except -1:
        cdef const double complex[::1] values
        if symbols is None:
            return 0
        for i, table in enumerate(_arguments.sequence("symbols", symbols, "tables or None", len(sizes), "axis")):
            self.symbols[i] = NULL
            if table is not None:
                values = self.table(f"symbols[{i}]", table, sizes[i])
                self.symbols[i] = <const double *>&values[0]
                self.kept.append(values)
        self.options.symbols = self.symbols
        return 0

    cdef object table(self, name, given, modes):
        """The factors along an axis."""
        try:
            found = np.ascontiguousarray(given, complex)
        except (TypeError, ValueError):
            raise TypeError(f"{name} is {_arguments.shown(given)}; it is a table of numbers, or None") from None
        if found.shape != (modes,):
            raise ValueError(f"{name} has the shape {found.shape}; it has {modes} values, one for each mode of the whole "
                             "spectral side along this axis")
        return found

    cdef int set_numbers(self, zero_mode, coefficient, shell, inputs, outputs) except -1:
        self.options.zero_mode = _arguments.number("zero_mode", zero_mode)
        self.options.coefficient = _arguments.number("coefficient", coefficient)
        if shell is not None:
            self.options.shell[0], self.options.shell[1] = _arguments.numbers("shell", shell, 2, "end of the shell")
        self.options.inputs = _arguments.integer("inputs", inputs, *_C_INT)
        self.options.outputs = _arguments.integer("outputs", outputs, *_C_INT)
        return 0

    cdef int set_function(self, Operator op, function) except -1:
        if function is not None:
            if not callable(function):
                raise TypeError(f"function is {_arguments.shown(function)}; it is called with an OperatorBox")
            if op.on_device:
                _streams.streams_of_cupy()
            self.options.box_function, self.options.data = _call, <void *>op
        return 0


@cython.no_gc_clear
cdef class Operator:
    """An operator between a transform and the one back, fused with both; Plan.operator and Plan.convolution make it. fftnd_operators.h
    says what each kind does, and which plans have it.

    Attributes:
        plan, kind: as it was made
        input_shape, output_shape: this rank's arrays: those of the plan's physical side (of "points" the spectral side)
            with an axis for the fields in the place of the batch. There is none for a single field without a batch; with
            a batch of b, element f b + i along it is number i of field f
        dtype: type of their elements
    """
    cdef Handle handle
    cdef readonly Plan plan
    cdef readonly str kind
    cdef Side[2] side
    cdef object at_work
    cdef object function, raised
    cdef bint points, on_device

    def __init__(self, Plan plan not None, kind, *, lengths=None, axes=None, orders=None, shift=None, zero_mode=0.0,
                 coefficient=0.0, shell=None, symbols=None, function=None, inputs=1, outputs=1, multiplier=None,
                 conjugated=False, free_axes=None, green="truncated", kernel=None, kernel_plan=None):
        cdef Owner owner = owner_of(plan.comm)
        cdef OperatorArguments given = OperatorArguments()
        cdef fftnd_plan *its_plan = plan._plan()
        cdef fftnd_operator *op = NULL
        cdef fftnd_layout layout
        cdef int number = FFTND_MULTIPLY, code
        cdef bint from_kernel = kind is _KERNEL
        cdef const void *values = NULL
        cdef Plan its
        self.function, self.on_device = function, plan.works_on_device
        try:
            if from_kernel:
                if not isinstance(kernel_plan, (Plan, type(None))):
                    raise TypeError(f"kernel_plan is {_arguments.shown(kernel_plan)}; it is a Plan")
                its = plan if kernel_plan is None else kernel_plan
                given.options.kernel_plan = NULL if kernel_plan is None else its._plan()
                values = its._elements(kernel, &its.side[0], "kernel", False).data
            elif kernel is not None:
                raise TypeError("kernel is given; Plan.convolution takes it")
            else:
                number = choice("kind", kind, _OPERATORS)
            given.set_axes(len(plan.shape), lengths, axes, orders, shift)
            given.set_symbols(symbols, plan.spectral.shape)
            given.set_numbers(zero_mode, coefficient, shell, inputs, outputs)
            given.set_function(self, function)
            given.set_factors(plan, multiplier, conjugated, free_axes, green)
        except BaseException as error:
            refuse(error)
            given.options.size = 0  # wrong options: an error on all ranks
            with nogil:
                if from_kernel:
                    fftnd_operator_from_kernel(its_plan, NULL, &given.options, &op)
                else:
                    fftnd_operator_create(its_plan, <fftnd_operator_kind>-1, NULL, &op)
            raise refused(error)
        with nogil:
            if from_kernel:
                code = fftnd_operator_from_kernel(its_plan, values, &given.options, &op)
            else:
                code = fftnd_operator_create(its_plan, <fftnd_operator_kind>number, &given.options, &op)
        check(code)
        self.handle = own(owner, op, <release_function>fftnd_operator_free, RELEASE_OPERATOR)
        plan.operators = [handle for handle in plan.operators if (<Handle>handle).object != NULL] + [self.handle]
        self.plan, self.kind, self.points = plan, "multiply" if from_kernel else kind, number == FFTND_POINTS
        for i in range(2):
            fftnd_layout_init(&layout, sizeof(layout))
            check(fftnd_operator_layout(op, i, &layout))
            plan._fill(&self.side[i], &layout, self.dtype, not self.points)
        if plan.in_place:  # one array for both
            self.side[0].bytes = self.side[1].bytes = max(self.side[0].bytes, self.side[1].bytes)

    def __dealloc__(self):
        if self.handle is not None:
            self.handle.dropped = True

    @property
    def dtype(self):
        """The type of the elements of both arrays."""
        return self.plan.dtypes[FFTND_SPECTRAL if self.points else FFTND_PHYSICAL]

    @property
    def input_shape(self):
        """The shape of this rank's input array."""
        return _shape(&self.side[0])

    @property
    def output_shape(self):
        """The shape of this rank's output array."""
        return _shape(&self.side[1])

    def empty_input(self):
        """An input array, as Plan.empty_physical makes one. Collective on the plan's ranks."""
        return self.plan._empty(&self.side[0], self.dtype)

    def empty_output(self):
        """An output array, as Plan.empty_physical makes one. Collective on the plan's ranks."""
        return self.plan._empty(&self.side[1], self.dtype)

    def with_ghosts(self, array):
        """An input or output array together with the ghosts around it; as Plan.with_ghosts."""
        cdef int i = getattr(array, "shape", None) == self.output_shape
        return self.plan._with_ghosts(array, &self.side[i], "array")

    cdef int call(self, fftnd_plan *plan, fftnd_operator *op, void *input, void *output) noexcept nogil:
        return (fftnd_apply_physical if self.points else fftnd_apply)(plan, op, input, output)

    def apply(self, array, out=None):
        """Transforms the fields, applies the operator, and transforms back, fused; the other side is never stored.

        Args:
            array: of input_shape and the plan's strides; left as it was, unless the plan is in place or has
                overwrite_input (then empty_input() makes it, and empty_output() `out`), or accumulate_ghosts
            out: array of output_shape; None = a new array each time (in place: the same memory)
        Returns:
            out
        Collective on the plan's ranks. Errors: redist.Error; TypeError or ValueError on a rank whose arrays do not fit
        (the other ranks get redist.ArgumentError, which says the same); and what the operator's function raises on its
        rank: the other ranks get redist.Error, now or in the next call, and the operator cannot be used again.
        """
        cdef fftnd_plan *plan = self.plan._plan()
        cdef fftnd_operator *op = <fftnd_operator *>alive(self.handle, "the operator")
        cdef View a, b
        cdef int code
        try:
            a = self.plan._view(array, &self.side[0], "array",
                                self.plan._writes(FFTND_SPECTRAL if self.points else FFTND_PHYSICAL))
            if out is None:
                out = self.plan._output(array, a, &self.side[1])
            b = self.plan._view(out, &self.side[1], "out", True)
        except BaseException as error:
            if not self.plan.skip:
                refuse(error)
                with nogil:
                    self.call(plan, op, NULL, NULL)  # the only rank, without elements, goes through it
                self.raised = None
            raise refused(error)
        self.at_work = (array, out) if self.plan.kept else None  # the device may use them after an error too
        with nogil:
            code = self.call(plan, op, a.data, b.data)
        raised, self.raised = self.raised, None
        if raised is not None:
            raise raised
        check(code)
        return out

    def __call__(self, array, out=None):
        """As apply."""
        return self.apply(array, out)

    def __repr__(self):
        if self.handle is None or self.handle.object == NULL:
            return f"<fftnd.Operator, {'not made' if self.handle is None else 'freed'}>"
        return (f"<fftnd.Operator {self.kind!r}, this rank: {self.input_shape} to {self.output_shape} of {self.dtype}, of "
                f"{self.plan!r}>")

    def free(self):
        """Frees the operator; freeing its plan does so too. Collective; does nothing the second time."""
        free_handle(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()
