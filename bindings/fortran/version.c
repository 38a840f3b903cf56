/* SPDX-License-Identifier: BSD-3-Clause */
/* Version of the MPI library of C; version.f90 has that of Fortran. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    puts(version);
    return 0;
}
