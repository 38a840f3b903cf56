#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stops 5_taylor_green on two ranks and continues on three: at once to the end, and with another stop between, from the
# same state. The ends have the same bits, that is files that differ in nothing but the time at which they were written.
#     test_taylor_green_restart.sh PROGRAM RUN_RANKS_ARGUMENT...
set -eu
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

follow() { # ranks, time, file that is written, more options
    ranks=$1 time=$2 file=$3
    shift 3
    # shellcheck disable=SC2086 # several words
    $run "$ranks" "$program" --size 24 --repeatable --progress lines --output "$folder/output" --time "$time" \
        --checkpoint "$folder/$file" "$@" >"$folder/log" 2>&1 && return 0
    ! grep -q 'no checksums' "$folder/log" || exit 77
    cat "$folder/log"
    exit 1
}
run=$*

follow 2 1 stopped
follow 3 2 whole --restart "$folder/stopped"
follow 3 1.5 between --restart "$folder/stopped"
follow 3 2 parts --restart "$folder/between"
header=4096
cmp -i "$header" "$folder/whole" "$folder/parts"
if cmp -s -i "$header" "$folder/whole" "$folder/between"; then
    echo "FAILED: the flow stands still"
    exit 1
fi
echo "from 2 to 3 ranks: 1 passed, 0 failed, 0 skipped"
