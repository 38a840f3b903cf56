#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kills a random rank of a program that allocates and frees, again and again: no file of the library is left behind.
#     test_redist_killed.sh KILLS PROGRAM RUN_RANKS_ARGUMENT...
set -eu
kills=$(awk -v most="$1" -v scale="${REDIST_TEST_SCALE:-1}" 'BEGIN { print 1 + int((most - 1) * scale) }')
program=$2
shift 2
seed=${REDIST_TEST_SEED:-$(date +%N)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Those of MPI libraries are not ours.
list_files() {
    find /dev/shm -mindepth 1 -maxdepth 1 ! -name 'vader*' ! -name 'mpich*' ! -name 'ucx*' ! -name 'sem.*' | sort
}
list_files >"$folder/before"
awk -v seed="$seed" -v n="$kills" \
    'BEGIN { srand(seed); for (i = 0; i < n; i++) print 2 + i % 2, int(rand() * (2 + i % 2)), int(rand() * 20000) }' |
    while read -r ranks victim microseconds; do
        "$@" "$ranks" "$program" "$victim" "$microseconds" >/dev/null 2>&1 </dev/null || true
    done
list_files | comm -13 "$folder/before" - >"$folder/left"
if [ -s "$folder/left" ]; then
    echo "FAILED after $kills kills [REDIST_TEST_SEED=$seed]; in /dev/shm are left:"
    cat "$folder/left"
    exit 1
fi
echo "on 2 and 3 ranks: $kills passed, 0 failed, 0 skipped"
