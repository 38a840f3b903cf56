#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program for FFTW-MPI in one to three precisions, linked with the static libraries of this project and FFTW's shared
# ones, by a linker that drops libraries of which it sees no use: by pkg-config, with the libraries named in the usual
# order, and with whole archives. The plans of each precision are made here and reported under its name:
#     test_fftw_static.sh BUILD_ROOT SOURCE COMPILER RUN_RANKS_ARGUMENT...
set -eu
build_root=$1
source=$2
compiler=$3
shift 3
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
uninstalled=$build_root/meson-uninstalled
export PKG_CONFIG_PATH="$uninstalled${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"

# The line of docs/fftw-mpi.md, less a library that hwloc.pc names and whose file for linkers is in a package of its own
flags() { # MODULE...
    pkg-config --static --cflags --libs "$@" | sed -E 's/-l(fftnd[^ ]*|redist)/-l:lib\1.a/g; s/-ludev//g'
}

build() { # file, number of precisions, FLAGS...
    file=$1
    number=$2
    shift 2
    $compiler -std=c11 "-DPRECISIONS=$number" "$source" -o "$temporary/$file" -Wl,--as-needed "$@" -lm
}

check() { # file, number of precisions, RUN_RANKS_ARGUMENT...
    file=$1
    number=$2
    shift 2
    report=$temporary/$file.txt
    if readelf -d "$temporary/$file" | grep 'NEEDED.*\[lib\(fftnd\|redist\)'; then
        echo "$file is not linked with static libraries"
        exit 1
    fi
    FFTND_FFTW_REPORT=$report "$@" 2 "$temporary/$file"
    cat "$report"
    for name in $(echo fftw3 fftw3f fftw3l | cut -d ' ' -f "-$number"); do
        grep -q "^fftnd-$name-mpi: plan_many_dft: 2 plans on libfftnd" "$report" ||
            { echo "$file: the report has no two plans of fftnd-$name-mpi"; exit 1; }
    done
}

modules=
named="-L$build_root/bindings/fftw3-mpi"
others=$(flags fftnd fftw3 fftw3f fftw3l)
for precision in 1:fftw3 2:fftw3f 3:fftw3l; do
    number=${precision%:*}
    name=${precision#*:}
    [ -e "$uninstalled/fftnd-$name-mpi-uninstalled.pc" ] || continue
    modules="$modules fftnd-$name-mpi"
    named="$named -l:libfftnd-$name-mpi.a -l${name}_mpi"
    # shellcheck disable=SC2046,SC2086
    build "flags-$number" "$number" $(flags $modules)
    # shellcheck disable=SC2086
    build "named-$number" "$number" $named $others
    # shellcheck disable=SC2086
    build "whole-$number" "$number" -Wl,--whole-archive $named -Wl,--no-whole-archive $others
    for kind in flags named whole; do
        check "$kind-$number" "$number" "$@"
    done
done
