/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dimension scales: the names of axes and the coordinates along them, which are dimensions and variables for readers of
 * NetCDF-4; and the times of steps, the scale of their axis.
 */
#include "datasets.h"

#include <math.h>
#include <stdio.h>

#include <hdf5_hl.h>

enum { NAME_BYTES = 96 };

/* NetCDF's library takes a scale of this name for a dimension without coordinates. */
#define NO_COORDINATES "This is a netCDF dimension but not a netCDF variable.%10lld"

/* ---------------------------------------------------------------- a scale */

static hid_t make_dataset(struct redist_hdf5 *file, const char *name, hid_t type, hid_t space,
                          hid_t properties) {
    HDF5_TRY(H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    return H5Dcreate2(file->id, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
}

/* Writes consecutive numbers to a list. */
static int write_some(const struct redist_hdf5 *file, hid_t list, hsize_t first, hsize_t count,
                      const double values[]) {
    hid_t space = H5Dget_space(list), memory = H5Screate_simple(1, &count, NULL);
    int code = H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL);
    if (code >= 0)
        code = H5Dwrite(list, H5T_NATIVE_DOUBLE, memory, space, file->transfer, values);
    redist__hdf5_drop(memory);
    redist__hdf5_drop(space);
    return code;
}

/* Writes them on rank 0 some at a time: without memory for all of them it would leave the others in calls of HDF5. */
static int write_coordinates(const struct redist__hdf5_call *call, hid_t scale, int axis,
                             redist_index n) {
    enum { SOME = 512 };
    double values[SOME];
    int code = REDIST_OK;
    for (redist_index i = 0; i < n && code >= 0 && call->file->rank == 0; i += SOME) {
        int count = n - i < SOME ? (int)(n - i) : SOME;
        for (int k = 0; k < count; k++)
            values[k] = call->options.origin[axis] + (double)(i + k) * call->options.spacing[axis];
        code = write_some(call->file, scale, (hsize_t)i, (hsize_t)count, values);
    }
    return code;
}

/* Makes the scale of an axis of `n` elements, with coordinates if there is a spacing. */
static int make_scale(const struct redist__hdf5_call *call, const char *name, int axis,
                      redist_index n, hid_t *scale) {
    struct redist_hdf5 *file = call->file;
    char label[NAME_BYTES];
    const hsize_t extent = (hsize_t)n;
    const double spacing = call->options.spacing[axis];
    int is_variable = spacing > 0 || spacing < 0;
    hid_t space = H5Screate_simple(1, &extent, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
    *scale = make_dataset(file, name, is_variable ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, space,
                          properties);
    redist__hdf5_drop(properties);
    redist__hdf5_drop(space);
    HDF5_TRY(*scale);
    snprintf(label, sizeof label, NO_COORDINATES, (long long)n);
    HDF5_TRY(H5DSset_scale(*scale, is_variable ? name : label));
    return is_variable && n > 0 ? write_coordinates(call, *scale, axis, n) : REDIST_OK;
}

/* Opens a scale; *fits: whether it has `n` elements. */
static int open_scale(struct redist_hdf5 *file, const char *name, redist_index n, hid_t *scale,
                      int *fits) {
    hsize_t extent = 0;
    *scale = H5Dopen2(file->id, name, H5P_DEFAULT);
    HDF5_TRY(*scale);
    hid_t space = H5Dget_space(*scale);
    *fits = H5DSis_scale(*scale) > 0 && H5Sget_simple_extent_ndims(space) == 1 &&
            H5Sget_simple_extent_dims(space, &extent, NULL) == 1 && extent == (hsize_t)n;
    redist__hdf5_drop(space);
    return REDIST_OK;
}

/* Finds or makes the scale of axis `i`: with its name, or with its name and extent. */
static int find_scale(struct redist_hdf5 *file, const struct redist__hdf5_target *target, int i,
                      hid_t *scale) {
    const redist_hdf5_options *options = &target->call->options;
    redist_index n = target->part->at.sizes[i];
    char names[2][NAME_BYTES];
    if (options->axes[i] != NULL)
        snprintf(names[0], NAME_BYTES, "%s", options->axes[i]);
    else
        snprintf(names[0], NAME_BYTES, "axis%d", i);
    snprintf(names[1], NAME_BYTES, "%.60s_%lld", names[0], (long long)n);
    for (int k = 0; k < 2; k++) {
        int fits = 0;
        if (H5Lexists(file->id, names[k], H5P_DEFAULT) <= 0)
            return make_scale(target->call, names[k], i, n, scale);
        REDIST_TRY(open_scale(file, names[k], n, scale, &fits));
        if (fits)
            return REDIST_OK;
        redist__hdf5_drop(*scale);
    }
    return redist_fail_in(target->call->function, REDIST_ERR_FILE,
                          "'%s' is no dimension of axis %d of '%s': choose another options->axes",
                          names[1], i, target->part->at.name);
}

/* ---------------------------------------------------------------- times */

static int make_times(struct redist_hdf5 *file, hid_t *times) {
    const hsize_t none = 0, most = H5S_UNLIMITED, chunk = 512;
    const double unknown = NAN;
    hid_t space = H5Screate_simple(1, &none, &most), properties = H5Pcreate(H5P_DATASET_CREATE);
    int code = H5Pset_chunk(properties, 1, &chunk);
    if (code >= 0)
        code = H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &unknown);
    *times = code < 0 ? -1 : make_dataset(file, "time", H5T_NATIVE_DOUBLE, space, properties);
    redist__hdf5_drop(properties);
    redist__hdf5_drop(space);
    HDF5_TRY(*times);
    return H5DSset_scale(*times, "time");
}

static int open_times(struct redist_hdf5 *file, hid_t *times) {
    if (H5Lexists(file->id, "time", H5P_DEFAULT) <= 0)
        return make_times(file, times);
    *times = H5Dopen2(file->id, "time", H5P_DEFAULT);
    return *times < 0 ? -1 : REDIST_OK;
}

static int write_time(const struct redist__hdf5_target *target, hid_t times) {
    const struct redist_hdf5 *file = target->call->file;
    const hsize_t step = target->dataset->step;
    hsize_t extent = 0;
    const hsize_t needed = step + 1;
    hid_t space = H5Dget_space(times);
    int rank = H5Sget_simple_extent_ndims(space);
    if (rank == 1)
        H5Sget_simple_extent_dims(space, &extent, NULL);
    redist__hdf5_drop(space);
    if (rank != 1)
        return redist_fail_in(target->call->function, REDIST_ERR_FILE,
                              "dataset 'time' of '%s' is no list of times", file->path);
    if (extent < needed)
        HDF5_TRY(H5Dset_extent(times, &needed));
    return write_some(file, times, step, 1, &target->call->options.time);
}

int redist__hdf5_set_time(const struct redist__hdf5_target *target) {
    hid_t times = -1;
    int code = open_times(target->call->file, &times);
    if (code == REDIST_OK)
        code = write_time(target, times);
    redist__hdf5_drop(times);
    return code;
}

/* ---------------------------------------------------------------- the scales of a dataset */

int redist__hdf5_attach_scales(const struct redist__hdf5_target *target) {
    struct redist_hdf5 *file = target->call->file;
    int steps = target->dataset->has_steps, code = REDIST_OK;
    for (int i = -steps; i < target->part->at.ndims && code == REDIST_OK; i++) {
        hid_t scale = -1;
        code = i < 0 ? open_times(file, &scale) : find_scale(file, target, i, &scale);
        if (code == REDIST_OK)
            code = H5DSattach_scale(target->dataset->id, scale, (unsigned)(i + steps));
        redist__hdf5_drop(scale);
    }
    return code;
}
