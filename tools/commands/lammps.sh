#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev lammps [--quick] [--ranks N]: runs Debian's LAMMPS with its own transforms and on libfftnd, compares what it
# prints of each step, exactly, and prints the times of both. The system is LAMMPS's example of a peptide in water, eight
# copies of it with an accuracy of 1e-6, for 20 steps: after about a hundred rounding has grown to printed digits.
#   --quick    one copy, 10 steps
#   --ranks N  ranks (2)
set -euo pipefail

fail() {
    echo "./dev lammps: $1" >&2
    exit 2
}

cd "$(dirname "$0")/../.."
. tools/shell/environment.sh
. tools/shell/packages.sh
. tools/shell/build.sh

copies=2 steps=20 ranks=2
while [ $# -gt 0 ]; do
    case $1 in
    --quick) copies=1 steps=10 ;;
    --ranks)
        [ $# -ge 2 ] || fail "$1 needs a value"
        ranks=$2
        shift
        ;;
    *) fail "unknown option $1 (--help lists them)" ;;
    esac
    shift
done
[[ $ranks =~ ^[1-9][0-9]*$ ]] || fail "--ranks needs a number, not '$ranks'"

install_packages "${build_packages[@]}"
install_packages "${lammps_packages[@]}" || true
example=/usr/share/lammps/examples/peptide
if [ ! -e $example/data.peptide ] || ! command -v lmp >/dev/null; then
    echo "LAMMPS is not here (Debian: ${lammps_packages[*]})" >&2
    exit 77
fi
build_release
folder=$PWD/out/lammps
rm -rf "$folder"
mkdir -p "$folder"
sed -e "s,^kspace_style.*,kspace_style pppm 1e-6," \
    -e "s,^read_data.*,read_data $example/data.peptide\nreplicate $copies $copies $copies," \
    -e 's,^thermo_style.*,thermo_style custom step temp pe ke etotal press ecoul elong,' \
    -e "s,^thermo[[:space:]]*[0-9].*,thermo 5," \
    -e "s,^run.*,run $steps," $example/in.peptide >"$folder/in.peptide"

start=("$(launcher openmpi)" --oversubscribe --bind-to none -n "$ranks" lmp -in "$folder/in.peptide")
simulate() { # name of the logs, what starts the launcher of MPI
    local log=$folder/$1
    "${@:2}" "${start[@]}" -log "$log.log" >"$log.txt" 2>&1 || { tail -n 30 "$log.txt" >&2 && return 1; }
}

# The lines of the steps, from their header to the sum of the times.
steps_of() { # name of the log
    sed -n '/^ *Step /,/^Loop time/{/^Loop time/!p}' "$folder/$1.log"
}

# Seconds of the whole loop and of the long-range part.
times_of() { # name of the log
    awk '/^Loop time/ { loop = $4 } /^Kspace/ { kspace = $5 } END { print loop, kspace }' "$folder/$1.log"
}

export OMP_NUM_THREADS=1 OMPI_MCA_mpi_yield_when_idle=$((ranks > cores))
export FFTND_LAMMPS_LIBRARIES=$PWD/build/bindings/lammps
simulate own env
simulate libfftnd sh "$FFTND_LAMMPS_LIBRARIES/fftnd-lammps" --report
grep '^libfftnd-lammps: ' "$folder/libfftnd.txt" || { echo "LAMMPS made no plan on libfftnd" >&2 && exit 1; }
steps_of own | tee "$folder/own.steps"
steps_of libfftnd >"$folder/libfftnd.steps"
if [ "$(wc -l <"$folder/own.steps")" -lt 3 ] || ! cmp "$folder/own.steps" "$folder/libfftnd.steps"; then
    diff "$folder/own.steps" "$folder/libfftnd.steps" >&2 || true
    echo "The steps differ: $folder" >&2
    exit 1
fi
echo "The same to the last digit on libfftnd. Seconds on $ranks ranks, of the loop and of its long-range part (Kspace):"
for run in own libfftnd; do
    # shellcheck disable=SC2046 # two numbers
    printf '  %-9s %8.3f %8.3f\n' $run $(times_of $run)
done
