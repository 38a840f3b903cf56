#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Puts the C libraries into a source package, outside which the links in subprojects/libredist lead. `meson dist` runs it.
set -eu
libraries=$MESON_DIST_ROOT/subprojects/libredist
rm -rf "$libraries"
mkdir -p "$libraries"
cp -RL "$MESON_SOURCE_ROOT/subprojects/libredist/." "$libraries"
