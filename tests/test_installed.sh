#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds users' programs against the libraries in each way that there is, and runs them on two ranks: as a subproject of
# meson, which also installs them to a temporary prefix; from there by pkg-config, shared and static, in C, C++ and
# Fortran, with CMake, and after the prefix has moved. Then uninstalls them:
#     test_installed.sh SOURCE_ROOT MPI_OPTION COMPILER MESON FORTRAN RUN_RANKS_ARGUMENT...
# FORTRAN: the Fortran compiler, or none
set -eu
source_root=$1
mpi_option=$2
compiler=$3
meson=$4
fortran=$5
shift 5
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
prefix=$temporary/prefix
has_fortran=enabled
[ "$fortran" != none ] || has_fortran=disabled

quietly() { # command
    "$@" >"$temporary/log" 2>&1 || { cat "$temporary/log"; exit 1; }
}

# ---------------------------------------------------------------- a subproject of meson
user=$temporary/user
mkdir -p "$user/subprojects"
cp "$source_root/tests/installed/meson/meson.build" "$source_root/tests/installed/main.c" "$user/"
ln -s "$source_root" "$user/subprojects/libredist"
CC=$compiler quietly "$meson" setup --prefix="$prefix" --buildtype=plain --force-fallback-for=fftnd \
    -Dlibredist:cuda=disabled -Dlibredist:mpi="$mpi_option" -Dlibredist:fortran="$has_fortran" \
    "$temporary/build" "$user"
quietly "$meson" install -C "$temporary/build"
"$@" 2 "$temporary/build/user_c"

# ---------------------------------------------------------------- static libraries by default
# The shared libfftnd, which is installed all the same, has no libredist of its own.
CC=$compiler quietly "$meson" setup -Ddefault_library=static -Dcuda=disabled -Dmpi="$mpi_option" -Dfortran=disabled \
    -Dfftw_mpi=disabled -Dexamples=false -Dbenchmarks=false -Dtests=false "$temporary/static" "$source_root"
grep -q '^build libfftnd/libfftnd\.so.*libredist/libredist\.so' "$temporary/static/build.ninja" ||
    { echo "libfftnd.so does not link libredist.so"; exit 1; }

# ---------------------------------------------------------------- what is installed
for file in redist_base.h redist_grid.h redist.h redist_file.h redist_checkpoint.h fftnd_file.h redist_halo.h redist_model.h redist_paper.h fftnd_kinds.h fftnd_info.h fftnd.h \
        redist.hpp redist_file.hpp fftnd.hpp fftnd/heffte/heffte.h fftnd/heffte/heffte_c.h; do
    test -f "$prefix/include/$file" || { echo "$file is not installed"; exit 1; }
done
for file in redist_support.h redist_process.h; do
    test ! -f "$prefix/include/$file" || { echo "$file is installed"; exit 1; }
done
pkgconfig=$(dirname "$(find "$prefix" -name fftnd.pc)")
library_folder=$(dirname "$pkgconfig")
libraries='redist fftnd'
[ "$fortran" = none ] || libraries="$libraries redist_fortran fftnd_fortran"
for file in $libraries; do
    for kind in so a; do
        test -f "$library_folder/lib$file.$kind" || { echo "no lib$file.$kind"; exit 1; }
    done
done
export PKG_CONFIG_PATH="$pkgconfig"

# ---------------------------------------------------------------- pkg-config
main=$source_root/tests/installed/main.c
# shellcheck disable=SC2046
$compiler "$main" -o "$temporary/with_shared" $(pkg-config --cflags --libs fftnd redist) -lm
# One library alone must do as well.
# shellcheck disable=SC2046
$compiler -shared -fPIC -x c /dev/null -o "$temporary/only_redist.so" \
    $(pkg-config --cflags --libs redist)
# C's header in C++ asks for no library of MPI's own C++ functions.
# shellcheck disable=SC2046
printf '#include <fftnd.h>\nint main() { return redist_decompose(1, 1, 0, nullptr, nullptr) != REDIST_ERR_NULL; }\n' |
    $compiler -std=c++11 -x c++ - -o "$temporary/in_cpp" $(pkg-config --cflags --libs redist)
programs="$temporary/with_shared $temporary/in_cpp"
if [ -f "$pkgconfig/redist-hdf5.pc" ]; then
    # shellcheck disable=SC2046
    $compiler "$source_root/tests/installed/hdf5.c" -o "$temporary/with_hdf5" $(pkg-config --cflags --libs redist-hdf5)
    programs="$programs $temporary/with_hdf5"
fi
if [ "$fortran" != none ]; then
    # shellcheck disable=SC2046
    $fortran -J "$temporary" "$source_root/tests/installed/main.f90" -o "$temporary/with_modules" \
        $(pkg-config --cflags --libs fftnd-fortran)
    programs="$programs $temporary/with_modules"
fi
if [ -f "$pkgconfig/redist-hdf5-fortran.pc" ]; then
    # shellcheck disable=SC2046
    $fortran -J "$temporary" "$source_root/tests/installed/hdf5.f90" -o "$temporary/with_hdf5_module" \
        $(pkg-config --cflags --libs redist-hdf5-fortran)
    programs="$programs $temporary/with_hdf5_module"
fi
for program in $programs; do
    LD_LIBRARY_PATH=$library_folder "$@" 2 "$program"
done
# Programs of heFFTe, in C++ by the include path alone, and in C
build_heffte_c() { # file FLAGS...
    file=$1
    shift
    $compiler "$source_root/tests/installed/heffte.c" -o "$file" "$@" -lm
}
if [ -f "$library_folder/libfftnd_heffte.so" ]; then
    # shellcheck disable=SC2046
    $compiler -std=c++11 -x c++ "$source_root/examples/heffte/r2c.cpp" -x none -o "$temporary/heffte_cpp" -lstdc++ \
        $(pkg-config --cflags --libs fftnd-heffte) -lm
    # shellcheck disable=SC2046
    build_heffte_c "$temporary/heffte_c" $(pkg-config --cflags --libs fftnd-heffte)
    for program in "$temporary/heffte_cpp" "$temporary/heffte_c"; do
        LD_LIBRARY_PATH=$library_folder "$@" 2 "$program"
    done
fi
# A program for FFTW-MPI, whose linker drops libraries that it sees no use of
build_fftw_program() { # file FLAGS...
    file=$1
    shift
    $compiler "$source_root/tests/fftw/manual.c" -o "$file" -Wl,--as-needed "$@" -lm
}
run_fftw_program() { # file RUN_RANKS_ARGUMENT...
    file=$1
    shift
    FFTND_FFTW_REPORT=$temporary/report LD_LIBRARY_PATH=$library_folder "$@" 2 "$file" >"$file.out"
    grep -q ' plans on libfftnd' "$temporary/report" || { echo "$file did not plan on libfftnd"; exit 1; }
    rm "$temporary/report"
}
if [ -f "$pkgconfig/fftnd-fftw3-mpi.pc" ]; then
    # shellcheck disable=SC2046
    build_fftw_program "$temporary/fftw_shared" $(pkg-config --cflags --libs fftnd-fftw3-mpi)
    run_fftw_program "$temporary/fftw_shared" "$@"
fi

# ---------------------------------------------------------------- CMake
# What it finds is all that it may use
(unset PKG_CONFIG_PATH
CC=$compiler quietly cmake -S "$source_root/tests/installed/cmake" -B "$temporary/cmake" -DSOURCES="$source_root/tests" \
    -DCMAKE_PREFIX_PATH="$prefix" -DHeffte_DIR="$library_folder/cmake/fftnd-heffte" -DEXPECT_CUDA=FALSE
quietly cmake --build "$temporary/cmake" --parallel 2)
for program in "$temporary"/cmake/user_*; do
    "$@" 2 "$program"
done

# ---------------------------------------------------------------- the prefix moves
# The pkg-config files of the libraries as a project of their own; as a subproject they follow the project's options.
moved=$temporary/moved
cp -a "$prefix" "$moved"
mv "$prefix" "$prefix.away"
cp "$temporary/static/meson-private/redist.pc" "$temporary/static/meson-private/fftnd.pc" "$moved${pkgconfig#"$prefix"}/"
# shellcheck disable=SC2046
$compiler "$main" -o "$temporary/with_moved" \
    $(PKG_CONFIG_PATH="$moved${pkgconfig#"$prefix"}" pkg-config --cflags --libs fftnd redist) -lm
LD_LIBRARY_PATH=$moved${library_folder#"$prefix"} "$@" 2 "$temporary/with_moved"
if [ -f "$moved/bin/fftnd-fftw" ]; then
    "$moved/bin/fftnd-fftw" true
fi
"$moved/bin/fftnd-lammps" true
mv "$prefix.away" "$prefix"

# ---------------------------------------------------------------- static libraries
# They are taken where the shared ones are not there. What they require stays shared where no static library is.
mkdir "$temporary/shared"
mv "$library_folder"/lib*.so* "$temporary/shared/"
# shellcheck disable=SC2046
$compiler "$main" -o "$temporary/with_static" $(pkg-config --cflags --static --libs fftnd redist)
"$@" 2 "$temporary/with_static"
if [ -f "$temporary/heffte_c" ]; then
    # shellcheck disable=SC2046
    build_heffte_c "$temporary/heffte_static" $(pkg-config --cflags --static --libs fftnd-heffte)
    "$@" 2 "$temporary/heffte_static"
fi
if [ -f "$pkgconfig/fftnd-fftw3-mpi.pc" ]; then
    # shellcheck disable=SC2046
    build_fftw_program "$temporary/fftw_static" $(pkg-config --cflags --static --libs fftnd-fftw3-mpi)
    run_fftw_program "$temporary/fftw_static" "$@"
    cmp "$temporary/fftw_shared.out" "$temporary/fftw_static.out"
fi
mv "$temporary"/shared/* "$library_folder/"

# ---------------------------------------------------------------- uninstalled
quietly ninja -C "$temporary/build" uninstall
find "$prefix" ! -type d >"$temporary/left" 2>/dev/null || true # the folders go too
test ! -s "$temporary/left" || { echo "uninstall leaves:" && cat "$temporary/left" && exit 1; }
