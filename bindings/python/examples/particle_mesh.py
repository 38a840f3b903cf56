#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Forces between charged particles in a periodic box, by smooth particle-mesh Ewald, compared with direct sums.

    mpiexec -n 4 python3 particle_mesh.py [--points 32] [--plot potential.png]
"""
import argparse
import math
import sys

import numpy as np
from mpi4py import MPI

import fftnd
import redist

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--points", type=int, default=32, help="of the mesh along each axis")
parser.add_argument("--plot", help="draw the potential of the mesh in the middle plane to this file")
options = parser.parse_args()
comm, n, edge = MPI.COMM_WORLD, options.points, 8
shape = np.array((n, n + 1, n - 1))

# Charges 1 and -1 near the points of a lattice, in a box whose edges have length 1; all ranks have the same
lattice = np.indices((edge, edge, edge)).reshape(3, -1).T
positions = (lattice + 0.5 + np.random.default_rng(1).uniform(-0.2, 0.2, lattice.shape)) / edge
charges = 1 - 2 * (lattice.sum(1) % 2)

# This rank's brick of the mesh. Splines are shifted by one point, so that all ghosts are behind it
grid = redist.Grid(comm, 3)
box = grid.box(shape.tolist(), (0, 1, 2)).with_ghosts(0, 3)
charge, potential = (redist.zeros(box.extent, comm=comm) for _ in range(2))
plan = fftnd.Plan(comm, shape.tolist(), "r2c", scaling="none", box=(box, None), accumulate_ghosts=True,
                  ghosts=redist.Halo(0, 3, periodic=True, corners=True))

cells = np.floor(positions * shape).astype(int)
mine = ((cells >= box.start) & (cells < np.add(box.start, box.count))).all(1)
x, q = positions[mine], charges[mine]


def influence(modes):
    """The potential of Gaussians exp(-alpha^2 r^2), corrected for what splines do when they spread and gather."""
    k2 = sum(k ** 2 for k in modes.k)
    factor = 1 / (np.pi * np.where(k2 == 0, np.inf, k2))
    for k, points in zip(modes.k, shape):
        factor = factor * np.exp(-(np.pi * k / alpha) ** 2) * (3 / (2 + np.cos(2 * np.pi * k / points))) ** 2
    modes.outputs[0][...] = factor * modes.inputs[0]


def mesh_forces():
    cell = cells[mine]
    f = x * shape - cell
    g = 1 - f
    value = np.stack([g ** 3, (3 * f - 6) * f ** 2 + 4, (3 * g - 6) * g ** 2 + 4, f ** 3]) / 6  # point, particle, axis
    slope = np.stack([-g ** 2, (3 * f - 4) * f, -(3 * g - 4) * g, f ** 2]) / 2 * shape
    i, j, k = ((cell - box.start)[:, axis] + np.arange(4)[:, None] for axis in range(3))
    at = i[:, None, None], j[None, :, None], k[None, None, :]

    def weights(of_axis):
        return np.einsum("ip,jp,kp->ijkp", *(factor[:, :, axis] for axis, factor in enumerate(of_axis)))

    charge[...] = 0
    np.add.at(charge, at, q * weights([value] * 3))
    solve(charge[box.local], out=potential[box.local])  # adds the charge's ghosts, and fills the potential's
    around = potential[at]
    return -q[:, None] * np.stack([(around * weights([slope if axis == along else value for axis in range(3)]))
                                   .sum((0, 1, 2)) for along in range(3)], 1)


def pair_forces(alpha):
    """Of charges that Gaussians screen, up to half an edge of the box."""
    d = x[:, None] - positions
    d -= np.round(d)
    r = np.sqrt((d ** 2).sum(2))
    r[(r == 0) | (r > 0.5)] = np.inf
    slope = np.vectorize(math.erfc, [float])(alpha * r) / r + 2 * alpha / np.sqrt(np.pi) * np.exp(-(alpha * r) ** 2)
    return ((q[:, None] * charges * slope / r ** 2)[:, :, None] * d).sum(1)


def wave_forces(alpha):
    """Of these Gaussians, by a sum over waves; those of -k have the same forces as those of k."""
    reach, forces = math.ceil(5.3 * alpha / np.pi), np.zeros(x.shape)
    for kx in range(reach + 1):
        ky, kz = np.mgrid[-reach:reach + 1, -reach:reach + 1].reshape(2, -1)
        k = np.stack([np.full(ky.shape, kx), ky, kz])
        k2 = (k ** 2).sum(0)
        factor = (4 if kx else 2) * np.exp(-(np.pi / alpha) ** 2 * k2) / np.where(k2 == 0, np.inf, k2)
        total = np.exp(2j * np.pi * positions @ k).T @ charges
        forces += q[:, None] * ((np.conj(total) * np.exp(2j * np.pi * x @ k)).imag * factor @ k.T)
    return forces


def sum_of_squares(forces):
    return comm.allreduce(float((forces ** 2).sum()))


alpha = 7
solve = plan.operator("modes", function=influence)
forces = mesh_forces()
net_force = comm.allreduce(forces.sum(0))
forces += pair_forces(alpha) - net_force / len(charges)
direct = pair_forces(10) + wave_forces(10)
size = sum_of_squares(direct)
error, net = (math.sqrt(number / size) for number in (sum_of_squares(forces - direct), (net_force ** 2).sum()))
if comm.rank == 0:
    print(f"{comm.size} ranks, {len(charges)} particles, mesh {tuple(shape.tolist())}: error of forces {error:.1e} of "
          f"their rms, net force of the mesh {net:.1e}, taken out")
if options.plot:
    plane = np.zeros(shape[:2])
    middle = shape[2] // 2 - box.start[2]
    if 0 <= middle < box.count[2]:
        plane[box.slices[:2]] = potential[box.local][:, :, middle]
    comm.Allreduce(MPI.IN_PLACE, plane)
    if comm.rank == 0:
        from matplotlib import image
        image.imsave(options.plot, plane, cmap="RdBu", origin="lower")
sys.exit(int(not error < 1e-3))
