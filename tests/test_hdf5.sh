#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What programs that are not of this project find in the files of 11_series: h5py, readers of NetCDF and of XDMF.
#     test_hdf5.sh SOURCE_ROOT PROGRAM RUN_RANKS_ARGUMENT...
# Exit code 77 without h5py.
set -eu
source_root=$1
program=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Debian's packages are for its own Python
python=
for python3 in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! $python3 -c 'import h5py' 2>/dev/null || python=$python3
done
[ -n "$python" ] || { echo "no h5py here"; exit 77; }
cd "$folder"
"$@" 3 "$program" series
$python "$source_root/tests/test_hdf5.py" .
if command -v ncdump >/dev/null; then
    ncdump -h series.h5 >header.txt
    for line in 'time = UNLIMITED ; // (5 currently)' 'z = 16 ;' 'double wave(time, x, y, z) ;'; do
        grep -qF "$line" header.txt || { echo "ncdump does not say: $line"; cat header.txt; exit 1; }
    done
fi
