#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev demo [--quick] [--cuda=enabled|disabled] [options of 5_taylor_green]: builds, solves the Taylor-Green vortex on
# all cores, and draws it. The last two lines say what was computed, how accurate it is, and where the pictures are.
# --quick: on few points.
set -euo pipefail
. tools/shell/environment.sh
. tools/shell/packages.sh
. tools/shell/build.sh

size=96
if [ "${1:-}" = --quick ]; then
    size=32
    shift
fi
install_packages "${build_packages[@]}" "${plot_packages[@]}"
program=build/examples/5_taylor_green
build_targets=("${program#build/}")
build_release
mkdir -p out/demo
echo "Running $program on $cores ranks, into out/demo/"
# The launcher hides the terminal from the program.
progress=lines
[ ! -t 1 ] || progress=bar
run_ranks "$(mpi_of "$program")" "$cores" "$program" --size $size --progress $progress "$@" \
    --output out/demo </dev/null
quietly out/log/demo-gnuplot.txt gnuplot -e "folder='out/demo'" examples/taylor_green/draw.gp
echo "Pictures: out/demo/vorticity.png, of the planes in out/demo/vorticity.raw, and out/demo/spectrum.png"
