#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program on several ranks of this machine, under Open MPI or MPICH, as root too, and with
# more ranks than cores:
#     run_ranks.sh openmpi|mpich LAUNCHER YIELD_LIBRARY RANKS PROGRAM [ARGUMENT...]
# REDIST_TEST_WRAPPER (such as "valgrind -q") is put before the program.
# REDIST_TEST_LIMIT: seconds that a test program gives itself (240); the launcher is ended 20 later.
set -eu
kind=$1
launcher=$2
yield_library=$3
ranks=$4
shift 4
export REDIST_TEST_LIMIT="${REDIST_TEST_LIMIT:-240}"
limit=$((REDIST_TEST_LIMIT + 20))

if [ "$kind" = openmpi ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Only the transport within a machine: looking for others doubles the time to start.
    # shellcheck disable=SC2086
    exec timeout --kill-after=10 "$limit" "$launcher" --oversubscribe --bind-to none \
        --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl vader,self -n "$ranks" ${REDIST_TEST_WRAPPER:-} "$@"
fi
# MPICH waits without giving its core away, which takes milliseconds for each message when ranks
# share a core; the library makes it yield. Without UCX's transport over TCP: MPI_Finalize of MPICH 4.0 closes
# its connections, for which a peer has to make progress that may be past that already. Where processes cannot
# read each other's memory (qemu), large messages use it.
export UCX_TLS="${UCX_TLS:-sm,self}"
# shellcheck disable=SC2086
exec timeout --kill-after=10 "$limit" "$launcher" -bind-to none -genv LD_PRELOAD "$yield_library" \
    -n "$ranks" ${REDIST_TEST_WRAPPER:-} "$@"
