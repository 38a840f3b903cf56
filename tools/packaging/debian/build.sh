#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian packages of the last commit, and checks them with lintian:
#     tools/packaging/debian/build.sh [FOLDER]      (out/debian)
# Needs dpkg-dev, lintian and what debian/control lists under Build-Depends.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=$(realpath -m "${1:-out/debian}")
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build | head -n 1)
source=redist-$version

rm -rf "$folder"
mkdir -p "$folder/$source"
git archive HEAD | tar -x -C "$folder/$source"
tar -C "$folder" -czf "$folder/redist_$version.orig.tar.gz" "$source"
cp -r tools/packaging/debian/debian "$folder/$source/"
(cd "$folder/$source" && dpkg-buildpackage -us -uc)
cd "$folder"
lintian --info --fail-on error,warning ./*.changes
echo "Packages are in $folder"
