#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shared library exports the functions of its headers and nothing else:
#     test_symbols.sh LIBRARY PREFIX HEADER...
set -eu
library=$1
prefix=$2
shift 2
exported=$(nm -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//' |
    grep -vE '^(_init|_fini|_edata|_end|__bss_start|__odr_asan.*|__asan.*|__gcov.*|mangle_path)$' |
    sort -u)
declared=$(cat "$@" | tr '\n' ' ' | grep -oE "REDIST_API[^;{]*;" |
    grep -oE "\\b${prefix}_[a-z0-9_]+ *\\(" | tr -d ' (' | sort -u)

status=0
for name in $exported; do
    if ! echo "$name" | grep -qE "^${prefix}_[a-z]"; then
        echo "$library exports $name"
        status=1
    elif ! echo "$declared" | grep -qx "$name"; then
        echo "$library exports $name, which no public header declares"
        status=1
    fi
done
for name in $declared; do
    if ! echo "$exported" | grep -qx "$name"; then
        echo "$library does not export $name"
        status=1
    fi
done
test "$(echo "$declared" | wc -l)" -ge 5 || { echo "only these are declared: $declared"; exit 1; }
exit $status
