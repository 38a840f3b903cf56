/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI library that does not tell whether it takes addresses of a device. */
#include "space.h"

int redist__mpi_takes_cuda(void) {
    return 0;
}
