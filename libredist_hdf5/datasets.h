/* SPDX-License-Identifier: BSD-3-Clause */
/* Datasets: found or made for the fields of a call, on the ranks that act. */
#ifndef REDIST__HDF5_DATASETS_H
#define REDIST__HDF5_DATASETS_H

#include "fields.h"

/* The dataset of a field, and HDF5's type of its elements in memory; closed by redist__hdf5_drop. */
struct redist__hdf5_dataset {
    hid_t id, type;
    hsize_t step; /* the first index, of one with steps */
    int has_steps;
    int is_filtered; /* such as by compression */
};

/* A field of a call, for redist__hdf5_act. */
struct redist__hdf5_target {
    const struct redist__hdf5_call *call;
    const struct redist__hdf5_part *part;
    struct redist__hdf5_dataset *dataset; /* out; zero where the rank does not act */
};

/* Work on a target: opens its dataset and compares it with the field, or makes it, with its dimension scales. */
redist__hdf5_work redist__hdf5_find_dataset;

/* Parts of this work (scales.c): dimension scales for a new dataset, and the time of a step. */
int redist__hdf5_attach_scales(const struct redist__hdf5_target *target);
int redist__hdf5_set_time(const struct redist__hdf5_target *target);

/* Returns whether an axis of a dataset has no end: the axis of steps. */
int redist__hdf5_has_steps(int rank, const hsize_t most[]);

#endif
