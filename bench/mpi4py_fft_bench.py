#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times mpi4py-fft as fftnd-bench does and prints the same JSON keys; run under mpirun.

Every round starts from the same field, waits at a barrier, and transforms forward and backward
without scaling; its time is that of the slowest rank. mpi4py-fft works on its own arrays, so that
nothing is copied in between, and plans with FFTW_MEASURE. It can transform neighbouring axes one
by one (its default) or at once ("collapse"); both are measured, round by round.
"""
import argparse
import json
import sys

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT

COMM = MPI.COMM_WORLD
TYPES = {("c2c", "double"): "D", ("c2c", "float"): "F", ("r2c", "double"): "d", ("r2c", "float"): "f"}


def numbers(text, separators):
    for separator in separators:
        text = text.replace(separator, " ")
    return [int(word) for word in text.split()]


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", default="256,256,256", help="global extents")
    parser.add_argument("--kind", default="r2c", choices=["c2c", "r2c"])
    parser.add_argument("--precision", default="double", choices=["double", "float"])
    parser.add_argument("--grid", default="0", help="process grid, such as 2 or 2x1; 0 = choose")
    parser.add_argument("--iters", type=int, default=20, help="measured rounds")
    parser.add_argument("--warmup", type=int, default=3, help="rounds before these")
    parser.add_argument("--samples", action="store_true", help="print the time of every round too")
    options = parser.parse_args()
    options.shape = numbers(options.shape, ",")
    options.grid = numbers(options.grid, "x,")
    return options


class Candidate:
    """One candidate, with the times of its rounds: forward, backward, pair."""

    def __init__(self, options, collapse):
        begin = MPI.Wtime()
        grid = None if options.grid == [0] else [size or -1 for size in options.grid]
        self.fft = PFFT(COMM, options.shape, dtype=TYPES[options.kind, options.precision],
                        grid=grid, collapse=collapse)
        self.plan_ms = 1e3 * (MPI.Wtime() - begin)
        self.method = "collapse" if collapse else "default"
        self.times = []
        generator = np.random.default_rng(1 + COMM.Get_rank())
        physical = self.fft.forward.input_array
        self.field = np.empty_like(physical)
        self.field.real = generator.uniform(-1, 1, physical.shape)
        if options.kind == "c2c":
            self.field.imag = generator.uniform(-1, 1, physical.shape)

    def grid(self):
        """Process grid without the trailing ones that stand for whole axes."""
        sizes = [comm.Get_size() for comm in self.fft.subcomm]
        while len(sizes) > 1 and sizes[-1] == 1:
            sizes.pop()
        return sizes

    def run(self):
        self.fft.forward.input_array[...] = self.field
        COMM.Barrier()
        begin = MPI.Wtime()
        self.fft.forward(normalize=False)
        middle = MPI.Wtime()
        self.fft.backward(normalize=False)
        end = MPI.Wtime()
        return [middle - begin, end - middle, end - begin]

    def max_error(self, options):
        self.run()
        found = self.fft.backward.output_array / np.prod(options.shape, dtype=float)
        largest = [0.0, 0.0]
        if self.field.size:
            largest = [np.abs(found - self.field).max(), np.abs(self.field).max()]
        return COMM.allreduce(float(largest[0]), MPI.MAX) / COMM.allreduce(float(largest[1]), MPI.MAX)


def report(options, candidate):
    milliseconds = np.array(candidate.times) * 1e3
    COMM.Allreduce(MPI.IN_PLACE, milliseconds, MPI.MAX)
    forward, backward, pair = np.median(milliseconds, axis=0)
    line = {"benchmark": "fftnd-bench", "library": "mpi4py-fft", "method": candidate.method,
            "chosen": candidate.method, "ordering": "chain", "placement": "out-of-place",
            "shape": options.shape, "kind": options.kind, "precision": options.precision,
            "grid": candidate.grid(), "batch": 1,
            "space": "host", "memory": "malloc", "ranks": COMM.Get_size(), "iters": options.iters,
            "pair_ms_min": milliseconds[:, 2].min(), "pair_ms_median": pair,
            "forward_ms_median": forward, "backward_ms_median": backward,
            "exchange_ms_median": None, "serial_ms_median": None,
            "max_error": candidate.max_error(options), "workspace_bytes": None,
            "plan_ms": candidate.plan_ms}
    if options.samples:
        line["pair_ms_samples"] = milliseconds[:, 2].tolist()
    if COMM.Get_rank() == 0:
        print(json.dumps(line, separators=(",", ":")), flush=True)


def main():
    options = read_options()
    candidates = [Candidate(options, collapse) for collapse in (False, True)]
    for round_number in range(-options.warmup, options.iters):
        for candidate in candidates:
            seconds = candidate.run()
            if round_number >= 0:
                candidate.times.append(seconds)
    for candidate in candidates:
        report(options, candidate)
    return 0


if __name__ == "__main__":
    sys.exit(main())
