/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the Fortran module redist_hdf5 for those of redist_hdf5.h. The arguments are those of C unless noted
 * otherwise. */
#include "fields.h"
#include "redist_hdf5.h"

#include <string.h>

int redist__f_hdf5_open(MPI_Fint comm, const char *path, int mode,
                        const redist_hdf5_file_options *options, redist_hdf5 **file) {
    return redist_hdf5_open(MPI_Comm_f2c(comm), path, (enum redist_hdf5_mode)mode, options, file);
}

int redist__f_hdf5_write(redist_hdf5 *file, int nfields, const struct redist__f_field fields[],
                         const redist_hdf5_options *options) {
    redist_field *all = redist__f_fields_take(&nfields, fields);
    return redist__f_fields_release(nfields, all, redist_hdf5_write(file, nfields, all, options));
}

int redist__f_hdf5_read(redist_hdf5 *file, int nfields, const struct redist__f_field fields[],
                        const redist_hdf5_options *options) {
    redist_field *all = redist__f_fields_take(&nfields, fields);
    return redist__f_fields_release(nfields, all, redist_hdf5_read(file, nfields, all, options));
}

/* Gives the members of the structure one by one. */
int redist__f_hdf5_info(redist_hdf5 *file, int index, char name[], int *ndims, int *items,
                        redist_index sizes[], redist_index *steps, MPI_Fint *number) {
    redist_hdf5_dataset dataset = REDIST_HDF5_DATASET_DEFAULT;
    REDIST_TRY(redist_hdf5_info(file, index, &dataset));
    memcpy(name, dataset.name, sizeof dataset.name);
    *ndims = dataset.ndims;
    *items = dataset.items;
    memcpy(sizes, dataset.sizes, sizeof dataset.sizes);
    *steps = dataset.steps;
    *number = MPI_Type_c2f(dataset.number);
    return REDIST_OK;
}
