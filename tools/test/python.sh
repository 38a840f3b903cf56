#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One part of the tests of the Python packages, in the environment of ./dev python:
#   suite        the packages' own tests, on 1 to 4 ranks
#   device       those for arrays on a device, on the stand-in of the tests in C (build-test/gcc)
#   examples     the examples and the programs of README.md, docs/python.md and docs/plots.md
#   sdist        a source package (of the last commit) has all that a build needs, which does not optimise
#   mpi4py-fft   the tests of mpi4py-fft, of its source package, with fftnd.mpi4py_fft in its place
set -euo pipefail
. tools/shell/environment.sh

python=$PWD/out/python/bin/python
folder=$PWD/out/test/python
mkdir -p "$folder"

on_ranks() { # number, Python's arguments
    local ranks=$1
    shift
    OMPI_MCA_mpi_yield_when_idle=1 timeout 300 \
        "$(launcher openmpi)" --oversubscribe --bind-to none -x LD_PRELOAD="${preload:-}" -n "$ranks" "$python" "$@"
}

run_pytest() { # number of ranks, file or folder
    (cd bindings/python/tests && on_ranks "$1" -B -m pytest -q -x --color=no -p no:cacheprovider "$2")
}

suite() {
    local ranks
    for ranks in 1 2 3 4; do
        run_pytest "$ranks" .
    done
}

device() {
    local ranks preload=$PWD/build-test/gcc/tests/libstand_in_device.so
    if [ ! -e "$preload" ]; then
        echo "build-test/gcc has no stand-in for a device"
        exit 77
    fi
    for ranks in 1 2 3; do
        run_pytest "$ranks" test_device.py
    done
}

examples() {
    local document
    for document in README.md docs/python.md docs/plots.md; do
        awk '/^```python$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$document" >"$folder/document.py"
        (cd "$folder" && on_ranks 2 document.py)
    done
    on_ranks 3 bindings/python/examples/poisson.py 32
    on_ranks 2 bindings/python/examples/channel.py 24
    on_ranks 2 bindings/python/examples/finite_differences.py "$folder"
    on_ranks 3 bindings/python/examples/particle_mesh.py --points 24
    on_ranks 2 bindings/python/examples/taylor_green.py --points 16 --end 0.1 | grep 'energy 0.1249'
}

sdist() {
    if ! git rev-parse HEAD >/dev/null 2>&1; then
        echo "git knows no commit of this tree"
        exit 77
    fi
    rm -rf build-python/meson-dist "$folder/sdist"
    mkdir -p "$folder/sdist"
    meson dist -C build-python --allow-dirty --no-tests --formats gztar
    tar -xzf build-python/meson-dist/*.tar.gz -C "$folder/sdist" --strip-components=1
    [ -z "$(find "$folder/sdist" -type l)" ]
    meson setup "$folder/sdist/build" "$folder/sdist" --native-file=out/python.ini -Dlibredist:mpi=openmpi \
        -Dlibredist:cuda=disabled -Dbuildtype=plain -Dlibredist:buildtype=plain
    ninja --quiet -C "$folder/sdist/build"
}

# Without PyPI and without the package there is nothing to test.
fetch_tests() {
    local archive
    if ! compgen -G "$folder/mpi4py*fft-2.0.6.tar.gz" >/dev/null && ! "$python" -m pip download -q --no-deps \
        --no-build-isolation --no-binary :all: -d "$folder" mpi4py-fft==2.0.6 >"$folder/fetch.txt" 2>&1; then
        echo "the source package of mpi4py-fft cannot be fetched from PyPI"
        exit 77
    fi
    archive=$(compgen -G "$folder/mpi4py*fft-2.0.6.tar.gz")
    rm -rf "$folder/theirs"
    mkdir -p "$folder/theirs"
    tar -xzf "$archive" -C "$folder/theirs" --strip-components=2 --wildcards '*/tests/test_*.py'
    sed -i 's/\bmpi4py_fft\b/fftnd.mpi4py_fft/g' "$folder"/theirs/*.py
}

# On 1 to 4 ranks. What takes long has one precision, and all of its shapes and domains on one number of ranks only.
mpi4py_fft() {
    local ranks test
    fetch_tests
    cd "$folder/theirs"
    sed -i "s/^    for t in 'fdg':/    for t in 'd':/; s/^    sizes = .*/    sizes = (12, 13) if comm.size == 2 else (13,)/" \
        test_mpifft.py
    sed -i "s/^    types = .*/    types = 'dF'/; s/^    sizes = .*/    sizes = (7, 8, 9) if comm.size == 3 else (7, 9)/" \
        test_pencil.py
    sed -Ei -e "s/^( +)(test_[24]D\(bnd.*)/\1if comm.size == 2: \2/" \
        -e "s/enumerate\(\[None, d0, d1\]\)/enumerate([None, d0, d1] if comm.size == 2 else [d0])/" test_io.py
    on_ranks 1 test_libfft.py
    for ranks in 1 2 3 4; do
        for test in test_pencil test_darray test_mpifft test_io; do
            on_ranks "$ranks" "$test.py"
        done
    done
}

case $1 in
suite | device | examples | sdist) "$1" ;;
mpi4py-fft) mpi4py_fft ;;
*) exit 2 ;;
esac
