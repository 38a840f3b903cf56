#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Searches all states of the model of method direct (direct.pml) with spin: first for configurations in which
# nothing may be wrong, then for mistakes that have to be found.
#     check.sh [SOURCE_FOLDER]
# Exit code 77 if there is no spin.
set -uo pipefail
model=$(readlink -f "${1:-$(dirname "$0")}")/direct.pml
command -v spin >/dev/null || {
    echo "skipped: no spin here"
    exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0 failed=0

# Makes the program that searches, and runs it; -n: no list of statements that were not reached.
search() { # optimisation, definitions
    local optimisation=$1
    shift
    rm -f pan*
    spin "${@/#/-D}" -a "$model" >spin.txt 2>&1 &&
        gcc "$optimisation" -w -DSAFETY -DCOLLAPSE -DMEMLIM=1000 -o pan pan.c >gcc.txt 2>&1 &&
        ./pan -n -m1000000 >pan.txt 2>&1
}

# Whether all states were searched, and how many errors there are.
is_complete() {
    ! grep -qE 'max search depth too small|Search not completed|out of memory|MEMLIM' pan.txt
}

errors() {
    sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.txt 2>/dev/null
}

note() { # ok|FAILED, definitions
    if [ "$1" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    printf '%-7s %-66s %9s states\n' "$1" "${*:2}" \
        "$(sed -n 's/ *\([0-9]*\) states, stored.*/\1/p' pan.txt 2>/dev/null)"
    [ "$1" = ok ] || cat spin.txt gcc.txt pan.txt 2>/dev/null
}

# Nothing is wrong.
right() { # definitions
    if search -O1 "$@" && is_complete && [ "$(errors)" = 0 ]; then
        note ok "$@"
    else
        note FAILED "$@"
    fi
}

# What is wrong is found.
wrong() { # definitions
    search -O0 "$@"
    if [ "$(errors)" -gt 0 ] 2>/dev/null; then note ok "$@"; else note FAILED "$@"; fi
}

right RANKS=2 MODE=PUSH FAILS=1 DIES=1
right RANKS=2 MODE=MIXED FAILS=1 DIES=1
right RANKS=2 MODE=PULL PACED=1 FAILS=1 DIES=1
right RANKS=2 MODE=MIXED PACED=2 FAILS=1 DIES=1
right RANKS=2 MODE=PUT FAILS=1 DIES=1
right RANKS=3 MODE=MIXED FAILS=1 DIES=1
right RANKS=3 MODE=MIXED PATTERN=CHAIN FAILS=1 DIES=1
right RANKS=3 MODE=PUSH PACED=1 FAILS=1 DIES=1
right RANKS=3 MODE=PULL PACED=2 FAILS=1 DIES=1
right RANKS=3 MODE=PUT TILES=1 PARTITIONS=1 FAILS=1 DIES=1
right RANKS=3 MODE=PUT TILES=1 PARTITIONS=2 FAILS=1
right RANKS=3 MODE=PUT TILES=2 PARTITIONS=2
right RANKS=2 MODE=MIXED FAILS=1 DIES=1 LEAVES=1
right RANKS=2 MODE=PUT FAILS=1 LEAVES=1
right RANKS=3 MODE=MIXED LEAVES=1
right RANKS=3 MODE=PUSH PATTERN=CHAIN DIES=1 LEAVES=1
right RANKS=3 MODE=PULL PACED=1 LEAVES=1
right RANKS=3 MODE=PUT TILES=1 PARTITIONS=1 LEAVES=1
right RANKS=4 MODE=MIXED
right RANKS=4 MODE=MIXED PATTERN=CHAIN FAILS=1
right RANKS=4 MODE=PUSH PATTERN=CHAIN DIES=1
right RANKS=4 MODE=PUSH PACED=1 FAILS=1
right RANKS=4 MODE=PUSH PACED=2
right RANKS=4 MODE=PUT TILES=1 PARTITIONS=1
right RANKS=4 MODE=PUT TILES=2 PARTITIONS=1 EXECUTIONS=1
right RANKS=2 MODE=HALO EXECUTIONS=4 FAILS=1 DIES=1
right RANKS=2 MODE=HALO EXECUTIONS=4 FILL=PUSH LEAVES=1
right RANKS=3 MODE=HALO EXECUTIONS=4 FAILS=1
right RANKS=3 MODE=HALO FILL=PUSH FAILS=1 DIES=1
right RANKS=4 MODE=HALO PATTERN=WIDE
right RANKS=4 MODE=HALO PATTERN=RING FILL=PUSH EXECUTIONS=3
right RANKS=4 MODE=HALO PATTERN=RING FAILS=1

wrong RANKS=2 MODE=PUSH BREAK=NO_READY_WAIT
wrong RANKS=2 MODE=PULL BREAK=NO_READY_WAIT
wrong RANKS=2 MODE=PULL BREAK=NO_DONE_WAIT
wrong RANKS=2 MODE=PUSH BREAK=NO_DONE_WAIT
wrong RANKS=2 MODE=PUSH BREAK=EARLY_DONE
wrong RANKS=2 MODE=PUSH PACED=1 BREAK=EARLY_DONE
wrong RANKS=2 MODE=PUSH FAILS=1 BREAK=NO_FAILED
wrong RANKS=2 MODE=PULL FAILS=1 BREAK=NO_FAILED
wrong RANKS=2 MODE=PUSH FAILS=1 BREAK=LATE_FAILED
wrong RANKS=4 MODE=PULL PATTERN=CHAIN FAILS=1 BREAK=NO_STRANGER_WAIT
wrong RANKS=3 MODE=PUSH PACED=1 FAILS=1 BREAK=NO_LAST_STEP
wrong RANKS=3 MODE=PUSH PACED=1 BREAK=WRONG_SERVER
wrong RANKS=2 MODE=PUT FAILS=1 BREAK=NO_LAST_PARTITION
wrong RANKS=2 MODE=PUT BREAK=EARLY_PARTITIONS
wrong RANKS=3 MODE=PUSH DIES=1 BREAK=ANY_GONE
wrong RANKS=2 MODE=PUSH DIES=1 BREAK=NO_GONE
wrong RANKS=2 MODE=PUSH LEAVES=1 BREAK=NO_GIVEN_UP
wrong RANKS=2 MODE=PUSH LEAVES=1 BREAK=NO_SECOND_LOOK
wrong RANKS=2 MODE=PUSH LEAVES=1 BREAK=GONE_IN_IT
wrong RANKS=2 MODE=HALO BREAK=NO_READY_WAIT
wrong RANKS=2 MODE=HALO FILL=PUSH BREAK=EARLY_DONE
wrong RANKS=4 MODE=HALO PATTERN=WIDE BREAK=ONE_READER
wrong RANKS=3 MODE=HALO BREAK=ANY_TURN
wrong RANKS=3 MODE=HALO BREAK=PUSHED_SUMS

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
