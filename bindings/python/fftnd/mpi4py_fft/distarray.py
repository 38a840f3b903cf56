# SPDX-License-Identifier: BSD-3-Clause
"""NumPy arrays that know which part of a global array they are."""
from numbers import Integral, Number

import numpy as np
from mpi4py import MPI

from redist import _arguments

from .io import FileBase, HDF5File, NCFile
from .io.file_base import check_slices
from .pencil import Pencil, Subcomm

comm = MPI.COMM_WORLD


def _distribution(subcomm, ndims, alignment):
    """The communicators of the axes, and the axis that is whole."""
    if subcomm is None:
        alignment = ndims - 1 if alignment is None else alignment
        dims = [0] * ndims
        dims[alignment] = 1
        subcomm = Subcomm(comm, dims)
    elif not isinstance(subcomm, Subcomm):
        if not all(isinstance(one, MPI.Comm) for one in subcomm):
            subcomm = Subcomm(comm, subcomm)
    sizes = [one.Get_size() for one in subcomm]
    if alignment is None:
        alignment = max([axis for axis, size in enumerate(sizes) if size == 1], default=0)
    if sizes[alignment] != 1:
        raise ValueError(f"alignment is {alignment} and subcomm has {sizes} ranks along the axes; the aligned axis is whole, "
                         "on one")
    return subcomm, alignment


def _check(global_shape, subcomm, dtype, alignment, rank):
    """The arguments of a DistArray that must agree, as they are used."""
    global_shape = _arguments.integers("global_shape", global_shape, low=0)
    ndims = len(global_shape) - _arguments.integer("rank", rank, 0, max(0, len(global_shape) - 1))
    if ndims > 1 and subcomm is not None and not isinstance(subcomm, Subcomm):
        _arguments.sequence("subcomm", subcomm, "communicators, or of numbers of processes", ndims, "axis")
    if alignment is not None:
        alignment = _arguments.axis("alignment", alignment, ndims)
    return {"global_shape": global_shape, "dtype": _arguments.dtype("dtype", dtype), "alignment": alignment,
            "rank": rank}


def _check_file(filename, name):
    if not isinstance(filename, FileBase):
        _arguments.instance("filename", filename, str, "the name of a file, or an HDF5File or NCFile")
    return {"name": _arguments.instance("name", name, str, "the name of a field")}


def _file(filename, name, **keywords):
    """The file of a name; a file as it is. Collective on MPI.COMM_WORLD."""
    _arguments.agreed(comm, _check_file, filename, name)
    if isinstance(filename, FileBase):
        return filename
    return (HDF5File if filename.endswith(".h5") else NCFile)(filename, **keywords)


class DistArray(np.ndarray):
    """This rank's part of a global array, or of a tensor of global arrays.

    Args:
        global_shape: extents of the global array, behind those of the tensor, which are not split
        subcomm: Subcomm; a tuple of communicators, or of numbers of processes (0 = choose), one for each axis; None =
            all axes but the aligned one are split over MPI.COMM_WORLD
        val: value of all elements
        dtype: type of the elements
        buffer: memory for the local array
        alignment: the axis that is whole (not counting those of the tensor); None = the last one that can be
        rank: how many axes of a tensor come first: 0 for a scalar field, 1 for a vector, 2 for a matrix
    Collective where communicators are made.
    """

    def __new__(cls, global_shape, subcomm=None, val=None, dtype=float, buffer=None, strides=None, alignment=None,
                rank=0):
        given = global_shape, subcomm, dtype, alignment, rank
        makes = not isinstance(subcomm, Subcomm) and not (
            isinstance(subcomm, (tuple, list)) and all(isinstance(one, MPI.Comm) for one in subcomm))
        found = _arguments.agreed(comm, _check, *given) if makes else _check(*given)  # it makes communicators
        global_shape, alignment = found["global_shape"], found["alignment"]
        tensor, shape = global_shape[:rank], global_shape[rank:]
        pencil = None
        if len(shape) > 1:  # an array of one axis is not split
            subcomm, alignment = _distribution(subcomm, len(shape), alignment)
            pencil = Pencil(subcomm, shape, alignment)
            shape = pencil.subshape
        self = super().__new__(cls, tensor + shape, dtype=dtype, buffer=buffer, strides=strides)
        if buffer is None and isinstance(val, Number):
            self.fill(val)
        self._p0, self._rank = pencil, rank
        return self

    def __array_finalize__(self, other):
        if other is not None:
            self._p0 = getattr(other, "_p0", None)
            self._rank = getattr(other, "_rank", None)

    @property
    def pencil(self):
        """The distribution."""
        return self._p0

    @property
    def rank(self):
        """How many axes of a tensor come first."""
        return self._rank

    @property
    def alignment(self):
        """The axis that is whole, not counting those of the tensor."""
        return self._p0.axis

    @property
    def dimensions(self):
        """The number of axes, not counting those of the tensor."""
        return len(self._p0.shape)

    @property
    def global_shape(self):
        """The extents of the global array."""
        return self.shape[:self.rank] + self._p0.shape

    @property
    def substart(self):
        """The global indices of the first local element."""
        return (0,) * self.rank + self._p0.substart

    @property
    def subcomm(self):
        """The communicator of each axis."""
        return (MPI.COMM_SELF,) * self.rank + self._p0.subcomm

    @property
    def commsizes(self):
        """Among how many ranks each axis is split."""
        return [one.Get_size() for one in self.subcomm]

    @property
    def v(self):
        """The local array as a plain numpy.ndarray."""
        return self.view(np.ndarray)

    def __getitem__(self, index):
        """A component of a tensor is a DistArray, all else a plain array."""
        used = len(index) if isinstance(index, tuple) else 1
        simple = isinstance(index, (tuple, slice, Integral))
        if self.ndim > 1 and self.rank and simple and used <= self.rank:
            part = super().__getitem__(index)
            part._rank = self.rank - (self.ndim - part.ndim)
            return part
        if self.ndim == 1:
            return super().__getitem__(index)
        return self.v[index]

    def local_slice(self):
        """This rank's part of the global array, as slices."""
        parts = zip(self._p0.substart, self._p0.subshape)
        return tuple(slice(0, n) for n in self.shape[:self.rank]) + tuple(slice(s, s + n) for s, n in parts)

    def get(self, gslice):
        """Part of the global array on rank 0 of MPI.COMM_WORLD, None on the others.

        Args:
            gslice: slice(None) or a global index for each axis
        Collective on MPI.COMM_WORLD.
        """
        gslice = _arguments.agreed(comm, check_slices, "gslice", gslice, self.global_shape)["gslice"]
        gslice = [slice(None) if index is None else index for index in gslice]
        mine = self.local_slice()
        local, inside = [], True
        for index, part in zip(gslice, mine):
            if isinstance(index, slice):
                local.append(index)
            else:
                inside = inside and part.start <= index < part.stop
                local.append(index - part.start)
        kept = [axis for axis, index in enumerate(gslice) if isinstance(index, slice)]
        piece = (tuple(mine[axis] for axis in kept), np.array(self.v[tuple(local)])) if inside else None
        pieces = comm.gather(piece)
        if comm.Get_rank() != 0:
            return None
        result = np.empty([self.global_shape[axis] for axis in kept], self.dtype)
        for where, values in filter(None, pieces):
            result[where] = values
        return result

    def get_pencil_and_transfer(self, axis):
        """The pencil in which `axis` is whole, and the exchange to it. Collective."""
        axis, failure = _arguments.attempt(_arguments.axis, "axis", axis, self.dimensions)
        _arguments.agree_along(self._p0.subcomm, failure)
        pencil = self._p0.pencil(axis)
        return pencil, self._p0.transfer(pencil, self.dtype)

    def _axis_to(self, axis, out):
        """The axis that becomes whole; None = that of `out`."""
        if axis is None and out is None:
            raise TypeError("axis is None, and so is out; one of them is given")
        if axis is not None:
            axis = _arguments.axis("axis", axis, self.dimensions)
        if out is None:
            return axis
        _arguments.instance("out", out, DistArray, "a DistArray")
        if out.global_shape != self.global_shape or out.dtype != self.dtype:
            raise ValueError(f"out is of {out.dtype} and the global shape {out.global_shape}; this array is of "
                             f"{self.dtype} and {self.global_shape}")
        if axis not in (None, out.alignment):
            raise ValueError(f"axis is {axis}; it is the axis {out.alignment} along which out is whole")
        return axis

    def redistribute(self, axis=None, out=None):
        """The same global array with another axis whole.

        Args:
            axis: the axis that becomes whole; None = that of `out`
            out: where it goes; None = a new array
        Returns:
            out; this array, if it has that axis whole already
        Collective.
        """
        axis, failure = _arguments.attempt(self._axis_to, axis, out)
        _arguments.agree_along(self._p0.subcomm, failure)
        if axis == self.alignment:
            return self
        if axis is not None and self.commsizes[self.rank + axis] == 1:  # whole too
            self._p0 = self._p0.pencil(axis)
            return self
        if out is not None:
            axis = out.alignment
            if self.commsizes == out.commsizes:
                out[...] = self
                return out
        pencil, transfer = self.get_pencil_and_transfer(axis)
        if out is None:
            out = DistArray(self.global_shape, subcomm=pencil.subcomm, dtype=self.dtype, alignment=axis,
                            rank=self.rank)
        for index in np.ndindex(*self.shape[:self.rank]):
            transfer.forward(self.v[index], out.v[index])
        transfer.destroy()
        return out

    def write(self, filename, name="darray", step=0, global_slice=None, domain=None, as_scalar=False):
        """Writes the array to a file.

        Args:
            filename: name (.h5 for HDF5, else NetCDF), or an HDF5File or NCFile
            name: of the field in the file
            step: number of the snapshot
            global_slice: None = all; else slice(None) or a global index for each axis
            domain: (origin, length) or an array of coordinates for each axis
            as_scalar: write the components of a tensor as fields of their own
        Collective on MPI.COMM_WORLD.
        """
        file = _file(filename, name, domain=domain, mode="a")
        file.write(step, {name: [self if global_slice is None else (self, global_slice)]}, as_scalar=as_scalar)

    def read(self, filename, name="darray", step=0):
        """Reads what write() wrote of whole arrays. Collective on MPI.COMM_WORLD."""
        file = _file(filename, name, mode="r")
        file.read(self, name, step=step)


def newDistArray(pfft, forward_output=True, val=0, rank=0, view=False):
    """An array for one side of a PFFT.

    Args:
        pfft: the transform
        forward_output: True = the spectral side, False = the physical one
        val: value of all elements
        rank: 0 for a scalar field, 1 for a vector with as many components as axes, 2 for a matrix
        view: return a plain numpy.ndarray, whose `base` is the DistArray
    """
    shape = pfft.global_shape(_arguments.flag("forward_output", forward_output))
    _arguments.integer("rank", rank, 0)
    pencil = pfft.pencil[bool(forward_output)]
    array = DistArray((len(shape),) * rank + tuple(shape), subcomm=pencil.subcomm, val=val,
                      dtype=pfft.dtype(bool(forward_output)), alignment=pencil.axis, rank=rank)
    return array.v if view else array


def Function(*args, **kwargs):
    """The old name of newDistArray; tensor=True is rank=1."""
    import warnings
    warnings.warn("Function() is deprecated; use newDistArray().", FutureWarning)
    if kwargs.pop("tensor", None):
        kwargs["rank"] = 1
    return newDistArray(*args, **kwargs)
