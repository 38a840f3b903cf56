#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the lines of redist-bench --space cuda --json as a table."""
import json
import sys

COLUMNS = "%-14s %-5s %5s %-15s %10s %10s %12s %10s %9s %6s"


def main(path):
    print(COLUMNS % ("shape", "axes", "ranks", "method", "median ms", "out GB/s", "copy rate",
                     "of rate", "work MB", "wrong"))
    with open(path, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            rate = line.get("copy_rate_gb_per_s") or float("nan")
            out = line.get("gb_per_s_out", float("nan"))
            print(COLUMNS % ("x".join(map(str, line["shape"])), "%d:%d" % tuple(line["axes"]),
                             line["ranks"], line["chosen"], "%.3f" % line["ms_median"],
                             "%.1f" % out, "%.1f" % rate, "%.3f" % (out / rate),
                             "%.1f" % (1e-6 * line["workspace_bytes"]), line["wrong"]))


main(sys.argv[1])
