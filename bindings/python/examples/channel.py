#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Heat between two walls: diffusion in a channel that is periodic in x and z and insulated in y. The modes are Fourier
modes along x and z and cosines along y, and each decays by itself.

    mpiexec -n 4 python3 channel.py [points along each axis]
"""
import sys

import numpy as np
from mpi4py import MPI

import fftnd

comm = MPI.COMM_WORLD
n = int(sys.argv[1]) if len(sys.argv) > 1 else 48
shape = (n, n // 2, n)
time, conductivity = 0.3, 0.1
plan = fftnd.Plan(comm, shape, ["c2c", "dct2", "r2c"])

x, y, z = plan.physical_slices
x = (2 * np.pi / shape[0] * np.arange(x.start, x.stop))[:, None, None]
y = (np.pi / shape[1] * (np.arange(y.start, y.stop) + 0.5))[None, :, None]  # walls at 0 and pi
z = (2 * np.pi / shape[2] * np.arange(z.start, z.stop))[None, None, :]


def heat(t):
    """A solution of dT/dt = conductivity laplace(T) without flux through the walls."""
    return (1 + np.exp(-conductivity * t * (4 + 9 + 1)) * np.cos(2 * x) * np.cos(3 * y) * np.sin(z)
            + np.exp(-conductivity * t) * np.cos(y))


temperature = plan.empty_physical()
temperature[...] = heat(0)
modes = plan.forward(temperature)
k2 = sum(plan.wavenumbers(axis, broadcast=True) ** 2 for axis in range(3))
modes *= np.exp(-conductivity * time * k2)
plan.backward(modes, temperature)

error = comm.allreduce(np.abs(temperature - heat(time)).max(initial=0), MPI.MAX)
if comm.rank == 0:
    print(f"{comm.size} ranks, {shape}: largest error {error:.1e}")
sys.exit(int(error > 1e-12))
