#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if a file of the project names a path that only exists on somebody's machine.
set -u
if git rev-parse --git-dir >/dev/null 2>&1; then
    mapfile -t files < <(git ls-files --cached --others --exclude-standard)
else
    mapfile -t files < <(find . -type f -not -path './build*' -not -path './out/*')
fi
# the bracket keeps this script from finding itself
if grep -nIE '(^|[^A-Za-z0-9_.])/([w]ork|[r]oot|[h]ome|[U]sers)/[A-Za-z]' -- "${files[@]}"; then
    echo "these lines name a machine's path" >&2
    exit 1
fi
