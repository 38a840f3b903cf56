#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A limit on the size of files that is below what arrays need: arrays of redist_alloc are plain memory then, a plan that
# was promised mapped ones works all the same and warns once, and no program ends by a signal.
#     test_small_memory.sh FFTND_BENCH RUN_RANKS_ARGUMENT...
set -eu
bench=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Open MPI's own memory is not what is tested.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader

run() { # warnings, options
    wanted=$1
    shift
    code=0
    (
        ulimit -f 12000 # 6 MB
        "$@" --shape 128,64,64 --kind c2c --grid 2 --iters 1
    ) >"$log" 2>&1 || code=$?
    warnings=$(grep -c 'arrays that a plan was to find in shared memory are plain memory' "$log" || true)
    if [ "$code" -ne 0 ] || [ "$warnings" -ne "$wanted" ]; then
        echo "exit code $code, $warnings warnings"
        cat "$log"
        exit 1
    fi
}

run 0 "$@" 2 "$bench" --memory malloc --effort estimate
run 1 "$@" 2 "$bench" --memory alloc --effort estimate
run 1 "$@" 2 "$bench" --memory alloc
echo "on 2 ranks: 3 passed, 0 failed, 0 skipped"
