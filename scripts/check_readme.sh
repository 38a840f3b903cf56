#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Does with the programs of README.md what README.md says: installs the libraries, builds the
# programs with pkg-config, and runs them on two ranks.
set -euo pipefail
. scripts/environment.sh

prefix=$PWD/out/test/prefix
programs=$PWD/out/test/readme

# Writes the C programs of README.md to 1.c, 2.c and so on.
extract_programs() {
    awk -v folder="$programs" '
        /^```c$/ { inside = 1; file = folder "/" ++count ".c"; next }
        /^```/ { inside = 0 }
        inside { print > file }' README.md
}

rm -rf "$prefix" "$programs"
mkdir -p "$programs"
bash scripts/install.sh "$prefix"
extract_programs
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
for source in "$programs"/*.c; do
    # shellcheck disable=SC2046 # the flags are words
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror "$source" -o "${source%.c}" \
        $(pkg-config --cflags --libs fftnd redist)
    run_ranks openmpi 2 "${source%.c}"
done
