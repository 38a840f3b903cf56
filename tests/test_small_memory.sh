#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Less shared memory than the arrays need: arrays of redist_alloc are plain memory then, a plan that was promised
# others says so, and no program ends by a bus error. In a mount namespace of its own, where that is allowed.
#     test_small_memory.sh FFTND_BENCH RUN_RANKS_ARGUMENT...
set -eu
name=small_shared_memory
if [ "${1:-}" != --inside ]; then
    if ! unshare --mount sh -c 'mount -t tmpfs -o size=6m tmpfs /dev/shm' 2>/dev/null; then
        echo "on 2 ranks: 0 passed, 0 failed, 1 skipped: $name (needs to be allowed to mount)"
        exit 0
    fi
    exec unshare --mount "$0" --inside "$@"
fi
mount -t tmpfs -o size=6m tmpfs /dev/shm
bench=$2
shift 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Open MPI's own memory is not what is tested.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_backing_directory=/tmp

run() { # wanted exit code, options; 1 = any but 0
    wanted=$1
    shift
    code=0
    "$@" --shape 64,64,64 --kind c2c --grid 2 --iters 1 >"$log" 2>&1 || code=$?
    if [ $((code != 0)) -ne "$wanted" ] || grep -q 'Bus error' "$log"; then
        echo "exit code $code"
        cat "$log"
        exit 1
    fi
}

run 0 "$@" 2 "$bench" --memory malloc --effort estimate
run 1 "$@" 2 "$bench" --memory alloc
grep -q 'cannot be mapped by peers' "$log"
echo "on 2 ranks: 2 passed, 0 failed, 0 skipped"
