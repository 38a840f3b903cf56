#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev gpu-pack [FOLDER]
# Copies Meson, Check, cJSON, xxHash and pkg-config of this machine, which machines with GPUs often lack, to FOLDER
# (build-pack, which git ignores): 5 MB. ./dev gpu-test and ./dev gpu-bench use it where it is. The other machine has to have
# python3, ninja, the CUDA toolkit with a C++ compiler, MPI and FFTW, the same kind of processor, and a C library that is
# not older. Copy the tree with build-pack there; what the machine has itself comes first.
set -euo pipefail
cd "$(dirname "$0")/../.."

pack=${1:-build-pack}

# The Python package that the meson of this machine uses, wherever it is installed.
pack_meson() {
    local python package
    python=$(sed -n '1s/^#! *//p' "$(command -v meson)")
    package=$($python -c 'import mesonbuild, os; print(os.path.dirname(mesonbuild.__file__))')
    cp -r "$package" "$pack/bin/mesonbuild"
    find "$pack/bin" -name __pycache__ -prune -exec rm -r {} +
    cat >"$pack/bin/meson" <<'END'
#!/usr/bin/env python3
import sys

from mesonbuild import mesonmain

sys.exit(mesonmain.main())
END
    chmod +x "$pack/bin/meson"
}

pack_pkg_config() {
    mkdir "$pack/programs"
    cp -L "$(command -v pkg-config)" "$(ldd "$(command -v pkg-config)" | awk '/libpkgconf/ { print $3 }')" \
        "$pack/programs"
    cat >"$pack/bin/pkg-config" <<'END'
#!/bin/sh
programs=$(dirname "$0")/../programs
LD_LIBRARY_PATH=$programs exec "$programs/pkg-config" "$@"
END
    chmod +x "$pack/bin/pkg-config"
}

# A file for pkg-config that says where the folder is by where it is itself.
describe() { # module, libraries
    local version
    version=$(pkg-config --modversion "$1")
    cat >"$pack/lib/pkgconfig/$1.pc" <<END
prefix=\${pcfiledir}/../..
includedir=\${prefix}/include

Name: $1
Description: packed by ./dev gpu-pack
Version: $version
Libs: -L\${prefix}/lib $2
Cflags: -I\${prefix}/include -I\${prefix}/include/cjson
END
}

# Of Check the static library for programs at any address; what it calls has none, so that is taken as it is shared.
pack_libraries() {
    local folder headers
    folder=$(pkg-config --variable=libdir check)
    headers=$(pkg-config --variable=includedir check)
    cp "$headers/check.h" "$headers/check_stdint.h" "$pack/include"
    cp -L "$folder/libcheck_pic.a" "$folder/libsubunit.so" "$folder/libsubunit.so.0" "$pack/lib"
    describe check '-lcheck_pic -lsubunit -lrt -lm -pthread'
    cp -r "$(pkg-config --variable=includedir libcjson)/cjson" "$pack/include"
    cp -L "$folder/libcjson.so" "$folder/libcjson.so.1" "$pack/lib"
    describe libcjson -lcjson
    headers=$(pkg-config --variable=includedir libxxhash)
    cp "$headers"/xx*.h "$pack/include"
    describe libxxhash ''
}

. tools/shell/packages.sh
install_packages meson pkg-config check libsubunit-dev libcjson-dev libxxhash-dev
if [ -e "$pack" ] && [ ! -e "$pack/lib/pkgconfig/check.pc" ]; then
    echo "$pack is there already, and was not made by ./dev gpu-pack" >&2
    exit 2
fi
rm -rf "$pack"
mkdir -p "$pack/bin" "$pack/include" "$pack/lib/pkgconfig"
pack_meson
pack_pkg_config
pack_libraries
echo "Packed in $pack/: $(du -sh "$pack" | cut -f1)"
