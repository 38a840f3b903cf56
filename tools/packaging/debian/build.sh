#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian packages of the last commit, and checks them with lintian:
#     DEBEMAIL=ADDRESS tools/packaging/debian/build.sh [FOLDER]      (out/debian)
# DEBEMAIL is the address of who builds them, which each package names. Says what is missing of dpkg-dev, lintian and what
# debian/control lists under Build-Depends.
set -euo pipefail
cd "$(dirname "$0")/../../.."

# Prints what is missing and how to get it; whether anything is.
lacks_something() {
    local unmet
    if ! command -v dpkg-checkbuilddeps >/dev/null || ! command -v lintian >/dev/null; then
        echo "The tools for packages are missing: apt-get install dpkg-dev lintian"
    elif ! unmet=$(dpkg-checkbuilddeps tools/packaging/debian/debian/control 2>&1); then
        echo "${unmet#dpkg-checkbuilddeps: error: }"
        echo "They are installed by: apt-get build-dep ./tools/packaging/debian"
    elif [ -z "${DEBEMAIL:-}" ]; then
        echo "DEBEMAIL is not set: packages name the address of who builds them"
    else
        return 1
    fi
}

if lacks_something >&2; then
    exit 2
fi
folder=$(realpath -m "${1:-out/debian}")
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build | head -n 1)
source=redist-$version

rm -rf "$folder"
mkdir -p "$folder/$source"
git archive HEAD | tar -x -C "$folder/$source"
tar -C "$folder" -czf "$folder/redist_$version.orig.tar.gz" "$source"
cp -r tools/packaging/debian/debian "$folder/$source/"
sed -i "s/@DEBEMAIL@/$DEBEMAIL/" "$folder/$source"/debian/{control,changelog}
(cd "$folder/$source" && dpkg-buildpackage -us -uc)
cd "$folder"
lintian --info --fail-on error,warning ./*.changes
echo "Packages are in $folder"
