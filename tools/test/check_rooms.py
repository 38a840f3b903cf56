#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where a room of a library uses one that stands above it in the list of docs/architecture.md ("The rooms"), or
a room of libfftnd below api/ the options of a user, which api/ resolves to settings.

A room is a folder of a library, or the files of its main folder that share a name: NAME.c, NAME.h and NAME_*.c, and the
files that its entry names. Used is what is included, and each internal function, by the file that defines it.
"""
import os
import re
import sys
from pathlib import Path

LIBRARIES = ("libfftnd", "liblines", "libredist", "libredist_hdf5")
ENDINGS = (".c", ".h", ".cu", ".cuh")
OPTIONS = re.compile(r'\bfftnd_(?:operator_)?options\b|#include "fftnd\.h"')
DEFINITION = re.compile(r"^[a-z][\w *]*?\b((?:fftnd|lines|redist)__\w+)\((?:[^;{]|\n)*?\)\s*\{", re.MULTILINE)


def read_list():
    """The place of each room, from the top, and the room of each file that an entry names."""
    text = Path("docs/architecture.md").read_text(encoding="utf-8")
    block = text[text.index("## The rooms"):].split("```")[1]
    places, named, library, room = {}, {}, None, None
    for line in block.splitlines():
        if begins := re.match(r"(\w+)/", line):
            library, room = begins.group(1), None
        elif entry := re.match(r"  (\w+)/?(?: |$)", line):
            room = entry.group(1)
            places[library, room] = len(places)
        if library in LIBRARIES and room is not None:
            named.update({(library, name): room for name in re.findall(r"\b(\w+)\.[ch]\b", line)})
    return places, named


def room_of(path, places, named):
    """The room of a file; the doors of a library, such as lines.h, belong to none."""
    library, *rest = path.split("/")
    if len(rest) > 1:
        return library, rest[0]
    stem = os.path.splitext(rest[0])[0]
    if (library, stem) in named:
        return library, named[library, stem]
    while (library, stem) not in places and "_" in stem:
        stem = stem.rpartition("_")[0]
    return library, stem


def main():
    """Prints each use that is wrong."""
    places, named = read_list()
    texts = {str(path): path.read_text(encoding="utf-8") for library in LIBRARIES for path in Path(library).rglob("*")
             if path.suffix in ENDINGS}
    rooms = {path: room_of(path, places, named) for path in texts}
    homes = {name: path for path, text in texts.items() if not path.endswith(".h") for name in DEFINITION.findall(text)}
    wrong = 0
    for path, text in sorted(texts.items()):
        used = {os.path.normpath(os.path.join(os.path.dirname(path), name)): name
                for name in re.findall(r'#include "([^"]+)"', text)}
        used.update({homes[name]: name for name in re.findall(r"\b\w+__\w+", text) if name in homes})
        here = rooms[path]
        if here not in places:
            if not path.endswith(f"{here[1]}.h") or here[1] != here[0].removeprefix("lib"):
                print(f"{path} is in no room of docs/architecture.md")
                wrong += 1
            continue
        if here[0] == "libfftnd" and here[1] != "api" and (options := OPTIONS.search(text)):
            print(f"{path} has {options.group()}, which is for api/ alone")
            wrong += 1
        for other, name in used.items():
            if other in rooms and rooms[other] in places and places[rooms[other]] < places[here]:
                print(f"{path} uses {name} of {other}, which is above it")
                wrong += 1
    sys.exit(1 if wrong else 0)


main()
