#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kills all ranks of a program that writes one checkpoint after the other, at random moments, and starts it again on
# another number of ranks: it finds the last checkpoint that was complete, or a later one, whole.
#     test_checkpoint_killed.sh PROGRAM RUN_RANKS_ARGUMENT...
# REDIST_TEST_KILLS: how many times (6; 50 before a release)
set -eu
program=$1
shift
kills=${REDIST_TEST_KILLS:-6}
seed=${REDIST_TEST_SEED:-$(date +%N)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

done_number() {
    if [ -s "$folder/file.done" ]; then od -An -t d4 -N 4 "$folder/file.done" | tr -d ' '; else echo 0; fi
}

fail() { # what
    ! grep -q 'no checksums' "$folder/output" || exit 77 # this build writes none
    echo "FAILED at kill $i of $kills [REDIST_TEST_SEED=$seed]: $1"
    cat "$folder/output"
    exit 1
}

moments=$(awk -v seed="$seed" -v n="$kills" \
    'BEGIN { srand(seed); for (i = 0; i < n; i++) print 1 + int(rand() * rand() * 300000) }')
i=0
for microseconds in $moments; do
    i=$((i + 1))
    "$@" $((1 + i % 3)) "$program" "$folder/file" "$microseconds" "$(done_number)" >"$folder/output" 2>&1 </dev/null ||
        true
    ! grep -q ^FAILED "$folder/output" || fail "the checkpoint is lost"
done
"$@" 2 "$program" "$folder/file" 0 "$(done_number)" >"$folder/output" 2>&1 || fail "the checkpoint is lost"
[ "$(done_number)" -gt 0 ] || fail "no checkpoint was written"
echo "on 1 to 3 ranks: $kills passed, 0 failed, 0 skipped; $(tail -n 1 "$folder/output")"
