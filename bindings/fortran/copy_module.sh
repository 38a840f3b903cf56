#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copies a .mod file from where a library was compiled:
#     copy_module.sh BUILD_FOLDER NAME FILE
# The library's modules get the times of their objects: gfortran leaves files alone that would not change, and ninja
# would compile the sources again each time, as they are newer.
set -eu
module=$(find "$1" -path "*.p/$2.mod" | head -n 1)
for object in "${module%/*}"/*.[fF]90.o; do
    name=${object##*_.._}
    [ ! -e "${module%/*}/${name%.*.o}.mod" ] || touch -r "$object" "${module%/*}/${name%.*.o}.mod"
done
cp "$module" "$3"
