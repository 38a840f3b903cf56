#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev bench [--quick] [--ranks N] [--only redist|fft] [--fftw PREFIX] [--out FOLDER]
# Runs the benchmarks on this machine: exchanges beside memcpy, transforms beside FFTW-MPI and mpi4py-fft.
#   --quick        small shapes and few rounds, 20 s after the build
#   --ranks N      ranks (as many as there are cores); more than cores are refused
#   --only WHAT    only the exchanges (redist) or only the transforms (fft)
#   --fftw PREFIX  all with the FFTW in PREFIX (./dev fftw PREFIX), mpi4py-fft too
#   --out FOLDER   where the JSON lines, tables and plots go (out/bench; with --fftw out/bench-fftw)
set -euo pipefail

fail() {
    echo "./dev bench: $1" >&2
    exit 2
}

cd "$(dirname "$0")/../.."
. tools/shell/environment.sh
. tools/shell/packages.sh
. tools/shell/build.sh

# Cores that this process may use; two threads of one core count once.
count_cores() {
    local physical
    physical=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
    echo $((physical < cores ? physical : cores))
}

quick=no
only=all
out=
fftw=
cores=$(count_cores)
ranks=$cores
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=yes ;;
    --ranks | --only | --fftw | --out)
        [ $# -ge 2 ] || fail "$1 needs a value"
        declare "${1#--}=$2"
        shift
        ;;
    *) fail "unknown option $1 (--help lists them)" ;;
    esac
    shift
done
[[ $ranks =~ ^[1-9][0-9]*$ ]] || fail "--ranks needs a number, not '$ranks'"
[[ $only =~ ^(all|redist|fft)$ ]] || fail "--only takes redist or fft, not '$only'"
[ "$ranks" -le "$cores" ] || fail "$ranks ranks on $cores cores would time waiting, not work"
[ -z "$fftw" ] || [ -e "$fftw/lib/libfftw3.so" ] || fail "$fftw has no FFTW; ./dev fftw $fftw makes one"

# With --fftw PREFIX in a folder of its own.
build() {
    install_packages "${build_packages[@]}" "${bench_packages[@]}"
    if [ -n "$fftw" ]; then
        build_folder build-fftw --buildtype=release -Dmpi=openmpi -Dtests=false -Dfftw_prefix="$(realpath "$fftw")"
        BUILD=build-fftw
    else
        build_release
        BUILD=build
    fi
}

[ -n "${BUILD:-}" ] || build
for program in redist-bench fftnd-bench; do
    [ -x "$BUILD/bench/$program" ] || fail "$BUILD/bench/$program is not built (set BUILD)"
done
if [ -n "$fftw" ]; then # mpi4py-fft takes the first library of this name
    export LD_LIBRARY_PATH=$fftw/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
out=${out:-out/bench${fftw:+-fftw}}
build_mpi=$(mpi_of "$BUILD/bench/redist-bench")

# Programs run one after the other, each with its place in time on stderr.
start_ranks() { # openmpi|mpich, number of ranks, what they are bound to, program and arguments
    local start n=$2 place=$3
    start=$(launcher "$1" "$4")
    shift 3
    echo "[$((SECONDS / 60)):$(printf %02d $((SECONDS % 60)))] $*" >&2
    "$start" -n "$n" --bind-to "$place" "$@" </dev/null
}

# Ranks stay on their cores: there are at least as many cores as ranks.
run() { # openmpi|mpich, program and arguments
    local mpi=$1
    shift
    start_ranks "$mpi" "$ranks" core "$@"
}

# One exchange, all methods and memcpy interleaved.
bench_exchange() { # shape, axes, type
    run "$build_mpi" "$BUILD/bench/redist-bench" --shape "$1" --axes "$2" --type "$3" \
        --method all --iters "$iters" --json --samples >>"$out/redist.json"
}

run_exchanges() {
    local axes
    : >"$out/redist.json"
    for axes in 1:0 0:1 2:1 1:2 2:0 0:2; do
        bench_exchange "$exchange_shape" $axes c128
    done
}

# The python that has mpi4py-fft: the first one found, else the distribution's own.
find_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import mpi4py_fft' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    echo "bench.sh: no python3 has mpi4py-fft; it is left out" >&2
}

# The options that add FFTW-MPI, if this build has it. Its plans are made anew for each benchmark,
# but only once: planning takes longer than measuring.
compare_options() {
    rm -f "$out/fftw-double.wisdom" "$out/fftw-float.wisdom"
    if run "$build_mpi" "$BUILD/bench/fftnd-bench" --shape 4,4,4 --iters 1 --compare \
        >"$out/compare.txt" 2>&1; then
        echo --compare --fftw-wisdom
    else
        echo "bench.sh: FFTW-MPI is left out; $out/compare.txt says why" >&2
    fi
}

# One transform: short runs of each program in turn, so that drifts of the machine cancel.
bench_transform() { # shape, kind, precision
    local turn
    local problem=(--shape "$1" --kind "$2" --precision "$3" --grid "$ranks" --iters "$turn_iters"
        --warmup 2 --samples)
    local peers=("${compare[@]}")
    [ ${#peers[@]} -eq 0 ] || peers+=("$out/fftw-$3.wisdom")
    for ((turn = 0; turn < turns; turn++)); do
        # like FFTW-MPI, we may overwrite the input
        run "$build_mpi" "$BUILD/bench/fftnd-bench" "${problem[@]}" --overwrite --json "${peers[@]}" \
            >>"$out/fft.json"
        if [ -n "$python" ]; then
            run openmpi "$python" bench/mpi4py_fft_bench.py "${problem[@]}" >>"$out/fft.json"
        fi
    done
}

run_transforms() {
    local python compare shape kind precision
    : >"$out/fft.json"
    python=$(find_python)
    read -r -a compare <<<"$(compare_options)"
    while read -r shape kind precision; do
        bench_transform "$shape" "$kind" "$precision"
    done < <(printf '%s\n' "${transforms[@]}")
}

# One rank with as many threads as there are ranks else, beside those ranks with one thread each.
run_threads() {
    local shape kind precision turn problem
    : >"$out/threads.json"
    while read -r shape kind precision; do
        problem=(--shape "$shape" --kind "$kind" --precision "$precision" --iters "$turn_iters"
            --warmup 2 --samples --json)
        for ((turn = 0; turn < turns; turn++)); do
            start_ranks "$build_mpi" 1 none "$BUILD/bench/fftnd-bench" "${problem[@]}" \
                --threads "$ranks" >>"$out/threads.json"
            run "$build_mpi" "$BUILD/bench/fftnd-bench" "${problem[@]}" >>"$out/threads.json"
        done
    done < <(printf '%s\n' "${shared[@]}")
}

# Plans of FFTW's interface, on this project's libraries and on FFTW's.
run_interface() {
    local options
    : >"$out/interface.json"
    while read -r -a options; do
        run "$build_mpi" "$BUILD/bench/fftw-bench" --json --samples --iters "$iters" "${options[@]}" \
            >>"$out/interface.json"
    done < <(printf '%s\n' "${interface[@]}")
}

if [ $quick = yes ]; then
    iters=20 turns=2 turn_iters=10
    exchange_shape=64,64,64
    transforms=('64,64,64 r2c double' '64,64,64 c2c double')
    shared=()
    interface=('--shape 64,64,64 --in-place' '--shape 64,64,64 --in-place --transposed')
else
    iters=30 turns=3 turn_iters=8
    exchange_shape=256,256,256
    transforms=('64,64,64 r2c double' '128,128,128 r2c double' '256,256,256 r2c double'
        '128,128,128 c2c double' '256,256,256 c2c double' '256,256,256 r2c float'
        '42,127,256 r2c double' '48,48,48,48 c2c double')
    shared=('256,256,256 r2c double' '256,256,256 c2c double')
    interface=()
    for problem in '256,256,256 --kind r2c' '256,256,256 --kind c2c' '128,128,128 --kind c2c' \
        '256,256,256 --kind r2c --precision float'; do
        interface+=("--shape $problem --in-place" "--shape $problem --in-place --transposed")
    done
    for ordering in '' ' --transposed'; do
        interface+=("--shape 256,256,256 --in-place --effort estimate$ordering"
            "--shape 4194304 --kind c2c --in-place --effort estimate$ordering")
    done
    interface+=('--shape 4096,4096 --kind transpose' '--shape 4096,4096 --kind transpose --in-place')
fi
mkdir -p "$out"
[ "$only" = fft ] || run_exchanges
[ "$only" = redist ] || run_transforms
rm -f "$out/threads.json"
[ "$only" = redist ] || [ ${#shared[@]} -eq 0 ] || [ "$ranks" -eq 1 ] || run_threads
rm -f "$out/interface.json"
[ "$only" = redist ] || [ ! -x "$BUILD/bench/fftw-bench" ] || run_interface
python3 tools/bench/bench_report.py "$out"
if command -v gnuplot >/dev/null; then
    gnuplot -e "data='$out'" tools/bench/plot-bench.gp
    echo "JSON lines, tables and plots are in $out"
else
    echo "JSON lines and tables are in $out; there is no gnuplot to draw plots"
fi
