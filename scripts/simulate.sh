#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the unchanged library on hundreds of simulated ranks (SimGrid's SMPI): the time of one exchange
# by each method against the number of ranks and the bytes for each peer, on a fat tree and on a
# dragonfly; every result is checked. `./dev simulate` installs, then calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/build.sh

usage() {
    cat <<'END'
usage: ./dev simulate [--quick] [--out FOLDER]
  --quick        64 ranks and one size on the fat tree; leaves docs/images alone
  --out FOLDER   where results, table and plot data go (out/simulate)
END
}

quick=no
out=out/simulate
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=yes ;;
    --out)
        out=${2:?--out needs a value}
        shift
        ;;
    --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done

build=build-simulate
methods=alltoallw,p2p-type,p2p,alltoallv,kway:2,kway:4,kway:8,kway:16,kway:32

# A message costs its sender and its receiver half a microsecond each, as in common MPI libraries;
# computing, packing among it, costs nothing.
settings=(--cfg=smpi/os:0:5e-7:0 --cfg=smpi/ois:0:5e-7:0 --cfg=smpi/or:0:5e-7:0
    --cfg=smpi/simulate-computation:no --cfg=smpi/display-timing:no --cfg=network/crosstraffic:no
    --log=root.thresh:error)

simulate() { # platform, ranks, program and arguments
    local platform=$1 ranks=$2
    shift 2
    smpirun -np "$ranks" -platform "bench/platforms/$platform.xml" -hostfile "$out/hosts.txt" \
        "${settings[@]}" "$@"
}

# The array has as many rows and columns as there are ranks, so that each part is one row of `elements`.
exchange() { # platform, ranks, elements for each peer
    local begin=$SECONDS
    simulate "$1" "$2" "$build/bench/redist-bench" --shape "$2,$2,$3" --type c128 --memory malloc \
        --method "$methods" --iters 1 --warmup 1 --json |
        sed "s/^{/{\"platform\": \"$1\", /" >>"$out/exchanges.json"
    echo "$1, $2 ranks, $((16 * $3)) bytes for each peer ($((SECONDS - begin)) s)"
}

build_folder "$build" --cross-file scripts/simgrid.ini --buildtype=release -Dmpi=compiler \
    -Ddefault_library=static -Dcuda=disabled -Dhwloc=disabled -Dtests=false -Dexamples=false
mkdir -p "$out"
seq -f 'node-%g' 0 511 >"$out/hosts.txt"
: >"$out/exchanges.json"
if [ "$quick" = yes ]; then
    exchange fat-tree 64 16
else
    for platform in fat-tree dragonfly; do
        for ranks in 64 128 256; do
            for elements in 1 16 256; do
                exchange "$platform" "$ranks" "$elements"
            done
        done
        exchange "$platform" 64 4096
        exchange "$platform" 512 1
        exchange "$platform" 512 16
    done
fi
for ranks in 64 128 256 512; do
    [ "$quick" = yes ] && [ "$ranks" != 64 ] && continue
    simulate fat-tree "$ranks" "$build/bench/plan-memory"
done | awk 'NR == 1 || !/^method/' >"$out/memory.txt"
python3 scripts/simulate_report.py "$out"
[ "$quick" = yes ] || gnuplot -e "data='$out'; images='docs/images'" scripts/plot-simulate.gp
echo "Results: $out/times.txt, $out/memory.txt"
