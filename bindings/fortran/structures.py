#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a Fortran module of what C headers define: numbers, and structures that the libraries fill in or read.

    structures.py MODULE PREFIX USED_MODULE HEADER... > MODULE.f90
"""
import re
import sys

SCALARS = {"size_t": "integer(c_size_t)", "int": "integer(c_int)", "double": "real(c_double)",
           "ptrdiff_t": "integer(c_ptrdiff_t)", "long long": "integer(c_long_long)",
           "redist_index": "integer(c_int64_t)", "int64_t": "integer(c_int64_t)"}


def structures(text):
    """(name, body) of the structures that Fortran can have: not those with handles of MPI."""
    return [found for found in re.findall(r"typedef struct (\w+) \{([^}]*)\} \1;", text)
            if not re.search(r"\bMPI_\w+ \w", found[1])]


def numbers(text, prefix):
    """(name, value) of enumerators, error codes, versions and limits."""
    for body in re.findall(r"enum (?:\w+ )?\{([^}]*)\}", text):
        yield from re.findall(r"\b(" + prefix + r"_[A-Z0-9_]+)\s*=\s*(-?\d+)", body)
    for name, value in re.findall(r"X\((\w+), (\d+), \"", text):
        yield prefix + "_" + name, value
    yield from re.findall(r"#define (" + prefix + r"_(?:MAX|VERSION)_[A-Z]+)\s+(\d+)", text)


def component(declaration):
    """The Fortran component of `type name`, with stars or with an extent behind it."""
    c_type, stars, name, extent = re.fullmatch(
        r"(?:const )?((?:enum |long )?\w+) ((?:const |\* ?)*)(\w+)(?:\[(\w+)\])?",
        " ".join(declaration.split())).groups()
    dimension = f"({extent})" if extent else ""
    if "*" in stars:
        return f"type(c_ptr) :: {name}{dimension} = c_null_ptr"
    if c_type.startswith("enum "):
        c_type = "int"
    if c_type not in SCALARS:
        return f"type({c_type}) :: {name}{dimension}"
    zero = "0.0_c_double" if c_type == "double" else "0"
    return f"{SCALARS[c_type]} :: {name}{dimension} = {zero}"


def structure(name, body):
    yield f"  type, bind(c), public :: {name}"
    for declaration in filter(None, map(str.strip, body.split(";"))):
        c_type, names = re.fullmatch(r"((?:const )?(?:enum |long )?\w+) (.*)", " ".join(declaration.split())).groups()
        for one in names.split(","):
            yield f"    {component(f'{c_type} {one.strip()}')}"
    yield f"  end type {name}"


def module(name, prefix, used, text):
    yield f"! What the C headers define; made by {sys.argv[0].rsplit('/', 1)[-1]}, not to be edited."
    yield f"module {name}"
    yield "  use, intrinsic :: iso_c_binding"
    if used:
        yield f"  use {used}"
    yield "  implicit none"
    yield "  private"
    for constant, value in numbers(text, prefix):
        yield f"  integer(c_int), parameter, public :: {constant} = {value}"
    for struct, body in structures(text):
        yield from structure(struct, body)
    yield f"end module {name}"


def main():
    name, prefix, used, *headers = sys.argv[1:]
    text = "".join(open(header, encoding="utf-8").read() for header in headers)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).replace("\\\n", "\n")
    print("\n".join(module(name, prefix, used, text)))


if __name__ == "__main__":
    main()
