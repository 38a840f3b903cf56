#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev python [--cuda=enabled|disabled]: a virtual environment with the Python packages, built against Debian's Open
# MPI and mpi4py. It uses Debian's Python and packages, so that nothing is fetched but by apt; meson installs them, as
# Debian's meson-python is too old to do that twice in one build folder. Without --cuda arrays on GPUs are served if the
# CUDA toolkit and a GPU are here. The end says what was left out.
set -euo pipefail
. tools/shell/build.sh

venv=$PWD/out/python
native=$PWD/out/python.ini
if [ ! -x "$venv/bin/python" ]; then
    echo "Making a virtual environment in out/python"
    quietly out/log/python-venv.txt /usr/bin/python3 -m venv --system-site-packages "$venv"
fi
printf '[binaries]\npython = %s\n' "'$venv/bin/python'" >"$native"
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
build_folder build-python bindings/python --native-file="$native" --prefix="$venv" --buildtype=release \
    -Dlibredist:mpi=openmpi -Dlibredist:cuda="${CUDA:-auto}" -Dpython.platlibdir="$site" -Dpython.purelibdir="$site"
echo "Installing in out/python (log: out/log/python-install.txt)"
quietly out/log/python-install.txt meson install -C build-python --no-rebuild --skip-subprojects \
    --tags=python-runtime,runtime
show_parts build-python build-python/subprojects/libredist/parts.txt
echo "Installed in out/python; run programs with"
echo "  mpirun -n 2 out/python/bin/python bindings/python/examples/poisson.py"
