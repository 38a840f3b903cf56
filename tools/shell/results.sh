# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Running tests and checks, and keeping their results: lines "passed|failed|skipped COUNT NAME".
# Sourced, not run.

results=out/test/results.txt
endings=out/test/endings.txt # what failed tests printed last

record() { # passed|failed|skipped, count, name
    echo "$@" >>"$results"
}

start_results() {
    mkdir -p out/test
    : >"$results"
    : >"$endings"
}

# One check that passes or fails as a whole; exit code 77 skips it, for the reason in its last line.
check() { # name, command
    local name=$1 log code=0
    shift
    log=out/test/${name//[^A-Za-z0-9]/_}.txt
    "$@" >"$log" 2>&1 </dev/null || code=$?
    if [ "$code" -eq 0 ]; then
        record passed 1 "$name"
        echo "ok      $name"
    elif [ "$code" -eq 77 ]; then
        record skipped 1 "$name: $(tail -n 1 "$log")"
    else
        record failed 1 "$name"
        echo "FAILED  $name:"
        tail -n 60 "$log"
        {
            echo "---- $name:"
            head -n -30 "$log" | grep -E 'REDIST_TEST_SEED=.* in test |^FAILED |^    case: ' | head -n 20
            tail -n 30 "$log"
        } >>"$endings"
    fi
}

# Tests of a build folder whose name, such as test_redist_plans-4, fits an expression but not another one.
select_tests() { # folder, two extended regular expressions
    meson test -C "$1" --list 2>/dev/null | sed -n "s/^.* \/ //p" | grep -E -- "$2" | grep -vE -- "$3"
}

# Runs the chosen tests of a build folder and records what they print.
run_tests() { # pass, folder, expression, expression of those to leave out
    local names log=testlog-$1
    mapfile -t names < <(select_tests "$2" "$3" "${4:-^\$}")
    rm -f "$2/meson-logs/$log.json"
    if [ ${#names[@]} -gt 0 ]; then
        meson test -C "$2" --no-rebuild --logbase "$log" --print-errorlogs "${names[@]}" </dev/null |
            grep -vE '^$|^Full log|^(Ok|Expected Fail|Fail|Unexpected Pass|Skipped|Timeout):'
    fi
    python3 tools/test/count_tests.py "$1" "$2/meson-logs/$log.json" "${#names[@]}" "$endings" >>"$results"
}

sum_of() { # passed|failed|skipped
    awk -v kind="$1" '$1 == kind { sum += $2 } END { print sum + 0 }' "$results"
}

list_of() { # passed|failed|skipped
    sed -n "s/^$1 [0-9]* /$1: /p" "$results" | sort -u
}

# The end of the test run, which is often all that is kept of it; fails if a test did.
summary() {
    local failed skipped
    failed=$(sum_of failed)
    skipped=$(sum_of skipped)
    list_of skipped
    cat "$endings"
    list_of failed
    echo "$(sum_of passed) passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
