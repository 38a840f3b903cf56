/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI library that tells at run time whether it takes addresses of a device. */
#include "space.h"

#include <mpi-ext.h>

int redist__mpi_takes_cuda(void) {
    return MPIX_Query_cuda_support();
}
