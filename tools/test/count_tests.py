# SPDX-License-Identifier: BSD-3-Clause
"""Sums up what the test programs of one pass printed.

usage: count_tests.py PASS TESTLOG EXPECTED ENDINGS

TESTLOG is meson's testlog.json, one JSON object a line; EXPECTED is how many tests were started.
Prints lines "passed|failed|skipped COUNT NAME". A program that crashed or ran out of time is one
failure; one that prints no sums, such as an example, passes or fails as a whole. What a failed
program printed last is added to the file ENDINGS.
"""
import json
import os
import re
import sys

LAST_LINES = 30
MOST_PLACES = 20
PLACE = re.compile(r"REDIST_TEST_SEED=.* in test |^FAILED |^    case: ")
SUMS = re.compile(r"on \d+ ranks?: (\d+) passed, (\d+) failed, (\d+) skipped(?:: ([^\[]*))?")


def count_program(name, test):
    """The result lines of one program."""
    if test["result"] == "SKIP":
        yield "skipped", 1, name
        return
    sums = SUMS.findall(test.get("stdout", ""))
    passed, failed, skipped = (sum(int(line[i]) for line in sums) for i in range(3))
    if test["returncode"] == 0 and not sums:
        passed = 1
    if test["returncode"] != 0 and failed == 0:
        failed = 1
        name += f" ({test['result'].lower()}, exit code {test['returncode']})"
    yield "passed", passed, name
    yield "failed", failed, name
    yield "skipped", skipped, name + ": " + "; ".join(by_reason(line[3]) for line in sums)


def by_reason(text):
    """Cases that were skipped, each reason once: "reason: case, case"."""
    cases = {}
    for case, reason in re.findall(r"(\w+) \(((?:[^()]|\([^()]*\))*)\)", text):
        cases.setdefault(reason, []).append(case)
    return "; ".join(f"{reason}: {', '.join(names)}" for reason, names in cases.items())


def ending(name, test):
    """What a program printed last, and the seeds and cases before that."""
    printed = (test.get("stdout", "") + test.get("stderr", "")).splitlines()
    places = [line for line in printed[:-LAST_LINES] if PLACE.search(line)]
    return "\n".join([f"---- {name}:"] + places[:MOST_PLACES] + printed[-LAST_LINES:]) + "\n"


def read_log(path):
    """The tests in meson's log, none if meson did not get that far."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as lines:
        return [json.loads(line) for line in lines]


def main():
    """Prints the result lines of all programs."""
    name, path, expected, endings = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    tests = read_log(path)
    if len(tests) < expected or expected == 0:
        print(f"failed {max(1, expected - len(tests))} {name}: tests that did not start")
    for test in tests:
        short = f"{name}: {test['name'].split(' / ')[-1]}"
        for kind, count, what in count_program(short, test):
            if count:
                print(kind, count, what)
        if test["returncode"] != 0 and test["result"] != "SKIP":
            with open(endings, "a", encoding="utf-8") as file:
                file.write(ending(short, test))


main()
