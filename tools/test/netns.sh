#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two nodes on one machine: network namespaces joined by a pair of virtual Ethernet devices, between
# which Open MPI talks TCP. Tests the methods over them and prints what one exchange takes, beside what the
# communication model says:
#     tools/test/netns.sh BUILD_FOLDER
# Exit code 77 if this machine does not let it (it takes root and the right to make namespaces).
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/shell/environment.sh
build=$1
names=("redist-a-$$" "redist-b-$$")
addresses=(10.213.7.1 10.213.7.2)
folder=$(mktemp -d)

remove() {
    local name
    for name in "${names[@]}"; do
        ip netns delete "$name" 2>/dev/null || true
    done
    rm -rf "$folder"
}

may_not() {
    echo "skipped: $1"
    exit 77
}

make_nodes() {
    local i
    for i in 0 1; do
        ip netns add "${names[i]}" || may_not "no network namespaces here"
    done
    ip -n "${names[0]}" link add redist0 type veth peer name redist0 netns "${names[1]}" ||
        may_not "no virtual Ethernet devices here"
    for i in 0 1; do
        ip -n "${names[i]}" address add "${addresses[i]}/24" dev redist0
        ip -n "${names[i]}" link set lo up
        ip -n "${names[i]}" link set redist0 up
    done
}

# What mpirun calls in place of ssh: the command goes to the other namespace, under another host name.
make_agent() {
    cat >"$folder/agent" <<END
#!/bin/sh
shift
exec ip netns exec ${names[1]} unshare --uts sh -c 'hostname redist-b; exec sh -c "\$0"' "\$*"
END
    chmod +x "$folder/agent"
}

# Two ranks on each node.
run_on_nodes() { # program and arguments
    ip netns exec "${names[0]}" unshare --uts sh -c 'hostname redist-a; exec "$@"' sh \
        timeout --kill-after=5 60 "$(launcher openmpi)" --oversubscribe --bind-to none -n 4 \
        --host "${addresses[0]}:2,${addresses[1]}:2" --mca plm_rsh_agent "$folder/agent" \
        --mca oob_tcp_if_include redist0 --mca btl_tcp_if_include redist0 \
        --mca pml ob1 --mca btl tcp,vader,self --mca mpi_yield_when_idle 1 -x REDIST_TEST_SECONDS "$@"
}

command -v ip >/dev/null || may_not "no iproute2 here"
[ "$(id -u)" -eq 0 ] || may_not "not root"
trap remove EXIT
make_nodes
make_agent
export REDIST_TEST_SECONDS=0.3
run_on_nodes "$build/tests/test_redist_nodes" 2
run_on_nodes "$build/bench/redist-bench" --shape 128,64,64 --iters 5 --warmup 1 \
    --model --method p2p,alltoallv,alltoallw,kway:2,hier
