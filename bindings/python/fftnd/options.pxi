# SPDX-License-Identifier: BSD-3-Clause
# The keywords of a plan as the structure fftnd_options.

_KINDS = {"c2c": FFTND_C2C, "r2c": FFTND_R2C}
_AXES = {"c2c": FFTND_AXIS_COMPLEX, "r2c": FFTND_AXIS_HALVED, "none": FFTND_AXIS_NONE}
_R2R = {"dct1": FFTND_DCT1, "dct2": FFTND_DCT2, "dct3": FFTND_DCT3, "dct4": FFTND_DCT4,
        "dst1": FFTND_DST1, "dst2": FFTND_DST2, "dst3": FFTND_DST3, "dst4": FFTND_DST4,
        "r2hc": FFTND_R2HC, "hc2r": FFTND_HC2R, "dht": FFTND_DHT}
_SCALINGS = {"none": FFTND_SCALE_NONE, "backward": FFTND_SCALE_BACKWARD, "forward": FFTND_SCALE_FORWARD,
             "unitary": FFTND_SCALE_UNITARY, "ortho": FFTND_SCALE_UNITARY}
_EFFORTS = {"estimate": FFTND_ESTIMATE, "measure": FFTND_MEASURE, "patient": FFTND_PATIENT}
_ALIGNMENTS = {"chain": FFTND_ALIGN_CHAIN, "input": FFTND_ALIGN_INPUT}
_POSITIONS = {"first": FFTND_BATCH_FIRST, "last": FFTND_BATCH_LAST}
_FUSIONS = {"auto": FFTND_FUSION_AUTO, "never": FFTND_FUSION_NEVER, "always": FFTND_FUSION_ALWAYS}
_TRANSPOSES = {"auto": FFTND_LOCAL_TRANSPOSE_AUTO, "never": FFTND_LOCAL_TRANSPOSE_NEVER,
               "always": FFTND_LOCAL_TRANSPOSE_ALWAYS}
_BLOCKS = {"balanced": FFTND_BLOCKS_BALANCED, "ceiling": FFTND_BLOCKS_CEILING}
# The types of both sides
_TYPES = {"c2c": {"d": "DD", "f": "FF", "g": "GG"}, "r2c": {"d": "dD", "f": "fF", "g": "gG"},
          "r2r": {"d": "dd", "f": "ff", "g": "gg"}}
_PRECISIONS = {"d": FFTND_DOUBLE, "f": FFTND_FLOAT, "g": FFTND_LONG_DOUBLE}

Layout = namedtuple("Layout", "shape start count strides batch_stride itemsize nbytes slices")
Layout.__doc__ = """One rank's part of one side of a transform.

shape is global; start, count and slices say which part of it this rank has; strides and batch_stride are in bytes;
nbytes is what the local array takes, with batch, padding and scratch use."""


def _of_side(pair, side, length, name):
    """What a pair (physical, spectral) has for a side, with one value for each axis or grid dimension."""
    if pair is None:
        return None
    if len(pair) != 2:
        raise ValueError(f"{name} is {pair}; it is a pair (physical, spectral), either of which may be None")
    if pair[side] is not None and len(pair[side]) != length:
        raise ValueError(f"{name}[{side}] is {pair[side]}; it has {length} values")
    return pair[side]


cdef class Arguments:
    """What fftnd_plan_create gets, with the memory that the structure points to."""
    cdef fftnd_options options
    cdef redist_index[REDIST_MAX_NDIMS] sizes
    cdef redist_index[REDIST_MAX_NDIMS] modes
    cdef int[REDIST_MAX_NDIMS] grid
    cdef int[REDIST_MAX_NDIMS] order
    cdef fftnd_r2r[REDIST_MAX_NDIMS] r2r
    cdef fftnd_axis[REDIST_MAX_NDIMS] axes
    cdef int memory_order[2][REDIST_MAX_NDIMS]
    cdef redist_index padding[2][REDIST_MAX_NDIMS]
    cdef redist_index *bounds[2][REDIST_MAX_NDIMS]
    cdef int split[2][REDIST_MAX_NDIMS]
    cdef redist_box box[2]
    cdef list kept
    cdef int ndims
    cdef fftnd_kind kind
    cdef fftnd_precision precision
    cdef str name, letter
    cdef bytes method, wisdom_file

    def __init__(self, shape, kind, dtype):
        fftnd_options_init(&self.options, sizeof(fftnd_options))
        self.ndims = len(shape)
        if self.ndims > REDIST_MAX_NDIMS:
            raise ValueError(f"shape has {self.ndims} extents; at most {REDIST_MAX_NDIMS - 1} are possible")
        for i in range(self.ndims):
            self.sizes[i] = shape[i]
        dtype = np.dtype(dtype)
        self.letter = dtype.char.lower()
        if dtype.char not in "fdgFDG":
            raise TypeError(f"dtype is {dtype}; transforms are of float32, float64, longdouble, and complex ones of these")
        self.precision = _PRECISIONS[self.letter]
        self.set_kind("r2c" if kind is None and dtype.kind == "f" else "c2c" if kind is None else kind)

    cdef int set_kind(self, kind) except -1:
        """One name for all axes, or one for each axis."""
        if isinstance(kind, str) and kind not in _R2R:
            self.kind, self.name = <fftnd_kind>choice("kind", kind, _KINDS | _R2R), kind
            return 0
        kinds = [kind] * self.ndims if isinstance(kind, str) else ["none" if one is None else one for one in kind]
        if len(kinds) != self.ndims:
            raise ValueError(f"kind has {len(kinds)} names, the array {self.ndims} axes")
        for i in range(self.ndims):
            if kinds[i] in _R2R:
                self.axes[i], self.r2r[i] = FFTND_AXIS_R2R, <fftnd_r2r>choice("kind", kinds[i], _R2R)
            else:
                self.axes[i], self.r2r[i] = <fftnd_axis>choice("kind of an axis", kinds[i], _AXES | _R2R), FFTND_DCT2
        self.kind = FFTND_R2R if all(one in _R2R for one in kinds) else FFTND_MIXED
        self.options.r2r = self.r2r
        if self.kind == FFTND_MIXED:
            self.options.axes = self.axes
        self.name = "r2c" if "r2c" in kinds else "c2c" if "c2c" in kinds else "r2r"
        return 0

    cdef int set_grid(self, grid, order, by_node) except -1:
        cdef int i, number = 0 if grid is None else read_dims(grid, self.grid)
        if number < 0 or (order is not None and len(order) != self.ndims):
            raise ValueError(f"grid is {grid} and order is {order}, for an array of {self.ndims} axes")
        if number:
            self.options.grid_ndims, self.options.grid = number, self.grid
        if order is not None:
            for i in range(self.ndims):
                self.order[i] = order[i]
            self.options.order = self.order
        self.options.by_node = bool(by_node)
        return 0

    cdef int set_transform(self, scaling, alignment, batch, batch_position, retained_modes, halved_axis) except -1:
        self.options.scaling = <fftnd_scaling>choice("scaling", scaling, _SCALINGS)
        self.options.alignment = <fftnd_alignment>choice("alignment", alignment, _ALIGNMENTS)
        self.options.batch = 1 if batch is None else batch
        self.options.batch_position = <fftnd_batch_position>choice("batch_position", batch_position, _POSITIONS)
        if retained_modes is not None:
            if len(retained_modes) != self.ndims:
                raise ValueError(f"retained_modes is {retained_modes}, for an array of {self.ndims} axes")
            for i in range(self.ndims):
                self.modes[i] = retained_modes[i]
            self.options.retained_modes = self.modes
        self.options.halved_axis = halved_axis
        return 0

    cdef int set_sides(self, memory_order, padding, blocks, bounds, split, box) except -1:
        """What each side has of its own; pairs (physical, spectral)."""
        blocks = (blocks, blocks) if isinstance(blocks, str) else blocks
        self.kept = []
        for side in range(2):
            self.options.blocks[side] = <fftnd_blocks>choice("blocks", blocks[side], _BLOCKS)
            if _of_side(memory_order, side, self.ndims, "memory_order") is not None:
                for i in range(self.ndims):
                    self.memory_order[side][i] = memory_order[side][i]
                self.options.memory_order[side] = self.memory_order[side]
            if _of_side(padding, side, self.ndims, "padding") is not None:
                for i in range(self.ndims):
                    self.padding[side][i] = padding[side][i]
                self.options.padding[side] = self.padding[side]
            if _of_side(bounds, side, self.options.grid_ndims, "bounds") is not None:
                self.set_bounds(side, bounds[side])
            if _of_side(split, side, self.options.grid_ndims, "split") is not None:
                for i in range(self.options.grid_ndims):
                    self.split[side][i] = split[side][i]
                self.options.split[side] = self.split[side]
            if box is not None and box[side] is not None:
                fill_box(&self.box[side], box[side], self.ndims)
                self.options.box[side] = &self.box[side]
        return 0

    cdef int set_bounds(self, int side, bounds) except -1:
        cdef redist_index[::1] values
        for i in range(len(bounds)):
            self.bounds[side][i] = NULL
            if bounds[i] is not None:
                array = np.array(bounds[i], np.int64)
                if len(array) != self.grid[i] + 1:
                    raise ValueError(f"bounds of grid dimension {i} has {len(array)} values, not {self.grid[i] + 1}")
                self.kept.append(array)
                values = array
                self.bounds[side][i] = &values[0]
        self.options.bounds[side] = <const void *>self.bounds[side]
        return 0

    cdef int set_arrays(self, in_place, overwrite_input, mapped_arrays, user_workspace, space, stream, device,
                        pin_arrays, device_bytes) except -1:
        self.options.in_place, self.options.overwrite_input = bool(in_place), bool(overwrite_input)
        self.options.mapped_arrays, self.options.user_workspace = bool(mapped_arrays), bool(user_workspace)
        self.options.space = <redist_space>choice("space", space, _SPACES)
        self.options.device = <redist_space>choice("device", device, _SPACES)
        self.options.stream = <void *><uintptr_t>_streams.pointer(
            stream, device=self.options.space == REDIST_SPACE_CUDA)
        self.options.pin_arrays, self.options.device_bytes = bool(pin_arrays), device_bytes
        return 0

    cdef int set_execution(self, effort, fusion, local_transpose, staging, method, wisdom_file, plan_seconds,
                           tile_bytes, threads, skip_agreement, verbose, phases, asynchronous,
                           wait_seconds) except -1:
        self.options.asynchronous, self.options.wait_seconds = bool(asynchronous), wait_seconds
        self.options.effort = <fftnd_effort>choice("effort", effort, _EFFORTS)
        self.options.fusion = <fftnd_fusion>choice("fusion", fusion, _FUSIONS)
        self.options.local_transpose = <fftnd_local_transpose>choice("local_transpose", local_transpose, _TRANSPOSES)
        self.options.staging = <redist_staging>choice("staging", staging, _STAGINGS)
        self.method, self.wisdom_file = text_or_none(method), text_or_none(wisdom_file)
        if self.method is not None:
            self.options.method = self.method
        if self.wisdom_file is not None:
            self.options.wisdom_file = self.wisdom_file
        self.options.plan_seconds, self.options.tile_bytes = plan_seconds, tile_bytes
        self.options.threads, self.options.skip_agreement = threads, bool(skip_agreement)
        self.options.verbose, self.options.phases = bool(verbose), bool(phases)
        return 0
