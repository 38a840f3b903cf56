# SPDX-License-Identifier: BSD-3-Clause
"""Distributed FFTs of any dimension over process grids of any dimension.

    import fftnd
    from mpi4py import MPI

    plan = fftnd.Plan(MPI.COMM_WORLD, (64, 48, 32), "r2c")
    field = plan.empty_physical()         # this rank's part, in memory that the ranks of a node share
    field[...] = 1.0
    spectrum = plan.forward(field)
    plan.backward(spectrum, out=field)    # divides by the number of points

Plan has every option of the C library (fftnd.h) as a keyword; rfftn, fftn, dctn and the like transform in one call;
fftnd.mpi4py_fft has the interface of mpi4py-fft. Arrays are those of NumPy, and with space="cuda" any with
__cuda_array_interface__ or __dlpack__ (CuPy, PyTorch, JAX). Errors are those of package redist.
"""
from redist import ArgumentError, Error, OutOfMemory, collect

from ._fftnd import Layout, Operator, OperatorBox, Plan, cache_clear, version
from ._functions import dctn, dstn, fftn, idctn, idstn, ifftn, irfftn, rfftn

__version__ = ".".join(str(number) for number in version())
__all__ = ["ArgumentError", "Error", "Layout", "Operator", "OperatorBox", "OutOfMemory", "Plan", "cache_clear", "collect", "dctn",
           "dstn", "fftn", "idctn", "idstn", "ifftn", "irfftn", "rfftn", "version"]
