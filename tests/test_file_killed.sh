#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Kills one of several ranks that write raw files, at random moments; the others have to return from all writes with an
# error, and the file is what docs/files.md says (test_file_killed.c):
#     test_file_killed.sh openmpi|mpich LAUNCHER YIELD_LIBRARY RANKS PROGRAM
# REDIST_TEST_KILLS: how many times (6); REDIST_TEST_SEED repeats them.
set -eu
kind=$1 launcher=$2 yield_library=$3 ranks=$4 program=$5
kills=${REDIST_TEST_KILLS:-6} seed=${REDIST_TEST_SEED:-$RANDOM}
export REDIST_TEST_LIMIT=${REDIST_TEST_LIMIT:-20}
# shellcheck source=tests/stay.sh
. "$(dirname "$0")/stay.sh"

RANDOM=$seed
failed=0
for ((i = 0; i < kills; i++)); do
    rm -f "$report.raw"
    victim=$((RANDOM % ranks)) writers=$((1 + RANDOM % ranks))
    moment=$((RANDOM % (1 << (4 + RANDOM % 14))))
    output=$(launch "$moment" "$victim" "$writers" "$report" 2>&1) || true
    if [ "$(grep -c '^rank [0-9]*: REDIST_ERR_[A-Z]* after' "$report" || true)" -ne $((ranks - 1)) ] ||
        grep -q FAILED "$report"; then
        failed=$((failed + 1))
        echo "FAILED kill $i of seed $seed: rank $victim after $moment us, $writers writers:"
        cat "$report"
        echo "$output" | head -n 20
    fi
done
echo "test_file_killed on $ranks ranks: $((kills - failed)) passed, $failed failed, 0 skipped [REDIST_TEST_SEED=$seed]"
[ "$failed" -eq 0 ]
