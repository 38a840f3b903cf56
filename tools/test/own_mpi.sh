#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An MPI library in a folder of its own, as a cluster's modules have it: PyPI's MPICH.
#     tools/test/own_mpi.sh        builds with it as docs/cluster.md says, to build-test/own-mpi, and with FFTW in
#                                  double alone, as some sites have it
#     tools/test/own_mpi.sh check  whether that took anything of another MPI library
# Exit code 77 without PyPI.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/shell/environment.sh
. tools/shell/build.sh
build='build-test/own-mpi'
folder=$PWD/build-test/mpich

# The module of a cluster sets the path, and that is all.
install_mpi() {
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check --retries 1 'mpich>=5'
}

build_with_it() {
    if [ ! -x "$folder/bin/mpicc" ] && ! quietly out/log/own-mpi-pip.txt install_mpi; then
        echo "skipped: PyPI's MPICH cannot be had here"
        exit 77
    fi
    PATH=$folder/bin:$PATH CC="$(command -v ccache || true) mpicc" FC=mpifort build_folder $build -Dmpi=compiler -Dcuda=disabled \
        -Dheffte=disabled -Dfftw_float=disabled -Dfftw_long_double=disabled -Dexamples=false -Dbenchmarks=false -Dwerror=true \
        -Ddebug=true -Doptimization=1
}

# One library of MPI in each program, and one launcher.
check_origin() {
    local file found wrong=0
    while read -r file; do
        found=$(ldd "$file" | grep -o '/[^ ]*libmpi[^ ]*' | sort -u)
        [ "$found" = "$folder/lib/libmpi.so.12" ] || {
            echo "$file links '$found'"
            wrong=1
        }
    done < <(find $build/lib* $build/tests -type f -perm -u+x ! -name 'libyield.so' | grep -v '\.p/')
    found=$(meson introspect --tests $build | grep -oE '"[^"]*/mpi(run|exec)[^"]*"' | sort -u)
    [ "$found" = "\"$folder/bin/mpirun\"" ] || {
        echo "tests are started by $found"
        wrong=1
    }
    return $wrong
}

# A wrapper as compiler is taken without -Dmpi too, whatever pkg-config has.
check_default() {
    rm -rf $build-default
    PATH=$folder/bin:$PATH CC=mpicc meson setup $build-default -Dcuda=disabled -Dfortran=disabled -Dtests=false
    grep "^Libs: .*-L$folder/lib .*-lmpi" $build-default/meson-private/redist.pc
}

if [ "${1:-build}" = check ]; then
    check_origin
    check_default
else
    build_with_it
fi
