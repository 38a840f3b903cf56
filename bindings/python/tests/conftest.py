# SPDX-License-Identifier: BSD-3-Clause
"""The tests run under mpiexec; all ranks run all of them, in the same order.

FFTND_TEST_SEED=N repeats the random cases of a run.
"""
import os
import tempfile

import numpy as np
import pytest
from mpi4py import MPI

comm = MPI.COMM_WORLD


def pytest_configure(config):
    config.seed = comm.bcast(int(os.environ.get("FFTND_TEST_SEED", np.random.SeedSequence().entropy % 10**6)))


def pytest_report_header(config):
    return f"{comm.size} ranks, FFTND_TEST_SEED={config.seed}, {MPI.Get_library_version().splitlines()[0]}"


def pytest_exception_interact(node, call, report):
    """A test that fails on one rank would leave the others waiting for it: the run ends here."""
    print(f"rank {comm.rank}: {node.nodeid}\n{report.longreprtext}", flush=True)
    if comm.size > 1:
        comm.Abort(1)


@pytest.fixture
def random(request):
    """The same random numbers on all ranks."""
    return np.random.default_rng([request.config.seed, len(request.node.nodeid)])


@pytest.fixture
def folder():
    """A folder that all ranks see."""
    made = tempfile.TemporaryDirectory() if comm.rank == 0 else None
    yield comm.bcast(made.name if comm.rank == 0 else None)
    comm.Barrier()
    if comm.rank == 0:
        made.cleanup()


def gathered(local, slices, shape):
    """The global array, on all ranks."""
    full = np.zeros(shape, local.dtype)
    full[slices] = local
    comm.Allreduce(MPI.IN_PLACE, full)
    return full
