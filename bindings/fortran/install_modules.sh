#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the .mod files of both modules, which contain those that they use:
#     install_modules.sh BUILD_FOLDER FOLDER_IN_PREFIX
set -eu
target=$MESON_INSTALL_DESTDIR_PREFIX/$2
mkdir -p "$target"
for name in redist fftnd; do
    module=$(find "$1" -name "$name.mod" | head -n 1)
    install -m 644 "$module" "$target/"
done
