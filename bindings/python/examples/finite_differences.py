#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Laplacian of one field in a periodic box, by central differences of second to eighth order, which read ghosts,
and by the operator of fftnd.

    mpiexec -n 2 python3 finite_differences.py [FOLDER]

Prints the largest errors on some numbers of points, and writes them to FOLDER for
examples/finite_differences/draw.gp.
"""
import math
import os
import sys

import numpy as np
from mpi4py import MPI

import fftnd
import redist

comm = MPI.COMM_WORLD
orders, grids = (2, 4, 6, 8), (16, 32, 64)


def coefficients(order):
    """Of the points at distances 0, 1, ... in the second derivative, with the distance of points 1."""
    p = order // 2
    c = [2 * (-1) ** (k + 1) * math.factorial(p) ** 2 / (math.factorial(p - k) * math.factorial(p + k) * k**2)
         for k in range(1, p + 1)]
    return [-2 * sum(c), *c]


def differences(u, box, h, order):
    """The Laplacian on the points of a box in an array with ghosts."""
    c = coefficients(order)
    result = 3 * c[0] * u[box.local]
    for k in range(1, len(c)):
        for axis in range(3):
            result += c[k] * (u[box.neighbours(axis, k)] + u[box.neighbours(axis, -k)])
    return result / h**2


def errors(n):
    """The largest errors of all orders, and that of the operator, in fractions of the largest value."""
    transform = fftnd.Plan(comm, (n, n, n), "r2c", effort="estimate")
    parts = transform.physical_slices
    x, y, z = np.ix_(*(2 * np.pi / n * np.arange(n)[part] for part in parts))
    field = np.exp(np.sin(x) + np.sin(y) + np.sin(z))
    exact = field * (np.cos(x)**2 + np.cos(y)**2 + np.cos(z)**2 - np.sin(x) - np.sin(y) - np.sin(z))

    box = redist.Box([part.start for part in parts], field.shape).with_ghosts(4)
    u = redist.empty(box.extent, comm=comm)
    with redist.HaloPlan(comm, u, box, 4, shape=(n, n, n), periodic=True) as ghosts:
        ghosts.interior()[...] = field
        ghosts.start()
        spectral = transform.apply("laplacian", field)  # while the ghosts travel
        ghosts.wait()
    found = [*(differences(u, box, 2 * np.pi / n, order) for order in orders), spectral]
    worst = np.array([np.abs(one - exact).max(initial=0) for one in found] + [np.abs(exact).max(initial=0)])
    comm.Allreduce(MPI.IN_PLACE, worst, MPI.MAX)
    transform.free()
    return worst[:-1] / worst[-1]


def write(table, file):
    """A line for each order, a column for each number of points."""
    print("order   ", *(f"{f'{n}^3':>7}" for n in grids), file=file)
    for name, row in zip([*orders, "spectral"], table):
        print(f"{name!s:8}", *(f"{error:.1e}" for error in row), file=file)


table = np.array([errors(n) for n in grids]).T
if comm.rank == 0:
    write(table, sys.stdout)
    if len(sys.argv) > 1:
        with open(os.path.join(sys.argv[1], "finite_differences.dat"), "w", encoding="utf-8") as file:
            write(table, file)
measured = np.log2(table[:-1, -2] / table[:-1, -1])
sys.exit(int(np.abs(measured - orders).max() > 0.5 or table[-1, -1] > 1e-11))
