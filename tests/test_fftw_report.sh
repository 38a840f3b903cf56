#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What `fftnd-fftw --report` prints at the end of programs that plan on libfftnd, that cannot, and that do not; their
# exit status is the launcher's, their input its input:
#     test_fftw_report.sh LAUNCHER LIBRARIES SHARED STATIC RUN_RANKS_ARGUMENT...
# SHARED and STATIC are a program with FFTW's shared libraries and with its static ones (none = there are no such
# libraries).
set -eu
launcher=$1
FFTND_FFTW_LIBRARIES=$2
shared=$3
static=$4
shift 4
export FFTND_FFTW_LIBRARIES
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
TMPDIR=$temporary/files
export TMPDIR
mkdir "$TMPDIR"

expect() { # what, whether there are lines of plans, number of lines that there was none
    made=$(grep -c ' plans on libfftnd' "$temporary/messages" || true)
    none=$(grep -c '^fftnd-fftw: no plan of FFTW-MPI' "$temporary/messages" || true)
    left=$(find "$TMPDIR" -type f)
    if [ "$((made > 0))" -ne "$2" ] || [ "$none" -ne "$3" ] || [ -n "$left" ]; then
        echo "$1: $made lines on plans, $none that there was none, files left: $left"
        cat "$temporary/messages"
        exit 1
    fi
}

sh "$launcher" --report "$@" 2 "$shared" >"$temporary/output" 2>"$temporary/messages"
expect "a program with shared libraries" 1 0
FFTND_FFTW_REPORT=$temporary/none/report sh "$launcher" "$@" 2 "$shared" >"$temporary/output" 2>"$temporary/messages"
grep -q "warning: FFTND_FFTW_REPORT = \"$temporary/none/report\" cannot be written: No such" "$temporary/messages" || {
    echo "a report that cannot be written:" && cat "$temporary/messages"
    exit 1
}
if [ "$static" != none ]; then
    sh "$launcher" --report "$@" 2 "$static" >"$temporary/output" 2>"$temporary/messages"
    expect "a program with static libraries" 0 1
fi
status=0
echo word | sh "$launcher" --report sh -c 'read -r line && [ "$line" = word ] && exit 7' 2>"$temporary/messages" ||
    status=$?
expect "a program without FFTW" 0 1
[ "$status" -eq 7 ] || { echo "the status is $status instead of 7"; exit 1; }
