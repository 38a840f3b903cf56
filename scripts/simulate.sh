#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the unchanged library on hundreds of simulated ranks (SimGrid's SMPI): the time of one exchange
# by each method against the number of ranks and the bytes for each peer, on a fat tree and on a
# dragonfly; every result is checked. `./dev simulate` installs, then calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/build.sh
PATH=$PWD/scripts:$PATH # for the compiler that simgrid.ini names

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

build="build-simulate"

# A message costs its sender and its receiver half a microsecond each, as in common MPI libraries, a
# question to MPI a tenth; computing, packing among it, costs nothing. Collective operations use
# Open MPI's algorithms, MPI_Alltoallv the one that sends all at once.
settings=(--cfg=smpi/os:0:5e-7:0 --cfg=smpi/ois:0:5e-7:0 --cfg=smpi/or:0:5e-7:0
    --cfg=smpi/test:1e-7 --cfg=smpi/iprobe:1e-7 --cfg=smpi/simulate-computation:no
    --cfg=smpi/coll-selector:ompi --cfg=smpi/alltoallv:ompi_basic_linear
    --cfg=network/crosstraffic:no --log=root.thresh:error)

simulate() { # platform, ranks of a node, ranks, program and arguments
    local platform=$1 node=$2 ranks=$3
    shift 3
    seq 0 511 | awk -v n="$node" '{ for (i = 0; i < n; i++) print "node-" $1 }' >"$out/hosts.txt"
    smpirun -np "$ranks" -platform "bench/platforms/$platform.xml" -hostfile "$out/hosts.txt" \
        "${settings[@]}" "$@"
}

# The array has as many rows and columns as there are ranks, so that each part is one row of `elements`.
exchange() { # platform, ranks, elements for each peer, methods
    local begin=$SECONDS
    simulate "$1" 1 "$2" "$build/bench/redist-bench" --shape "$2,$2,$3" --type c128 \
        --memory malloc --method "$4" --iters 1 --warmup 0 --json |
        sed "s/^{/{\"platform\": \"$1\", /" >>"$out/exchanges.json"
    echo "$1, $2 ranks, $((16 * $3)) bytes for each peer ($((SECONDS - begin)) s)"
}

# Parts that differ from rank to rank: redist-bench fails if an element is wrong.
check() { # ranks of a node, ranks, methods
    local begin=$SECONDS
    simulate fat-tree "$1" "$2" "$build/bench/redist-bench" --shape "$(($2 + 1)),$(($2 * 2 - 3)),5" \
        --method "$3" --iters 1 --warmup 0 --json |
        sed "s/^{/{\"platform\": \"fat-tree\", \"node\": $1, /" >>"$out/checks.json"
    echo "checked $3 on $2 ranks, $1 of them on each node ($((SECONDS - begin)) s)"
}

build_folder "$build" --cross-file scripts/simgrid.ini --buildtype=release -Dmpi=compiler \
    -Ddefault_library=static -Dcuda=disabled -Dhwloc=disabled -Dtests=false -Dexamples=false
mkdir -p "$out"
: >"$out/exchanges.json"
: >"$out/checks.json"
kways=kway:2,kway:4,kway:8,kway:16,kway:32
others=alltoallw,p2p-type,p2p,alltoallv
check 8 64 "$others,p2p-streams,kway,hier:ranks,hier:nodes,auto"
if [ "$quick" = yes ]; then
    exchange fat-tree 64 1 "$others,$kways"
else
    check 64 64 direct,hier
    check 1 100 "$others,p2p-streams,kway:3,kway:7,hier:ranks,hier:nodes"
    for platform in fat-tree dragonfly; do
        for ranks in 64 128; do
            for elements in 1 16 256 4096; do
                exchange "$platform" "$ranks" "$elements" "$others,$kways"
            done
        done
        for elements in 1 16 256; do
            exchange "$platform" 256 "$elements" "p2p,alltoallv,$kways"
        done
        exchange "$platform" 512 1 "p2p,alltoallv,$kways"
        exchange "$platform" 512 16 "p2p,alltoallv,$kways"
    done
fi
for ranks in 64 128 256 512; do
    if [ "$quick" = no ] || [ "$ranks" = 64 ]; then
        simulate fat-tree 8 "$ranks" "$build/bench/plan-memory"
    fi
done | awk 'NR == 1 || !/^method/' >"$out/memory.txt"
python3 scripts/simulate_report.py "$out"
[ "$quick" = yes ] || gnuplot -e "data='$out'; images='docs/images'" scripts/plot-simulate.gp
echo "Results: $out/times.txt, $out/memory.txt"
