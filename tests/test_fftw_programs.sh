#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that know nothing of this project compute the same on FFTW-MPI and through the launcher on libfftnd, which
# makes all their plans:
#     test_fftw_programs.sh LAUNCHER LIBRARIES FOLDER PROGRAM RANKS RUN_RANKS...
# PROGRAM is a file, or mpb: MIT's photonic bands, if this machine has it. FOLDER has its input.
set -eu
launcher=$1
libraries=$2
folder=$3
program=$4
ranks=$5
shift 5
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
if [ "$program" = mpb ]; then
    command -v mpb-mpi >/dev/null || {
        echo "skipped: mpb-mpi is missing (Debian: mpb-mpi)"
        exit 77
    }
fi

run() { # file for the output
    cd "$temporary"
    if [ "$program" = mpb ]; then
        run_ranks "$(command -v mpb-mpi)" "$folder/bands.ctl" >"$1.all"
        grep '^tmfreqs' "$1.all" >"$1"
    else
        run_ranks "$program" >"$1"
    fi
}
kind=$2
start=$3
yield=$4
script=$1
run_ranks() {
    "$script" "$kind" "$start" "$yield" "$ranks" "$@"
}

run "$temporary/fftw"
run_ranks() {
    FFTND_FFTW_LIBRARIES=$libraries FFTND_FFTW_REPORT=$temporary/report \
        sh "$launcher" "$script" "$kind" "$start" "$yield" "$ranks" "$@"
}
run "$temporary/here"
cat "$temporary/report"
grep -q ' plans on libfftnd' "$temporary/report" || {
    echo "nothing was planned on libfftnd"
    exit 1
}
if grep 'left to FFTW' "$temporary/report"; then
    echo "FFTW had to make plans"
    exit 1
fi
# The same numbers, up to rounding: relative to the largest of the line
paste -d '\n' "$temporary/fftw" "$temporary/here" | awk '
    NR % 2 == 1 { split($0, fftw, /[ ,]+/); n = NF; next }
    {
        count = split($0, here, /[ ,]+/)
        for (i = 1; i <= count; i++) {
            if (here[i] !~ /^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$/) continue
            wrong = here[i] - fftw[i]; if (wrong < 0) wrong = -wrong
            size = fftw[i] < 0 ? -fftw[i] : fftw[i]
            if (wrong > 1e-6 * (size + 1e-3)) { print "differs: " $0; bad = 1 }
            compared++
        }
    }
    END { if (compared < 2) { print "nothing to compare"; bad = 1 } exit bad }'
