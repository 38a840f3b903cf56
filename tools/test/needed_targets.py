# SPDX-License-Identifier: BSD-3-Clause
"""Prints what ninja has to build for some tests: the files of all targets that they name.

usage: needed_targets.py FOLDER < NAMES

FOLDER is configured by meson; NAMES has the name of one test a line.
"""
import json
import os
import sys


def read_info(folder, kind):
    """What meson knows of its tests or targets."""
    with open(os.path.join(folder, "meson-info", f"intro-{kind}.json"), encoding="utf-8") as file:
        return json.load(file)


def main():
    """Prints the files, relative to the folder, as ninja knows them."""
    folder, names = sys.argv[1], set(sys.stdin.read().splitlines())
    files = {target["id"]: target["filename"] for target in read_info(folder, "targets")}
    needed = set()
    for test in read_info(folder, "tests"):
        if test["name"] in names:
            needed.update(test["depends"])
    for identity in sorted(needed):
        for file in files[identity]:
            print(os.path.relpath(file, folder))


main()
