# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Launching ranks of which some end early: launchers would end the others; so each rank is the child of a shell, which
# stays until all have ended. Sourced, not run, with $kind, $launcher, $yield_library, $ranks and $program set.

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# With $devices each rank sees one of them; with $apart ranks from that one on see no processes of others.
report=$folder/report # a line from each rank that returned
ended=$folder/ended   # a line for each rank
# shellcheck disable=SC2016 # for the shells of the ranks
stay='[ -z "${devices:-}" ] ||
    export CUDA_VISIBLE_DEVICES=$((${OMPI_COMM_WORLD_LOCAL_RANK:-0} % devices))
[ -z "${apart:-}" ] || [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" -lt "$apart" ] ||
    set -- unshare --pid --fork "$@"
"$@"; echo >>"$0"; while [ "$(wc -l <"$0")" -lt "$ranks" ]; do sleep 0.05; done'
export ranks

# Whether to run a case, of those that fewer ranks have too; with REDIST_TEST_SHARE (0 to 1) that fraction runs, drawn
# anew in each run.
is_drawn() {
    awk -v drawn=$RANDOM -v share="${REDIST_TEST_SHARE:-1}" 'BEGIN { exit drawn >= share * 32768 }'
}

launch() { # arguments of the program
    : >"$report"
    : >"$ended"
    if [ "$kind" = openmpi ]; then
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout --kill-after=10 60 "$launcher" \
            --enable-recovery --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca pml ob1 \
            --mca btl "${btl:-vader,self}" -n "$ranks" sh -c "$stay" "$ended" "$program" "$@"
    else # UCX ends a process that reads messages out of the memory of one that is gone, by CMA
        UCX_TLS=posix,self timeout --kill-after=10 60 "$launcher" -disable-auto-cleanup -bind-to none \
            -genv LD_PRELOAD "$yield_library" -n "$ranks" sh -c "$stay" "$ended" "$program" "$@"
    fi
    # Open MPI's launcher may crash when it is told of an end: its ranks go on
    for _ in $(seq 50); do
        [ "$(wc -l <"$ended")" -lt "$ranks" ] || break
        sleep 0.1
    done
}
