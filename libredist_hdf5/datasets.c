/* SPDX-License-Identifier: BSD-3-Clause */
/* Datasets: their extents, chunks and filters. */
#include "datasets.h"

#include <stdio.h>

#include <hdf5_hl.h>

enum { RANK = REDIST_MAX_NDIMS + 1, CHUNK_BYTES = 1 << 22, TEXT_BYTES = 400 };

#define FAIL(code, ...) redist_fail_in(target->call->function, code, __VA_ARGS__)

int redist__hdf5_has_steps(int rank, const hsize_t most[]) {
    return rank >= 2 && most[0] == H5S_UNLIMITED;
}

/* ---------------------------------------------------------------- a new dataset */

/* Fills the extents of chunks: the user's, or the whole array, whose longest axis is halved until it is small. */
static void choose_chunk(const struct redist__hdf5_part *part, const redist_index given[],
                         hsize_t chunk[]) {
    size_t bytes = part->item;
    for (int i = 0; i < part->at.ndims; i++) {
        redist_index extent =
            given[i] > 0 && given[i] < part->at.sizes[i] ? given[i] : part->at.sizes[i];
        chunk[i] = extent > 0 ? (hsize_t)extent : 1;
        bytes *= chunk[i];
    }
    for (int i = 0; i < part->at.ndims; i++)
        if (given[i] > 0)
            return;
    while (bytes > CHUNK_BYTES) {
        int longest = 0;
        bytes = part->item;
        for (int i = 1; i < part->at.ndims; i++)
            longest = chunk[i] > chunk[longest] ? i : longest;
        if (chunk[longest] == 1)
            return;
        chunk[longest] = (chunk[longest] + 1) / 2;
        for (int i = 0; i < part->at.ndims; i++)
            bytes *= chunk[i];
    }
}

static int is_chunked(const struct redist__hdf5_target *target) {
    const redist_hdf5_options *options = &target->call->options;
    int wanted = target->dataset->has_steps || options->compression > 0;
    for (int i = 0; i < target->part->at.ndims; i++)
        wanted |= options->chunk[i] > 0;
    return target->dataset->has_steps ||
           (wanted && redist__hdf5_has(target->part->at.ndims, target->part->at.sizes));
}

static int set_layout(const struct redist__hdf5_target *target, hid_t properties) {
    const redist_hdf5_options *options = &target->call->options;
    int steps = target->dataset->has_steps;
    hsize_t chunk[RANK] = {1};
    HDF5_TRY(H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    if (!is_chunked(target))
        return 0;
    choose_chunk(target->part, options->chunk, chunk + steps);
    HDF5_TRY(H5Pset_chunk(properties, target->part->at.ndims + steps, chunk));
    if (options->compression == 0)
        return 0;
    HDF5_TRY(H5Pset_shuffle(properties));
    return H5Pset_deflate(properties, (unsigned)options->compression);
}

static hid_t make_space(const struct redist__hdf5_target *target) {
    int steps = target->dataset->has_steps;
    hsize_t extent[RANK] = {target->dataset->step + 1}, most[RANK] = {H5S_UNLIMITED};
    for (int i = 0; i < target->part->at.ndims; i++) {
        extent[i + steps] = (hsize_t)target->part->at.sizes[i];
        /* a chunk has an element, for which an axis without any has to have room */
        int is_open = steps && extent[i + steps] == 0;
        most[i + steps] = is_open ? H5S_UNLIMITED : extent[i + steps];
    }
    return H5Screate_simple(target->part->at.ndims + steps, extent, most);
}

static int set_numbers(hid_t dataset, const char *key, int n, const double values[]) {
    const hsize_t extent = (hsize_t)n;
    hid_t space = H5Screate_simple(1, &extent, NULL);
    hid_t attribute = H5Acreate2(dataset, key, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    int code = attribute < 0 ? -1 : H5Awrite(attribute, H5T_NATIVE_DOUBLE, values);
    redist__hdf5_drop(attribute);
    redist__hdf5_drop(space);
    return code;
}

static int describe(const struct redist__hdf5_target *target) {
    const redist_hdf5_options *options = &target->call->options;
    int ndims = target->part->at.ndims, has_spacing = 0;
    for (int i = 0; i < ndims; i++)
        has_spacing |= options->spacing[i] > 0 || options->spacing[i] < 0;
    if (has_spacing) {
        HDF5_TRY(set_numbers(target->dataset->id, "spacing", ndims, options->spacing));
        HDF5_TRY(set_numbers(target->dataset->id, "origin", ndims, options->origin));
    }
    return redist__hdf5_attach_scales(target);
}

static int make(struct redist_hdf5 *file, const struct redist__hdf5_target *target) {
    redist_index step = target->call->options.step;
    target->dataset->step = step > 0 ? (hsize_t)step : 0;
    hid_t links = H5Pcreate(H5P_LINK_CREATE), properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = make_space(target);
    int code = space < 0 ? -1 : H5Pset_create_intermediate_group(links, 1);
    if (code >= 0)
        code = set_layout(target, properties);
    if (code >= 0)
        target->dataset->id = H5Dcreate2(file->id, target->part->at.name, target->dataset->type,
                                         space, links, properties, H5P_DEFAULT);
    redist__hdf5_drop(space);
    redist__hdf5_drop(properties);
    redist__hdf5_drop(links);
    return code < 0 || target->dataset->id < 0 ? -1 : describe(target);
}

/* ---------------------------------------------------------------- an existing one */

static void print_extents(char text[TEXT_BYTES], int ndims, const hsize_t extent[]) {
    text[0] = 0;
    for (int i = 0, end = 0; i < ndims; i++)
        end += snprintf(text + end, TEXT_BYTES - (size_t)end, "%s%lld", i > 0 ? " x " : "",
                        (long long)extent[i]);
}

static int check_extents(const struct redist__hdf5_target *target, int ndims,
                         const hsize_t extent[]) {
    hsize_t expected[REDIST_MAX_NDIMS];
    char have[TEXT_BYTES], want[TEXT_BYTES];
    int differ = ndims != target->part->at.ndims;
    for (int i = 0; i < target->part->at.ndims; i++) {
        expected[i] = (hsize_t)target->part->at.sizes[i];
        differ = differ || expected[i] != extent[i];
    }
    if (!differ)
        return REDIST_OK;
    print_extents(have, ndims, extent);
    print_extents(want, target->part->at.ndims, expected);
    return FAIL(REDIST_ERR_FILE, "dataset '%s' has the extents %s, but the field selects %s",
                target->part->at.name, have, want);
}

/* Compares the types of a dataset and its field: equal for a write, convertible for a read. */
static int check_type(const struct redist__hdf5_target *target) {
    H5T_cdata_t *conversion;
    const hid_t own = target->dataset->type, type = H5Dget_type(target->dataset->id);
    int fits =
        target->call->writes ? H5Tequal(type, own) > 0 : H5Tfind(type, own, &conversion) != NULL;
    redist__hdf5_drop(type);
    return fits
               ? REDIST_OK
               : FAIL(REDIST_ERR_FILE, "dataset '%s' has elements of another type than the field%s",
                      target->part->at.name,
                      target->call->writes ? ": give the field another name, or the same type"
                                           : ", and HDF5 does not convert them");
}

/* Sets the step; a write makes room for it. */
static int set_step(const struct redist__hdf5_target *target, hsize_t extent[]) {
    redist_index step = target->call->options.step, steps = (redist_index)extent[0];
    if (step == REDIST_HDF5_NEXT_STEP)
        step = steps;
    if (step == REDIST_HDF5_LAST_STEP)
        step = steps - 1;
    if (step < 0 || (step >= steps && !target->call->writes))
        return FAIL(REDIST_ERR_FILE, "options->step = %lld, but dataset '%s' has %lld steps",
                    (long long)target->call->options.step, target->part->at.name, (long long)steps);
    target->dataset->step = (hsize_t)step;
    extent[0] = (hsize_t)step + 1;
    return step >= steps ? H5Dset_extent(target->dataset->id, extent) : REDIST_OK;
}

static int open_dataset(struct redist_hdf5 *file, const struct redist__hdf5_target *target) {
    hsize_t extent[H5S_MAX_RANK] = {0}, most[H5S_MAX_RANK] = {0};
    int steps = target->dataset->has_steps;
    target->dataset->id = H5Dopen2(file->id, target->part->at.name, H5P_DEFAULT);
    HDF5_TRY(target->dataset->id);
    hid_t space = H5Dget_space(target->dataset->id);
    int rank = H5Sget_simple_extent_dims(space, extent, most);
    redist__hdf5_drop(space);
    HDF5_TRY(rank);
    int is_stepped = redist__hdf5_has_steps(rank, most);
    if (steps != is_stepped && (is_stepped || rank != target->part->at.ndims + steps))
        return FAIL(REDIST_ERR_FILE, "dataset '%s' has %s, so options->step has to be %s",
                    target->part->at.name, is_stepped ? "steps" : "no axis of steps",
                    is_stepped ? "one of these" : "REDIST_HDF5_NO_STEP");
    REDIST_TRY(check_extents(target, rank - steps, extent + steps));
    REDIST_TRY(check_type(target));
    return steps ? set_step(target, extent) : REDIST_OK;
}

static int find_filters(const struct redist__hdf5_target *target) {
    hid_t properties = H5Dget_create_plist(target->dataset->id);
    int count = properties < 0 ? -1 : H5Pget_nfilters(properties);
    redist__hdf5_drop(properties);
    target->dataset->is_filtered = count > 0;
    return count < 0 ? -1 : REDIST_OK;
}

int redist__hdf5_find_dataset(struct redist_hdf5 *file, void *data) {
    const struct redist__hdf5_target *target = data;
    target->dataset->has_steps = target->call->options.step != REDIST_HDF5_NO_STEP;
    target->dataset->type = redist__hdf5_type_make(&target->part->type);
    HDF5_TRY(target->dataset->type);
    int exists = H5LTpath_valid(file->id, target->part->at.name, 1) > 0;
    if (!exists && !target->call->writes)
        return FAIL(REDIST_ERR_FILE, "'%s' has no dataset '%s'", file->path, target->part->at.name);
    int code = exists ? open_dataset(file, target) : make(file, target);
    if (code == REDIST_OK)
        code = find_filters(target);
    if (code == REDIST_OK && target->call->writes && target->dataset->has_steps)
        code = redist__hdf5_set_time(target);
    return code;
}
