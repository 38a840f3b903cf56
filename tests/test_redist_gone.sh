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
try() { # how many ranks have to learn of it, method, use, victim, k
    least=$1
    shift
    run=$((run + 1))
    output=$(launch "$@" 2>&1) || true # the killed rank's status, with some launchers
    learnt=$(echo "$output" | grep -c '^rank [0-9]*: REDIST_ERR_[A-Z]* after' || true)
    if [ "$learnt" -lt "$least" ]; then
        failed=$((failed + 1))
        echo "FAILED $*: $learnt of $least ranks got an error:"
        echo "$output"
    fi
}

# MPI_Alltoallv and MPI_Alltoallw, which execute calls, only return in MPI libraries that are made for this;
# start and wait call their nonblocking forms.
others=$((ranks - 1))
for way in "direct execute" "direct start" "direct put" "direct:lockstep execute" "p2p execute" "p2p put" \
    "p2p-streams execute" "p2p-type execute" "alltoallw start" "alltoallv start" "kway:2 execute"; do
    # shellcheck disable=SC2086 # two words
    try $others $way 0 0
done
for method in p2p p2p-type kway:2; do
    try $others "$method" execute $others 3
done
try $others alltoallw start $others 2
# Other nodes only learn of it from MPI, if it can tell.
if [ "$ranks" -gt 2 ]; then
    export REDIST_NODE_SIZE=2
    for method in hier:nodes hier:ranks; do
        try 1 "$method" execute $others 0
        try 1 "$method" execute 0 0
    done
fi
echo "test_redist_gone on $ranks ranks: $((run - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
