/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 with MPI. */
#include "calls.h"

int redist__hdf5_is_parallel(void) {
    return 1;
}

int redist__hdf5_set_parallel(MPI_Comm comm, hid_t access, hid_t collective) {
    HDF5_TRY(H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL));
    HDF5_TRY(H5Pset_coll_metadata_write(access, 1));
    return H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
}
