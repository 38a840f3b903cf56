#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev gpu-test and ./dev gpu-bench: build with CUDA and run on whatever devices are there. Installs
# nothing and needs no network. The last lines are a short table.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/environment.sh
. scripts/build.sh

usage() {
    cat <<'END'
usage: scripts/gpu.sh test [--ranks "N ..."] [--sanitize] [--large]
       scripts/gpu.sh bench [--ranks N] [--quick]
  --ranks     numbers of ranks (test: 1 2 3 4 6 7 8; bench: one for each device)
  --sanitize  besides, small cases under compute-sanitizer's memcheck and racecheck
  --large     besides, arrays of more than 2^31 elements (20 GB of device memory)
  --quick     fewer shapes and rounds
environment:
  BUILD         a folder that is configured already (build-gpu, made when it is not there)
  OPENMPI_CUDA  prefix of an Open MPI that takes device memory (scripts/install-openmpi-cuda.sh):
                tests run with the usual Open MPI and with this one, benchmarks with this one
END
}

build=${BUILD:-build-gpu}
what=${1:-}
[ $# -eq 0 ] || shift
ranks='' sanitize=no large=no quick=no
while [ $# -gt 0 ]; do
    case $1 in
    --ranks)
        ranks=${2:?--ranks needs a value}
        shift
        ;;
    --sanitize) sanitize=yes ;;
    --large) large=yes ;;
    --quick) quick=yes ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done

count_devices() {
    nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null | wc -l
}

# Configures and builds, unless BUILD names a folder that somebody else built.
build_gpu() {
    [ -z "${BUILD:-}" ] || return 0
    local begin=$SECONDS
    build_folder "$build" --buildtype=release -Dmpi=openmpi -Dcuda=enabled -Dexamples=false || exit 1
    echo "Built in $build/ ($((SECONDS - begin)) s)"
}

# Runs a program under one of the two MPI libraries.
run_on() { # usual|aware, ranks, program and arguments
    local kind=$1 n=$2
    shift 2
    if [ "$kind" = usual ]; then
        OMPI_MCA_mpi_yield_when_idle=$((n > cores)) "$(launcher openmpi)" --oversubscribe \
            --bind-to none -n "$n" "$@"
    else
        OPAL_PREFIX=$OPENMPI_CUDA LD_LIBRARY_PATH=$OPENMPI_CUDA/lib:${LD_LIBRARY_PATH:-} \
            OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,smcuda \
            "$OPENMPI_CUDA/bin/mpirun" --oversubscribe --bind-to none \
            -x OPAL_PREFIX -x LD_LIBRARY_PATH -n "$n" "$@"
    fi </dev/null
}

# ---------------------------------------------------------------- tests

passed=0 failed=0 skipped=0

# Runs one test program and counts what its last line says.
test_one() { # label, command
    local label=$1 log line begin=$SECONDS
    shift
    log=out/gpu/$label.txt
    "$@" >"$log" 2>&1
    local code=$? counts='([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped'
    line=$(grep -E "$counts" "$log" | tail -n 1)
    if [[ $line =~ $counts ]] && { [ $code -eq 0 ] || [ "${BASH_REMATCH[2]}" -gt 0 ]; }; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + BASH_REMATCH[3]))
        printf '%-44s %s passed, %s failed, %s skipped  %d s\n' "$label" "${BASH_REMATCH[@]:1:3}" \
            $((SECONDS - begin)) | tee -a out/gpu/table.txt
        [ "${BASH_REMATCH[2]}" -eq 0 ] || grep -E 'FAILED|case:' "$log" | head -n 20
    else
        failed=$((failed + 1))
        printf '%-44s died with exit code %d\n' "$label" "$code" | tee -a out/gpu/table.txt
        tail -n 30 "$log"
    fi
}

test_ranks() { # usual|aware
    local n program
    for n in ${ranks:-1 2 3 4 6 7 8}; do
        for program in test_gpu_exchanges test_gpu_device test_gpu_transforms test_gpu_phases; do
            test_one "$1-$program-$n" run_on "$1" "$n" timeout 300 "$build/tests/gpu/$program"
        done
    done
}

# Racecheck looks at the kernels' shared memory, memcheck at all addresses. Calls that the library makes
# to find out what memory is, fail for memory that cannot be mapped; that is no error.
test_sanitized() {
    local tool options
    for tool in memcheck racecheck; do
        [ $tool = memcheck ] && options=(--report-api-errors no) || options=()
        REDIST_TEST_SCALE=0.2 REDIST_TEST_LIMIT=500 test_one "$tool-2" run_on usual 2 \
            compute-sanitizer --tool "$tool" "${options[@]}" --error-exitcode 9 --target-processes all \
            "$build/tests/gpu/test_gpu_exchanges"
    done
}

run_tests() {
    mkdir -p out/gpu
    rm -f out/gpu/*.txt
    build_gpu
    [ $large = no ] || export REDIST_TEST_LARGE=1
    test_ranks usual
    [ -z "${OPENMPI_CUDA:-}" ] || test_ranks aware
    [ $sanitize = no ] || test_sanitized
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
}

# ---------------------------------------------------------------- benchmarks

bench_one() { # ranks, shape, axes, type
    local check=()
    [ "$2" != 1024,1024,1024 ] || check=(--unchecked) # the host would take minutes
    run_on "$mpi" "$1" "$build/bench/redist-bench" --space cuda --shape "$2" --axes "$3" --type "$4" \
        --method "$methods" --iters "$iters" --warmup 3 --json "${check[@]}" 2>>out/gpu/bench-errors.txt |
        grep '^{' >>out/gpu/bench.json
}

# A pair of transforms as the planner likes it best, beside cuFFT on all devices from one process.
bench_transform() { # ranks, shape, kind
    run_on "$mpi" "$1" "$build/bench/fftnd-bench" --space cuda --shape "$2" --kind "$3" --grid 0 \
        --method direct --plan-seconds 20 --iters "$iters" --warmup 3 --json \
        2>>out/gpu/bench-errors.txt | grep '^{' >>out/gpu/bench-fft.json
}

# NCCL may be missing in the build, and refuses ranks that share a device.
has_nccl() { # ranks
    run_on "$mpi" "$1" "$build/bench/redist-bench" --space cuda --shape 8,8,8 --method nccl \
        --iters 1 --warmup 0 >out/gpu/bench-nccl.txt 2>&1
}

run_bench() {
    local n shape mpi=usual iters=20
    local methods=direct:engines,direct:paced,direct:lockstep,direct:kernel
    local shapes=('256,256,256' '512,512,512' '1024,1024,1024') kind
    mkdir -p out/gpu
    rm -f out/gpu/bench*
    build_gpu
    [ -z "${OPENMPI_CUDA:-}" ] || mpi=aware
    n=${ranks:-$(count_devices)}
    if has_nccl "$n"; then methods+=,nccl; fi
    if [ $quick = yes ]; then
        iters=10 shapes=('256,256,256' '1024,1024,1024')
    else
        methods+=,p2p,p2p-streams,alltoallv,auto
    fi
    for shape in "${shapes[@]}"; do
        bench_one "$n" "$shape" 1:0 c128
        bench_one "$n" "$shape" 2:1 c128
    done
    for shape in 512,512,512 1024,1024,1024; do
        for kind in c2c r2c; do
            bench_transform "$n" "$shape" $kind
        done
    done
    tail -n 3 out/gpu/bench-errors.txt >&2
    python3 scripts/gpu_report.py out/gpu/bench.json out/gpu/bench-fft.json
}

case $what in
test) run_tests ;;
bench) run_bench ;;
*)
    usage
    exit 2
    ;;
esac
