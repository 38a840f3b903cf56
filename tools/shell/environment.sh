# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# How this project's scripts start MPI programs, in one place. Sourced, not run.

# Open MPI refuses to run as root unless two variables allow it.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# All ranks are on this machine: no attempt to reach it through its network.
export OMPI_MCA_btl=self,vader
cores=$(nproc)

# The launcher of one MPI: Debian's own name, since plain mpirun may belong to the other MPI.
launcher() { # openmpi|mpich
    local name
    if [ "$1" = mpich ]; then name=mpiexec.mpich; else name=mpirun.openmpi; fi
    command -v "$name" || command -v mpirun
}

# Which MPI a program was built with.
mpi_of() { # program
    if ldd "$1" | grep -q libmpich; then echo mpich; else echo openmpi; fi
}

# Runs a program on some ranks of this machine; with more ranks than cores they yield.
run_ranks() { # openmpi|mpich, number of ranks, program and arguments
    local start ranks=$2
    start=$(launcher "$1")
    if [ "$1" = mpich ]; then
        shift 2
        "$start" -n "$ranks" "$@"
    else
        shift 2
        OMPI_MCA_mpi_yield_when_idle=$((ranks > cores)) \
            "$start" --oversubscribe --bind-to none -n "$ranks" "$@"
    fi
}
