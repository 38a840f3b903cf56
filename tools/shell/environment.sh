# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# How this project's scripts start MPI programs, in one place. Sourced, not run.

# Open MPI refuses to run as root unless two variables allow it.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# All ranks are on this machine: no attempt to reach it through its network.
export OMPI_MCA_btl=self,vader
cores=$(nproc)

# The MPI library of a program: its file, or nothing.
mpi_library() { # program
    { ldd "$1" 2>/dev/null || true; } | sed -n 's,^.*libmpi[a-z_]*\.so[^ ]* => \(/[^ ]*\).*$,\1,p' | head -n 1
}

# Which MPI that is. Open MPI alone has a second library below it; the first one is called libmpi with others too.
mpi_of() { # program
    if ldd "$1" | grep -q libopen-pal; then echo openmpi; else echo mpich; fi
}

# The launcher of one MPI: the one beside the library of a program, if it has a folder of its own. Else Debian's own
# name, since plain mpirun may belong to the other MPI.
launcher() { # openmpi|mpich, a program or nothing
    local name library
    if [ "$1" = mpich ]; then name=mpiexec.mpich; else name=mpirun.openmpi; fi
    library=$(mpi_library "${2:-}")
    [ -n "$library" ] && command -v "${library%/*}/../bin/mpiexec" && return
    command -v "$name" || command -v mpirun
}

# Runs a program on some ranks of this machine; with more ranks than cores they yield.
run_ranks() { # openmpi|mpich, number of ranks, program and arguments
    local start ranks=$2
    start=$(launcher "$1" "$3")
    if [ "$1" = mpich ]; then
        shift 2
        "$start" -n "$ranks" "$@"
    else
        shift 2
        OMPI_MCA_mpi_yield_when_idle=$((ranks > cores)) \
            "$start" --oversubscribe --bind-to none -n "$ranks" "$@"
    fi
}
