# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays in HDF5 files."""
import numpy as np

from .file_base import FileBase, comm


class HDF5File(FileBase):
    """An HDF5 file. Snapshot 0 of field u is the dataset u/3D/0; a slice of it u/2D/slice_4_slice/0.

    Args:
        h5name: its name
        domain: (origin, length) or an array of coordinates for each axis; None = (0, 2 pi)
        mode: "r", "w" or "a"
        kw: further arguments of h5py.File
    Collective on MPI.COMM_WORLD.
    """

    def __init__(self, h5name, domain=None, mode="a", **kw):
        super().__init__(h5name, domain)
        if mode != "r":
            self._create(lambda: self._open(mode, **kw).close())

    @staticmethod
    def backend():
        return "hdf5"

    @staticmethod
    def _is_parallel():
        import h5py
        return bool(h5py.get_config().mpi)

    def _open(self, mode, **kw):
        import h5py
        if self._is_parallel():
            kw.update(driver="mpio", comm=comm)
        return h5py.File(self.filename, mode, **kw)

    def open(self, mode="r+"):
        self.f = self._open(mode)

    def _check_domain(self, group, field):
        if self.domain is None:
            self.domain = ((0, 2 * np.pi),) * field.dimensions
        self._check_axes(field.dimensions)
        place = self.f.require_group(group)
        place.attrs.setdefault("shape", field.pencil.shape)
        place.attrs.setdefault("rank", field.rank)
        shape = tuple([int(n) for n in place.attrs["shape"]])
        if field.rank != place.attrs["rank"] or tuple(field.pencil.shape) != shape:
            raise ValueError(f"{group} is a field of the shape {field.pencil.shape} and rank {field.rank}; in "
                             f"{self.filename} it has {shape} and {place.attrs['rank']}")
        for i, axis in enumerate(self.domain):
            values = np.squeeze(axis) if isinstance(axis, np.ndarray) else np.array([axis[0], axis[1]])
            kind = "mesh" if isinstance(axis, np.ndarray) else "domain"
            place.require_group(kind).require_dataset(f"x{i}", shape=values.shape, dtype=values.dtype, data=values)

    def _write_group(self, name, u, step, **kw):
        place = self.f.require_group(f"{name}/{u.dimensions}D")
        data = place.require_dataset(str(step), shape=u.global_shape, dtype=u.dtype)
        data[u.local_slice()] = u.v

    def _write_slice_step(self, name, step, slices, field, **kw):
        local, axes, inside = self._local(slices, field)
        ndims = sum(isinstance(one, slice) for one in slices)
        place = self.f.require_group(f"{name}/{ndims}D/{self._get_slice_name(slices)}")
        data = place.require_dataset(str(step), shape=tuple(field.global_shape[axis] for axis in axes),
                                     dtype=field.dtype)
        if inside:
            mine = field.local_slice()
            data[tuple(mine[axis] for axis in axes)] = field.v[local]

    def read(self, u, name, **kw):
        self.open("r")
        u[...] = self._stored(f"{name}/{u.dimensions}D/{kw.get('step', 0)}")[u.local_slice()]
        self.close()
