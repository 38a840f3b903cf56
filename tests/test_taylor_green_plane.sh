#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares the plane of vorticity that 5_taylor_green writes at t = 0 with the vortex that it begins with, on three
# ranks; the file has three moments.
#     test_taylor_green_plane.sh PROGRAM RUN_RANKS_ARGUMENT...
set -eu
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$@" 3 "$program" --size 16 --time 0.5 --grid 3x1 --progress lines --output "$folder" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    exit 1
}
od -An -v -w8 -t f8 "$folder/vorticity.raw" | awk '
    function vorticity(component, x, y, z) {
        return component == 0 ? -cos(x) * sin(y) * sin(z) : component == 1 ? -sin(x) * cos(y) * sin(z) \
            : 2 * sin(x) * sin(y) * cos(z)
    }
    BEGIN { size = 16; pi = atan2(0, -1) }
    NR <= 3 * size ^ 2 {
        at = NR - 1
        error = $1 - vorticity(int(at / size ^ 2), pi / 4, 2 * pi / size * (int(at / size) % size), 2 * pi / size * (at % size))
        if (error < -1e-12 || error > 1e-12)
            wrong++
    }
    END {
        if (wrong > 0 || NR != 3 * 3 * size ^ 2) {
            print "FAILED: " wrong + 0 " of " NR " numbers are wrong"
            exit 1
        }
    }'
echo "the plane in a file: 1 passed, 0 failed, 0 skipped"
