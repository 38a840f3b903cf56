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
  --out FOLDER   where results, table and plot data go (out/simulate); what is there already is not
                 run again
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

# A run whose file is there is not repeated.
bench() { # name, platform, ranks of a node, ranks, options of redist-bench
    local name=$1 platform=$2 node=$3 ranks=$4 begin=$SECONDS
    shift 4
    [ -f "$out/$name.json" ] && return
    simulate "$platform" "$node" "$ranks" "$build/bench/redist-bench" --type c128 --iters 1 \
        --warmup 0 --json "$@" >"$out/$name.part"
    sed "s/^{/{\"platform\": \"$platform\", /" "$out/$name.part" >"$out/$name.json"
    rm "$out/$name.part"
    echo "$name ($((SECONDS - begin)) s)"
}

# The array has as many rows and columns as there are ranks, so that each part is one row of `elements`.
exchange() { # platform, ranks, elements for each peer, methods
    bench "exchange-$1-$2-ranks-$((16 * $3))-bytes" "$1" 1 "$2" --shape "$2,$2,$3" \
        --memory malloc --method "$4"
}

# Parts that differ from rank to rank: redist-bench fails if an element is wrong.
check() { # ranks of a node, ranks, methods
    bench "check-$2-ranks-$1-each-node" fat-tree "$1" "$2" \
        --shape "$(($2 + 1)),$(($2 * 2 - 3)),5" --method "$3"
}

study() { # platform
    local elements
    for elements in 1 16 256; do
        exchange "$1" 64 "$elements" "$others,$kways"
    done
    exchange "$1" 128 1 "p2p,alltoallv,$kways"
    exchange "$1" 128 16 "p2p,alltoallv,$kways"
    exchange "$1" 256 1 "p2p,alltoallv,$kways"
    exchange "$1" 512 1 "p2p,$kways"
}

build_folder "$build" --cross-file scripts/simgrid.ini --buildtype=release -Dmpi=compiler \
    -Ddefault_library=static -Dcuda=disabled -Dhwloc=disabled -Dtests=false -Dexamples=false
mkdir -p "$out"
kways=kway:2,kway:4,kway:8,kway:16,kway:32
others=alltoallw,p2p-type,p2p,alltoallv
check 8 64 "$others,p2p-streams,kway,hier:ranks,hier:nodes,auto"
if [ "$quick" = yes ]; then
    exchange fat-tree 64 1 "$others,$kways"
else
    check 64 64 direct,hier
    check 1 100 "$others,p2p-streams,kway:3,kway:7,hier:ranks,hier:nodes"
    study fat-tree
    exchange fat-tree 64 4096 "$others,$kways"
    exchange fat-tree 128 256 "p2p,alltoallv,$kways"
    exchange fat-tree 256 16 "p2p,alltoallv,$kways"
    study dragonfly
fi
for ranks in 64 128 256 512; do
    if [ "$quick" = no ] || [ "$ranks" = 64 ]; then
        simulate fat-tree 8 "$ranks" "$build/bench/plan-memory"
    fi
done | awk 'NR == 1 || !/^method/' >"$out/memory.txt"
python3 scripts/simulate_report.py "$out"
[ "$quick" = yes ] || gnuplot -e "data='$out'; images='docs/images'" scripts/plot-simulate.gp
echo "Results: $out/times.txt, $out/memory.txt"
