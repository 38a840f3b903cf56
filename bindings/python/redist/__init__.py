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

Arrays are those of NumPy, and any with __cuda_array_interface__ or __dlpack__ (CuPy, PyTorch, JAX); none is copied.
A call fails on all ranks if it fails on one: with Error, whose text names the argument, its value and the rank. All
ranks of the communicator call a "collective" function, in the same order; what may differ between ranks is said.
"""
from mpi4py import MPI as _MPI  # noqa: F401 the MPI library is loaded by mpi4py, from where it finds it

from ._redist import (AnyPlan, ArgumentError, Box, Error, Grid, Halo, HaloPlan, Memory, OutOfMemory, Plan,
                      _check_mpi, as_array, collect, decompose, empty, exchange, forget_wisdom, methods, subcomm, version, zeros)

_check_mpi()

__version__ = ".".join(str(number) for number in version())
__all__ = ["AnyPlan", "ArgumentError", "Box", "Error", "Grid", "Halo", "HaloPlan", "Memory", "OutOfMemory", "Plan",
           "as_array", "collect", "decompose", "empty", "exchange", "forget_wisdom", "methods", "subcomm", "version", "zeros"]
