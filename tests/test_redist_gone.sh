#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Kills one of several ranks in the middle of exchanges, or lets all its MPI calls fail (test_survivors.c); the others
# have to get an error, each of them:
#     test_redist_gone.sh openmpi|mpich LAUNCHER YIELD_LIBRARY RANKS PROGRAM
set -eu
kind=$1 launcher=$2 yield_library=$3 ranks=$4 program=$5
export REDIST_TEST_LIMIT=20

# shellcheck source=tests/stay.sh
. "$(dirname "$0")/stay.sh"

failed=0
run=0
try() { # how many ranks have to learn of it, method, work, victim, call in which it ends, -k: from which on calls fail
    is_drawn || return 0
    least=$1
    shift
    run=$((run + 1))
    if [ "$4" -ge 0 ]; then fault="death $4"; else fault="silence ${4#-}"; fi
    # shellcheck disable=SC2086 # two words
    output=$(launch "$2" "$1" $fault "$3" "$report" 2>&1) || true
    case $output in
    *ORTE_ERROR_LOG*) # Open MPI's launcher may crash when it reports that a peer of TCP has hung up
        # shellcheck disable=SC2086 # two words
        output=$(launch "$2" "$1" $fault "$3" "$report" 2>&1) || true ;;
    esac
    learnt=$(grep -c '^rank [0-9]*: REDIST_ERR_[A-Z]* after' "$report" || true)
    if [ "$learnt" -lt "$least" ]; then
        failed=$((failed + 1))
        echo "FAILED $*: $learnt of $least ranks got an error:"
        cat "$report"
        echo "$output"
    fi
}

others=$((ranks - 1))
for way in "direct execute" "direct start" "direct put" "direct:lockstep execute" "p2p execute" "p2p put" \
    "p2p-streams execute" "p2p-type execute" "alltoallw execute" "alltoallw start" "alltoallv execute" \
    "alltoallv start" "kway:2 execute"; do
    # shellcheck disable=SC2086 # two words
    try $others $way 0 0
done
for method in p2p p2p-type kway:2 alltoallw alltoallv; do
    try $others "$method" execute $others 3
done
try $others alltoallw start $others 2
# A rank that ends before or in the first call with a communicator, which other communicators show.
for call in 0 1 2 3 4 5 6 8 10; do
    try $others p2p first $((call % ranks)) $call
done
# A rank that lives gets one too; what it cannot say by MPI, the others find out.
for way in "p2p execute" "p2p put" "p2p-type start" "kway:2 execute" "direct arrays"; do
    # shellcheck disable=SC2086 # two words
    try "$ranks" $way $others -4
done
# Between nodes that are cut (REDIST_NODE_SIZE) processes see each other all the same; ranks that do not, as on other
# machines, learn by a message of one that does.
if [ "$ranks" -gt 2 ]; then
    unset REDIST_TEST_SHARE # other numbers of ranks do not have these cases
    export REDIST_NODE_SIZE=2
    try $others hier execute $others 0
    try $others hier execute 0 0
    try "$ranks" p2p execute 0 -4
    try "$ranks" hier execute 1 -1
    if [ "$kind" = openmpi ] && unshare --pid --fork true 2>/dev/null; then
        export apart=2 btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
        try $others p2p execute 0 0
        try $others kway:2 execute 1 0
    else
        echo "left out: ranks that do not see each other"
    fi
fi
echo "test_redist_gone on $ranks ranks: $((run - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
