# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays in NetCDF4 files."""
import os

import numpy as np

from .file_base import FileBase, comm


class NCFile(FileBase):
    """A NetCDF4 file. Field u is the variable u(time, x, y, z); a slice of it u_slice_4_slice(time, x, z). All
    fields of a file are written at the same steps. Complex fields cannot be written.

    Args:
        ncname: its name
        domain: (origin, end) or an array of coordinates for each axis; None = (0, 2 pi)
        mode: "r", "w" or "a"
        clobber: whether mode "w" replaces a file that exists
        kw: further arguments of netCDF4.Dataset
    Collective on MPI.COMM_WORLD.
    """
    _parallel = None

    def __init__(self, ncname, domain=None, mode="a", clobber=True, **kw):
        super().__init__(ncname, domain)
        self.dims = None
        if mode != "r":
            exists = comm.bcast(os.path.exists(ncname))
            mode = "w" if mode == "a" and not exists else mode
            self._create(lambda: self._make(mode, clobber, **kw))

    @staticmethod
    def backend():
        return "netcdf4"

    @classmethod
    def _is_parallel(cls):
        """netCDF4 tells since 1.3.1 how it was built."""
        if NCFile._parallel is None:
            import netCDF4
            NCFile._parallel = bool(getattr(netCDF4, "__has_parallel4_support__", False))
        return NCFile._parallel

    def _open(self, mode, **kw):
        from netCDF4 import Dataset
        if self._is_parallel():
            kw.update(parallel=True, comm=comm)
        return Dataset(self.filename, mode=mode, **kw)

    def _make(self, mode, clobber, **kw):
        file = self._open(mode, clobber=clobber, **kw)
        if "time" not in file.variables:
            file.createDimension("time", None)
            file.createVariable("time", float, ("time",))
        file.close()

    def open(self, mode="r+"):
        self.f = self._open(mode)

    def _collective(self, variable, value):
        if self._is_parallel():
            variable.set_collective(value)

    def _axis(self, name, values):
        if name not in self.f.variables:
            self.f.createDimension(name, len(values))
            self.f.createVariable(name, float, (name,))[:] = values
        self.dims.append(name)

    def _check_domain(self, group, field):
        shape = field.global_shape[field.rank:]
        if self.domain is None:
            self.domain = ((0, 2 * np.pi),) * len(shape)
        self._check_axes(len(shape))
        self.dims = ["time"]
        for name in "ijk"[:field.rank]:
            self._axis(name, np.arange(field.dimensions))
        for name, axis, n in zip("xyzrst", self.domain, shape):
            self._axis(name, np.linspace(axis[0], axis[1], n) if len(axis) == 2 else np.squeeze(axis))

    def write(self, step, fields, **kw):
        self._check_write(step, fields)
        with self._turns():
            time = self.f.variables["time"]
            self._collective(time, True)
            found = np.flatnonzero(np.asarray(time[:]) == step)
            at = int(found[0]) if len(found) else time.size
            if not len(found):
                time[at] = step
            self._write_fields(at, fields, **kw)

    def _variable(self, name, dtype, dims):
        if name in self.dims:
            raise ValueError(f"a field has the name {name!r}, which an axis of the file has; it has another one")
        if name not in self.f.variables:
            self.f.createVariable(name, dtype, dims)
        variable = self.f.variables[name]
        self._collective(variable, True)
        return variable

    def _write_group(self, name, u, step, **kw):
        variable = self._variable(name, u.dtype, self.dims)
        variable[(step,) + u.local_slice()] = u.v
        self.f.sync()

    def _write_slice_step(self, name, step, slices, field, **kw):
        local, axes, inside = self._local(slices, field)
        variable = self._variable(f"{name}_{self._get_slice_name(slices)}", field.dtype,
                                  ["time"] + [self.dims[axis + 1] for axis in axes])
        if step >= variable.shape[0] or self._is_parallel():
            variable[step] = 0  # the file grows, on all ranks
        self._collective(variable, False)
        if inside:
            mine = field.local_slice()
            variable[(step,) + tuple(mine[axis] for axis in axes)] = field.v[local]
        self._collective(variable, True)
        self.f.sync()

    def read(self, u, name, **kw):
        self.open("r")
        u[...] = self._stored(name)[(kw.get("step", 0),) + u.local_slice()]
        self.close()
