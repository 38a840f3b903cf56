#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shared library exports the functions of its headers and nothing else, in the versions that its list says, and
# those of redist_support.h, redist_process.h, redist_pieces.h and redist_place.h in a version of their own:
#     test_symbols.sh LIBRARY LIST PREFIX HEADER...
set -eu
library=$1
list=$2
prefix=$3
shift 3
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# Each of these is a list of NAME@VERSION.
nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" {print $NF}' | sed 's/@@/@/' |
    grep -vE '^(_init|_fini|_edata|_end|__bss_start|__odr_asan.*|__asan.*|__gcov.*|mangle_path)(@|$)' |
    sort -u >"$temporary/exported"
awk '/^[A-Z_0-9.]+ \{/ {version = $1}
     /^ +[a-z_0-9]+;/ {sub(/;/, "", $1); print $1 "@" version}' "$list" | sort -u >"$temporary/listed"

declared_in() { # headers
    cat "$@" | tr '\n' ' ' | grep -oE "REDIST_API[^;{]*;" | grep -oE "\\b${prefix}_[a-z0-9_]+ *\\(" |
        tr -d ' (' | sort -u
}
status=0
for header in "$@"; do
    for name in $(declared_in "$header"); do
        case $header in
        *redist_support.h | *redist_process.h | *redist_pieces.h | *redist_place.h) pattern="^$name@${prefix}_private_" ;;
        *) pattern="^$name@${prefix}_[0-9]" ;;
        esac
        grep -qiE "$pattern" "$temporary/listed" || {
            echo "$list lacks $name of $header, or has it in the wrong version"
            status=1
        }
    done
done
declared_in "$@" >"$temporary/declared"
sed 's/@.*//' "$temporary/listed" | comm -23 - "$temporary/declared" >"$temporary/more"
test ! -s "$temporary/more" || {
    echo "$list has what no header declares:" && cat "$temporary/more"
    status=1
}
diff "$temporary/listed" "$temporary/exported" >"$temporary/difference" || {
    echo "$library does not export what $list says (< listed, > exported):" && cat "$temporary/difference"
    status=1
}
test "$(wc -l <"$temporary/declared")" -ge 5 || {
    echo "only these are declared:" && cat "$temporary/declared"
    status=1
}
exit $status
