# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# ./dev gpu-bench --study: jobs of fftnd-study on devices, each rank bound to the cores next to its own, and
# a report. Sourced by gpu.sh, whose variables and functions it uses.

study=out/gpu/study

# Rank, its processors, its device, the processors next to that, as the first job wrote them.
show_placement() {
    local files=("$study"/*.placement.csv)
    [ ! -f "${files[0]}" ] || python3 tools/study/placement.py "${files[0]}"
}

# A job as this MPI can run it: `aware` would hand device memory to an MPI that does not take it.
fit_job() { # job
    python3 tools/study/fit_job.py "$1" "$study/jobs/$(basename "$1")" "$mpi" "$space"
}

run_job() { # ranks, job, seconds left
    local log name code
    name=$(basename "$2" .json)
    log=$study/$name.log
    if [ "$3" -lt 1 ]; then
        echo "$2: no time left"
        return
    fi
    fit_job "$2" || return
    echo "$2, at most $3 s; progress in $log"
    run_on "$mpi" "$1" timeout $(($3 + 120)) "$build/tools/fftnd-study" \
        --job "$study/jobs/$name.json" --out "$study" --seconds "$3" >"$log" 2>&1
    code=$?
    # What was passed over or failed, and the last line of the program
    grep -avE '^\[|^$' "$log" | grep -aE ',.*: |\.csv|^fftnd-study' | tail -n 12
    return $code
}

run_study() { # jobs
    local mpi=usual code=0 end n job
    [ $# -gt 0 ] || set -- tools/study/jobs/gpu_large.json tools/study/jobs/gpu_quick.json
    build_gpu
    mkdir -p "$study/jobs"
    [ -z "${OPENMPI_CUDA:-}" ] || mpi=aware
    n=${ranks:-$(count_devices)}
    bind_ranks "$n"
    end=$((SECONDS + ${seconds:-150}))
    for job in "$@"; do
        run_job "$n" "$job" $((end - SECONDS)) || code=1
    done
    show_placement
    python3 tools/study/report.py "$study" || code=1
    return $code
}
