#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev gpu-test [--ranks "N ..."] [--only REGEX] [--seconds N] [--sanitize] [--large]
# ./dev gpu-bench [--ranks N] [--quick] [--core] [--ratios]
# ./dev gpu-bench --sizes LIST [--ranks N] [--kind LIST] [--precision LIST] [--skip-peers]
# ./dev gpu-bench --nodes [--ranks N] [--sizes LIST] [--kind LIST] [--precision LIST] [--seconds N] [--quick] [--host]
# ./dev gpu-bench --study [--ranks N] [--seconds N] [--host] [JOB ...]
# Build with CUDA and run on whatever devices are there. Install nothing and need no network. The last lines are a
# short table.
#   --ranks     numbers of ranks (gpu-test: 1 2 3 4 6 7 8; gpu-bench: one for each device)
#   --only      of the tests those whose label (as in the table) matches
#   --sanitize  besides, small cases under compute-sanitizer's memcheck and racecheck
#   --large     besides, arrays of more than 2^31 elements (20 GB of device memory, transforms 75 GB)
#   --quick     fewer shapes and rounds
#   --core      only arrays larger than a device: 32 GiB of host memory through 4 GiB of one device, and 1024^3 like a
#               transform that lies on the device; needs 40 GiB of host memory
#   --ratios    only what Poisson's equation, bricks, retained modes and cosine transforms take of a pair of transforms
#   --sizes     only transforms, whose extents are all N, with plots (out/gpu/sizes-*.png): N,N,... or
#               random:COUNT:SEED, different numbers from 64 to 1152 without prime factors above 7. A third of a second
#               for each size, and what planning takes, mostly for lengths that out/gpu/wisdom.txt (REDIST_WISDOM) does
#               not have yet
#   --kind      c2c, r2c, or both with a comma (both; --nodes: c2c)
#   --precision  double, float, or both with a comma (double)
#   --skip-peers  without cuFFT on all devices from one process
#   --nodes     transforms whose ranks are treated as nodes of 1 and of 2 (REDIST_NODE_SIZE; 2 with four ranks), by
#               methods nccl, nccl:plain and, on nodes of 2, hier:nccl over three networks: peers (as NCCL likes it),
#               host (NCCL_P2P_DISABLE=1) and sockets (NCCL_SHM_DISABLE=1 too), beside two exchanges of the messages
#               alone and the serial transforms alone, and over the longer one of these; --sizes 256,512,1024, of which
#               the last is for peers alone; at most four ranks unless --ranks says so
#   --study     jobs of fftnd-study (tools/study/jobs/gpu_large.json and gpu_quick.json; docs/study.md), each rank bound
#               to the cores next to its device, with a report; started again it goes on
#   --seconds   for the study: no configuration begins after N seconds (150), with --nodes no transform (no limit); for
#               tests: everything, building included, ends after N seconds, and the table says what was left out (no
#               limit)
#   --host      the study, or --nodes by p2p and alltoallv, with arrays in host memory, to try it where there is no
#               device; built without CUDA, in build-host
# Environment:
#   BUILD         a folder that is configured already (build-gpu, made when it is not there)
#   PACK          a folder that ./dev gpu-pack made (build-pack), with what the machine does not have
#   OPENMPI_CUDA  prefix of an Open MPI that takes device memory (tools/install-openmpi-cuda.sh): tests run with the
#                 usual Open MPI and with this one, benchmarks with this one
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
. tools/shell/environment.sh
. tools/shell/build.sh
. tools/commands/gpu_study.sh
. tools/commands/gpu_sizes.sh
. tools/commands/gpu_nodes.sh

build=${BUILD:-build-gpu}
what=${1:-}
[ $# -eq 0 ] || shift
ranks='' only='' sanitize=no large=no quick=no core=no with_study=no with_ratios=no with_nodes=no
sizes='' kinds='' precisions=double peers='' seconds='' space=cuda jobs=()
while [ $# -gt 0 ]; do
    case $1 in
    --ranks)
        ranks=${2:?--ranks needs a value}
        shift
        ;;
    --only)
        only=${2:?--only needs a value}
        shift
        ;;
    --core) core=yes ;;
    --sizes)
        sizes=${2:?--sizes needs a value}
        shift
        ;;
    --kind)
        kinds=${2:?--kind needs a value}
        shift
        ;;
    --precision)
        precisions=${2:?--precision needs a value}
        shift
        ;;
    --skip-peers) peers=--skip-peers ;;
    --ratios) with_ratios=yes ;;
    --nodes) with_nodes=yes ;;
    --study) with_study=yes ;;
    --seconds)
        seconds=${2:?--seconds needs a value}
        shift
        ;;
    --host) space=host ;;
    *.json) jobs+=("$1") ;;
    --sanitize) sanitize=yes ;;
    --large) large=yes ;;
    --quick) quick=yes ;;
    *)
        echo "./dev gpu-$what: unknown option $1 (--help lists them)" >&2
        exit 2
        ;;
    esac
    shift
done
[ "$space" = cuda ] || build=${BUILD:-build-host}

# What ./dev gpu-pack collected, behind what the machine has itself.
pack=$(readlink -f "${PACK:-build-pack}")
if [ -d "$pack" ]; then
    export PATH=$PATH:$pack/bin
    export PKG_CONFIG_PATH=${PKG_CONFIG_PATH:+$PKG_CONFIG_PATH:}$pack/lib/pkgconfig
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$pack/lib
fi

count_devices() {
    nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null | wc -l
}

has_package() { # names of pkg-config
    command -v pkg-config >/dev/null && pkg-config --exists "$@"
}

# What building takes and is not there, with commas; the benchmarks do without Check.
list_missing() {
    local missing=() tool
    [ "$space" = host ] || command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || missing+=("nvcc (CUDA toolkit)")
    command -v "${CC:-cc}" >/dev/null || missing+=("a C compiler")
    for tool in meson ninja pkg-config; do
        command -v $tool >/dev/null || missing+=("$tool")
    done
    has_package ompi-c && launcher openmpi >/dev/null || missing+=("MPI (libopenmpi-dev, openmpi-bin)")
    has_package fftw3 fftw3f || missing+=("FFTW (libfftw3-dev)")
    [ "$what" != test ] || has_package check || missing+=("Check (check)")
    [ ${#missing[@]} -eq 0 ] || printf '%s, ' "${missing[@]}" | sed 's/, $//'
}

# One line that says what is missing, before anything is done.
check_tools() {
    local missing
    [ -z "${BUILD:-}" ] || return 0
    missing=$(list_missing)
    [ -z "$missing" ] || {
        echo "./dev gpu-$what: missing: $missing" >&2
        exit 1
    }
}

# Configures and builds, unless BUILD names a folder that somebody else built.
build_gpu() {
    [ -z "${BUILD:-}" ] || return 0
    local begin=$SECONDS options=(--buildtype=release -Dmpi=openmpi)
    if [ "$space" = cuda ]; then options+=(-Dcuda=enabled); else options+=(-Dcuda=disabled); fi
    has_package check || options+=(-Dtests=false)
    build_folder "$build" "${options[@]}" || exit 1
    echo "Built in $build/ ($((SECONDS - begin)) s)"
}

# Where ranks may run
binding=(--bind-to none)

# Which cores each rank is to run on; without hwloc they run where the system likes.
bind_ranks() { # ranks
    export CUDA_DEVICE_ORDER=PCI_BUS_ID # as rank-cores and the ranks are to see them alike
    if "$build/tools/rank-cores" "$1" >"out/gpu/rankfile"; then
        binding=(--rankfile "out/gpu/rankfile" --bind-to core:overload-allowed)
    else
        echo "There is no rank file: ranks are not bound"
    fi
}

# Runs a program under one of the two MPI libraries.
run_on() { # usual|aware, ranks, program and arguments
    local kind=$1 n=$2
    shift 2
    if [ "$kind" = usual ]; then
        OMPI_MCA_mpi_yield_when_idle=$((n > cores)) "$(launcher openmpi)" --oversubscribe \
            "${binding[@]}" -n "$n" "$@"
    else
        OPAL_PREFIX=$OPENMPI_CUDA LD_LIBRARY_PATH=$OPENMPI_CUDA/lib:${LD_LIBRARY_PATH:-} \
            OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,smcuda \
            "$OPENMPI_CUDA/bin/mpirun" --oversubscribe "${binding[@]}" \
            -x OPAL_PREFIX -x LD_LIBRARY_PATH -n "$n" "$@"
    fi </dev/null
}

# ---------------------------------------------------------------- tests

passed=0 failed=0 skipped=0 left_out=0
limit=300 is_cut=no # seconds of the program that runs, and whether --seconds leaves fewer than it may take

# No program begins in the last seconds, in which it could do nothing.
set_limit() { # seconds that it may take
    limit=$1 is_cut=no
    [ -n "$seconds" ] || return 0
    local left=$((seconds - SECONDS))
    [ $left -ge "$limit" ] || limit=$left is_cut=yes
    [ $left -ge 5 ]
}

# Runs one test program and counts what its last line says.
test_one() { # label, command
    local label=$1 log line begin=$SECONDS
    [[ $1 =~ $only ]] || return 0
    shift
    if ! set_limit 300; then
        left_out=$((left_out + 1))
        printf '%-44s left out\n' "$label" | tee -a out/gpu/table.txt
        return
    fi
    log=out/gpu/$label.txt
    "$@" >"$log" 2>&1
    local code=$? counts='([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped'
    line=$(grep -aE "$counts" "$log" | tail -n 1)
    if [[ $line =~ $counts ]] && { [ $code -eq 0 ] || [ "${BASH_REMATCH[2]}" -gt 0 ]; }; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + BASH_REMATCH[3]))
        printf '%-44s %s passed, %s failed, %s skipped  %d s\n' "$label" "${BASH_REMATCH[@]:1:3}" \
            $((SECONDS - begin)) | tee -a out/gpu/table.txt
        [ "${BASH_REMATCH[2]}" -eq 0 ] || grep -aE 'FAILED|case:' "$log" | head -n 20
    elif [ $code -eq 124 ] && [ $is_cut = yes ]; then
        left_out=$((left_out + 1))
        printf '%-44s left out, ended after %d s\n' "$label" $((SECONDS - begin)) | tee -a out/gpu/table.txt
    else
        failed=$((failed + 1))
        printf '%-44s died with exit code %d\n' "$label" "$code" | tee -a out/gpu/table.txt
        tail -n 30 "$log"
    fi
}

run_limited() { # usual|aware, ranks, program, arguments
    run_on "$1" "$2" timeout "$limit" "${@:3}"
}

test_ranks() { # usual|aware
    local n program
    for n in ${ranks:-1 2 3 4 6 7 8}; do
        for program in "$build"/tests/gpu/test_gpu_*; do
            [ -f "$program" ] || continue # meson has a folder for each
            test_one "$1-$(basename "$program")-$n" run_limited "$1" "$n" "$program"
        done
    done
}

# Nodes of two ranks, treated as such on one host.
test_nodes() {
    local n name
    for n in 3 4; do
        for name in signals asynchronous pairs; do
            test_one "nodes-$name-$n" run_limited usual "$n" "$build/tests/gpu/test_gpu_$name" 2
        done
    done
}

# Says so if it cannot.
can_run() { # program
    if [ ! -x "$1" ] || [ "$(count_devices)" -eq 0 ] || [[ $(ldd "$1") == *"not found"* ]]; then
        echo "0 passed, 0 failed, 1 skipped: no example, a library of it missing, or no device"
        return 1
    fi
}

# The flow of an example with its fields on devices, beside the same on the host.
compare_flows() { # usual|aware, ranks
    local space program=$build/examples/5_taylor_green folder=out/gpu/flow
    can_run "$program" || return 0
    for space in host cuda; do
        set_limit 300 || return 124
        run_on "$1" "$2" timeout "$limit" "$program" --space $space --size 32 --time 2 \
            --output "$folder-$space" || return
    done
    python3 tools/test/compare_tables.py "$folder-cuda/taylor_green.csv" \
        "$folder-host/taylor_green.csv" 1e-9
}

# An example that says by its exit status whether it is right.
run_example() { # usual|aware, ranks, name
    can_run "$build/examples/$3" || return 0
    run_limited "$1" "$2" "$build/examples/$3" --space cuda && echo "1 passed, 0 failed, 0 skipped"
}

# Ranks that are killed, or whose calls fail, at random moments of work on devices.
survive() { # ranks
    devices=$(count_devices) REDIST_TEST_SPACE=cuda timeout "$limit" tests/test_survivors.sh openmpi \
        "$(launcher openmpi)" none "$1" "$PWD/$build/tests/test_survivors" 25
}

test_survivors() {
    local n
    for n in 2 3 4; do
        test_one "survivors-$n" survive "$n"
    done
}

# Devices that wait when a kernel of the user's fails, or a rank is killed or late.
survive_streams() { # ranks, faults, methods
    timeout "$limit" tests/test_stream_survivors.sh openmpi "$(launcher openmpi)" none "$1" \
        "$PWD/$build/tests/gpu/stream_survivors" "${@:2}"
}

test_stream_survivors() {
    local n fault
    for n in 2 4; do
        for fault in kernel call kill late; do
            test_one "streams-$fault-signals-$n" survive_streams "$n" $fault signals:kernel signals:engines enqueued:nccl \
                enqueued:hier:nccl enqueued:auto
            [ $fault != late ] || continue
            test_one "streams-$fault-others-$n" survive_streams "$n" $fault direct p2p kway:2 nccl hier:nccl
        done
    done
}

test_examples() { # usual|aware
    local n name
    for n in 1 2 4; do
        test_one "$1-taylor-green-$n" compare_flows "$1" "$n"
        for name in 4_poisson 6_channel 10_particle_mesh; do
            test_one "$1-$name-$n" run_example "$1" "$n" "$name"
        done
    done
}

# Runs a test program on two ranks under a tool of compute-sanitizer.
sanitized() { # tool, program, options of the tool
    local tool=$1 program=$2
    shift 2
    set_limit 600 || return 124
    REDIST_TEST_LIMIT=500 run_on usual 2 timeout "$limit" compute-sanitizer --tool "$tool" "$@" \
        --target-processes all "$build/tests/gpu/$program"
}

# A few transforms under racecheck. Races that it sees in kernels of cuFFT are not this project's.
races_in_transforms() {
    local log=out/gpu/races.txt
    sanitized racecheck test_gpu_transforms >"$log" 2>&1
    local code=$?
    cat "$log"
    ! grep -aE 'Race reported.*(copy_part|move_lines|multiply)' "$log" && return $code
}

# Racecheck looks at the kernels' shared memory, memcheck at all addresses. Calls that the library makes
# to find out what memory is, fail for memory that cannot be mapped; that is no error.
test_sanitized() {
    local memcheck=(--report-api-errors no --error-exitcode 9)
    export REDIST_TEST_SCALE=0.2
    test_one memcheck-exchanges-2 sanitized memcheck test_gpu_exchanges "${memcheck[@]}"
    test_one racecheck-exchanges-2 sanitized racecheck test_gpu_exchanges --error-exitcode 9
    export REDIST_TEST_SCALE=0.05 CK_RUN_CASE=random_cases
    test_one memcheck-transforms-2 sanitized memcheck test_gpu_transforms "${memcheck[@]}"
    test_one racecheck-transforms-2 races_in_transforms
    unset REDIST_TEST_SCALE CK_RUN_CASE
}

run_tests() {
    mkdir -p out/gpu
    rm -f out/gpu/*.txt
    build_gpu
    if ! compgen -G "$build/tests/gpu/test_gpu_*" >/dev/null; then
        echo "There are no tests in $build/tests/gpu" >&2
        exit 1
    fi
    [ $large = no ] || export REDIST_TEST_LARGE=1
    test_ranks usual
    test_nodes
    test_survivors
    test_stream_survivors
    test_examples usual
    if [ -n "${OPENMPI_CUDA:-}" ]; then
        test_ranks aware
        test_examples aware
    fi
    [ $sanitize = no ] || test_sanitized
    [ $((failed + left_out)) -eq 0 ] || cat out/gpu/table.txt # again, behind what failed
    [ $left_out -eq 0 ] || echo "$left_out programs were left out after $seconds s"
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

# Pairs of transforms in each way to run them; each rank needs a device of its own.
bench_streams() { # ranks
    local work
    : >out/gpu/bench-streams.json
    [ "$(count_devices)" -ge "$1" ] || return 0
    for work in '32,32,32 c2c 1' '64,64,64 c2c 1' '64,64,64 r2c 1' '64,64,64 c2c 8' '128,128,128 c2c 1' \
        '128,128,128 r2c 1' '256,256,256 c2c 1' '256,256,256 r2c 1' '512,512,512 c2c 1'; do
        read -r shape kind batch <<<"$work"
        run_on "$mpi" "$1" timeout 120 "$build/bench/fftnd-stream-bench" --shape "$shape" --kind "$kind" \
            --batch "$batch" --iters "$iters" --json 2>>out/gpu/bench-errors.txt |
            grep '^{' >>out/gpu/bench-streams.json
    done
}

# NCCL may be missing in the build, and refuses ranks that share a device.
has_nccl() { # ranks
    run_on "$mpi" "$1" "$build/bench/redist-bench" --space cuda --shape 8,8,8 --method nccl \
        --iters 1 --warmup 0 >out/gpu/bench-nccl.txt 2>&1
}

# Arrays in host memory that a part of one device's memory transforms, tile by tile.
bench_core() {
    local code=0
    mkdir -p out/gpu
    build_gpu
    run_on usual 1 timeout 300 "$build/bench/fftnd-bench" --shape 2048,2048,1024 --kind c2c --precision float \
        --in-place --device cuda --device-mib 4096 --iters 3 --warmup 0 |
        tee out/gpu/bench-core.txt || code=1
    if [ ! -x "$build/tests/gpu/test_gpu_offload" ]; then
        echo "Not compared with a transform that lies on the device: the build has no tests (Check)"
        return $code
    fi
    REDIST_TEST_LARGE=1 CK_RUN_CASE=like_a_transform_on_the_device run_on usual 1 timeout 300 \
        "$build/tests/gpu/test_gpu_offload" | tee -a out/gpu/bench-core.txt || code=1
    return $code
}

run_bench() {
    local n shape kind batch mpi=usual iters=20
    local methods=direct:engines,direct:paced,direct:lockstep,direct:kernel
    local shapes=('256,256,256' '512,512,512' '1024,1024,1024')
    mkdir -p out/gpu
    rm -f out/gpu/bench*
    build_gpu
    [ -z "${OPENMPI_CUDA:-}" ] || mpi=aware
    n=${ranks:-$(count_devices)}
    bind_ranks "$n"
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
    bench_streams "$n"
    tail -n 3 out/gpu/bench-errors.txt >&2
    python3 tools/bench/gpu_report.py out/gpu/bench.json out/gpu/bench-fft.json out/gpu/bench-streams.json
}

case $what in
test)
    check_tools
    run_tests
    ;;
bench)
    check_tools
    if [ $with_study = yes ]; then
        run_study ${jobs[@]+"${jobs[@]}"}
    elif [ $with_nodes = yes ]; then
        bench_nodes
    elif [ -n "$sizes" ]; then
        bench_sizes
    elif [ $with_ratios = yes ]; then
        bench_ratios
    elif [ $core = yes ]; then
        bench_core
    else
        run_bench
    fi
    ;;
esac
