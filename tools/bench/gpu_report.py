#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the lines of redist-bench, of fftnd-bench --space cuda and of fftnd-stream-bench as tables."""
import json
import sys

COLUMNS = "%-14s %-5s %5s %-15s %10s %10s %12s %10s %9s %6s"


def print_exchanges(path):
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


def print_transforms(path):
    columns = "%-14s %-5s %5s %-8s %10s %10s %10s %10s %10s"
    print(columns % ("shape", "kind", "ranks", "library", "median ms", "min ms", "cuFFT ms",
                     "of cuFFT", "max error"))
    with open(path, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            serial = line.get("serial_ms_median") or float("nan")
            error = line.get("max_error")
            print(columns % ("x".join(map(str, line["shape"])), line["kind"], line["ranks"],
                             line["library"], "%.2f" % line["pair_ms_median"],
                             "%.2f" % line["pair_ms_min"], "%.2f" % serial,
                             "%.2f" % (line["pair_ms_median"] / serial),
                             "-" if error is None else "%.1e" % error))


def print_streams(path):
    columns = "%-14s %-5s %5s %5s %-17s %10s %10s %8s %-16s"
    print(columns % ("shape", "kind", "batch", "ranks", "way", "median ms", "min ms", "host us", "method"))
    with open(path, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            print(columns % ("x".join(map(str, line["shape"])), line["kind"], line["batch"],
                             line["ranks"], line["way"], "%.4f" % line["ms"], "%.4f" % line["ms_min"],
                             "%.1f" % line["host_us"], line["method"]))


print_exchanges(sys.argv[1])
print_transforms(sys.argv[2])
print_streams(sys.argv[3])
