#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev test [--all | PASS...]: what finds most errors soon, all tests, or the passes named.
# The last line is the sum of all results, which are in out/test/results.txt.
set -uo pipefail
. tools/shell/environment.sh
. tools/shell/packages.sh
. tools/shell/build.sh
. tools/shell/results.sh

suppressions=$PWD/tests/suppressions
# Tests that may be slowed down, for the sanitizers and for valgrind: without those that make and free
# thousands of plans, and without large arrays.
slowed='^test_(errors|redist|fftnd_(analytic|calls|errors|failures|faults|retained|late|memory|model|nodes|offload|phases|random|threads|transform)).*'
slowed_more='^test_(errors|redist_(boxes|exchange|failures|lifetimes|plans|states|tiles)|'
slowed_more+='fftnd_(calls|failures|retained|random))'
# Tests of what copies.
copies='^test_(redist_(copy|exchange|plans|boxes|tiles|partitions)|fftnd_(transform|memory|random|retained|partitions))'
# Tests for an emulated processor, which is slow.
emulated='^test_(redist_((copy|turns|join)-1|(exchange|tiles|partitions)-(2|4)|boxes-2)|fftnd_(random|partitions|calls)-2)$'
# On up to four ranks, and without what takes long beside what it finds: threads under other thread
# levels, installations, and most short benchmarks.
quick='^test_(errors|lifecycle|redist_[a-z]+|fftnd_[a-z]+)(-[123])?-[1-4]$|^(1_exchange|2_fft3d_pencil|3_fft4d)-3$'
quick+='|^4_poisson-2$|^5_taylor_green_slab-2$|^(redist|fftnd)-bench-2$|^test_(symbols|report|jobs)'
quick_passes=(quick checks)
all_passes=(gcc clang mpich sanitize tsan valgrind plain aarch64 model soak checks documents)

# Builds for a pass; a build that fails is one failure.
build_pass() { # folder, options of meson setup
    local folder=$1 begin=$SECONDS
    shift
    if build_folder "build-test/$folder" --buildtype=release -Ddebug=true "$@"; then
        record passed 1 "$folder: builds"
        echo "Built build-test/$folder ($((SECONDS - begin)) s)"
    else
        record failed 1 "$folder: builds"
        return 1
    fi
}

# The tests that fit an expression, with few repetitions and random cases.
run_some() { # pass, folder, expression
    REDIST_TEST_SECONDS=0.1 REDIST_TEST_SCALE=0.05 run_tests "$@"
}

build_gcc() {
    build_pass gcc -Dmpi=openmpi -Dwerror=true
}

# The main tests on few ranks.
pass_quick() {
    build_gcc && REDIST_TEST_SECONDS=0.15 REDIST_TEST_SCALE=0.3 run_tests quick build-test/gcc "$quick"
}

# All tests, examples and short benchmarks on all their numbers of ranks.
pass_gcc() {
    build_gcc || return
    REDIST_TEST_SECONDS=0.3 REDIST_TEST_SCALE=0.3 run_tests gcc build-test/gcc .
    check "two nodes over TCP, in network namespaces" bash tools/test/netns.sh build-test/gcc
}

# Another compiler's warnings, and its code on a few ranks.
pass_clang() {
    CC=clang CXX=clang++ build_pass clang -Dmpi=openmpi -Dwerror=true &&
        run_some clang build-test/clang '-3$'
}

# Another MPI library. Its MPI_Waitall makes gcc complain of MPI_STATUSES_IGNORE.
pass_mpich() {
    build_pass mpich -Dmpi=mpich -Dcuda=disabled -Dwerror=true -Dc_args=-Wno-stringop-overflow &&
        run_some mpich build-test/mpich '-3$|^test_(errors|redist_exchange|fftnd_random)-(2|8)$'
}

# Addresses and undefined behaviour, watched by the compiler's sanitizers (which make gcc see false
# warnings, so these are no errors here). Leaks are left to valgrind: to tell MPI's own from others, the
# sanitizer would have to unwind the stack of each allocation, which takes ten times as long as the tests.
pass_sanitize() {
    build_pass sanitize -Dmpi=openmpi -Dcuda=disabled -Db_sanitize=address,undefined -Db_lundef=false &&
        ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
            run_some sanitize build-test/sanitize "$slowed-3$|^test_redist_(plans|boxes|tiles)-(2|4)$"
}

# Races between threads, watched by the compiler's sanitizer. Under MPICH: the sanitizer does not survive
# the way in which Open MPI replaces functions of the C library, and UCX, which MPICH uses, has to leave
# that be. What happens inside libraries that are not built for the sanitizer is not looked at. Kernels that
# spread addresses widely have to be told not to (setarch), where that is allowed.
pass_tsan() {
    local wrapper=
    if setarch -R true 2>/dev/null; then
        wrapper='setarch -R'
    fi
    build_pass tsan -Dmpi=mpich -Dcuda=disabled -Dbenchmarks=false -Dexamples=false \
        -Db_sanitize=thread -Db_lundef=false &&
        UCX_MEM_EVENTS=no UCX_MEM_MMAP_HOOK_MODE=none REDIST_TEST_WRAPPER=$wrapper \
            REDIST_TEST_SCALE=0.5 \
            TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66 \
            run_tests tsan build-test/tsan \
            '^test_(redist_two_threads-(1|2)|fftnd_threads-multiple-2)$'
}

# The copy loops of processors that have none of their own.
pass_plain() {
    build_pass plain -Dmpi=openmpi -Dcuda=disabled -Dexamples=false -Dbenchmarks=false -Dwerror=true \
        -Dcopy_loops=plain && run_some plain build-test/plain "$copies-[13]$"
}

# Another processor, under qemu with MPICH: the flags of direct, what copies, transforms, threads.
pass_aarch64() {
    local code=0
    bash tools/test/aarch64.sh >out/test/aarch64.txt 2>&1 || code=$?
    if [ $code -eq 77 ]; then
        record skipped 1 "aarch64: $(tail -n 1 out/test/aarch64.txt)"
        return
    elif [ $code -ne 0 ]; then
        record failed 1 "aarch64: builds"
        cat out/test/aarch64.txt
        return
    fi
    record passed 1 "aarch64: builds"
    export REDIST_TEST_WRAPPER="qemu-aarch64 -L $PWD/build-test/arm64/sysroot"
    run_some aarch64 build-test/aarch64 "$emulated"
    REDIST_TEST_SECONDS=4 run_tests aarch64 build-test/aarch64 '^test_soak-(2|3)$'
    unset REDIST_TEST_WRAPPER
}

# Uninitialised values and leaks, watched by valgrind.
pass_valgrind() {
    local memcheck=(valgrind --quiet --num-callers=40 --error-exitcode=9 --leak-check=full
        --errors-for-leak-kinds=definite --show-leak-kinds=definite
        --suppressions=/usr/share/openmpi/openmpi-valgrind.supp
        --suppressions="$suppressions/valgrind.txt")
    build_gcc &&
        HWLOC_COMPONENTS=-x86 REDIST_TEST_WRAPPER="${memcheck[*]}" REDIST_TEST_LIMIT=300 \
            run_some valgrind build-test/gcc "$slowed_more-2$"
}

# Random work of all kinds, for two minutes.
pass_soak() {
    check "random exchanges, transforms and faults" bash tools/commands/soak.sh --minutes 2
}

check_format() {
    c_files | xargs -0 clang-format --dry-run -Werror
}

# What can be said of the sources.
pass_checks() {
    check "formatting" check_format
    check "shell scripts" shellcheck -x dev .ci/run tools/*.sh tools/*/*.sh tests/*.sh tests/model/*.sh
    check "no path of a machine" bash tools/test/check_paths.sh
}

# All states of a model of the flags of method direct.
pass_model() {
    check "model of the flags of method direct" bash tests/model/check.sh
}

# What can be said of the documents and of an installation.
pass_documents() {
    check "pages of headers and documents" bash tools/commands/docs.sh
    check "the programs of README.md" bash tools/test/check_readme.sh
}

run_passes() { # passes
    local pass begin
    for pass in "$@"; do
        begin=$SECONDS
        echo "== $pass"
        "pass_$pass"
        echo "== $pass: $((SECONDS - begin)) s"
    done
}

# All packages at once, as apt starts slowly.
install_for() { # passes
    local pass packages=()
    for pass in "$@"; do
        read -ra more <<<"${pass_packages[$pass]:-}"
        packages+=("${more[@]}")
    done
    install_packages "${build_packages[@]}" "${test_packages[@]}" "${packages[@]}"
}

[ $# -gt 0 ] || set -- "${quick_passes[@]}"
[ "$*" != --all ] || set -- "${all_passes[@]}"
for pass in "$@"; do
    if ! declare -F "pass_$pass" >/dev/null; then
        echo "There is no pass '$pass'; these exist: quick ${all_passes[*]}" >&2
        exit 2
    fi
done
install_for "$@" || exit 1
start_results
run_passes "$@"
summary
