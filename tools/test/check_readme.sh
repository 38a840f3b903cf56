#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Does with the programs of README.md and of the guides what README.md says: installs the libraries, builds the
# programs with pkg-config, and runs them on two ranks. C without main() is only compiled. Then come the plots that
# docs/files.md makes of the files of its program.
set -euo pipefail
. tools/shell/environment.sh

prefix=$PWD/out/test/prefix
programs=$PWD/out/test/readme

# Writes the programs to 1.c, 2.cpp, 3.f90 and so on.
extract_programs() {
    awk -v folder="$programs" '
        BEGIN { ending["c"] = "c"; ending["cpp"] = "cpp"; ending["fortran"] = "f90" }
        /^```/ && substr($0, 4) in ending { inside = 1; file = folder "/" ++count "." ending[substr($0, 4)]; next }
        /^```/ { inside = 0 }
        inside { print > file }' README.md docs/guide.md docs/*.md
}

# Makes lines of C, about a communicator, a number of bytes, a stream, a plan, its arrays and a kernel, one function.
wrap_lines() { # file
    local lines parameters='MPI_Comm comm, size_t bytes, void *stream, fftnd_plan *plan, double *f, double *u, double *kernel'
    lines=$(cat "$1")
    {
        [[ $lines != *redist_hdf5* ]] || echo '#include <redist_hdf5.h>'
        [[ $lines != *fftnd_plan_field* ]] || echo '#include <fftnd_file.h>'
        printf '#include <fftnd_operators.h>\n\nvoid lines(%s);\nvoid lines(%s) {\n%s\n}\n' \
            "$parameters" "$parameters" "$lines"
    } >"$1"
}

compile() { # source, further flags
    # shellcheck disable=SC2046 # the flags are words
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror "$@" $(pkg-config --cflags --libs fftnd-heffte fftnd redist)
}

# Blocks of the section on plots, in one language.
blocks_of_plots() { # language
    awk -v begin="^\`\`\`$1\$" '/^## / { plots = /Plots/ } $0 ~ begin && plots { inside = 1; next } /^```/ { inside = 0 }
        inside' docs/files.md
}

# Runs these blocks on the files that the program before them has left.
draw_plots() {
    local python
    blocks_of_plots sh >"$programs/plots.sh"
    blocks_of_plots python >"$programs/plots.py"
    cd "$programs"
    bash -eux plots.sh
    [ -s plane.png ]
    for python in python3 /usr/bin/python3; do
        ! $python -c 'import numpy' 2>/dev/null || exec $python plots.py
    done
    echo "docs/files.md: no numpy here"
}

rm -rf "$prefix" "$programs"
mkdir -p "$programs"
CUDA=disabled bash tools/commands/install.sh "$prefix"
extract_programs
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
for source in "$programs"/*.c; do
    if grep -q 'int main(' "$source"; then
        compile "$source" -o "${source%.c}"
        (cd "$programs" && run_ranks openmpi 2 "${source%.c}")
    else
        wrap_lines "$source"
        compile "$source" -c -Wno-unused -o "${source%.c}.o"
    fi
done
(draw_plots) # programs of other languages write files of the same names
for source in "$programs"/*.cpp "$programs"/*.f90; do
    # shellcheck disable=SC2046
    case $source in
    *.cpp) g++ -std=c++17 -Wall -Wextra -Werror "$source" -o "${source%.*}" \
        $(pkg-config --cflags --libs fftnd-heffte fftnd redist-hdf5) ;;
    *.f90) gfortran -Wall "$source" -J "$programs" -o "${source%.*}" \
        $(pkg-config --cflags --libs fftnd-fortran redist-hdf5-fortran) ;;
    esac
    (cd "$programs" && run_ranks openmpi 2 "${source%.*}")
done
