/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of a user of HDF5 files: that one is missing is an error with a reason. */
#include <redist_hdf5.h>
#include <string.h>

int main(int argc, char **argv) {
    redist_hdf5 *file;
    MPI_Init(&argc, &argv);
    int code = redist_hdf5_open(MPI_COMM_WORLD, "/none/such.h5", REDIST_HDF5_READ, NULL, &file);
    int wrong = code != REDIST_ERR_FILE || strstr(redist_error_message(), "such.h5") == NULL;
    MPI_Finalize();
    return wrong;
}
