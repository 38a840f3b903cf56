#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev demo: builds, then solves the Taylor-Green vortex on all cores. The program's own last line
# says what was computed, how accurate it is and where the pictures are.
set -euo pipefail
. tools/shell/environment.sh
. tools/shell/packages.sh
. tools/shell/build.sh

install_packages "${build_packages[@]}"
build_release
mkdir -p out/demo
program=build/examples/5_taylor_green
echo "Running $program on $cores ranks, into out/demo/"
# The launcher hides the terminal from the program.
progress=lines
[ ! -t 1 ] || progress=bar
run_ranks "$(mpi_of "$program")" "$cores" "$program" --size 96 --output out/demo \
    --progress $progress "$@" </dev/null
