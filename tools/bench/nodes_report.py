#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the lines of ./dev gpu-bench --nodes as a table: milliseconds of a forward and a backward transform.

a node     ranks of a node, of which one host pretends to be several
messages   two exchanges of the same bytes between contiguous arrays
parts      the serial transforms alone
pair       by each other method, and by the plain one
of bound   the pair over the longer one of messages and parts
of plain   over the pair by the plain method
"""
import json
import sys

HEAD = "%-8s %6s  %-20s %-10s %10s %10s %10s %10s %9s %9s"
ROW = "%-8s %6d  %-20s %-10s %10.3f %10.3f %10.3f %10.3f %9.2f %9.2f"
NOTHING = float("nan")


def read(path):
    """Returns the messages of each network and transform, and the transforms, as {key: {method: line}}."""
    messages, transforms = {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            key = line["network"], line["work"]
            if line["benchmark"] == "redist-bench":
                messages[key] = line
            else:
                transforms.setdefault((*key, line["node_size"]), {})[line["method"]] = line
    return messages, transforms


def main(path, plain):
    """Returns the exit code: 1 if a time is missing, or messages were packed."""
    messages, transforms = read(path)
    code = int(not transforms)
    names = "network", "a node", "transform", "method", "messages", "parts", "pair", plain, "of bound", "of plain"
    print(HEAD % names)
    for (network, work, node_size), found in transforms.items():
        alone = messages.get((network, work), {})
        other = found.get(plain, {}).get("pair_ms_median", NOTHING)
        parts = next(iter(found.values()))["serial_ms_median"]
        sent = 2 * alone.get("ms_median", NOTHING)
        bound = max(sent, parts) if sent == sent else NOTHING
        others = [method for method in found if method != plain]
        for method in others:
            pair = found[method].get("pair_ms_median", NOTHING)
            print(ROW % (network, node_size, work, method, sent, parts, pair, other, pair / bound, pair / other))
            code |= not pair / bound * other > 0
        if alone.get("workspace_bytes"):
            print("  the messages were packed: they have %d bytes of buffers" % alone["workspace_bytes"])
            code = 1
        code |= not others
    return int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
