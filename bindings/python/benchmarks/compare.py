#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times pairs of transforms from Python beside those of fftnd-bench (C) and of mpi4py-fft, in turns.

    python3 bindings/python/benchmarks/compare.py FFTND_BENCH [--ranks 2] [--shape 256,256,256] [--turns 3] [--iters 9]

Each turn starts fftnd-bench and the same work in Python, one after the other, with the plan that the first turn found
(a wisdom file); mpi4py-fft is in the processes of the last turn, round by round beside fftnd. A round is as in
fftnd-bench: barrier, forward, backward; its time is that of the slowest rank.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parents[3] / "bench"


def run_ranks(arguments):
    """The work of the ranks in a turn: bench/mpi4py_fft_bench.py, with fftnd as one more candidate."""
    sys.path.insert(0, str(BENCH))
    import mpi4py_fft_bench as bench
    import numpy as np
    from mpi4py import MPI

    import fftnd

    class Ours(bench.Candidate):
        method = "Python"

        def __init__(self, options):
            self.plan = fftnd.Plan(bench.COMM, options.shape, dtype=float, scaling="none", mapped_arrays=True)
            self.physical, self.spectral = self.plan.empty_physical(), self.plan.empty_spectral()
            self.field = np.random.default_rng(1 + bench.COMM.Get_rank()).uniform(-1, 1, self.physical.shape)
            self.times = []

        def run(self):
            self.physical[...] = self.field
            bench.COMM.Barrier()
            begin = MPI.Wtime()
            self.plan.forward(self.physical, self.spectral)
            middle = MPI.Wtime()
            self.plan.backward(self.spectral, self.physical)
            end = MPI.Wtime()
            return [middle - begin, end - middle, end - begin]

    with_peer, *sys.argv[1:] = arguments
    options = bench.read_options()
    candidates = [Ours(options)]
    candidates += [bench.Candidate(options, collapse) for collapse in (False, True)] if int(with_peer) else []
    for round_number in range(-options.warmup, options.iters):
        for candidate in candidates:
            seconds = candidate.run()
            if round_number >= 0:
                candidate.times.append(seconds)
    for candidate in candidates:
        times = np.array(candidate.times)
        bench.COMM.Allreduce(MPI.IN_PLACE, times, MPI.MAX)
        if bench.COMM.Get_rank() == 0:
            name = "Python" if isinstance(candidate, Ours) else f"mpi4py-fft ({candidate.method})"
            print(json.dumps({"name": name, "pair_ms_samples": (1e3 * times[:, 2]).tolist()}), flush=True)


def lines_of(command):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", help="the program fftnd-bench")
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--shape", default="256,256,256")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--iters", default="9", help="rounds of each turn")
    parser.add_argument("--mpiexec", default="mpirun --bind-to core")
    given = parser.parse_args()
    start = [*given.mpiexec.split(), "-n", given.ranks]
    common = ["--shape", given.shape, "--iters", given.iters, "--warmup", "3"]
    samples = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["REDIST_WISDOM"] = os.path.join(folder, "wisdom")
        for turn in range(given.turns):
            peer = str(int(turn == given.turns - 1))
            found = [*lines_of([*start, given.bench, *common, "--unchecked", "--json", "--samples"]),
                     *lines_of([*start, sys.executable, __file__, "--on-ranks", peer, *common])]
            for line in found:
                if line.get("library", "fftnd") == "fftnd":
                    samples.setdefault(line.get("name", "fftnd-bench"), []).extend(line["pair_ms_samples"])
    c = statistics.median(samples["fftnd-bench"])
    for name, times in samples.items():
        median = statistics.median(times)
        print(f"{name:24} {median:9.4f} ms  {median / c:6.3f} of fftnd-bench, "
              f"{500 * (median - c):+8.1f} us for each call ({len(times)} rounds)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--on-ranks"]:
        run_ranks(sys.argv[2:])
    else:
        main()
