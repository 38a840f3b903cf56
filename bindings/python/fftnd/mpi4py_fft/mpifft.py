# SPDX-License-Identifier: BSD-3-Clause
"""Parallel transforms: one plan of fftnd where that can be, else serial transforms and exchanges in turn."""
import math
from collections.abc import Sequence

import numpy as np
from mpi4py import MPI

from redist import _arguments

from .._fftnd import Plan
from .fftw import flag_dict
from .libfft import _PLANS, FFT, check_arrays, check_type
from .pencil import Pencil, Subcomm

_EFFORTS = {"FFTW_ESTIMATE": "estimate", "FFTW_MEASURE": "measure", "FFTW_PATIENT": "patient",
            "FFTW_EXHAUSTIVE": "patient"}


class Transform:
    """One direction of a transform, as serial transforms with exchanges between them.

    Args:
        xfftn: one direction of each serial transform
        transfer: one direction of each exchange
        pencil: the distributions of input and output
    """

    def __init__(self, xfftn, transfer, pencil):
        if len(xfftn) != len(transfer) + 1 or len(pencil) != 2:
            raise ValueError(f"xfftn has {len(xfftn)} transforms, transfer {len(transfer)} exchanges and pencil "
                             f"{len(pencil)} pencils; there is one exchange between two transforms, and a pencil at either end")
        self._xfftn, self._transfer, self._pencil = tuple(xfftn), tuple(transfer), tuple(pencil)

    @property
    def input_array(self):
        return self._xfftn[0].input_array

    @property
    def output_array(self):
        return self._xfftn[-1].output_array

    @property
    def input_pencil(self):
        return self._pencil[0]

    @property
    def output_pencil(self):
        return self._pencil[1]

    def __call__(self, input_array=None, output_array=None, **kw):
        """Transforms.

        Args:
            input_array: None = the transform's own
            output_array: None = the transform's own
            kw: normalize=True or False; usually forward divides by the number of points and backward does not
        Returns:
            the array with the result
        Collective.
        """
        failure = _arguments.attempt(check_arrays, input_array, self.input_array, output_array, self.output_array)[1]
        _arguments.agree_along(self.input_pencil.subcomm, failure)
        if input_array is not None:
            self.input_array[...] = input_array
        self._xfftn[0](**kw)
        for before, move, after in zip(self._xfftn, self._transfer, self._xfftn[1:]):
            move(before.output_array, after.input_array)
            after(**kw)
        if output_array is None:
            return self.output_array
        output_array[...] = self.output_array
        return output_array


class _PlanTransform(Transform):
    """One direction of a transform, by a plan. Arrays of the caller that fit are transformed where they are."""

    def __init__(self, plans, direction, arrays, pencil):
        self._plans, self._direction = plans, direction
        self._arrays, self._pencil = arrays, tuple(pencil)

    @property
    def input_array(self):
        return self._arrays[0]

    @property
    def output_array(self):
        return self._arrays[1]

    def _fits(self, array, own):
        return (isinstance(array, np.ndarray) and array.dtype == own.dtype and array.shape == own.shape
                and array.flags.c_contiguous)

    def __call__(self, input_array=None, output_array=None, normalize=None, **kw):
        source, target = self._arrays
        fits = (1 if input_array is None or self._fits(input_array, source) else 0,
                1 if output_array is None or (self._fits(output_array, target) and output_array.flags.writeable
                                              and output_array is not input_array) else 0)
        run = getattr(self._plans.plan(self._direction, normalize), self._direction)
        given = source if input_array is None else input_array
        if not all(fits):
            failure = _arguments.attempt(check_arrays, input_array, source, output_array, target)[1]
            if failure is not None:
                run(failure)  # fails with that, on all ranks
        if not fits[0]:
            source[...] = given
            given = source
        into = output_array if output_array is not None and fits[1] else target
        run(given, into)
        if output_array is None or into is output_array:
            return into
        output_array[...] = into
        return output_array


class _Parts(Sequence):
    """The serial transforms or exchanges of a transform that is one plan: made, collectively, when one is asked for."""

    def __init__(self, transform, number, length):
        self._transform, self._number, self._length = transform, number, length

    def __len__(self):
        return self._length

    def __getitem__(self, index):
        if self._transform._parts is None:
            self._transform._parts = self._transform._build_parts()
        return self._transform._parts[self._number][index]


class _Plans:
    """The plans of a PFFT: one divides forward (the usual case), the other one backward."""

    def __init__(self, comm, owned, shape, keywords):
        self.comm, self.owned, self.shape, self.keywords = comm, owned, shape, keywords
        self.kept = {}
        self.plan("forward", True)

    def plan(self, direction, normalize):
        normalize = direction == "forward" if normalize is None else bool(normalize)
        scaling = "forward" if normalize == (direction == "forward") else "backward"
        if scaling not in self.kept:
            self.kept[scaling] = Plan(self.comm, self.shape, scaling=scaling, **self.keywords)
        return self.kept[scaling]

    def free(self):
        for plan in self.kept.values():
            plan.free()
        if self.owned and self.comm != MPI.COMM_NULL:
            self.comm.Free()


def _values(grid):
    return None if grid is None else tuple(grid)


def _as_axes(axes, ndims):
    """Groups of axes that are transformed at once, the last one first, counted from 0."""
    groups = []
    for i, group in enumerate(_arguments.sequence("axes", axes, "axes or groups of axes")):
        group = [group] if isinstance(group, (int, np.integer)) else group
        group = _arguments.integers(f"axes[{i}]", group, low=-ndims, high=ndims - 1)
        groups.append(tuple(axis % ndims for axis in group))
        if not group or len(set(groups[-1])) != len(group):
            raise ValueError(f"axes[{i}] is {group}; the axes of a group differ, and there is at least one")
    if not groups:
        raise ValueError(f"axes is {_arguments.shown(axes)}; there is at least one")
    return groups


class PFFT:
    """A parallel transform of a distributed array, forward and backward.

    Args:
        comm: the ranks; a Subcomm with a communicator for each axis; or a communicator with a Cartesian topology
        shape: extents of the array (without padding)
        axes: the transformed axes in order, the last one first; groups of axes are transformed at once; None = all
        dtype: type of the physical array
        grid: processes along each axis, where values < 1 are chosen; missing ones are 1
        padding: False, or a factor >= 1 for each axis: the physical array is longer than the spectral one
        collapse: transform neighbouring axes at once that are whole
        backend: of the serial transforms: "fftw", "pyfftw", "numpy", "scipy", "mkl_fft"
        transforms: from tuples of axes to pairs of functions (forward, backward) of module fftw (or the backend's)
        darray: a DistArray with the shape, type and distribution of the physical array
        slab: split one axis only: True = the one behind the first transformed, or the axis
        kw: options of the backend, such as planner_effort="FFTW_ESTIMATE"

    `forward` and `backward` are Transform objects, `xfftn` and `transfer` the serial transforms and the exchanges. All
    arguments must agree. Collective on comm.
    """

    _plans = _parts = None  # of subclasses with serial transforms and exchanges of their own, as shenfun has them

    def __init__(self, comm, shape=None, axes=None, dtype=float, grid=None, padding=False, collapse=False,
                 backend="fftw", transforms=None, darray=None, slab=False, **kw):
        ranks = comm.comm if isinstance(comm, Subcomm) else _arguments.communicator("comm", comm)
        found = _arguments.agreed(ranks, self._check, comm, shape, axes, dtype, grid, padding, collapse, backend,
                                  transforms, darray, slab, kw)
        shape, groups, dtype = list(found["shape"]), found["axes"], found["dtype"]
        ndims = len(shape)
        modes = list(shape)
        if padding is not False and darray is None:
            padding = self._pad(shape, groups, padding)
        self._input_shape = tuple(shape)
        if darray is None:
            self.subcomm = self._split(comm, ndims, groups[-1], grid, slab)
        else:
            self.subcomm = darray.pencil.subcomm
        self.collapse = collapse
        self._check_whole(groups)
        self.axes = tuple(self._collapsed(groups) if collapse else groups)
        self._backend = dict(backend=backend, transforms=transforms, **kw)
        self._padding, self._dtype = padding, dtype
        if self._is_one_plan(modes):
            self._make_plan(modes, kw)
        else:
            self._make_chain()

    @staticmethod
    def _check(comm, shape, axes, dtype, grid, padding, collapse, backend, transforms, darray, slab, kw):
        """The arguments that must agree, as they are used."""
        if darray is not None:
            pencil = getattr(darray, "pencil", None)
            if pencil is None:
                raise TypeError(f"darray is {_arguments.shown(darray)}; it is a DistArray of two axes or more")
            shape, dtype = pencil.shape if shape is None else shape, darray.dtype
        elif shape is None:
            raise TypeError("shape is None, and so is darray; one of them is given")
        shape = _arguments.integers("shape", shape, low=1)
        ndims = len(shape)
        if ndims == 0:
            raise ValueError("shape is (); it has one axis or more")
        if axes is None:
            axes = list(range(ndims))
            if darray is not None:  # its whole axis comes first
                axes = np.roll(axes, ndims - 1 - darray.alignment).tolist()
        axes = _as_axes([axes] if isinstance(axes, (int, np.integer)) else axes, ndims)
        if padding is not False:
            padding = _arguments.numbers("padding", padding, ndims, "axis")
        PFFT._check_grid(comm, ndims, grid, slab)
        _arguments.one_of("backend", backend, _PLANS)
        if backend == "fftw":
            _arguments.one_of("planner_effort", kw.get("planner_effort", "FFTW_MEASURE"), flag_dict)
            _arguments.integer("threads", kw.get("threads", 1), 1)
        if transforms is not None:
            _arguments.instance("transforms", transforms, dict, "a dictionary from tuples of axes to pairs of functions")
        return {"shape": shape, "axes": axes, "dtype": check_type(dtype), "padding": padding, "grid": _values(grid),
                "collapse": _arguments.flag("collapse", collapse), "backend": backend, "slab": slab}

    @staticmethod
    def _check_grid(comm, ndims, grid, slab):
        if isinstance(comm, Subcomm):
            if grid is not None or slab or len(comm) != ndims:
                raise ValueError(f"comm is a Subcomm of {len(comm)} axes, grid is {_arguments.shown(grid)} and slab {slab}; "
                                 f"a Subcomm has a communicator for each of {ndims} axes and goes without these two")
        elif comm.Get_topology() == MPI.CART:
            if grid is not None or slab or comm.Get_dim() != ndims:
                raise ValueError(f"comm has a Cartesian topology of {comm.Get_dim()} axes, grid is {_arguments.shown(grid)} "
                                 f"and slab {slab}; the topology has {ndims} axes, and goes without these two")
        elif grid is not None:
            grid = _arguments.integers("grid", grid)
            if slab or len(grid) > ndims:
                raise ValueError(f"grid is {grid} and slab is {slab}; a grid has at most {ndims} values, and goes without "
                                 "slab")
        elif slab is not None and not isinstance(slab, (bool, np.bool_)):
            _arguments.axis("slab", slab, ndims)

    # ------------------------------------------------------------ distribution

    @staticmethod
    def _pad(shape, groups, padding):
        """Makes the physical extents longer; the factors that result, for each axis."""
        factors = [1.0] * len(shape)
        for group in groups:
            axis = group[0]
            if len(group) == 1 and padding[axis] > 1 + 1e-6:
                modes = shape[axis]
                shape[axis] = int(math.floor(modes * padding[axis]))
                factors[axis] = shape[axis] / modes
        return factors

    @staticmethod
    def _split(comm, ndims, first, grid, slab):
        """The communicator of each axis."""
        if isinstance(comm, Subcomm):
            return comm
        if comm.Get_topology() == MPI.CART:
            return Subcomm(comm)
        if grid is not None:
            return Subcomm(comm, list(grid) + [1] * (ndims - len(grid)))
        if slab is False or slab is None:
            return Subcomm(comm, [1 if axis in first else 0 for axis in range(ndims)])
        dims = [1] * ndims
        dims[(first[-1] + 1 if slab is True else slab) % ndims] = comm.Get_size()
        return Subcomm(comm, dims)

    def _check_whole(self, groups):
        """Each group of axes is whole where it is transformed: an exchange makes its last axis whole, and splits that
        of the group before in its place."""
        sizes = [one.Get_size() for one in self.subcomm]
        whole = groups[-1][-1]
        for group in reversed(groups):
            sizes[whole], sizes[group[-1]] = sizes[group[-1]], sizes[whole]
            whole = group[-1]
            split = [axis for axis in group if sizes[axis] > 1]
            if split:
                raise ValueError(f"axis {split[0]} is split where axes {group} are transformed: choose another grid")

    def _collapsed(self, groups):
        """Joins groups whose axes are whole with the one that is transformed before them."""
        joined = [()]
        for group in reversed(groups):
            if all(self.subcomm[axis].Get_size() == 1 for axis in group):
                joined[0] = group + joined[0]
            else:
                joined.insert(0, group)
        return joined

    # ------------------------------------------------------------ one plan

    def _is_one_plan(self, modes):
        """Whether the transform is one that a plan of fftnd does."""
        order = [axis for group in self.axes for axis in group]
        transforms = self._backend["transforms"] or {}
        padded = [axis for axis in range(len(modes)) if modes[axis] != self._input_shape[axis]]
        return (self._backend["backend"] == "fftw" and isinstance(self.subcomm, Subcomm)
                and sorted(order) == list(range(len(self._input_shape))) and len(order) > 1
                and all(self.subcomm[axis].Get_size() == 1 for group in self.axes for axis in group[:-1])
                and self._dtype.char in "fdFD" and not any(group in transforms for group in self.axes)
                and all((axis,) in self.axes for axis in padded))

    def _ranks(self, split):
        """The ranks in the order of a grid whose dimensions split these axes, and whether that is a communicator of
        this transform."""
        comm = self.subcomm.comm
        place = 0
        for axis in split:
            place = place * self.subcomm[axis].Get_size() + self.subcomm[axis].Get_rank()
        if comm.allreduce(place == comm.Get_rank(), MPI.LAND):
            return comm, False
        return comm.Split(0, place), True

    def _make_plan(self, modes, kw):
        # Exchanges move from the last axis of a group to the last one of the group before; all other axes are whole
        chain = [group[-1] for group in self.axes]
        order = chain + [axis for group in self.axes for axis in group[:-1]]
        if len(chain) == 1:  # nothing is split; what is halved comes last all the same
            order.reverse()
        split = order[:max(1, len(chain) - 1)]
        comm, owned = self._ranks(split)
        real = self._dtype.kind == "f"
        keywords = {"dtype": self._dtype, "grid": [self.subcomm[axis].Get_size() for axis in split],
                    "order": order, "effort": _EFFORTS.get(kw.get("planner_effort"), "measure"),
                    "threads": kw.get("threads", 1), "halved_axis": chain[-1] if real else -1}
        if tuple(modes) != self._input_shape:
            keywords["retained_modes"] = modes
        self._plans = _Plans(comm, owned, self._input_shape, keywords)
        # made when one is asked for, collectively
        self.xfftn, self.transfer = _Parts(self, 0, len(self.axes)), _Parts(self, 1, len(self.axes) - 1)
        plan = self._plans.plan("forward", True)
        self._output_shape = plan.spectral.shape
        first = Pencil(self.subcomm, self._input_shape, chain[-1])
        last = first
        for axis in reversed(chain[:-1]):
            last = last.pencil(axis)
        last = Pencil(last.subcomm, self._output_shape, last.axis)
        self.pencil = [first, last]
        physical, spectral = plan.empty_physical(), plan.empty_spectral()
        physical[...] = 0
        spectral[...] = 0
        self.forward = _PlanTransform(self._plans, "forward", (physical, spectral), (first, last))
        self.backward = _PlanTransform(self._plans, "backward", (spectral, physical), (last, first))

    # ------------------------------------------------------------ serial transforms and exchanges

    def _build_parts(self):
        """Serial transforms, exchanges between them, and the distributions at both ends."""
        shape, dtype, padding = list(self._input_shape), self._dtype, self._padding
        pencil = first = None
        transforms, transfers = [], []
        for group in reversed(self.axes):
            axis = group[-1]
            if pencil is None:
                pencil = first = Pencil(self.subcomm, shape, axis)
            else:
                target = pencil.pencil(axis)
                transfers.append(pencil.transfer(target, dtype))
                pencil = target
            transforms.append(FFT(pencil.subshape, group, dtype, padding, **self._backend))
            spectral = transforms[-1].forward.output_array
            if spectral.shape[axis] != shape[axis] or spectral.dtype != dtype:
                dtype = spectral.dtype
                shape[axis] = spectral.shape[axis]
                pencil = Pencil(pencil.subcomm, shape, axis)
        return transforms, transfers, [first, pencil]

    def _make_chain(self):
        self._parts = transforms, transfers, self.pencil = self._build_parts()
        self.xfftn, self.transfer = transforms, transfers
        self._output_shape = self.pencil[1].shape
        self.forward = Transform([one.forward for one in transforms], [one.forward for one in transfers],
                                 self.pencil)
        self.backward = Transform([one.backward for one in transforms[::-1]],
                                  [one.backward for one in transfers[::-1]], self.pencil[::-1])

    # ------------------------------------------------------------ questions

    def __repr__(self):
        if "backward" not in vars(self):
            return "<PFFT, not made>"
        ranks = "x".join(str(one.Get_size()) for one in self.subcomm)
        return (f"<PFFT of {self._input_shape} along {self.axes} on {ranks} ranks, {self.dtype(False)} to "
                f"{self.dtype(True)}; this rank: {self.shape(False)} to {self.shape(True)}>")

    def destroy(self):
        """Frees the plans and the communicators of the axes. Collective."""
        if self._plans is not None:
            self._plans.free()
        if self._plans is None or self._parts is not None:
            for transfer in self.transfer:
                transfer.destroy()
        if isinstance(self.subcomm, Subcomm):
            self.subcomm.destroy()

    def _input_pencil(self, forward_output):
        """Of the direction that begins on a side: a program may have put transforms of its own in their place."""
        return (self.backward if forward_output else self.forward).input_pencil

    def shape(self, forward_output=True):
        """The local extents of the spectral side, or of the physical one."""
        return self._input_pencil(forward_output).subshape

    def local_slice(self, forward_output=True):
        """This rank's part of the global array, as slices."""
        pencil = self._input_pencil(forward_output)
        return tuple(slice(s, s + n) for s, n in zip(pencil.substart, pencil.subshape))

    def global_shape(self, forward_output=False):
        """The global extents of the spectral side, or of the physical one."""
        return self._output_shape if forward_output else self._input_shape

    @property
    def dimensions(self):
        """The number of axes."""
        return len(self._input_shape)

    def dtype(self, forward_output=False):
        """The type of the spectral side, or of the physical one."""
        direction = self.forward
        return (direction.output_array if forward_output else direction.input_array).dtype
