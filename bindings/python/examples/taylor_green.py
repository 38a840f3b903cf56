#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Taylor-Green vortex: incompressible flow in a periodic box, spectral, with the 2/3 rule and Runge-Kutta steps.

    mpiexec -n 4 python3 taylor_green.py [--points 64] [--end 2.0] [--cuda] [--plot vorticity.png]
"""
import argparse

import numpy as np
from mpi4py import MPI

import fftnd

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--points", type=int, default=32)
parser.add_argument("--end", type=float, default=1.0)
parser.add_argument("--cuda", action="store_true", help="arrays of CuPy, on one device for each rank")
parser.add_argument("--plot", help="draw the vorticity of the middle plane to this file")
options = parser.parse_args()
comm, n, nu, dt = MPI.COMM_WORLD, options.points, 1 / 1600, 0.01
if options.cuda:
    import cupy as xp
    xp.cuda.Device(comm.rank % xp.cuda.runtime.getDeviceCount()).use()
else:
    xp = np
plan = fftnd.Plan(comm, (n, n, n), "r2c", batch=3, grid=1, space="cuda" if options.cuda else "host")

x, y, z = np.meshgrid(*(2 * np.pi / n * np.arange(s.start, s.stop) for s in plan.physical_slices), indexing="ij")
velocity, vorticity, product = (plan.empty_physical() for _ in range(3))
velocity[0] = xp.asarray(np.sin(x) * np.cos(y) * np.cos(z))
velocity[1] = xp.asarray(-np.cos(x) * np.sin(y) * np.cos(z))
velocity[2] = 0
k = [xp.asarray(plan.wavenumbers(axis, broadcast=True)) for axis in range(3)]
k2 = k[0] ** 2 + k[1] ** 2 + k[2] ** 2
k2_or_one = xp.where(k2 == 0, 1, k2)
keep = (abs(k[0]) < n / 3) * (abs(k[1]) < n / 3) * (abs(k[2]) < n / 3)
u, curl, rhs = plan.forward(velocity, plan.empty_spectral()), plan.empty_spectral(), plan.empty_spectral()


def cross(a, b, out):
    for i in range(3):
        out[i] = a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2]


def slope(u):
    """du/dt = velocity x vorticity - grad(p) - nu k^2 u, in modes."""
    cross([1j * one for one in k], u, curl)
    plan.backward(u, velocity)
    plan.backward(curl, vorticity)
    cross(velocity, vorticity, product)
    plan.forward(product, rhs)
    rhs[...] *= keep
    pressure = sum(k[i] * rhs[i] for i in range(3)) / k2_or_one
    for i in range(3):
        rhs[i] -= k[i] * pressure + nu * k2 * u[i]
    return rhs


for step in range(round(options.end / dt)):
    start, total = u.copy(), u.copy()
    for a, b in ((1 / 6, 0.5), (1 / 3, 0.5), (1 / 3, 1), (1 / 6, 0)):
        change = slope(u)
        total += a * dt * change
        u[...] = start + b * dt * change
    u[...] = total
energy = comm.allreduce(float((plan.backward(u, velocity) ** 2).sum())) / 2 / n ** 3
if comm.rank == 0:
    print(f"{comm.size} ranks, {n}^3 points, t = {options.end}: energy {energy:.6f}")
if options.plot:
    slope(u)  # leaves the vorticity of this time
    plane = np.zeros((n, n))
    if plan.physical_slices[0].start <= n // 2 < plan.physical_slices[0].stop:
        strength = (vorticity[:, n // 2 - plan.physical_slices[0].start] ** 2).sum(0) ** 0.5
        plane[...] = strength.get() if options.cuda else strength
    comm.Allreduce(MPI.IN_PLACE, plane)
    if comm.rank == 0:
        from matplotlib import image
        image.imsave(options.plot, plane, cmap="viridis", origin="lower")
