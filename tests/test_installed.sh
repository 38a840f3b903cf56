#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the libraries to a temporary prefix and builds a user's program against them with
# pkg-config alone, shared and static, and runs both on two ranks:
#     test_installed.sh SOURCE_ROOT MPI_OPTION COMPILER MESON RUN_RANKS_ARGUMENT...
set -eu
source_root=$1
mpi_option=$2
compiler=$3
meson=$4
shift 4
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
prefix=$temporary/prefix

CC=$compiler $meson setup --prefix="$prefix" --buildtype=plain -Dcuda=disabled -Dmpi="$mpi_option" \
    -Dexamples=false -Dbenchmarks=false -Dtests=false "$temporary/build" "$source_root" \
    >"$temporary/log" 2>&1 || { cat "$temporary/log"; exit 1; }
$meson install -C "$temporary/build" >"$temporary/log" 2>&1 || { cat "$temporary/log"; exit 1; }

for file in redist_base.h redist.h redist_model.h redist_paper.h fftnd.h; do
    test -f "$prefix/include/$file" || { echo "$file is not installed"; exit 1; }
done
test ! -f "$prefix/include/redist_support.h" || { echo "redist_support.h is installed"; exit 1; }
pkgconfig=$(dirname "$(find "$prefix" -name fftnd.pc)")
library_folder=$(dirname "$pkgconfig")
for file in redist fftnd; do
    for kind in so a; do
        test -f "$library_folder/lib$file.$kind" || { echo "no lib$file.$kind"; exit 1; }
    done
done
export PKG_CONFIG_PATH="$pkgconfig"

main=$source_root/tests/installed/main.c
# shellcheck disable=SC2046
$compiler "$main" -o "$temporary/with_shared" $(pkg-config --cflags --libs fftnd redist) -lm
# One library alone must do as well.
# shellcheck disable=SC2046
$compiler -shared -fPIC -x c /dev/null -o "$temporary/only_redist.so" \
    $(pkg-config --cflags --libs redist)

# The static libraries are taken where the shared ones are not there. What they require is named too,
# but stays shared: pkg-config --static would ask for the static libraries behind MPI as well.
rm "$library_folder"/lib*.so*
private=$(sed -n 's/^Libs\.private: //p' "$pkgconfig/redist.pc" "$pkgconfig/fftnd.pc" | tr "\n" " ")
# shellcheck disable=SC2046,SC2086
$compiler "$main" -o "$temporary/with_static" \
    $(pkg-config --cflags --libs fftnd redist $(pkg-config --print-requires-private fftnd redist)) \
    $private -lm -pthread
"$@" 2 "$temporary/with_static"

$meson install -C "$temporary/build" --only-changed >"$temporary/log" 2>&1
LD_LIBRARY_PATH=$library_folder "$@" 2 "$temporary/with_shared"
