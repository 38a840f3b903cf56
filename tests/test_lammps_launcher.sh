#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The launcher for LAMMPS preloads the library, and refuses what it cannot do; a wrong argument ends all ranks with a
# message:
#     test_lammps_launcher.sh LAUNCHER LIBRARIES PROGRAM RUN_RANKS_ARGUMENT...
set -eu
launcher=$1
libraries=$2
program=$3
shift 3
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

expect() { # status, words, command and arguments
    status=0
    wanted=$1
    words=$2
    shift 2
    "$@" >"$temporary/output" 2>&1 || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -qF -- "$words" "$temporary/output"; then
        echo "status $status instead of $wanted, or no '$words': $*"
        cat "$temporary/output"
        exit 1
    fi
}

export FFTND_LAMMPS_LIBRARIES="$temporary"
expect 2 'usage: fftnd-lammps' sh "$launcher" --report
expect 2 "$temporary/libfftnd-lammps.so.1 is not there" sh "$launcher" true
export FFTND_LAMMPS_LIBRARIES="$libraries"
# shellcheck disable=SC2016 # variables of the command that is started
expect 3 "preloads $libraries/libfftnd-lammps.so.1 and reports 1" \
    sh "$launcher" --report sh -c 'echo "preloads $LD_PRELOAD and reports $FFTND_LAMMPS_REPORT"; exit 3'

# Of its own names the library exports none
more=$(nm -D --defined-only "$libraries/libfftnd-lammps.so.1" | awk '{ print $3 }' | sed 's/@.*//' | grep -vE \
    '^(fft_1d_only|fft_3d(_1d_only|_create_plan|_destroy_plan)?|_Z[0-9]+remap_3d.*|_init|_fini|_edata|_end|__bss_start|__gcov.*)$' ||
    true)
[ -z "$more" ] || { echo "the library exports $more" && exit 1; }

refused() { # what, words of the message, RUN_RANKS_ARGUMENT...
    what=$1
    words=$2
    shift 2
    status=0
    "$@" 2 "$program" refuse "$what" >"$temporary/output" 2>&1 || status=$?
    if [ $status -eq 0 ] || ! grep -qF -- "libfftnd-lammps: $words" "$temporary/output"; then
        echo "$what: status $status, or no '$words'"
        cat "$temporary/output"
        exit 1
    fi
}

refused bounds 'fft_3d_create_plan: in_ilo = 0 and in_ihi = 8 have to be within 0 and nfast - 1 = 7' "$@"
refused overlap 'fft_3d: fftnd_plan_create: options->box[FFTND_PHYSICAL] of ranks 0 and 1 overlap' "$@"
refused old 'fft_3d_create_plan: this LAMMPS is older than 10 Mar 2021' "$@"
