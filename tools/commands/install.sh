#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev install PREFIX [--cuda=enabled|disabled]: headers, shared and static libraries, redist.pc and fftnd.pc.
# Without --cuda arrays on GPUs are served if the CUDA toolkit and a GPU are here. The end says what was left out.
set -eu
. tools/shell/build.sh

prefix=$(realpath -m "$1")
build_folder build-install --buildtype=release -Dmpi=openmpi --libdir=lib \
    -Dtests=false -Dexamples=false -Dbenchmarks=false -Dcuda="${CUDA:-auto}"
meson configure build-install --prefix="$prefix"
echo "Installing in $prefix (log: out/log/install.txt)"
quietly out/log/install.txt meson install -C build-install
show_parts build-install build-install/parts.txt
echo "Installed in $prefix; to build programs with pkg-config, and to run them:"
echo "  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib"
