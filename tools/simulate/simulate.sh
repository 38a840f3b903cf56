#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev simulate [--quick] [--out FOLDER] [--jobs N]
# Runs the unchanged library on hundreds of simulated ranks (SimGrid's SMPI): the time of one exchange
# by each method against the number of ranks and the bytes for each peer, on a fat tree and on a
# dragonfly, and of transforms; every result is checked.
#   --quick        16 to 64 ranks and one size on the fat tree, under a minute; leaves docs/images alone
#   --out FOLDER   where results, tables and plot data go (out/simulate); what is there already is not
#                  run again, so that it can be stopped and started again
#   --jobs N       simulations at once (one for each core); one of 512 ranks takes up to 2 GB of memory
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/shell/build.sh
PATH=$PWD/tools/simulate:$PATH # for the compiler that simgrid.ini names

quick=no
out=out/simulate
most_jobs=$(nproc)
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=yes ;;
    --out)
        out=${2:?--out needs a value}
        shift
        ;;
    --jobs)
        most_jobs=${2:?--jobs needs a value}
        shift
        ;;
    *)
        echo "./dev simulate: unknown option $1 (--help lists them)" >&2
        exit 2
        ;;
    esac
    shift
done

build="build-simulate"

# A message costs its sender and its receiver half a microsecond each, as in common MPI libraries, a
# test or probe a tenth; computing, packing among it, costs nothing.
# Collective operations use Open MPI's algorithms, MPI_Alltoallv the one that sends all at once.
settings=(--cfg=smpi/os:0:5e-7:0 --cfg=smpi/ois:0:5e-7:0 --cfg=smpi/or:0:5e-7:0
    --cfg=smpi/test:1e-7 --cfg=smpi/iprobe:1e-7 --cfg=smpi/grow-injected-times:no
    --cfg=smpi/simulate-computation:no --cfg=smpi/coll-selector:ompi
    --cfg=smpi/alltoallv:ompi_basic_linear --cfg=network/crosstraffic:no --log=root.thresh:error)

# ---------------------------------------------------------------- one simulation

# Writes FOLDER/NAME.ENDING when the program has ended well.
simulate() { # name and ending, platform, ranks of a node, ranks, program and arguments
    local name=$1 platform=$2 node=$3 ranks=$4 begin=$SECONDS part=$out/${1%.*}.part
    shift 4
    if ! smpirun -np "$ranks" -platform "tools/simulate/platforms/$platform.xml" \
        -hostfile "$out/hosts-$node.txt" "${settings[@]}" "$@" >"$part" 2>"$out/${name%.*}.log"; then
        echo "$name failed; the end of its log:" >&2
        tail -n 20 "$out/${name%.*}.log" >&2
        return 1
    fi
    sed "s/^{/{\"platform\": \"$platform\", \"ranks_per_node\": $node, /" "$part" >"$out/$name"
    rm "$part" "$out/${name%.*}.log"
    echo "${name%.*} ($((SECONDS - begin)) s)"
}

# Starts it beside others, unless its result is there. The first failure ends everything.
begin() { # as simulate
    local node=$3
    [ ! -f "$out/$1" ] || return 0
    [ -f "$out/hosts-$node.txt" ] || seq 0 511 |
        awk -v n="$node" '{ for (i = 0; i < n; i++) print "node-" $1 }' >"$out/hosts-$node.txt"
    while [ "$(jobs -rp | wc -l)" -ge "$most_jobs" ]; do
        wait -n
    done
    set -m # a process group of its own
    simulate "$@" &
    set +m
}

end_at_once() {
    local group
    for group in $(jobs -p); do
        kill -- "-$group" 2>/dev/null || true
    done
}

end_all() {
    while [ -n "$(jobs -p)" ]; do
        wait -n || return
    done
}

# ---------------------------------------------------------------- what is simulated

bench() { # name, platform, ranks of a node, ranks, options of redist-bench
    local name=$1 platform=$2 node=$3 ranks=$4
    shift 4
    begin "$name.json" "$platform" "$node" "$ranks" "$build/bench/redist-bench" --type c128 \
        --iters 1 --warmup 0 --json "$@"
}

# The array has as many rows and columns as there are ranks, so that each part is one row of `elements`.
# Each list of methods is a simulation.
exchange() { # platform, ranks of a node, ranks, elements for each peer, yes|no: checked, lists
    local platform=$1 node=$2 ranks=$3 elements=$4 more=() list
    [ "$5" = yes ] || more=(--unchecked)
    shift 5
    for list in "$@"; do
        bench "exchange-$platform-$node-each-node-$ranks-ranks-$((16 * elements))-bytes-${list//[:,]/-}" \
            "$platform" "$node" "$ranks" --shape "$ranks,$ranks,$elements" --memory malloc \
            --method "$list" "${more[@]}"
    done
}

# Parts that differ from rank to rank: redist-bench fails if an element is wrong.
check() { # ranks of a node, ranks, methods
    bench "check-$2-ranks-$1-each-node-${3//[:,]/-}" fat-tree "$1" "$2" \
        --shape "$(($2 + 1)),$(($2 * 2 - 3)),5" --method "$3"
}

# Complex numbers, computing at no cost; results are checked.
transform() { # platform, ranks, points along each axis, process grid, methods
    begin "transform-$1-$2-ranks-$3-on-$4-${5//[:,]/-}.json" "$1" 1 "$2" "$build/bench/fftnd-bench" --kind c2c --iters 1 \
        --warmup 1 --json --effort estimate --memory malloc --shape "$3,$3,$3" --grid "$4" --method "$5"
}

# Plans on eight ranks of each node, and what is for one node only.
memory() { # ranks
    begin "memory-$1.txt" fat-tree 8 "$1" "$build/bench/plan-memory" 65536
    begin "memory-$1-one-node.txt" fat-tree "$1" "$1" "$build/bench/plan-memory" 65536 direct
}

# One rank on each node. Large messages on many ranks take the simulator longest, most of all where all
# ranks send to the same one first, as in MPI's collective operations.
study() { # platform
    local ranks
    exchange "$1" 1 64 1 yes "$kways,$all"
    exchange "$1" 1 64 16 yes "$kways,$all"
    exchange "$1" 1 64 256 yes "$kways,$all"
    for ranks in 128 256 512; do
        exchange "$1" 1 $ranks 1 yes "$kways" "${each[@]}"
    done
    exchange "$1" 1 128 16 no "$kways" "${each[@]}"
    exchange "$1" 1 256 16 no "$kways"
}

# Eight ranks on each node; those of a node meet in shared memory in method hier.
study_nodes() {
    local ranks
    for ranks in 64 128 256 512; do
        exchange fat-tree 8 $ranks 1 yes kway:8 hier p2p
        [ $ranks -gt 256 ] || exchange fat-tree 8 $ranks 1 yes alltoallv
        exchange fat-tree 8 $ranks 16 no kway:8
        [ $ranks -gt 128 ] || exchange fat-tree 8 $ranks 16 no hier p2p
    done
}

build_targets=(bench/redist-bench bench/plan-memory bench/fftnd-bench)
build_folder "$build" --cross-file tools/simulate/simgrid.ini --buildtype=release -Dmpi=compiler \
    -Ddefault_library=static -Dcuda=disabled -Dhwloc=disabled -Djson=disabled -Dtests=false \
    -Dexamples=false
mkdir -p "$out"
trap end_at_once EXIT
trap 'exit 130' INT TERM
kways=kway:2,kway:4,kway:8,kway:16,kway:32
single=(p2p p2p-type p2p-streams)
each=("${single[@]}" alltoallv alltoallw)
all=$(IFS=,; echo "${each[*]}")
memory 64
if [ "$quick" = yes ]; then
    check 4 16 "$all,kway,hier,auto"
    exchange fat-tree 1 32 1 yes "$kways,$all"
    transform fat-tree 16 32 4x4 p2p,alltoallv
else
    study fat-tree
    study_nodes
    exchange fat-tree 1 64 4096 yes "$kways,$all"
    exchange fat-tree 1 128 256 no "$kways" "${each[@]}"
    exchange fat-tree 1 256 16 no "${each[@]}"
    exchange fat-tree 1 512 16 no "$kways" "${single[@]}"
    for list in "$all,hier" kway auto; do
        check 8 64 "$list"
    done
    check 1 100 "$all,kway:3,kway:7,hier"
    for ranks in 64 128 256 512; do
        check $ranks $ranks direct
        memory $ranks
    done
    check 64 64 hier
    study dragonfly
    for platform in fat-tree dragonfly; do
        transform $platform 64 256 64 p2p,alltoallv,kway
        transform $platform 64 256 8x8 p2p,alltoallv,kway
        transform $platform 512 256 16x32 p2p,alltoallv,kway
    done
fi
end_all
awk 'FNR > 1 || NR == 1' "$out"/memory-*.txt | sort -s -k2n,2 >"$out/memory.txt"
python3 tools/simulate/simulate_report.py "$out"
[ "$quick" = yes ] || quietly "$out/gnuplot.txt" gnuplot -e "data='$out'; images='docs/images'" tools/simulate/plot-simulate.gp
echo "Results: $out/times.md, $out/memory.txt"
