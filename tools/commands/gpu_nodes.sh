# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# ./dev gpu-bench --nodes: pairs of transforms by NCCL over three networks of one host, whose ranks are treated as several
# nodes, beside their messages alone and their parts alone. Sourced by gpu.sh, whose variables and functions it uses.

# What NCCL is allowed, from the fastest network to the slowest.
declare -A networks=([peers]='' [host]='NCCL_P2P_DISABLE=1' [sockets]='NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1')
nodes_json=out/gpu/nodes.json

# Adds the lines of a benchmark, each with what it is about. No wisdom: its keys do not have NCCL's variables.
measure_nodes() { # network, ranks of a node, transform, ranks, program and arguments
    local network=$1 node_size=$2 work=$3 n=$4 allowed
    read -ra allowed <<<"${networks[$network]}"
    run_on "$mpi" "$n" env -u REDIST_WISDOM REDIST_NODE_SIZE="$node_size" "${allowed[@]}" timeout 200 "${@:5}" \
        --space "$space" --json 2>>out/gpu/bench-errors.txt |
        sed -n "s/^{/{\"network\": \"$network\", \"node_size\": $node_size, \"work\": \"$work\", /p" >>"$nodes_json" || {
        echo "$network, nodes of $node_size: ${5##*/} failed at $work (out/gpu/bench-errors.txt)"
        code=1
    }
}

# One direction's messages: each rank sends to each other one as many bytes as in the transform, from and to contiguous
# memory.
measure_messages() { # network, transform, ranks, extent, kind, precision
    local n=$3 last=$4 type=c128
    [ "$5" = c2c ] || last=$(($4 / 2 + 1))
    [ "$6" = double ] || type=c64
    measure_nodes "$1" 1 "$2" "$n" "$build/bench/redist-bench" --shape "$n,$n,$(($4 * $4 * last / n / n))" --axes 1:0 \
        --type $type --method "$plain" --iters "$iters" --warmup 2 --unchecked
}

measure_transform() { # network, transform, ranks, extent, kind, precision, ranks of a node
    local check=() list=$method,$plain
    [ "$4" -le 256 ] || check=(--unchecked) # the host would take minutes
    [ "$7" -eq 1 ] || [ "$space" = host ] || list+=,hier:nccl # links inside nodes
    measure_nodes "$1" "$7" "$2" "$3" "$build/bench/fftnd-bench" --shape "$4,$4,$4" --kind "$5" --precision "$6" \
        --grid "$3" --method "$list" --overwrite --plan-seconds 1 --iters "$iters" --row-ms 3000 --warmup 2 \
        --skip-peers "${check[@]}"
}

measure_network() { # network, ranks
    local extent kind precision node_size work
    for extent in ${sizes//,/ }; do
        [ "$1" = peers ] || [ "$extent" -le 512 ] || continue
        for precision in ${precisions//,/ }; do
            for kind in ${kinds//,/ }; do
                work="$extent^3 $kind $precision"
                if [ -n "$seconds" ] && [ "$SECONDS" -ge "$seconds" ]; then
                    echo "$1: $work was left out after $seconds s"
                    continue
                fi
                measure_messages "$1" "$work" "$2" "$extent" "$kind" "$precision"
                for node_size in 1 2; do
                    [ "$node_size" -eq 1 ] || [ "$2" -ge 4 ] || continue
                    measure_transform "$1" "$work" "$2" "$extent" "$kind" "$precision" "$node_size"
                done
            done
        done
    done
}

# Names what cannot be measured with so few ranks.
find_ranks() {
    n=4
    [ "$space" = host ] || [ "$(count_devices)" -ge 4 ] || n=$(count_devices)
    n=${ranks:-$n}
    if [ "$n" -lt 2 ]; then
        echo "peers, host and sockets are skipped: fewer than two devices"
        return 1
    fi
    [ "$n" -ge 4 ] || echo "Nodes of 2 are skipped: $n ranks"
}

# With --host: the same over MPI, to try it where there is no device.
bench_nodes() {
    local n network mpi=usual method=nccl plain=nccl:plain iters=15 code=0
    kinds=${kinds:-c2c} sizes=${sizes:-256,512,1024}
    [ "$quick" = no ] || iters=5
    find_ranks || return 0
    mkdir -p out/gpu
    rm -f out/gpu/bench-errors.txt
    : >"$nodes_json"
    build_gpu
    [ -z "${OPENMPI_CUDA:-}" ] || mpi=aware
    if [ "$space" = host ]; then
        method=p2p plain=alltoallv
    elif ! has_nccl "$n"; then
        echo "peers, host and sockets are skipped: $(grep -m 1 '^redist-bench:' out/gpu/bench-nccl.txt)"
        return 0
    else
        bind_ranks "$n"
    fi
    for network in peers host sockets; do
        measure_network $network "$n"
    done
    [ ! -s out/gpu/bench-errors.txt ] || tail -n 3 out/gpu/bench-errors.txt >&2
    python3 tools/bench/nodes_report.py "$nodes_json" "$plain" || code=1
    return $code
}
