# SPDX-License-Identifier: BSD-3-Clause
"""Process grids, aligned distributions, and exchanges between them."""
import numpy as np
from mpi4py import MPI

import redist
from redist import _arguments


class Subcomm(tuple):
    """One communicator for each axis of an array: the ranks among which that axis is split.

    Args:
        comm: the ranks; one with a Cartesian topology is taken as it is
        dims: processes along each axis, where values < 1 are chosen; a number = as many axes, all chosen; None = one
        reorder: for the interface of mpi4py-fft; ranks keep their order
    Collective on comm.
    """

    def __new__(cls, comm, dims=None, reorder=True):
        if _arguments.communicator("comm", comm).Is_inter():
            raise TypeError("comm is an intercommunicator, which has no Cartesian grid")
        dims = _arguments.agreed(comm, cls._check, comm, dims)["dims"]
        grid = comm if dims is None else comm.Create_cart(dims)
        ndims = grid.Get_dim()
        self = super().__new__(cls, [grid.Sub([i == j for j in range(ndims)]) for i in range(ndims)])
        self.comm = comm
        if grid is not comm:
            grid.Free()
        return self

    @staticmethod
    def _check(comm, dims):
        """The processes along each axis; None = those of the communicator's topology."""
        if comm.Get_topology() == MPI.CART:
            if dims is not None:
                raise ValueError(f"dims is {_arguments.shown(dims)}; it is for communicators without a topology")
            return {"dims": None}
        if dims is None or isinstance(dims, (int, np.integer)):
            given = [0] * _arguments.integer("dims", 1 if dims is None else dims, 1, 32)
        else:
            given = [max(0, n) for n in _arguments.integers("dims", dims)]
        fixed = int(np.prod([n for n in given if n > 0]))
        size = comm.Get_size()
        if not given or size % fixed != 0 or (0 not in given and fixed != size):
            raise ValueError(f"dims is {_arguments.shown(dims)}; the product of its values is the number of ranks, "
                             f"{size}, or divides it where values < 1 are chosen")
        return {"dims": MPI.Compute_dims(size, given)}

    def destroy(self):
        """Frees the communicators. Collective."""
        for comm in self:
            if comm != MPI.COMM_NULL:
                comm.Free()


class Transfer:
    """The exchange between two pencils.

    Args:
        comm: the ranks among which it happens
        shape: extents of the part of the array that these ranks have together
        dtype: type of the elements
        subshapeA, axisA: local extents before, and the axis that is whole then
        subshapeB, axisB: the same afterwards
    The first calls are MPI's own: a plan takes longer than they do, and pays when there are more. Collective on comm.
    """

    _calls_without_plan = 2

    def __init__(self, comm, shape, dtype, subshapeA, axisA, subshapeB, axisB):
        self.comm = _arguments.communicator("comm", comm)
        self._plan, self._calls = None, 0
        self.dtype, failure = _arguments.attempt(_arguments.dtype, "dtype", dtype)
        _arguments.agree(comm, failure)
        self.shape = tuple(shape)
        self.subshapeA, self.axisA = tuple(subshapeA), axisA
        self.subshapeB, self.axisB = tuple(subshapeB), axisB

    def _parts(self, array, axis):
        """An array, and the parts of it that go to, or come from, each rank: counts, offsets and types of MPI."""
        size, whole = self.comm.Get_size(), list(array.shape)
        element = MPI.BYTE.Create_contiguous(array.dtype.itemsize)
        counts, types = [], []
        for rank in range(size):
            part, start = list(whole), [0] * len(whole)
            part[axis], start[axis] = redist.decompose(whole[axis], size, rank)
            counts.append(int(0 not in part))
            types.append((element.Create_subarray(whole, part, start) if counts[-1] else element.Dup()).Commit())
        element.Free()
        return [array, (counts, [0] * size), types]

    def _move_once(self, source, target, backward):
        axes = (self.axisB, self.axisA) if backward else (self.axisA, self.axisB)
        messages = [self._parts(array, axis) for array, axis in zip((source, target), axes)]
        self.comm.Alltoallw(*messages)
        for datatype in messages[0][2] + messages[1][2]:
            datatype.Free()

    def _move(self, source, target, backward):
        a, b = (target, source) if backward else (source, target)
        _arguments.agree(self.comm, _arguments.attempt(self._check, a, b)[1])
        if self.comm.Get_size() == 1:
            target[...] = source
            return
        whole = np.ascontiguousarray(source)
        into = target if target.flags.c_contiguous else np.empty_like(target, order="C")
        self._calls += 1
        if self._calls <= self._calls_without_plan:
            self._move_once(whole, into, backward)
        else:
            if self._plan is None:
                self._plan = redist.Plan(self.comm, self.subshapeA, self.axisA, self.subshapeB, self.axisB, dtype=self.dtype,
                                         bind="execution", effort="estimate")
            (self._plan.backward if backward else self._plan.forward)(whole, into)
        if into is not target:
            target[...] = into

    def _check(self, a, b):
        for name, array, shape in (("arrayA", a, self.subshapeA), ("arrayB", b, self.subshapeB)):
            _arguments.instance(name, array, np.ndarray, "an array of NumPy")
            if array.dtype != self.dtype:
                raise TypeError(f"{name} is of {array.dtype}; the transfer is of {self.dtype}")
            if array.shape != shape:
                raise ValueError(f"{name} has the shape {array.shape}; this rank's part has {shape}")

    def forward(self, arrayA, arrayB):
        """Moves arrayA (subshapeA) to arrayB (subshapeB). Collective."""
        self._move(arrayA, arrayB, False)

    def backward(self, arrayB, arrayA):
        """Moves arrayB to arrayA. Collective."""
        self._move(arrayB, arrayA, True)

    def destroy(self):
        """Frees the plan. Collective."""
        if self._plan is not None:
            self._plan.free()


class Pencil:
    """A distribution of an array, in which one axis is whole on every rank.

    Args:
        subcomm: the ranks along each axis (a Subcomm or sequence); fewer than axes leave out whole ones
        shape: global extents
        axis: the axis that is whole
    """

    def __init__(self, subcomm, shape, axis=-1):
        shape = _arguments.integers("shape", shape, low=1)
        ndims = len(shape)
        if ndims < 2:
            raise ValueError(f"shape is {shape}; it has two axes or more")
        axis = _arguments.axis("axis", axis, ndims)
        comms = list(_arguments.instance("subcomm", subcomm, (tuple, list), "a Subcomm, or a sequence of communicators"))
        if not 1 <= len(comms) <= ndims:
            raise ValueError(f"subcomm has {len(comms)} communicators; it has one for each of {ndims} axes, or fewer")
        for i, comm in enumerate(comms):
            _arguments.communicator(f"subcomm[{i}]", comm)
        if len(comms) < ndims:
            comms += [MPI.COMM_SELF] * (ndims - 1 - len(comms))
            comms.insert(axis, MPI.COMM_SELF)
        if comms[axis].Get_size() != 1:
            raise ValueError(f"axis is {axis}, which {comms[axis].Get_size()} ranks share; it is whole")
        parts = [redist.decompose(n, comm.Get_size(), comm.Get_rank()) for n, comm in zip(shape, comms)]
        self.shape = tuple(shape)
        self.axis = axis
        self.subcomm = tuple(comms)
        self.subshape = tuple(count for count, _ in parts)
        self.substart = tuple(start for _, start in parts)

    def pencil(self, axis):
        """The pencil in which `axis` is whole, and this one's whole axis split in its place."""
        axis = _arguments.axis("axis", axis, len(self.shape))
        comms = list(self.subcomm)
        comms[axis], comms[self.axis] = comms[self.axis], comms[axis]
        return Pencil(comms, self.shape, axis)

    def __repr__(self):
        ranks = "x".join(str(comm.Get_size()) for comm in self.subcomm)
        return f"<Pencil of {self.shape} on {ranks} ranks, axis {self.axis} whole; this rank: {self.subshape}>"

    def transfer(self, pencil, dtype):
        """The exchange from this pencil to another one, whose whole axis is split here. Collective."""
        _arguments.instance("pencil", pencil, Pencil, "a Pencil")
        comm, changed = self.subcomm[pencil.axis], (self.axis, pencil.axis)
        others = [i for i in range(len(self.shape)) if i not in changed]
        if self.shape != pencil.shape or self.axis == pencil.axis or comm != pencil.subcomm[self.axis] or any(
                self.subcomm[i] != pencil.subcomm[i] for i in others):
            raise ValueError(f"pencil is {pencil!r}; it differs from {self!r} in which axis is whole, and in nothing else")
        shape = list(self.subshape)
        shape[pencil.axis] = self.shape[pencil.axis]
        return Transfer(comm, shape, dtype, self.subshape, self.axis, pencil.subshape, pencil.axis)
