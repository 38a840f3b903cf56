#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a Fortran module of the interfaces of C functions: redist_NAME, and redist__f_NAME in its place, become c_NAME.

    interfaces.py MODULE USED_MODULE,... HEADER_OR_SOURCE... > MODULE.f90

A function that takes or gives what Fortran does not understand (handles of MPI, pointers that it sets) has no interface.
"""
import re
import sys

from structures import SCALARS, structures

FUNCTION = re.compile(r"^(?:REDIST_API )?((?:const )?\w+ \*?)((?:redist|fftnd)_(?:_f_)?(\w+))\(([^()]*)\)(?:;| \{)", re.M)
RESULTS = {"int ": "integer(c_int)", "double ": "real(c_double)", "const char *": "type(c_ptr)"}
STRUCTURES = {"fftnd__f_plan": "fftnd_plan", "fftnd__f_operator": "fftnd_operator",
              "redist__f_field": "redist_field", "redist_model": "redist_model"}  # of other files, as Fortran calls them


def dummy(argument, known):
    """The declaration of `[const] type [*...]name[[]]`, None if there is none, and its name."""
    const, c_type, stars, name, array = re.fullmatch(
        r"(const )?(?:struct )?((?:enum |long )?\w+) ((?:\*|const )*)(\w+)(\[\])?", argument).groups()
    c_type = "int" if c_type.startswith("enum ") or c_type == "MPI_Fint" else c_type
    intent = f"intent({'in' if const else 'inout'})"
    values = f"{name}(*)" if array else name
    if c_type == "CFI_cdesc_t":
        return name, f"type(*) :: {name}(..)" if const else None
    if c_type == "char":
        return name, f"type(c_ptr), intent(inout) :: {name}" if stars == "**" else (
            f"character(kind=c_char), {intent} :: {name}(*)")
    if c_type in SCALARS:
        return name, f"{SCALARS[c_type]}, {intent if stars or array else 'value'} :: {values}"
    if c_type in known and stars != "**":
        return name, f"type({STRUCTURES.get(c_type, c_type)}), {intent} :: {values}"
    if c_type.startswith("MPI_"):
        return name, None
    return name, f"type(c_ptr), {'intent(inout)' if stars == '**' else 'value'} :: {name}"


def interface(function, result, bound, arguments, known):
    names, lines = [], []
    for argument in re.split(r",\s*", " ".join(arguments.split())):
        if argument != "void":
            name, declaration = dummy(argument, known)
            if declaration is None:
                return
            names.append(name)
            lines.append(f"      {declaration}")
    kind = "subroutine" if result == "void " else "function"
    yield f"    {kind} c_{function}( &\n        {', '.join(names)}) &\n        bind(c, name='{bound}')"
    yield "      import"
    yield from lines
    if result != "void ":
        yield f"      {RESULTS[result]} :: c_{function}"
    yield f"    end {kind} c_{function}"


def main():
    module, used, *files = sys.argv[1:]
    text = "".join(open(file, encoding="utf-8").read() for file in files)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    known = {*(name for name, body in structures(text)), *STRUCTURES}
    found = {}
    for result, bound, function, arguments in FUNCTION.findall(text):
        if result in RESULTS or result == "void ":
            found.setdefault(function, []).append((result, bound, arguments))
    print(f"! C functions; made by {sys.argv[0].rsplit('/', 1)[-1]}, not to be edited.")
    print(f"module {module}\n  use, intrinsic :: iso_c_binding")
    for name in used.split(","):
        print(f"  use {name}")
    print("  implicit none\n  public\n\n  interface")
    for function, choices in found.items():
        print(*interface(function, *max(choices, key=lambda one: "__f_" in one[1]), known), sep="\n")
    print(f"  end interface\nend module {module}")


main()
