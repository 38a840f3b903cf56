# SPDX-License-Identifier: BSD-3-Clause
# Operators between a transform and the one back.

_OPERATORS = {"derivative": FFTND_DERIVATIVE, "gradient": FFTND_GRADIENT, "divergence": FFTND_DIVERGENCE,
              "curl": FFTND_CURL, "leray": FFTND_LERAY, "laplacian": FFTND_LAPLACIAN,
              "inverse_laplacian": FFTND_INVERSE_LAPLACIAN, "helmholtz": FFTND_HELMHOLTZ,
              "inverse_helmholtz": FFTND_INVERSE_HELMHOLTZ, "biharmonic": FFTND_BIHARMONIC,
              "inverse_biharmonic": FFTND_INVERSE_BIHARMONIC, "shell": FFTND_SHELL, "shift": FFTND_SHIFT,
              "symbols": FFTND_SYMBOLS, "modes": FFTND_MODES, "points": FFTND_POINTS}


cdef class Operator


cdef class Row:
    """A row of modes or points of all fields, as a function of the user gets it: they follow one another along one
    axis. The arrays are valid during the call, and have one element for each mode or point.

    Attributes:
        n: modes or points, some hundreds at most
        axis: along which they follow one another
        start: global indices of the first one along each axis
        inputs: one array for each field, read-only: complex128, or float64 for points of a real side
        outputs: the same, to be filled in
        k, odd: of modes: the wavenumbers along each axis, None for axes that take no part; in odd 0 where derivatives
            of odd order are 0
    """
    cdef const fftnd_row *row

    cdef const fftnd_row *here(self) except NULL:
        if self.row == NULL:
            raise ValueError("a Row is valid only in the call that it is passed to")
        return self.row

    cdef object values(self, const double *data, int numbers, bint writable):
        memory = PyMemoryView_FromMemory(<char *>data, self.row.n * numbers * sizeof(double),
                                         PyBUF_WRITE if writable else PyBUF_READ)
        return np.frombuffer(memory, complex if numbers == 2 else float)

    cdef tuple along_axes(self, const double *const *tables):
        return tuple([None if tables == NULL or tables[axis] == NULL else self.values(tables[axis], 1, False)
                      for axis in range(self.row.ndims)])

    @property
    def n(self):
        return self.here().n

    @property
    def axis(self):
        return self.here().axis

    @property
    def start(self):
        return tuple([self.here().start[axis] for axis in range(self.here().ndims)])

    @property
    def inputs(self):
        cdef const fftnd_row *row = self.here()
        return tuple([self.values(row.inputs[i], row.numbers, False) for i in range(row.ninputs)])

    @property
    def outputs(self):
        cdef const fftnd_row *row = self.here()
        return tuple([self.values(row.outputs[i], row.numbers, True) for i in range(row.noutputs)])

    @property
    def k(self):
        return self.along_axes(self.here().k)

    @property
    def odd(self):
        return self.along_axes(self.here().odd)


cdef int _call(void *data, const fftnd_row *given) noexcept with gil:
    """The function that the library calls; what it raises is kept for the caller of the operator."""
    cdef Operator op = <Operator>data
    cdef Row row = Row.__new__(Row)
    row.row = given
    try:
        op.function(row)
        return 0
    except BaseException as error:
        if op.raised is None:
            op.raised = error
        return 1
    finally:
        row.row = NULL


def _one_for_each(values, length, name):
    if len(values) != length:
        raise ValueError(f"{name} is {values}; it has one value for each of {length} axes")
    return enumerate(values)


cdef class OperatorArguments:
    """What fftnd_operator_create gets, with the memory that the structure points to."""
    cdef fftnd_operator_options options
    cdef double[REDIST_MAX_NDIMS] lengths
    cdef int[REDIST_MAX_NDIMS] axes
    cdef int[REDIST_MAX_NDIMS] orders
    cdef double[REDIST_MAX_NDIMS] shift
    cdef const double *symbols[REDIST_MAX_NDIMS]
    cdef list kept

    def __init__(self):
        fftnd_operator_options_init(&self.options, sizeof(fftnd_operator_options))
        self.kept = []

    cdef int set_axes(self, int d, lengths, axes, orders, shift) except -1:
        if lengths is not None:
            for i, value in _one_for_each(lengths, d, "lengths"):
                self.lengths[i] = value
            self.options.lengths = self.lengths
        if axes is not None:
            for i in range(d):
                self.axes[i] = 0
            for axis in axes:
                if not -d <= axis < d:
                    raise ValueError(f"axes is {axes}; the plan has {d} axes")
                self.axes[axis + d if axis < 0 else axis] = 1
            self.options.axes = self.axes
        if orders is not None:
            for i, value in _one_for_each(orders, d, "orders"):
                self.orders[i] = value
            self.options.orders = self.orders
        if shift is not None:
            for i, value in _one_for_each(shift, d, "shift"):
                self.shift[i] = value
            self.options.shift = self.shift
        return 0

    cdef int set_symbols(self, symbols, sizes) except -1:
        cdef const double complex[::1] values
        if symbols is None:
            return 0
        for i, table in _one_for_each(symbols, len(sizes), "symbols"):
            self.symbols[i] = NULL
            if table is not None:
                values = np.ascontiguousarray(table, complex)
                if len(values) != sizes[i]:
                    raise ValueError(f"symbols[{i}] has {len(values)} values; the spectral side has {sizes[i]} modes "
                                     f"along axis {i}")
                self.symbols[i] = <const double *>&values[0]
                self.kept.append(values)
        self.options.symbols = self.symbols
        return 0

    cdef int set_numbers(self, zero_mode, coefficient, shell, inputs, outputs) except -1:
        self.options.zero_mode, self.options.coefficient = zero_mode, coefficient
        if shell is not None:
            self.options.shell[0], self.options.shell[1] = shell
        self.options.inputs, self.options.outputs = inputs, outputs
        return 0

    cdef int set_function(self, Operator op, function) except -1:
        if function is not None:
            if not callable(function):
                raise TypeError(f"function is {function!r}, which cannot be called")
            self.options.function, self.options.data = _call, <void *>op
        return 0


@cython.no_gc_clear
cdef class Operator:
    """An operator between a transform and the one back, fused with both; Plan.operator makes it. fftnd_operators.h
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
    cdef bint points

    def __init__(self, Plan plan not None, kind, *, lengths=None, axes=None, orders=None, shift=None, zero_mode=0.0,
                 coefficient=0.0, shell=None, symbols=None, function=None, inputs=1, outputs=1):
        cdef Owner owner = owner_of(plan.comm)
        cdef OperatorArguments given = OperatorArguments()
        cdef fftnd_plan *its_plan = <fftnd_plan *>plan.handle.object
        cdef fftnd_operator *op = NULL
        cdef fftnd_layout layout
        cdef int number, code
        try:
            number = choice("kind", kind, _OPERATORS)
            given.set_axes(len(plan.shape), lengths, axes, orders, shift)
            given.set_symbols(symbols, plan.spectral.shape)
            given.set_numbers(zero_mode, coefficient, shell, inputs, outputs)
            given.set_function(self, function)
        except BaseException:  # the call fails on all ranks, so that none waits for this one
            fftnd_operator_create(its_plan, <fftnd_operator_kind>-1, NULL, &op)
            raise
        self.function = function
        with nogil:
            code = fftnd_operator_create(its_plan, <fftnd_operator_kind>number, &given.options, &op)
        check(code)
        self.handle = own(owner, op, <release_function>fftnd_operator_free, RELEASE_OPERATOR)
        plan.operators = [handle for handle in plan.operators if (<Handle>handle).object != NULL] + [self.handle]
        self.plan, self.kind, self.points = plan, kind, number == FFTND_POINTS
        for i in range(2):
            fftnd_layout_init(&layout, sizeof(layout))
            check(fftnd_operator_layout(op, i, &layout))
            plan._fill(&self.side[i], &layout, self.dtype)
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

    cdef int call(self, fftnd_plan *plan, fftnd_operator *op, void *input, void *output) noexcept nogil:
        return (fftnd_apply_physical if self.points else fftnd_apply)(plan, op, input, output)

    def apply(self, array, out=None):
        """Transforms the fields, applies the operator, and transforms back, fused; the other side is never stored.

        Args:
            array: of input_shape and the plan's strides; left as it was, unless the plan is in place (then empty_input()
                makes it) or has overwrite_input
            out: array of output_shape; None = a new array each time (in place: the same memory)
        Returns:
            out
        Collective on the plan's ranks. Errors: redist.Error; TypeError or ValueError on a rank whose arrays do not fit,
        and what the operator's function raises on its rank: the other ranks get redist.Error, now or in the next call,
        and the operator cannot be used again.
        """
        cdef fftnd_plan *plan = <fftnd_plan *>self.plan.handle.object
        cdef fftnd_operator *op = <fftnd_operator *>self.handle.object
        cdef View a, b
        cdef int code
        try:
            a = self.plan._view(array, &self.side[0], "input", self.plan.in_place or self.plan.overwrites)
            if out is None:
                out = self.plan._output(array, &self.side[1])
            b = self.plan._view(out, &self.side[1], "output", True)
        except BaseException:
            if not self.plan.skip:  # null pointers: an error on all ranks, so that none waits for this one
                with nogil:
                    self.call(plan, op, NULL, NULL)  # a rank without elements goes through it
                self.raised = None
            raise
        with nogil:
            code = self.call(plan, op, a.data, b.data)
        raised, self.raised = self.raised, None
        if raised is not None:
            raise raised
        check(code)
        self.at_work = (array, out) if self.plan.kept else None
        return out

    def __call__(self, array, out=None):
        """As apply."""
        return self.apply(array, out)

    def free(self):
        """Frees the operator; freeing its plan does so too. Collective; does nothing the second time."""
        free_handle(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()
