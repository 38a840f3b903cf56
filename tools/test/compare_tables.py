#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares two tables of numbers, taylor_green.csv of two runs: the same lines, and the same numbers up to
a share of the largest in their column. Ends with a line as the test programs do."""
import csv
import sys


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text):
    return float(text) if text else 0.0


def largest_difference(mine, other):
    if not mine or len(mine) != len(other):
        return float("inf"), "the number of lines"
    worst = 0.0, "no column"
    for name in mine[0]:
        pairs = [(number(a[name]), number(b[name])) for a, b in zip(mine, other)]
        most = max(abs(b) for _, b in pairs) or 1.0
        share = max(abs(a - b) for a, b in pairs) / most
        worst = max(worst, (share if share == share else float("inf"), name))
    return worst


def main(path, reference, tolerance):
    share, name = largest_difference(read(path), read(reference))
    good = share <= float(tolerance)
    print("largest difference: %.1e of %s" % (share, name))
    if not good:
        print("FAILED: %s differs from %s" % (path, reference))
    print("%d passed, %d failed, 0 skipped" % (good, not good))
    return 0 if good else 1


sys.exit(main(*sys.argv[1:]))
