#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A library of FFTW's interface exports every function of FFTW's MPI headers, for C and for Fortran, and nothing that is
# not FFTW's (copy_plan is FFTW's since 3.3.11):
#     test_fftw_symbols.sh LIBRARY PREFIX HEADERS FFTW_LIBRARY...
# PREFIX is fftw, fftwf or fftwl, HEADERS FFTW's folder of headers.
set -eu
library=$1
prefix=$2
headers=$3
shift 3
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
names() { # libraries
    for file in "$@"; do nm -D --defined-only "$file"; done | awk '{print $3}' | sed 's/@.*//' | sort -u
}
names "$library" | grep -vE '^(_init|_fini|_edata|_end|__bss_start|__odr_asan.*|__asan.*|__gcov.*)$' >"$temporary/exported"
{ names "$@" && echo "${prefix}_copy_plan"; } | sort -u >"$temporary/fftw"
{
    grep -oE 'XM\([a-z0-9_]+\)' "$headers/fftw3-mpi.h" | sed -E "s/XM\((.*)\)/${prefix}_mpi_\1/" |
        grep -vE '_mpi_(ddim)$'
    grep -oE "name='${prefix}_mpi_[a-z0-9_]+'" "$headers"/fftw3*mpi.f03 | cut -d "'" -f 2
} | sort -u >"$temporary/wanted"
status=0
comm -13 "$temporary/exported" "$temporary/wanted" >"$temporary/missing"
comm -23 "$temporary/exported" "$temporary/fftw" >"$temporary/more"
test "$(wc -l <"$temporary/wanted")" -gt 60 || { echo "only $(wc -l <"$temporary/wanted") functions in $headers" && status=1; }
test ! -s "$temporary/missing" || { echo "$library lacks" && cat "$temporary/missing" && status=1; }
test ! -s "$temporary/more" || { echo "$library exports what is not FFTW's:" && cat "$temporary/more" && status=1; }
exit $status
