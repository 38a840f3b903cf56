# SPDX-License-Identifier: BSD-3-Clause
"""Moves N-dimensional arrays that are distributed over MPI ranks from one distribution to another.

    import numpy as np, redist
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    rows, _ = redist.decompose(64, comm.size, comm.rank)
    columns, _ = redist.decompose(48, comm.size, comm.rank)
    a = np.random.random((rows, 48))     # split along axis 0, whole along axis 1
    b = np.empty((64, columns))
    redist.exchange(comm, a, 1, b, 0)    # now whole along axis 0

write, read and to_numpy move distributed arrays to files and to one rank, a File in several calls, write_checkpoint and read_checkpoint several of
them with a program's parameters, and HDF5 to the files of h5py. A Field describes each of them.

Arrays are those of NumPy, and any with __cuda_array_interface__ or __dlpack__ (CuPy, PyTorch, JAX); none is copied.
A call fails on all ranks if it fails on one: with Error, whose text names the argument, its value and the rank. All
ranks of the communicator call a "collective" function, in the same order; what may differ between ranks is said.
"""
from importlib.util import find_spec as _find_spec

from mpi4py import MPI as _MPI  # noqa: F401 the MPI library is loaded by mpi4py, from where it finds it

from ._redist import (AnyPlan, ArgumentError, Box, CheckpointField, CheckpointInfo, Error, Field, File, Grid, Halo,
                      HaloPlan, Memory, OutOfMemory, Plan, Write, _check_mpi, as_array, checkpoint_info, collect, decompose,
                      empty, exchange, forget_wisdom, methods, read, read_checkpoint, subcomm, to_numpy, version, write, write_checkpoint,
                      write_checkpoint_start, write_start, zeros)

_check_mpi()

__version__ = ".".join(str(number) for number in version())
__all__ = ["AnyPlan", "ArgumentError", "Box", "CheckpointField", "CheckpointInfo", "Error", "Field", "File", "Grid", "Halo",
           "HaloPlan", "Memory", "OutOfMemory", "Plan", "Write", "as_array", "checkpoint_info", "collect", "decompose",
           "empty", "exchange", "forget_wisdom", "methods", "read", "read_checkpoint", "subcomm", "to_numpy", "version", "write",
           "write_checkpoint", "write_checkpoint_start", "write_start", "zeros"]
if _find_spec("redist._hdf5") is not None:
    __all__.append("HDF5")


def __getattr__(name):  # the library HDF5 is loaded where it is used
    if name != "HDF5":
        raise AttributeError(f"module 'redist' has no attribute {name!r}")
    if "HDF5" not in __all__:
        raise ImportError("this redist was built without HDF5: install HDF5 of its MPI library, or one without MPI (Debian: "
                          "libhdf5-openmpi-dev, libhdf5-mpich-dev or libhdf5-dev), and build redist again")
    from ._hdf5 import HDF5
    return HDF5
