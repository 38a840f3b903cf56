# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Configuring and building, quietly, with a log. Sourced, not run.

# All C and C++ files of the project, each ended by a zero byte.
c_files() {
    find . \( -path './build*' -o -path ./out -o -path './.git' \) -prune -o \
        \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' \) -print0 | sort -z
}

# Runs a command with its output in a log, which is shown when the command fails.
quietly() { # log file, command
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" >"$log" 2>&1 </dev/null; then
        echo "Failed: $*; the end of $log:" >&2
        tail -n 60 "$log" >&2
        return 1
    fi
}

# Whether a folder is configured with these options, or by somebody else as they like.
is_configured() { # folder, options
    [ -f "$1/build.ninja" ] && { [ ! -f "$1/chosen.txt" ] || [ "$(cat "$1/chosen.txt")" = "$2" ]; }
}

# How much there is to compile, and what of it takes long.
announce_steps() { # folder, log file
    local steps kernels
    steps=$(ninja -n -v -C "$1" "${build_targets[@]}" | grep '^\[' || true)
    [ -n "$steps" ] || return 0
    kernels=$(grep -c 'nvcc .*\.cu' <<<"$steps" || true)
    echo "Compiling in $1/: $(wc -l <<<"$steps") steps (log: $2)"
    [ "$kernels" -eq 0 ] ||
        echo "  $kernels of them compile kernels for GPUs, which takes minutes; --cuda=disabled leaves them out"
}

# What a build found and left out, and how to change that.
show_parts() { # build folder, its file of parts
    cat "$2"
    echo "To have what was left out: install what it needs, or choose otherwise (--cuda=enabled|disabled),"
    echo "remove $1/, and run this command again."
}

# Configures a build folder unless that is done.
# CFLAGS is one of the options: what tests compile quickly is not what users get from the same folder later.
configure_folder() { # folder, options of meson setup
    local folder=$1 log chosen
    shift
    log=out/log/$(basename "$folder")
    chosen="${CC:-} ${CFLAGS:+CFLAGS=$CFLAGS }$*"
    if ! is_configured "$folder" "$chosen"; then
        echo "Configuring $folder/ (log: $log-setup.txt)"
        rm -rf "$folder"
        quietly "$log-setup.txt" meson setup "$folder" "$@" || return
        echo "$chosen" >"$folder/chosen.txt"
    fi
}

# Builds a configured folder: all of it, or what build_targets lists.
build_targets=()
compile_folder() { # folder
    local log
    log=out/log/$(basename "$1")-build.txt
    announce_steps "$1" "$log"
    quietly "$log" ninja --quiet -C "$1" "${build_targets[@]}"
}

build_folder() { # folder, options of meson setup
    configure_folder "$@" && compile_folder "$1"
}

# The build that users run: optimised, Open MPI, examples and benchmarks. CUDA is what ./dev --cuda=... says.
build_release() {
    local begin=$SECONDS
    build_folder build --buildtype=release -Dmpi=openmpi -Dtests=false ${CUDA:+-Dcuda="$CUDA"}
    echo "Built in build/ ($((SECONDS - begin)) s)"
}

# What most passes of ./dev test run, and ./dev soak.
gcc_options=(--buildtype=release -Ddebug=true -Dmpi=openmpi -Dwerror=true -Ddevice_architectures=90)
configure_gcc() {
    configure_folder build-test/gcc "${gcc_options[@]}" ${CUDA:+-Dcuda="$CUDA"}
}

build_gcc() {
    configure_gcc && compile_folder build-test/gcc
}
