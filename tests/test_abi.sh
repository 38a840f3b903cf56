#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that were built with the last release run with this shared library: no symbol is gone, no type has changed.
#     test_abi.sh LIBRARY REFERENCE SOURCE_ROOT MPI [update]
# REFERENCE is what the release had; with "update" it is written anew, which is for releases that may change the
# interface, and raises `soversion`.
set -eu
library=$1
reference=$2
root=$3
mpi=$4
skip() {
    echo "skipped: $1"
    exit 77
}
command -v abidw >/dev/null || skip "abidw is missing (Debian: abigail-tools)"
test "$mpi" = openmpi || skip "the reference has Open MPI's types, and this is $mpi"
test "$(uname -m)" = x86_64 || skip "the reference is for x86_64, and this is $(uname -m)"
readelf -S "$library" | grep -q '\.debug_info' ||
    skip "$library has no debug information: meson configure -Ddebug=true"
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
suppressions=$root/tests/abi/suppressions.ini

mkdir "$temporary/headers"
for header in "$root"/include/*.h; do # the public ones
    case $header in *redist_support.h | *redist_process.h) ;; *) cp "$header" "$temporary/headers" ;; esac
done
abidw --exported-interfaces-only --headers-dir "$temporary/headers" --drop-private-types \
    --suppressions "$suppressions" --no-corpus-path --no-comp-dir-path --no-show-locs \
    --type-id-style hash --no-parameter-names --no-elf-needed --drop-undefined-syms \
    "$library" | grep -v '<elf-symbol .*REDIST_PRIVATE' >"$temporary/now.abi"
if [ "${5:-}" = update ]; then
    cp "$temporary/now.abi" "$reference"
    exit 0
fi
# A structure may grow at its end, since it carries its size; nothing else may change.
code=0
abidiff --leaf-changes-only --no-added-syms --suppressions "$suppressions" "$reference" \
    "$temporary/now.abi" >"$temporary/report" || code=$?
awk -v structures="^'struct (redist_(box|options|plan_info|phases|model)|fftnd_(options|layout|plan_info|phases))' changed:$" '
    /summary:/ || /^$/ { next }
    $0 ~ structures { in_structure = 1; next }
    /^[^ ]/ { in_structure = 0 }
    in_structure && /^  type size changed from/ { old = $5; next }
    in_structure && /^  [0-9]+ data member insertions?:$/ { next }
    in_structure && /^    .*, at offset [0-9]+ \(in bits\)/ && $(NF - 2) >= old { next }
    { print }' "$temporary/report" >"$temporary/breaks"
if [ $((code & 3)) -ne 0 ] || [ -s "$temporary/breaks" ]; then
    cat "$temporary/report"
    echo "$library does not fit programs that were built with the last release ($reference)."
    echo "If that is meant, raise soversion in meson.build, and write the reference anew:"
    echo "    $0 $library $reference $root $mpi update"
    exit 1
fi
