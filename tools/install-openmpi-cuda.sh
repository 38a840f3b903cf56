#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds an Open MPI that takes device memory, which no distribution ships, from Debian's source
# package, without touching the system's own Open MPI. Takes about ten minutes on two cores and 300 MB.
#     tools/install-openmpi-cuda.sh PREFIX [WORK]
# WORK: where the sources go and are built (out/openmpi-cuda). Environment: CUDA_PATH, the toolkit
# (/usr/local/cuda); SUITE, the Debian release whose sources are taken (trixie: Open MPI 5.0.7).
# With UCX's headers installed, UCX is used too; for device memory it has to be built with CUDA itself.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/shell/packages.sh
. tools/shell/build.sh

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    sed -n '3,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
prefix=$(realpath -m "$1")
work=$(realpath -m "${2:-out/openmpi-cuda}")
toolkit=${CUDA_PATH:-/usr/local/cuda}
suite=${SUITE:-trixie}

# The driver's library is not there on machines without a device; the toolkit has a stand-in to link to.
find_stubs() {
    local folder
    for folder in lib64/stubs lib/stubs targets/x86_64-linux/lib/stubs; do
        if [ -e "$toolkit/$folder/libcuda.so" ]; then
            echo "$toolkit/$folder"
            return
        fi
    done
    echo "There is no libcuda.so among the stubs of the toolkit $toolkit (set CUDA_PATH)" >&2
    return 1
}

# Lists of this one suite's sources, apart from those of the system.
apt_sources() { # apt-get's arguments
    apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" "$@"
}

fetch() {
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg
    mkdir -p "$work/lists/partial" "$work/cache"
    echo "deb-src [signed-by=$keys] http://deb.debian.org/debian $suite main" >"$work/sources.list"
    cd "$work"
    apt_sources update
    apt_sources source --download-only openmpi
    tar xf openmpi_*.orig.tar.*
    cd - >/dev/null
}

# The components that need the driver's library stay modules of their own, so that programs also start
# on machines without it.
configure() {
    local source=$1 ucx=--without-ucx
    [ ! -e /usr/include/ucp/api/ucp.h ] || ucx=--with-ucx
    mkdir -p "$work/build"
    cd "$work/build"
    quietly "$work/log/configure.txt" "$source/configure" --prefix="$prefix" \
        --with-cuda="$toolkit" --with-cuda-libdir="$(find_stubs)" \
        --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm \
        --with-hwloc=internal --with-libevent=internal --with-pmix=internal --with-prrte=internal \
        "$ucx" --without-ofi --without-psm2 --without-ucc --without-slurm --without-tm \
        --without-lustre --disable-mpi-fortran --disable-oshmem --disable-io-romio \
        --disable-static --disable-sphinx CFLAGS=-O2
}

find_stubs >/dev/null
install_packages gcc g++ make perl zlib1g-dev pkg-config debian-archive-keyring dpkg-dev xz-utils
[ -f "$work/sources.list" ] || fetch
configure "$(dirname "$(ls -d "$work"/openmpi-*/configure)")"
echo "Configured; building in $work/build"
quietly "$work/log/make.txt" make -j"$(nproc)"
quietly "$work/log/install.txt" make install
rm -rf "$prefix/share/doc" "$prefix/share/man"
find "$prefix/lib" -name '*.so*' -type f -exec strip --strip-unneeded {} +
echo "Open MPI for device memory is in $prefix; run programs with it like this:"
echo "  OPAL_PREFIX=$prefix LD_LIBRARY_PATH=$prefix/lib $prefix/bin/mpirun ..."
