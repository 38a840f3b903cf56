#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev test [--all | PASS...]: what finds most errors soon, all tests, or the passes named.
# The last line is the sum of all results, which are in out/test/results.txt.
set -uo pipefail
. tools/shell/environment.sh
. tools/shell/packages.sh
. tools/shell/build.sh
. tools/shell/results.sh

# ---------------------------------------------------------------- which tests

# Tests that may be slowed down, for the sanitizers and for valgrind: without those that make and free
# thousands of plans, and without large arrays.
slowed='^test_(errors|redist|fftnd_(analytic|calls|convolution|errors|failures|faults|filled|retained|late|memory|model|nodes|offload|operator|phases|random|threads|transform|work)).*'
slowed_more='^test_(errors|redist_(boxes|exchange|failures|lifetimes|overlap|plans|states|tiles)|'
slowed_more+='fftnd_(failures|random))'
# Tests of what copies.
copies='^test_(redist_(copy|loops|exchange|plans|boxes|tiles|partitions)|fftnd_(transform|memory|random|retained|partitions))'
# Tests for an emulated processor, which is slow.
emulated='^test_(redist_((copy|loops|steps|join)-1|(exchange|tiles|partitions)-2|boxes-2)|fftnd_(random|partitions|calls)-2)$'
# On one and three ranks, and what depends on process grids on four; on two what does not run on three, or has cases
# for two alone: large arrays, and neighbours on both sides that are one peer. Without what takes long beside what it
# finds (too_long): threads under other thread levels, installations, and most short benchmarks.
quick='^test_(errors|structures|wisdom_files|lifecycle|redist_[a-z]+(_errors)?|fftnd_[a-z]+(_agreement|_errors)?)(-[123])?-[13]$'
quick+='|^test_(redist_(exchange|halo|outside|wisdom|gone|failures|pieces)|fftnd_(transform|wire|nodes-[13]|questions|serial|taught|ghosts|pairs|threads))-2$'
quick+='|^test_(fftnd_transform|redist_grid|redist_nodes-2)-4$'
quick+='|^(1_exchange|2_fft3d_pencil|3_fft4d)-3$|^(4_poisson|6_channel|8_ghosts|9_finite_differences|10_particle_mesh)-2$|^5_taylor_green_slab-2$|^(redist|fftnd)-bench-2$'
quick+='|^test_redist_hdf5(_errors)?-[123]$|^test_hdf5$'
quick+='|^test_(symbols|report|jobs)|^test_(cpp|heffte(_faces|_c)?|fortran_(redist|halo|fftnd))-2$'
too_long='^test_(redist_(failures|pieces)|fftnd_(pairs|threads))-3$'
# What depends on MPI: messages, memory shared through it, failures, its headers and launcher in users' programs.
own_mpi='^test_(redist_(once|plans|nodes-2|partitions|comms|shares|gone|signals)|wisdom_files|lifecycle|'
own_mpi+='fftnd_(transform|partitions|asynchronous))-[23]$|^test_fftnd_errors-3$|\(no FFTW in |^test_(symbols|installed)'
# As many processes for two cores take their time from each other; and what starts a hundred times to wait.
many_ranks='-([4-9]|1[0-9])$|^test_stream_survivors-2$'
quick_passes=(quick checks)
all_passes=(gcc mpich own-mpi sanitize tsan valgrind plain aarch64 soak python model checks documents commands bare)
together=' python model checks documents commands bare ' # each of them leaves cores idle
# Some of these show that things build, install and run, while others run what is optimised: without, compilers take half
# the time. What benchmarks and simulations take is longer, too.
declare -A flags=([python]=-O0 [documents]=-O0 [commands]=-O1)

# ---------------------------------------------------------------- builds

# The build folder of a pass, if it has one.
folder_of() { # pass
    case $1 in
    quick | gcc | valgrind | soak | python) echo gcc ;;
    mpich | own-mpi | sanitize | tsan | plain | aarch64) echo "$1" ;;
    esac
}

# Further options of meson setup, where they are not those of build_gcc. MPICH is built with clang, so that one
# build shows both, and the sanitizers are clang's, which find more than gcc's.
declare -A options=(
    [mpich]='-Dmpi=mpich -Dcuda=disabled -Dbenchmarks=false -Dwerror=true'
    [sanitize]='-Dmpi=openmpi -Dcuda=disabled -Dfortran=disabled -Dbenchmarks=false -Dexamples=false -Dwerror=true
        -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1'
    [tsan]='-Dmpi=mpich -Dcuda=disabled -Dfortran=disabled -Dbenchmarks=false -Dexamples=false
        -Db_sanitize=thread -Db_lundef=false -Doptimization=1'
    [plain]='-Dmpi=openmpi -Dcuda=disabled -Dfortran=disabled -Dexamples=false -Dbenchmarks=false -Dwerror=true
        -Dcopy_loops=plain'
)

# The tests for which a folder is built, where that is not all of it.
declare -A tests_of=(
    [plain]="$copies-[12]\$"
    [tsan]='^test_((redist_two|nccl)_threads-(1|2)|fftnd_threads-multiple-2)$'
)

# Whether of the passes that use the main folder only `quick` runs, which needs a part of it.
is_quick_alone() { # passes
    local pass
    for pass in "$@"; do
        [ "$pass" = quick ] || [ "$(folder_of "$pass")" != gcc ] || return 1
    done
    [[ " $* " == *' quick '* ]]
}

# Kernels take minutes to compile: without a GPU the quick pass has none.
leave_out_kernels() {
    [ -z "${CUDA:-}" ] && ! nvidia-smi >/dev/null 2>&1 && [ -n "$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)" ] ||
        return 0
    export CUDA=disabled
    record skipped 1 "quick: kernels for GPUs, of which there is none (./dev test --cuda=enabled compiles them)"
}

build() { # folder
    local words=() folder=build-test/$1
    case $1 in
    aarch64) bash tools/test/aarch64.sh; return ;;
    own-mpi) bash tools/test/own_mpi.sh; return ;;
    mpich | sanitize) export CC=clang CXX=clang++ ;;
    esac
    if [ "$1" = gcc ]; then
        configure_gcc || return
    else
        read -r -d '' -a words <<<"--buildtype=release -Ddebug=true ${options[$1]}" || true
        configure_folder "$folder" "${words[@]}" || return
    fi
    [ -z "${tests_of[$1]:-}" ] || mapfile -t build_targets < <(select_tests "$folder" "${tests_of[$1]}" '^$' |
        python3 tools/test/needed_targets.py "$folder")
    compile_folder "$folder"
}

# Builds, and records how that went; what cannot be built for want of packages is skipped.
build_and_record() { # folder
    local code=0 begin=$SECONDS log=out/test/build-$1.txt
    (build "$1") >"$log" 2>&1 || code=$?
    if [ $code -eq 0 ]; then
        record passed 1 "$1: builds"
        echo "Built build-test/$1 ($((SECONDS - begin)) s)"
    elif [ $code -eq 77 ]; then
        record skipped 1 "$1: $(tail -n 1 "$log")"
    else
        record failed 1 "$1: builds"
        cat "$log"
    fi
}

is_built() { # folder
    grep -qxF "passed 1 $1: builds" "$results"
}

# Two folders at a time, since configuring and linking leave a core idle.
build_for() { # passes
    local pass folder folders=' '
    for pass in "$@"; do
        folder=$(folder_of "$pass")
        [[ -z $folder || $folders == *" $folder "* ]] && continue
        folders+="$folder "
        [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
        build_and_record "$folder" &
    done
    wait
}

# ---------------------------------------------------------------- passes

# The tests that fit an expression, with few repetitions, random and named cases, and with one thread level.
run_some() { # pass, expression
    REDIST_TEST_SHARE=${share:-0.3} REDIST_TEST_SECONDS=0.1 REDIST_TEST_SCALE=0.05 \
        run_tests "$1" "build-test/$(folder_of "$1")" "$2" '^test_fftnd_threads(-serialized)?-'
}

# The main tests on few ranks. Two at a time, as launchers and ranks of one that wait leave cores idle.
pass_quick() {
    local -x REDIST_TEST_SHARE=0.4 REDIST_TEST_SECONDS=0.15 REDIST_TEST_SCALE=0.3
    run_tests quick build-test/gcc "$quick" "$too_long|-3\$" &
    run_tests quick-3 build-test/gcc "$quick" "$too_long|[^3]\$"
    wait
}

# All tests, examples and short benchmarks on all their numbers of ranks; of the named cases of many_ranks a part,
# drawn anew in each run.
pass_gcc() {
    export REDIST_TEST_SECONDS=0.1 REDIST_TEST_SCALE=0.15
    run_tests gcc build-test/gcc . "$many_ranks"
    REDIST_TEST_SHARE=0.16 run_tests gcc build-test/gcc "$many_ranks"
    unset REDIST_TEST_SECONDS REDIST_TEST_SCALE
    check "two nodes over TCP, in network namespaces" bash tools/test/netns.sh build-test/gcc
}

# Another MPI library, and another compiler's code, whose warnings have stopped the build.
pass_mpich() {
    run_some mpich '-3$|^test_(redist_exchange|fftnd_random)-(2|8)$'
    ! is_built gcc || check "clang reads the files for CUDA" python3 tools/test/clang_cuda.py build-test/gcc
}

# An MPI library in a folder of its own, which no path leads to after the build, of another version than Debian's.
pass_own-mpi() {
    check "nothing of another MPI library" bash tools/test/own_mpi.sh check
    share=0.1 run_some own-mpi "$own_mpi"
    REDIST_TEST_SECONDS=0.5 run_tests own-mpi build-test/own-mpi '^test_(redist|fftnd)_faults-[23]$'
}

# Addresses and undefined behaviour. Leaks are left to valgrind: to tell MPI's own from others, the sanitizer
# would have to unwind the stack of each allocation, which takes ten times as long as the tests.
pass_sanitize() {
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        run_some sanitize "$slowed-2$|^test_(redist_(plans|boxes|tiles|failures|faults)|errors|fftnd_(errors|faults))-3$|^test_(fftw_(mpi|calls)|lammps|heffte(_faces|_c)?)-2$"
}

# Races between threads. Under MPICH: the sanitizer does not survive the way in which Open MPI replaces functions
# of the C library, and UCX, which MPICH uses, must not replace them either. What happens inside libraries that
# are not built for the sanitizer is not looked at. Kernels that spread addresses widely are told not to
# (setarch), where that is allowed.
pass_tsan() {
    local wrapper=
    if setarch -R true 2>/dev/null; then
        wrapper='setarch -R'
    fi
    UCX_MEM_EVENTS=no UCX_MEM_MMAP_HOOK_MODE=none REDIST_TEST_WRAPPER=$wrapper REDIST_TEST_SCALE=0.5 \
        TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66 \
        run_tests tsan build-test/tsan "${tests_of[tsan]}"
}

# The copy loops of processors that have none of their own.
pass_plain() {
    run_some plain "${tests_of[plain]}"
}

# Another processor, under qemu with MPICH: the flags of direct, what copies, transforms, threads.
pass_aarch64() {
    export REDIST_TEST_WRAPPER="qemu-aarch64 -L $PWD/build-test/arm64/sysroot"
    run_some aarch64 "$emulated"
    REDIST_TEST_SECONDS=4 REDIST_TEST_LIMIT=240 run_tests aarch64 build-test/aarch64 '^test_soak-(2|3)$'
    unset REDIST_TEST_WRAPPER
}

# Uninitialised values and leaks. Programs with an operator new of their own, which valgrind replaces, are left out.
pass_valgrind() {
    local memcheck=(valgrind --quiet --num-callers=40 --error-exitcode=9 --leak-check=full
        --errors-for-leak-kinds=definite --show-leak-kinds=definite
        --suppressions=/usr/share/openmpi/openmpi-valgrind.supp
        --suppressions="$PWD/tests/suppressions/valgrind.txt")
    share=0.15 HWLOC_COMPONENTS=-x86 REDIST_TEST_WRAPPER="${memcheck[*]}" REDIST_TEST_LIMIT=300 \
        run_some valgrind "$slowed_more-2$|^test_(errors|redist_states)-1$|^test_heffte(_c)?-2$"
}

# Random work of all kinds.
pass_soak() {
    check "random exchanges, transforms and faults" bash tools/commands/soak.sh --minutes 1
    check "200 killed ranks" bash tools/commands/soak.sh --kills 200
}

check_format() {
    c_files | xargs -0 clang-format --dry-run -Werror
}

# Prose of 120 columns; tables and programs are as wide as they are.
check_documents() {
    awk '/^ *```/ { code = !code } length > 120 && !code && !/^ *\|/ { print FILENAME ":" FNR; long = 1 } END { exit long }' \
        ./*.md docs/*.md
}

# Comments too, which clang-format leaves as wide as they are; lines of macros end in a column of their own.
check_comments() {
    c_files | xargs -0 awk 'length > 120 && !/\\$/ { print FILENAME ":" FNR; long = 1 } END { exit long }'
}

# Each command of the list says what it does and ends well, without doing it.
check_help() {
    local command
    for command in $(./dev | sed -n 's,^\./dev \([a-z-]*\) .*,\1,p' | sort -u); do
        ./dev "$command" --help </dev/null | grep -F "dev $command" || return
    done
}

# Tools that follow links come to an end.
check_links() {
    find -L . \( -path './build*' -o -path ./out -o -path ./.git \) -prune -o -print
}

# What can be said of the sources.
pass_checks() {
    check "formatting" check_format
    check "documents of 120 columns" check_documents
    check "comments of 120 columns" check_comments
    check "shell scripts" shellcheck -x dev .ci/run tools/*.sh tools/*/*.sh tools/packaging/*/*.sh bindings/*/*.sh tests/*.sh tests/model/*.sh
    check "each command explains itself" check_help
    check "no link into a folder around it" check_links
    check "no path of a machine" bash tools/test/check_paths.sh
    check "rooms use those below them" python3 tools/test/check_rooms.py
}

# All states of a model of the flags of method direct.
pass_model() {
    check "model of the flags of method direct" bash tests/model/check.sh
}

# The Python packages. Where something of theirs cannot be installed, that part is skipped by name.
pass_python() {
    local part
    check "Python: packages" env CUDA=disabled bash tools/commands/python.sh
    for part in suite device examples sdist mpi4py-fft; do
        check "Python: $part" bash tools/test/python.sh "$part"
    done
}

# What can be said of the documents and of an installation.
pass_documents() {
    check "pages of headers and documents" bash tools/commands/docs.sh
    check "the site's search" node tools/test/search.js out/docs/html
    check "the programs of README.md and of the guides" bash tools/test/check_readme.sh
    check "drawings and plots" bash tools/docs/draw.sh --check
}

# The commands that no other pass runs, in their quick forms.
pass_commands() {
    local command
    for command in $(bash tools/test/commands.sh list); do
        check "./dev $command" bash tools/test/commands.sh "$command"
    done
}

# A machine with nothing but git and apt.
pass_bare() {
    check "a bare Debian 12, as root" bash tools/test/bare.sh root
    check "a bare Debian 12, with sudo" bash tools/test/bare.sh sudo
}

# A pass whose build failed or was skipped has no more to say.
run_pass() { # pass
    local begin=$SECONDS folder
    folder=$(folder_of "$1")
    [ -z "$folder" ] || is_built "$folder" || return 0
    echo "== $1"
    "pass_$1"
    echo "== $1: $((SECONDS - begin)) s"
}

run_passes() { # passes
    local pass
    for pass in "$@"; do
        [[ $together == *" $pass "* ]] || run_pass "$pass"
    done
    for pass in "$@"; do
        [[ $together != *" $pass "* ]] || CFLAGS=${flags[$pass]:-} run_pass "$pass" &
    done
    wait
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
if is_quick_alone "$@"; then
    tests_of[gcc]=$quick
    leave_out_kernels
fi
build_for "$@"
run_passes "$@"
summary
