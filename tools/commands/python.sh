#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev python: a virtual environment with the Python packages, built against Debian's Open MPI and mpi4py. It uses
# Debian's Python and packages, so that nothing is fetched but by apt; so meson installs them, as Debian's meson-python
# is too old to do that twice in one build folder. CUDA=disabled builds without CUDA where its toolkit is installed.
set -euo pipefail
. tools/shell/build.sh

venv=$PWD/out/python
native=$PWD/out/python.ini
if [ ! -x "$venv/bin/python" ]; then
    quietly out/log/python-venv.txt /usr/bin/python3 -m venv --system-site-packages "$venv"
fi
printf '[binaries]\npython = %s\n' "'$venv/bin/python'" >"$native"
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
build_folder build-python bindings/python --native-file="$native" --prefix="$venv" --buildtype=release \
    -Dlibredist:mpi=openmpi -Dlibredist:cuda="${CUDA:-auto}" -Dpython.platlibdir="$site" -Dpython.purelibdir="$site"
quietly out/log/python-install.txt meson install -C build-python --no-rebuild --skip-subprojects \
    --tags=python-runtime,runtime
echo "Installed in out/python; run programs with"
echo "  mpirun -n 2 out/python/bin/python bindings/python/examples/poisson.py"
