/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a call, checked and agreed on, and this rank's part of each in the dataset and in memory. */
#ifndef REDIST__HDF5_FIELDS_H
#define REDIST__HDF5_FIELDS_H

#include "calls.h"
#include "types.h"

struct redist__hdf5_part {
    redist_field_part at; /* the sizes are those of the dataset, without steps */
    struct redist__hdf5_type type;
    size_t item; /* bytes of an element */
};

/* The arguments of a call. */
struct redist__hdf5_call {
    const char *function;
    struct redist_hdf5 *file;
    int writes;
    int nfields;
    const redist_field *fields;
    redist_hdf5_options options;
    struct redist__hdf5_part *parts; /* freed by the caller with redist_release */
};

/* Checks and agrees on the arguments, and makes the parts; `user`: the options, or NULL. Collective. */
int redist__hdf5_prepare(struct redist__hdf5_call *call, const redist_hdf5_options *user);

/* Returns whether a box has elements; and the number of these. */
int redist__hdf5_has(int ndims, const redist_index count[]);
redist_index redist__hdf5_volume(int ndims, const redist_index count[]);

#endif
