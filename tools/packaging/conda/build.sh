#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
set -eu
export CC=mpicc FC=mpifort
meson setup build --prefix="$PREFIX" --libdir=lib --buildtype=release --default-library=shared -Dmpi=compiler \
    -Dcuda=disabled -Dfortran=enabled -Dfftw_mpi=disabled -Dexamples=false -Dtests=false
meson install -C build
