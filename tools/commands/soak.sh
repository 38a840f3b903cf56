#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev soak --minutes N [--seed S]: random exchanges and transforms, and calls that fail, on 1 to 8 ranks in
# turn, until the time is over. Prints what was done, and the seed of anything wrong.
# ./dev soak --ranks N --seed S [--case C]: repeats one round of it, or one case of that round.
# ./dev soak --kills N [--seed S]: kills one of 2 to 6 ranks, N times, at random moments of random work.
set -uo pipefail
. tools/shell/environment.sh
. tools/shell/build.sh

build='build-test/gcc'
round_seconds=20
# Few ranks more often, since they are quicker, and others because their grids are special
rank_counts=(2 4 3 1 6 2 8 5 3 4 7 2)

usage() {
    echo "usage: ./dev soak --minutes N [--seed S] | --ranks N --seed S [--case C] | --kills N [--seed S]" >&2
    exit 2
}

minutes='' seed='' ranks='' only_case='' kills=''
while [ $# -gt 0 ]; do
    [[ ${2:-} =~ ^[0-9]+$ ]] || usage
    case $1 in
    --minutes) minutes=$2 ;;
    --seed) seed=$2 ;;
    --ranks) ranks=$2 ;;
    --case) only_case=$2 ;;
    --kills) kills=$2 ;;
    *) usage ;;
    esac
    shift 2
done
[ -n "$minutes" ] || [ -n "$kills" ] || { [ -n "$ranks" ] && [ -n "$seed" ]; } || usage
[ -n "$seed" ] || seed=$(date +%s)

exchanges=0 transforms=0 plans=0 faults=0 wrong=0
log=out/log/soak.txt wrong_kills=out/log/wrong_kills

# Runs a test program with a seed for some seconds.
run_program() { # ranks, seed, seconds, program, arguments
    local ranks=$1 seed=$2 seconds=$3
    shift 3
    REDIST_TEST_SEED=$seed REDIST_TEST_SECONDS=$seconds REDIST_TEST_LIMIT=$((seconds + 200)) \
        REDIST_TEST_TIMES=1 tests/run_ranks.sh openmpi "$(launcher openmpi)" none "$ranks" \
        "$build/tests/$1" "${@:2}" >"$log" 2>&1 </dev/null
}

# Adds what the program says that it has done.
count_done() {
    local line
    while read -r line; do
        if [[ $line =~ ^done:\ ([0-9]+)\ exchanges,\ ([0-9]+)\ transforms,\ ([0-9]+)\ plans ]]; then
            exchanges=$((exchanges + BASH_REMATCH[1]))
            transforms=$((transforms + BASH_REMATCH[2]))
            plans=$((plans + BASH_REMATCH[3]))
        elif [[ $line =~ ^([0-9]+)\ faults\ tried ]]; then
            faults=$((faults + BASH_REMATCH[1]))
        fi
    done <"$log"
}

# Whether the program did well; if not, what it says and how to repeat it.
judge() { # exit code, ranks, seed, program
    local kept=out/soak/$4-$2-$3.txt
    [ "$1" -ne 0 ] || return 0
    wrong=$((wrong + 1))
    mkdir -p out/soak
    cp "$log" "$kept"
    echo "WRONG: $4 on $2 ranks with seed $3, exit code $1; the end of $kept:"
    grep -avE '^ *[0-9.]+ s ' "$log" | tail -n 20 | cut -c 1-600
    if [ "$4" = soak ]; then
        echo "Again: ./dev soak --ranks $2 --seed $3, and with --case C only the case that it names"
    else
        echo "Again: REDIST_TEST_SEED=$3 REDIST_TEST_SCALE=0.4 meson test -C $build $4-$2"
    fi
}

random_round() { # number, seconds
    local count=${rank_counts[$1 % ${#rank_counts[@]}]} number=$((seed + $1)) code=0
    run_program "$count" "$number" "$2" soak || code=$?
    count_done
    judge "$code" "$count" "$number" soak
}

# Calls that fail: each round one of the programs that inject faults, for some seconds.
fault_round() { # number
    local programs=(test_redist_faults test_fftnd_faults) counts=(2 3 4) code=0
    local program=${programs[$1 % 2]} count=${counts[$1 / 2 % 3]} number=$((seed + $1))
    REDIST_TEST_SCALE=0.4 run_program "$count" "$number" 1 "$program" || code=$?
    count_done
    judge "$code" "$count" "$number" "$program"
}

# Kills by twenties, two at a time, since launching leaves cores idle; each prints how it went.
kill_twenty() { # ranks, seed
    REDIST_TEST_FAULTS=kill REDIST_TEST_SEED=$2 tests/test_survivors.sh openmpi "$(launcher openmpi)" none "$1" \
        "$PWD/$build/tests/test_survivors" 20 </dev/null 2>&1 || touch "$wrong_kills"
}

kill_all() {
    local number counts=(3 4 2 6 5)
    rm -f "$wrong_kills"
    for ((number = 0; number < (kills + 19) / 20; number++)); do
        [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
        kill_twenty "${counts[number % 5]}" $((seed + number)) &
    done
    wait
    [ ! -e "$wrong_kills" ]
}

report() {
    local seconds=$((SECONDS - begin))
    printf '%d s: %d exchanges, %d transforms, %d plans, %d faults; wrong: %d\n' \
        "$seconds" "$exchanges" "$transforms" "$plans" "$faults" "$wrong"
}

soak() {
    local number left end=$((SECONDS + 60 * minutes))
    echo "Random work for $minutes minutes from seed $seed on; the numbers so far:"
    for ((number = 0; SECONDS < end; number++)); do
        left=$((end - SECONDS))
        if ((number % 5 == 4 && left > 15)); then
            fault_round $((number / 5))
        else
            random_round "$number" $((left < round_seconds ? left : round_seconds))
        fi
        [ -t 1 ] && printf '\r%s ' "$(report)" || ((number % 10)) || report
    done
}

repeat() {
    local code=0
    run_program "$ranks" "$seed" "$round_seconds" soak ${only_case:+"$only_case"} || code=$?
    count_done
    judge "$code" "$ranks" "$seed" soak
}

mkdir -p out/log
build_gcc || exit 1
begin=$SECONDS
if [ -n "$kills" ]; then
    kill_all
    exit
fi
if [ -n "$minutes" ]; then soak; else repeat; fi
[ ! -t 1 ] || echo
report
[ "$wrong" -eq 0 ]
