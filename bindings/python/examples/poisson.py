#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves Poisson's equation, laplace(u) = f, in a periodic box, and compares with the solution.

    mpiexec -n 4 python3 poisson.py [points along each axis]
"""
import sys

import numpy as np
from mpi4py import MPI

import fftnd

comm = MPI.COMM_WORLD
n = int(sys.argv[1]) if len(sys.argv) > 1 else 64
shape = (n, n + 2, n - 1)
plan = fftnd.Plan(comm, shape, "r2c")

x, y, z = (2 * np.pi / points * np.arange(part.start, part.stop)
           for points, part in zip(shape, plan.physical_slices))
x, y, z = x[:, None, None], y[None, :, None], z[None, None, :]
solution = np.sin(2 * x) * np.cos(3 * y) + np.cos(x + z)
f = plan.empty_physical()
f[...] = -13 * np.sin(2 * x) * np.cos(3 * y) - 2 * np.cos(x + z)

u = plan.apply("inverse_laplacian", f)  # of mean 0

error = comm.allreduce(np.abs(u - solution).max(initial=0), MPI.MAX)
if comm.rank == 0:
    print(f"{comm.size} ranks, {shape}: largest error {error:.1e}")
sys.exit(int(error > 1e-12))
