#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# commands.sh COMMAND: runs a command of ./dev in its quick form, with what documents say to do with it.
# commands.sh list: the commands of ./dev that no other pass of ./dev test runs.
set -euo pipefail
. tools/shell/environment.sh

export CUDA=disabled # kernels for devices take the compiler minutes, and other passes compile them
out=out/test/commands

skip() { # reason
    echo "$1"
    exit 77
}

# The passes that run the other commands.
declare -A elsewhere=([demo]=bare [test]=itself [soak]=soak [docs]=documents [install]=documents [python]=python)

list() {
    local command
    for command in $(./dev | sed -n 's,^\./dev \([a-z-]*\) .*,\1,p' | sort -u); do
        [ -n "${elsewhere[$command]:-}" ] || echo "$command"
    done
}

# A command that refuses its arguments does so before it builds anything.
refuses() { # words of its message, command and arguments
    local words=$1 begin=$SECONDS code=0
    shift
    "$@" >"$out/refused.txt" 2>&1 || code=$?
    cat "$out/refused.txt"
    [ $code -eq 2 ] && grep -qF -- "$words" "$out/refused.txt" && ! grep -q '^Built' "$out/refused.txt" &&
        [ $((SECONDS - begin)) -lt 20 ]
}

# As docs/study.md has it: a study, its report, and job scripts.
run_jobs() {
    refuses 'required: --job' ./dev jobs "$out/jobs" --ranks-per-node 2
    ./dev jobs "$out/jobs" --job tools/study/jobs/thesis.json --nodes 1,2 --ranks-per-node 2
    echo '{"name": "two words"}' >"$out/words.json"
    refuses 'the name "two words"' ./dev jobs "$out/jobs" --job "$out/words.json" --ranks-per-node 2
    bash -n "$out"/jobs/thesis-2.sh
    bash -n "$out"/jobs/thesis-4.sh
}

run_report() {
    ./dev jobs "$out/jobs" --job tools/study/jobs/tiny.json --ranks-per-node 2
    rm -rf "$out/study"
    mkdir -p "$out/study"
    run_ranks openmpi 2 build/tools/fftnd-study --job tools/study/jobs/tiny.json --out "$out/study"
    ./dev report "$out/study"
    grep -q '<table' "$out/study/report.html"
}

run_bench() {
    refuses 'unknown option --fast' ./dev bench --fast
    refuses 'has no FFTW' ./dev bench --fftw "$out/nothing"
    ./dev bench --quick --out "$out/bench"
}

run_fftw() {
    refuses 'usage: ./dev fftw' ./dev fftw
    if ! ./dev fftw --quick "$PWD/$out/fftw"; then
        [ -d out/fftw/source ] || skip "apt has no source of FFTW"
        return 1
    fi
    ls "$out"/fftw/lib/libfftw3.so "$out"/fftw/lib/libfftw3_mpi.so
}

run_lammps() {
    refuses 'unknown option --fast' ./dev lammps --fast
    ./dev lammps --quick || return $? # 77 without Debian's package
    # As docs/lammps.md has it
    [ "$(nm -D --defined-only /usr/lib/*/liblammps.so.0 |
        grep -cE ' (fft_3d|_Z8remap_3dP[df]S_S_P13remap_plan_3d)$')" -eq 2 ]
}

run_simulate() {
    refuses 'unknown option --fast' ./dev simulate --fast
    rm -rf "$out/simulate"
    ./dev simulate --quick --out "$out/simulate"
}

# What they contain is not optimised here, which halves the time of building.
run_wheels() {
    refuses 'openmpi, mpich or abi' ./dev wheels intel
    if ! CFLAGS=-O0 ./dev wheels mpich abi; then
        [ -x out/wheels/tools/bin/auditwheel ] || skip "PyPI is out of reach"
        return 1
    fi
}

run_gpu_pack() {
    ./dev gpu-pack "$out/pack"
    "$out/pack/bin/meson" --version
    PKG_CONFIG_PATH=$out/pack/lib/pkgconfig "$out/pack/bin/pkg-config" --libs check libcjson libxxhash
}

# Without a device they say in one line what is missing, before they do anything.
run_gpu() { # test|bench
    refuses "unknown option --fast" ./dev "gpu-$1" --fast
    command -v nvidia-smi >/dev/null || skip "./dev gpu-$1: there is no device; its arguments are read"
    ./dev "gpu-$1" "${@:2}"
}

run_gpu_test() {
    run_gpu test --ranks 2 --seconds 240
}

# What it does between nodes is tried in host memory too.
run_gpu_bench() {
    ./dev jobs "$out/jobs" --job tools/study/jobs/tiny.json --ranks-per-node 2 # which builds
    BUILD=build ./dev gpu-bench --nodes --host --sizes 8,640 --seconds 0 | tee "$out/nodes.txt" && return 1
    grep 'sockets: 8^3 c2c double was left out' "$out/nodes.txt"
    BUILD=build ./dev gpu-bench --nodes --host --sizes 8,16 --kind c2c,r2c --quick | tee "$out/nodes.txt"
    [ "$(grep -cE '^(peers|host|sockets) +[12]  (8|16)\^3 (c2c|r2c) ' "$out/nodes.txt")" -eq 24 ]
    run_gpu bench --quick
}

# In a clone, as they change the tree.
clone() {
    git rev-parse HEAD >/dev/null 2>&1 || skip "git knows no commit of this tree"
    rm -rf "$out/clone"
    git clone --quiet --no-local --depth 1 "file://$PWD" "$out/clone"
    cd "$out/clone"
}

run_format() {
    clone
    ./dev format
    git diff --exit-code
}

run_clean() {
    clone
    mkdir -p build build-test/gcc out/docs
    ./dev clean
    [ ! -e build ] && [ ! -e build-test ] && [ ! -e out ] && git diff --exit-code
}

mkdir -p "$out"
case ${1:-} in
list) list ;;
'') exit 2 ;;
*) "run_${1//-/_}" ;;
esac
