/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 without MPI. */
#include "calls.h"

int redist__hdf5_is_parallel(void) {
    return 0;
}

int redist__hdf5_set_parallel(MPI_Comm comm, hid_t access, hid_t collective) {
    (void)comm, (void)access, (void)collective;
    return -1;
}
