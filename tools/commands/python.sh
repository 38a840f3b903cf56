#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev python: a virtual environment with the Python packages, built against Debian's Open MPI and mpi4py. It uses
# Debian's Python and packages, so that nothing is fetched but by apt.
set -euo pipefail
. tools/shell/build.sh

venv=$PWD/out/python
if [ ! -x "$venv/bin/python" ]; then
    quietly out/log/python-venv.txt /usr/bin/python3 -m venv --system-site-packages "$venv"
fi
quietly out/log/python-build.txt "$venv/bin/python" -m pip install --no-build-isolation --no-deps --no-index \
    --disable-pip-version-check --config-settings=builddir="$PWD/build-python" \
    --config-settings=setup-args=-Dlibredist:mpi=openmpi ./bindings/python
echo "Installed in out/python; run programs with"
echo "  mpirun -n 2 out/python/bin/python bindings/python/examples/poisson.py"
