#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copies a .mod file from where a library was compiled:
#     copy_module.sh BUILD_FOLDER NAME FILE
set -eu
cp "$(find "$1" -path "*.p/$2.mod" | head -n 1)" "$3"
