# SPDX-License-Identifier: BSD-3-Clause
"""Common part of files of distributed arrays."""
import contextlib

import numpy as np
from mpi4py import MPI

from redist import _arguments

comm = MPI.COMM_WORLD


def check_slices(name, slices, shape):
    """Indices of an array of this shape, in which None stands for a whole axis."""
    values = _arguments.sequence(name, slices, "slice(None) or indices", len(shape), "axis")
    return {name: [None if isinstance(one, slice) and one == slice(None) else _arguments.axis(f"{name}[{i}]", one, n)
                   for i, (one, n) in enumerate(zip(values, shape))]}


def check_fields(fields):
    """The data to be written: from names to arrays, or to pairs of an array and slices."""
    found = []
    _arguments.instance("fields", fields, dict, "a dictionary from names to lists of arrays")
    for group, arrays in fields.items():
        _arguments.instance("a name in fields", group, str, "a string")
        _arguments.instance(f"fields[{group!r}]", arrays, (tuple, list), "a list of arrays, or of pairs (array, slices)")
        for i, field in enumerate(arrays):
            name = f"fields[{group!r}][{i}]"
            pair = field if isinstance(field, (tuple, list)) else (field, None)
            if len(pair) != 2 or getattr(pair[0], "pencil", None) is None:
                raise TypeError(f"{name} is {_arguments.shown(field)}; it is a DistArray, or a pair (DistArray, slices)")
            if pair[1] is not None:
                check_slices(f"{name}[1]", pair[1], pair[0].global_shape[pair[0].rank:])
            found.append((group, pair[0].global_shape, pair[0].rank))
    return {"fields": found}


class FileBase:
    """A file of snapshots of distributed arrays.

    Where the file's library works with MPI, all ranks write at once; else one rank after the other opens the file.

    Args:
        filename: its name
        domain: (origin, length) or an array of coordinates for each axis
    """

    def __init__(self, filename=None, domain=None):
        self.f = None
        self.filename = filename
        self.domain = domain

    @staticmethod
    def backend():
        """The name of the file format's library."""
        raise NotImplementedError

    @staticmethod
    def _is_parallel():
        """Whether the library opens files with MPI."""
        raise NotImplementedError

    def open(self, mode="r+"):
        """Opens the file: on all ranks, if the library works with MPI."""
        raise NotImplementedError

    def close(self):
        """Closes the file."""
        self.f.close()

    def _turns(self):
        """Opens the file for writing on all ranks at once, or on one rank after the other."""
        return self._all_at_once() if self._is_parallel() else self._one_by_one()

    @contextlib.contextmanager
    def _all_at_once(self):
        self.open()
        try:
            yield
        finally:
            self.close()

    @contextlib.contextmanager
    def _one_by_one(self):
        """Rank 0 first; nobody goes on before all have written."""
        for turn in range(comm.Get_rank() + 1):
            comm.Barrier()
        try:
            with self._all_at_once():
                yield
        finally:
            for turn in range(comm.Get_rank(), comm.Get_size()):
                comm.Barrier()

    def _create(self, create):
        """Makes the file: on all ranks, or on rank 0."""
        if self._is_parallel():
            create()
            return
        comm.Barrier()  # nobody reads or removes the file any more
        if comm.Get_rank() == 0:
            create()
        comm.Barrier()

    def _check_domain(self, group, field):
        """Declares the mesh of a field, unless that is done."""
        raise NotImplementedError

    def _stored(self, path):
        """A field of the open file."""
        try:
            return self.f[path]
        except (KeyError, IndexError):
            raise ValueError(f"{self.filename} has no {path}") from None

    def _check_axes(self, ndims):
        if len(self.domain) != ndims:
            raise ValueError(f"domain has {len(self.domain)} pairs or arrays; it has {ndims}, one for each axis")

    def _write_group(self, name, u, step, **kw):
        raise NotImplementedError

    def _write_slice_step(self, name, step, slices, field, **kw):
        raise NotImplementedError

    def _write_fields(self, step, fields, as_scalar=False, **kw):
        for group, list_of_fields in fields.items():
            for field in list_of_fields:
                u, where = field if isinstance(field, (tuple, list)) else (field, None)
                tensor = u.shape[:u.rank] if as_scalar else ()
                for index in np.ndindex(*tensor):
                    name = group + "".join(str(i) for i in index)
                    part = u if not index else u[index[0]] if len(index) == 1 else u[index]
                    self._check_domain(name, part)
                    if where is None:
                        self._write_group(name, part, step, **kw)
                    else:
                        self._write_slice_step(name, step, where, part, **kw)

    def write(self, step, fields, **kw):
        """Writes a snapshot.

        Args:
            step: its number
            fields: from names to lists of arrays, or of pairs (array, slices), with slice(None) or a global index for
                each axis
            as_scalar: write the components of tensors as fields of their own
        Collective on MPI.COMM_WORLD.
        """
        self._check_write(step, fields)
        with self._turns():
            self._write_fields(step, fields, **kw)

    @staticmethod
    def _check_write(step, fields):
        """Refuses wrong arguments on all ranks, before the first one opens the file."""
        _arguments.agreed(comm, lambda: {"step": _arguments.integer("step", step, 0), **check_fields(fields)})

    def read(self, u, name, **kw):
        """Reads a whole array.

        Args:
            u: DistArray that is filled
            name: of the field
            step: number of the snapshot
        Collective on MPI.COMM_WORLD.
        """
        raise NotImplementedError

    @staticmethod
    def _get_slice_name(slices):
        """As in "slice_4_slice"."""
        return "_".join("slice" if isinstance(one, slice) else str(one) for one in slices)

    @staticmethod
    def _local(slices, field):
        """The local slices of global ones, the remaining axes, and whether this rank has a part of them."""
        slices = (slice(None),) * field.rank + tuple(slices)
        local, inside = [], True
        for index, mine in zip(slices, field.local_slice()):
            if isinstance(index, slice):
                local.append(index)
            else:
                inside = inside and mine.start <= index < mine.stop
                local.append(index - mine.start)
        axes = [axis for axis, index in enumerate(slices) if isinstance(index, slice)]
        return tuple(local), axes, inside
