#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Lets a kernel of the user's fail on one of several ranks, kills one, or lets it come too late, while the devices of
# the others wait; all of them have to learn of it soon, and to free their plans (test_stream_survivors.c):
#     test_stream_survivors.sh openmpi|mpich LAUNCHER YIELD_LIBRARY RANKS PROGRAM FAULTS METHODS...
# FAULTS are words of kernel, call, kill and late; without signals the latter is nothing.
set -eu
kind=$1 launcher=$2 yield_library=$3 ranks=$4 program=$5 faults=$6
shift 6
export REDIST_TEST_LIMIT=${REDIST_TEST_LIMIT:-30}
# shellcheck source=tests/stay.sh
. "$(dirname "$0")/stay.sh"

run=0 failed=0 skipped=0
try() { # work, method, fault, victim
    local output least=$ranks
    [[ $2 != enqueued:* ]] || local -x REDIST_NODE_SIZE=1
    [[ $2 != *hier:nccl && $2 != enqueued:auto ]] || local -x REDIST_NODE_SIZE=2
    [ "$3" != kill ] || least=$((ranks - 1))
    run=$((run + 1))
    output=$(launch "$1" "$2" "$3" "$4" "$report" 2>&1) || true
    if [[ $output == *skipped:* ]]; then
        skipped=$((skipped + 1))
    elif [ "$(grep -c '^rank [0-9]*: REDIST_ERR_[A-Z_]* after' "$report" || true)" -lt "$least" ] ||
        grep -qE 'too late$|says that all is well$' "$report"; then
        failed=$((failed + 1))
        echo "FAILED $*:"
        cat "$report"
        echo "$output" | head -n 20
    fi
}

for method in "$@"; do
    works=(execute put transform operator)
    case $method in
    *engines) works=(put transform operator) ;;
    nccl | p2p-streams | kway*) works=(execute transform) ;;
    esac
    case $method in signals* | enqueued:[an]* | p2p) works+=(ghosts) ;; esac # which add
    [ "$ranks" -lt 4 ] || works+=(pencils)
    for fault in $faults; do
        [[ $fault != late || $method = signals* ]] || continue
        for work in "${works[@]}"; do
            case $fault-$work in late-execute | late-put) continue ;; esac # of one plan, which has failed
            [ "$work" = pencils ] || is_drawn || continue
            try "$work" "$method" "$fault" $((run % ranks))
        done
    done
done
echo "test_stream_survivors on $ranks ranks: $((run - failed - skipped)) passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
