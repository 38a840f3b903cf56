/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements: numbers of MPI and of HDF5. */
#ifndef REDIST__HDF5_TYPES_H
#define REDIST__HDF5_TYPES_H

#include "redist_support.h"

#include <hdf5.h>

/* A number, and how many of them an element has. */
struct redist__hdf5_type {
    char kind;    /* i, u: integers with sign and without; f: real; c: complex; 0 = another one */
    size_t bytes; /* of a number */
    int items;
};

/* Finds what a committed MPI type consists of. REDIST_ERR_DATATYPE without a message, REDIST_ERR_MPI. */
int redist__hdf5_type_of(MPI_Datatype datatype, struct redist__hdf5_type *type);

/* Returns the first of MPI's types of a number; MPI_DATATYPE_NULL without any. */
MPI_Datatype redist__hdf5_number(const struct redist__hdf5_type *type);

/* Makes HDF5's type in the memory of this machine, closed by the caller; negative after a failure. */
hid_t redist__hdf5_type_make(const struct redist__hdf5_type *type);

/* Finds what a type of HDF5 is; kind 0 if there is no MPI type like it. */
struct redist__hdf5_type redist__hdf5_type_read(hid_t type);

#endif
