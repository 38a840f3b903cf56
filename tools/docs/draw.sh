#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/docs/draw.sh [--check]: draws docs/images/parts-*.svg, of what the library says of its layouts, and
# docs/images/performance-*.svg, of the tables of docs/performance.md. --check: fails unless they are as they would be
# drawn. The library is that of out/test/prefix, which is installed if there is none.
set -euo pipefail
. tools/shell/environment.sh

prefix=$PWD/out/test/prefix
work=out/drawings
folder=docs/images
[ "${1:-}" != --check ] || folder=$work
mkdir -p "$work"
rm -f "$work"/*.svg
[ -d "$prefix/include" ] || CUDA=disabled bash tools/commands/install.sh "$prefix"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
# shellcheck disable=SC2046 # the flags are words
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror tools/docs/layouts.c -o "$work/layouts" $(pkg-config --cflags --libs fftnd redist)
run_ranks openmpi 4 "$work/layouts" >"$work/layouts.txt"
python3 tools/docs/parts.py "$work/layouts.txt" "$folder"
python3 tools/docs/performance.py docs/performance.md "$folder"
if [ "${1:-}" = --check ]; then
    for picture in "$work"/*.svg; do
        cmp "$picture" "docs/images/${picture##*/}" || {
            echo "docs/images/${picture##*/} is not what tools/docs/draw.sh draws" >&2
            exit 1
        }
    done
fi
