#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kills one of several ranks in the middle of exchanges; the others have to get an error, each of them:
#     test_redist_gone.sh openmpi|mpich LAUNCHER YIELD_LIBRARY RANKS PROGRAM
# The launchers are made to let the other ranks live.
set -eu
kind=$1
launcher=$2
yield_library=$3
ranks=$4
program=$5
export REDIST_TEST_LIMIT=20

launch() { # arguments of the program
    if [ "$kind" = openmpi ]; then
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout --kill-after=10 60 "$launcher" \
            --enable-recovery --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca pml ob1 \
            --mca btl vader,self -n "$ranks" "$program" "$@"
    else
        timeout --kill-after=10 60 "$launcher" -disable-auto-cleanup -bind-to none \
            -genv LD_PRELOAD "$yield_library" -n "$ranks" "$program" "$@"
    fi
}

failed=0
run=0
try() { # method, victim, k
    run=$((run + 1))
    output=$(launch "$@" 2>&1) || true # the killed rank's status, with some launchers
    learnt=$(echo "$output" | grep -c '^rank [0-9]*: REDIST_ERR_[A-Z]* after' || true)
    if [ "$learnt" -ne $((ranks - 1)) ]; then
        failed=$((failed + 1))
        echo "FAILED $*: $learnt of $((ranks - 1)) ranks got an error:"
        echo "$output"
    fi
}

last=$((ranks - 1))
for method in direct direct:lockstep p2p p2p-streams p2p-type alltoallw alltoallv kway:2; do
    try "$method" 0 0
    try "$method" "$last" 0
done
for method in p2p alltoallw kway:2; do
    try "$method" "$last" 3
done
export REDIST_NODE_SIZE=2
for method in hier:nodes hier:ranks; do
    try "$method" "$last" 0
    try "$method" 0 2
done
echo "test_redist_gone on $ranks ranks: $((run - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
