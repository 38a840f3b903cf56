/* SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI library of C says that it is; version.f90 does the same with that of Fortran. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    puts(version);
    return 0;
}
