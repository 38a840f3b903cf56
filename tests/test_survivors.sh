#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Kills one of several ranks at a random moment of random work, or lets its MPI calls fail several times in a row; the
# others have to return from all that they do (test_survivors.c):
#     test_survivors.sh openmpi|mpich LAUNCHER YIELD_LIBRARY RANKS PROGRAM [CASES [SEED]]
# REDIST_TEST_SPACE=cuda: on devices, which the ranks take in turn, seen by each as the only one.
# REDIST_TEST_SEED and the number of a case repeat it. Afterwards no shared file of the library is left.
set -eu
kind=$1 launcher=$2 yield_library=$3 ranks=$4 program=$5 cases=${6:-20} seed=${REDIST_TEST_SEED:-${7:-$RANDOM}}
export REDIST_TEST_LIMIT=${REDIST_TEST_LIMIT:-20}
# shellcheck source=tests/stay.sh
. "$(dirname "$0")/stay.sh"

works=(execute arrays start put transform operator ghosts plan planfft)
methods=(direct p2p kway:2 auto direct:lockstep p2p-type p2p-streams alltoallw alltoallv)
nodes=(0 0 1 2)
if [ "${REDIST_TEST_SPACE:-host}" = cuda ]; then
    methods=(direct p2p auto kway:2) nodes=(0)
    [ "${devices:-1}" -lt "$ranks" ] || methods+=(nccl) # which needs one for each rank
fi
read -ra faults <<<"${REDIST_TEST_FAULTS:-kill kill kill calls calls silence}"

one_of() { # words; the one that is drawn becomes $drawn
    shift $((RANDOM % $#))
    drawn=$1
}

# Another rank's end may come before its own first call; nothing else may be missing.
judge() { # lines expected
    [ "$(grep -c '^rank [0-9]*: REDIST_[A-Z_]* after' "$report" || true)" -ge "$1" ] &&
        ! grep -q 'says that all is well' "$report"
}

shared_files() {
    find /dev/shm -maxdepth 1 -name '*redist*' 2>/dev/null | sort
}

RANDOM=$seed
files=$(shared_files)
failed=0
for ((i = 0; i < cases; i++)); do
    one_of "${works[@]}" && work=$drawn
    one_of "${methods[@]}" && method=$drawn
    one_of "${faults[@]}" && fault=$drawn
    one_of "${nodes[@]}" && node=$drawn
    victim=$((RANDOM % ranks))
    number=$((1 + RANDOM % 12))
    [ "$fault" != kill ] || number=$((RANDOM % (1 << (4 + RANDOM % 12))))
    case $method$work in
    direct:lockstep[gpot]*) method=direct ;; # needs arrays that it can map
    ncclput) ;;
    [!d]*put) method=p2p ;; # which has tiles between nodes
    kway:2ghosts | p2p-typeghosts | alltoallwghosts) method=p2p ;; # which adds
    directghosts) [ "${REDIST_TEST_SPACE:-host}" = host ] || method=p2p ;; # on devices in mapped arrays only
    esac
    if [[ $node -gt 0 && $method = direct* ]]; then
        method=hier
        [[ $work != put && $work != ghosts ]] || method=p2p
    fi
    unset REDIST_NODE_SIZE
    [ "$node" -eq 0 ] || export REDIST_NODE_SIZE=$node
    least=$ranks
    [ "$fault" != kill ] || least=$((ranks - 1))
    output=$(launch "$work" "$method" "$fault" "$number" "$victim" "$report" 2>&1) || true
    if ! judge "$least"; then
        failed=$((failed + 1))
        echo "FAILED case $i of seed $seed: $work $method $fault $number, victim $victim, nodes of $node:"
        cat "$report"
        echo "$output" | head -n 20
    fi
done
unset REDIST_NODE_SIZE
if [ "$(shared_files)" != "$files" ]; then
    failed=$((failed + 1))
    echo "FAILED: shared files are left:" && shared_files
fi
echo "test_survivors on $ranks ranks: $((cases + 1 - failed)) passed, $failed failed, 0 skipped [REDIST_TEST_SEED=$seed]"
[ "$failed" -eq 0 ]
