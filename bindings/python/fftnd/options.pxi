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
_RANKS = {"choose": FFTND_CHOOSE_RANKS}
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


def _of_side(pair, side, name, length, each="axis"):
    """The values of a pair (physical, spectral) for a side, one for each axis or grid dimension."""
    if pair is None:
        return None
    found = _pair(pair, name)[side]
    return None if found is None else _arguments.sequence(f"{name}[{side}]", found, "values", length, each)


def _pair(pair, name):
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(f"{name} is {_arguments.shown(pair)}; it is a pair (physical, spectral), either of which may be "
                        "None")
    return pair


cdef class Arguments:
    """The options of fftnd_plan_create, with the memory of their pointers."""
    cdef fftnd_options options
    cdef redist_index[REDIST_MAX_NDIMS] sizes
    cdef redist_index[REDIST_MAX_NDIMS] modes
    cdef redist_index[REDIST_MAX_NDIMS] filled
    cdef int[REDIST_MAX_NDIMS] grid
    cdef int[REDIST_MAX_NDIMS] order
    cdef fftnd_r2r[REDIST_MAX_NDIMS] r2r
    cdef fftnd_axis[REDIST_MAX_NDIMS] axes
    cdef int memory_order[2][REDIST_MAX_NDIMS]
    cdef redist_index padding[2][REDIST_MAX_NDIMS]
    cdef redist_index offset[2][REDIST_MAX_NDIMS]
    cdef redist_index *bounds[2][REDIST_MAX_NDIMS]
    cdef int split[2][REDIST_MAX_NDIMS]
    cdef redist_box box[2]
    cdef redist_halo ghosts
    cdef list kept
    cdef int ndims
    cdef fftnd_kind kind
    cdef fftnd_precision precision
    cdef object kinds  # for repr
    cdef str name, letter
    cdef bytes method, wisdom_file

    def __init__(self, shape, kind, dtype):
        fftnd_options_init(&self.options, sizeof(fftnd_options))
        redist_halo_init(&self.ghosts, sizeof(redist_halo))
        shape = _arguments.shape("shape", shape, REDIST_MAX_NDIMS - 1)
        self.ndims = len(shape)
        for i in range(self.ndims):
            self.sizes[i] = shape[i]
        dtype = _arguments.dtype("dtype", dtype)
        self.letter = dtype.char.lower()
        if dtype.char not in "fdgFDG":
            raise TypeError(f"dtype is {dtype}; transforms are of float32, float64, longdouble, and complex ones of these")
        self.precision = _PRECISIONS[self.letter]
        self.set_kind("r2c" if kind is None and dtype.kind == "f" else "c2c" if kind is None else kind)
        if self.name == "r2r" and dtype.kind == "c":
            raise TypeError(f"dtype is {dtype}; transforms of kind {kind!r} are of real numbers: transform the real and the "
                            "imaginary parts, such as with batch=2")

    cdef int set_kind(self, kind) except -1:
        """One name for all axes, or one for each axis."""
        if isinstance(kind, str) and kind not in _R2R:
            self.kind, self.name, self.kinds = <fftnd_kind>choice("kind", kind, _KINDS | _R2R), kind, kind
            return 0
        kinds = [kind] * self.ndims if isinstance(kind, str) else [
            "none" if one is None else one for one in _arguments.sequence("kind", kind, "names", self.ndims, "axis")]
        for i in range(self.ndims):
            if isinstance(kinds[i], str) and kinds[i] in _R2R:
                self.axes[i], self.r2r[i] = FFTND_AXIS_R2R, _R2R[kinds[i]]
            else:
                self.axes[i], self.r2r[i] = <fftnd_axis>choice(f"kind[{i}]", kinds[i], _AXES | _R2R), FFTND_DCT2
        self.kinds = kind if isinstance(kind, str) else tuple(kinds)
        self.kind = FFTND_R2R if all(one in _R2R for one in kinds) else FFTND_MIXED
        self.options.r2r = self.r2r
        if self.kind == FFTND_MIXED:
            self.options.axes = self.axes
        self.name = "r2c" if "r2c" in kinds else "c2c" if "c2c" in kinds else "r2r"
        return 0

    cdef int set_grid(self, grid, order, by_node) except -1:
        cdef int i, number = 0 if grid is None else read_dims("grid", grid, self.grid)
        if number:
            self.options.grid_ndims, self.options.grid = number, self.grid
        if order is not None:
            for i, axis in enumerate(_arguments.integers("order", order, self.ndims, "axis", *_C_INT)):
                self.order[i] = axis
            self.options.order = self.order
        self.options.by_node = _arguments.flag("by_node", by_node)
        return 0

    cdef int set_transform(self, scaling, alignment, batch, batch_position, retained_modes, filled,
                           halved_axis) except -1:
        self.options.scaling = <fftnd_scaling>choice("scaling", scaling, _SCALINGS)
        self.options.alignment = <fftnd_alignment>choice("alignment", alignment, _ALIGNMENTS)
        self.options.batch = 1 if batch is None else _arguments.integer("batch", batch, *_C_INT)
        self.options.batch_position = <fftnd_batch_position>choice("batch_position", batch_position, _POSITIONS)
        if retained_modes is not None:
            for i, number in enumerate(_arguments.integers("retained_modes", retained_modes, self.ndims, "axis")):
                self.modes[i] = number
            self.options.retained_modes = self.modes
        if filled is not None:
            for i, number in enumerate(_arguments.integers("filled", filled, self.ndims, "axis")):
                self.filled[i] = number
            self.options.filled = self.filled
        self.options.halved_axis = _arguments.integer("halved_axis", halved_axis, *_C_INT)
        return 0

    cdef int set_sides(self, memory_order, padding, blocks, bounds, split, box, offset) except -1:
        """The options of each side; pairs (physical, spectral)."""
        blocks = (blocks, blocks) if isinstance(blocks, str) else _pair(blocks, "blocks")
        self.kept = []
        if self.options.grid_ndims == 0 and (bounds is not None or split is not None):
            raise ValueError(f"{'split' if bounds is None else 'bounds'} is given and grid is None; they go together: grid "
                             "has the processes along each dimension")
        for side in range(2):
            self.options.blocks[side] = <fftnd_blocks>choice(f"blocks[{side}]", blocks[side], _BLOCKS)
            order = _of_side(memory_order, side, "memory_order", self.ndims)
            if order is not None:
                for i, axis in enumerate(_arguments.integers(f"memory_order[{side}]", order, low=_C_INT[0], high=_C_INT[1])):
                    self.memory_order[side][i] = axis
                self.options.memory_order[side] = self.memory_order[side]
            room = _of_side(padding, side, "padding", self.ndims)
            if room is not None:
                for i, number in enumerate(_arguments.integers(f"padding[{side}]", room)):
                    self.padding[side][i] = number
                self.options.padding[side] = self.padding[side]
            before = _of_side(offset, side, "offset", self.ndims)
            if before is not None:
                for i, number in enumerate(_arguments.integers(f"offset[{side}]", before)):
                    self.offset[side][i] = number
                self.options.offset[side] = self.offset[side]
            blocks_of_side = _of_side(bounds, side, "bounds", self.options.grid_ndims, "dimension of the grid")
            if blocks_of_side is not None:
                self.set_bounds(side, blocks_of_side)
            axes = _of_side(split, side, "split", self.options.grid_ndims, "dimension of the grid")
            if axes is not None:
                for i, axis in enumerate(_arguments.integers(f"split[{side}]", axes, low=_C_INT[0], high=_C_INT[1])):
                    self.split[side][i] = axis
                self.options.split[side] = self.split[side]
            if box is not None and _pair(box, "box")[side] is not None:
                fill_box(&self.box[side], f"box[{side}]", box[side], self.ndims)
                self.options.box[side] = &self.box[side]
        return 0

    cdef int set_ghosts(self, ghosts, fill_ghosts, accumulate_ghosts) except -1:
        if ghosts is not None:
            _arguments.instance("ghosts", ghosts, Halo, "a redist.Halo, such as redist.Halo(1), or None")
            fill_halo(&self.ghosts, "ghosts.", ghosts, self.ndims)
            self.options.ghosts = &self.ghosts
        self.options.fill_ghosts = _arguments.flag("fill_ghosts", fill_ghosts)
        self.options.accumulate_ghosts = _arguments.flag("accumulate_ghosts", accumulate_ghosts)
        return 0

    cdef int set_bounds(self, int side, bounds) except -1:
        cdef redist_index[::1] values
        for i in range(len(bounds)):
            self.bounds[side][i] = NULL
            if bounds[i] is not None:
                array = np.array(_arguments.integers(f"bounds[{side}][{i}]", bounds[i], self.grid[i] + 1,
                                                     f"of {self.grid[i]} blocks, and the extent"), np.int64)
                self.kept.append(array)
                values = array
                self.bounds[side][i] = &values[0]
        self.options.bounds[side] = <const void *>self.bounds[side]
        return 0

    cdef int set_arrays(self, in_place, overwrite_input, mapped_arrays, user_workspace, space, stream, device,
                        pin_arrays, device_bytes) except -1:
        self.options.in_place = _arguments.flag("in_place", in_place)
        self.options.overwrite_input = _arguments.flag("overwrite_input", overwrite_input)
        self.options.mapped_arrays = _arguments.flag("mapped_arrays", mapped_arrays)
        self.options.user_workspace = _arguments.flag("user_workspace", user_workspace)
        self.options.space = <redist_space>choice("space", space, _SPACES)
        self.options.device = <redist_space>choice("device", device, _SPACES)
        self.options.stream = <void *><uintptr_t>_streams.pointer(
            stream, device=self.options.space == REDIST_SPACE_CUDA)
        self.options.pin_arrays = _arguments.flag("pin_arrays", pin_arrays)
        self.options.device_bytes = _arguments.integer("device_bytes", device_bytes, 0)
        return 0

    cdef int set_execution(self, effort, fusion, local_transpose, staging, method, wisdom_file, plan_seconds,
                           tile_bytes, threads, skip_agreement, verbose, phases, asynchronous,
                           wait_seconds, ranks) except -1:
        self.options.asynchronous = _arguments.flag("asynchronous", asynchronous)
        self.options.wait_seconds = _arguments.number("wait_seconds", wait_seconds)
        if isinstance(ranks, str):
            self.options.ranks = choice("ranks", ranks, _RANKS)
        else:
            self.options.ranks = _arguments.integer("ranks", ranks, 0)
        self.options.effort = <fftnd_effort>choice("effort", effort, _EFFORTS)
        self.options.fusion = <fftnd_fusion>choice("fusion", fusion, _FUSIONS)
        self.options.local_transpose = <fftnd_local_transpose>choice("local_transpose", local_transpose, _TRANSPOSES)
        self.options.staging = <redist_staging>choice("staging", staging, _STAGINGS)
        self.method, self.wisdom_file = _arguments.text("method", method), _arguments.path("wisdom_file", wisdom_file)
        if self.method is not None:
            self.options.method = self.method
        if self.wisdom_file is not None:
            self.options.wisdom_file = self.wisdom_file
        self.options.plan_seconds = _arguments.number("plan_seconds", plan_seconds)
        self.options.tile_bytes = _arguments.integer("tile_bytes", tile_bytes, 0)
        self.options.threads = _arguments.integer("threads", threads, *_C_INT)
        self.options.skip_agreement = _arguments.flag("skip_agreement", skip_agreement)
        self.options.verbose, self.options.phases = _arguments.flag("verbose", verbose), _arguments.flag("phases", phases)
        return 0
