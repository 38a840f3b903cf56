#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What programs that are not of this project find in the files of 11_series: h5py, readers of NetCDF and of XDMF; and h5py
# in those of 5_taylor_green, whose planes are also in a raw file.
#     test_hdf5.sh SOURCE_ROOT 11_SERIES 5_TAYLOR_GREEN RUN_RANKS_ARGUMENT...
# Exit code 77 without h5py.
set -eu
source_root=$1
program=$2
taylor_green=$3
shift 3
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
"$@" 3 "$taylor_green" --size 16 --time 2 --progress lines --output . --volume flow >log.txt 2>&1 || {
    cat log.txt
    exit 1
}
$python -c '
import h5py, numpy
planes = numpy.fromfile("vorticity.raw").reshape(3, 3, 16, 16)
with h5py.File("flow.h5") as file:
    for component, name in enumerate(("vorticity_x", "vorticity_y", "vorticity_z")):
        assert file[name].shape == (3, 16, 16, 16) and (file[name][:, 2] == planes[:, component]).all(), name
    assert list(file["time"]) == [0.5, 1, 2]'
