#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints a placement file of fftnd-study, which says where its ranks ran, as a table.

usage: placement.py FILE.placement.csv
"""
import csv
import sys


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join((cell or "-").ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    main()
