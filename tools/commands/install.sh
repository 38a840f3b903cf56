#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev install PREFIX: headers, shared and static libraries, redist.pc and fftnd.pc. CUDA=disabled leaves CUDA out where
# its toolkit is installed.
set -eu
. tools/shell/build.sh

prefix=$(realpath -m "$1")
build_folder build-install --buildtype=release -Dmpi=openmpi --libdir=lib \
    -Dtests=false -Dexamples=false -Dbenchmarks=false -Dcuda="${CUDA:-auto}"
meson configure build-install --prefix="$prefix"
quietly out/log/install.txt meson install -C build-install
echo "Installed in $prefix; to build programs with pkg-config, and to run them:"
echo "  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib"
