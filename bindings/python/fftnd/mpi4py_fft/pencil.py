# SPDX-License-Identifier: BSD-3-Clause
"""Process grids, aligned distributions, and exchanges between them."""
import numpy as np
from mpi4py import MPI

import redist


class Subcomm(tuple):
    """One communicator for each axis of an array: the ranks among which that axis is split.

    Args:
        comm: the ranks; one with a Cartesian topology is taken as it is
        dims: processes along each axis, where values < 1 are chosen; a number = as many axes, all chosen; None = one
        reorder: for the interface of mpi4py-fft; ranks keep their order
    Collective on comm.
    """

    def __new__(cls, comm, dims=None, reorder=True):
        if comm.Is_inter():
            raise AssertionError("an intercommunicator has no Cartesian grid")
        if comm.Get_topology() == MPI.CART:
            assert dims is None, "dims is for communicators without a topology"
            grid = comm
        else:
            dims = [0] if dims is None else [0] * dims if np.ndim(dims) == 0 else [max(0, int(n)) for n in dims]
            assert dims, "dims is empty"
            grid = comm.Create_cart(MPI.Compute_dims(comm.Get_size(), dims))
        ndims = grid.Get_dim()
        self = super().__new__(cls, [grid.Sub([i == j for j in range(ndims)]) for i in range(ndims)])
        self.comm = comm
        if grid is not comm:
            grid.Free()
        return self

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
    Collective on comm.
    """

    def __init__(self, comm, shape, dtype, subshapeA, axisA, subshapeB, axisB):
        self.comm = comm
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.subshapeA, self.axisA = tuple(subshapeA), axisA
        self.subshapeB, self.axisB = tuple(subshapeB), axisB
        self._plan = None
        if comm.Get_size() > 1:
            self._plan = redist.Plan(comm, self.subshapeA, axisA, self.subshapeB, axisB, dtype=self.dtype,
                                     bind="execution", effort="estimate")

    def _move(self, source, target, backward):
        a, b = (target, source) if backward else (source, target)
        assert a.shape == self.subshapeA and b.shape == self.subshapeB
        assert a.dtype == self.dtype and b.dtype == self.dtype
        if self._plan is None:
            target[...] = source
            return
        whole = np.ascontiguousarray(source)
        into = target if target.flags.c_contiguous else np.empty_like(target, order="C")
        if backward:
            self._plan.backward(whole, into)
        else:
            self._plan.forward(whole, into)
        if into is not target:
            target[...] = into

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
        ndims = len(shape)
        assert ndims >= 2 and min(shape) >= 1
        assert -ndims <= axis < ndims
        assert 1 <= len(subcomm) <= ndims
        axis %= ndims
        comms = list(subcomm)
        if len(comms) < ndims:
            comms += [MPI.COMM_SELF] * (ndims - 1 - len(comms))
            comms.insert(axis, MPI.COMM_SELF)
        assert comms[axis].Get_size() == 1
        parts = [redist.decompose(n, comm.Get_size(), comm.Get_rank()) for n, comm in zip(shape, comms)]
        self.shape = tuple(shape)
        self.axis = axis
        self.subcomm = tuple(comms)
        self.subshape = tuple(count for count, _ in parts)
        self.substart = tuple(start for _, start in parts)

    def pencil(self, axis):
        """The pencil in which `axis` is whole, and this one's whole axis split in its place."""
        assert -len(self.shape) <= axis < len(self.shape)
        axis %= len(self.shape)
        comms = list(self.subcomm)
        comms[axis], comms[self.axis] = comms[self.axis], comms[axis]
        return Pencil(comms, self.shape, axis)

    def transfer(self, pencil, dtype):
        """The exchange from this pencil to another one, whose whole axis is split here. Collective."""
        assert self.shape == pencil.shape and self.axis != pencil.axis
        for i in range(len(self.shape)):
            if i not in (self.axis, pencil.axis):
                assert self.subcomm[i] == pencil.subcomm[i] and self.subshape[i] == pencil.subshape[i]
        comm = self.subcomm[pencil.axis]
        assert comm == pencil.subcomm[self.axis]
        shape = list(self.subshape)
        shape[pencil.axis] = self.shape[pencil.axis]
        return Transfer(comm, shape, dtype, self.subshape, self.axis, pencil.subshape, pencil.axis)
