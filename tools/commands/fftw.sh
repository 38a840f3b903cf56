#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev fftw [--quick] PREFIX: builds FFTW from Debian's source package for the processor of this machine, with the
# vector instructions that it has, in all precisions, with threads and MPI. Debian's own packages are built for all
# processors. Nothing outside of out/fftw and PREFIX changes, and only missing packages need root.
#   --quick  double precision alone, without vector instructions and not optimised: whether it builds
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/shell/build.sh

precisions=(double single long-double)
flags='-O3 -fomit-frame-pointer -fstrict-aliasing -march=native'
quick=no
if [ "${1:-}" = --quick ]; then
    quick=yes precisions=(double) flags=-O0
    shift
fi
if [ $# -ne 1 ]; then
    echo "usage: ./dev fftw [--quick] PREFIX" >&2
    exit 2
fi
. tools/shell/packages.sh
install_packages "${fftw_packages[@]}"
prefix=$(realpath -m "$1")
folder=$PWD/out/fftw
jobs=$(nproc)

# apt with package lists of its own, made of the same servers: those of a user seldom name sources.
source_apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" \
        -o APT::Sandbox::User= -o Acquire::Languages=none "$@"
}

# Debian's keys sign its sources as they sign its packages.
list_sources() {
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg
    apt-get indextargets --format "deb-src [signed-by=$keys] \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
        'Created-By: Packages' 'Component: main' 'Origin: Debian' | sort -u
}

fetch_source() {
    mkdir -p "$folder"/{lists,cache/archives}/partial &&
        list_sources >"$folder/sources.list" &&
        source_apt update &&
        (cd "$folder" && source_apt source --download-only fftw3) &&
        dpkg-source --no-check -x "$folder"/fftw3_*.dsc "$folder/source"
}

has() { # name of an instruction set in /proc/cpuinfo
    grep -m1 -E '^(flags|Features)' /proc/cpuinfo | grep -qw "$1"
}

# AVX2 of FFTW contains fused multiply-add, which every processor with AVX2 has.
instruction_sets() {
    [ $quick = no ] || return 0
    case $(uname -m) in
    x86_64)
        echo --enable-sse2
        if has avx2 && has fma; then echo --enable-avx2; elif has avx; then echo --enable-avx; fi
        if has avx512f && has avx512dq; then echo --enable-avx512; fi
        ;;
    aarch64) echo --enable-neon ;;
    esac
}

build_precision() { # double|single|long-double
    local sets=() options=(--prefix="$prefix" --libdir="$prefix/lib" --enable-shared --disable-static
        --disable-fortran --disable-doc --enable-threads --enable-mpi)
    [ "$1" = long-double ] || mapfile -t sets < <(instruction_sets)
    [ "$1" = double ] || options+=("--enable-$1")
    rm -rf "${folder:?}/$1"
    mkdir -p "$folder/$1" && cd "$folder/$1" &&
        ../source/configure "${options[@]}" "${sets[@]}" MPICC=mpicc.openmpi \
            CFLAGS="$flags" &&
        make -j "$jobs" && make install
}

if [ ! -d "$folder/source" ]; then
    echo "Fetching the source of Debian's package fftw3"
    quietly out/log/fftw-source.txt fetch_source
fi
for precision in "${precisions[@]}"; do
    echo "Building FFTW in $precision precision ($(instruction_sets | tr '\n' ' ')), some minutes"
    (quietly "$PWD/out/log/fftw-$precision.txt" build_precision "$precision")
done
echo "Installed in $prefix; build with it by"
echo "  meson setup build -Dfftw_prefix=$prefix"
echo "and compare with it by"
echo "  ./dev bench --fftw $prefix"
