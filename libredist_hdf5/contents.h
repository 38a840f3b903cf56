/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of a file. */
#ifndef REDIST__HDF5_CONTENTS_H
#define REDIST__HDF5_CONTENTS_H

#include "calls.h"
#include "types.h"

struct redist__hdf5_entry {
    redist_hdf5_dataset dataset; /* its `number` is not set */
    struct redist__hdf5_type type;
    double spacing[REDIST_MAX_NDIMS], origin[REDIST_MAX_NDIMS];
};

/* The datasets in the order of names; the caller frees the entries with redist_release. */
struct redist__hdf5_contents {
    const char *function;
    int count, room;
    struct redist__hdf5_entry *entries;
};

/* Lists the datasets of a file, for redist__hdf5_act: `data` is the contents. */
redist__hdf5_work redist__hdf5_list;

/* The times of steps, on a rank that acts: `most` of them, NAN where the file has none. */
void redist__hdf5_read_times(struct redist_hdf5 *file, redist_index most, double times[]);

#endif
