/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of a file: its datasets and their extents. */
#include "contents.h"
#include "datasets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hdf5_hl.h>

REDIST_INITIALISER(redist_hdf5_dataset, REDIST_HDF5_DATASET_DEFAULT)

/* ---------------------------------------------------------------- the list */

static int make_room(struct redist__hdf5_contents *contents) {
    if (contents->count < contents->room)
        return 1;
    int room = contents->room > 0 ? 2 * contents->room : 16;
    struct redist__hdf5_entry *entries = redist_calloc((size_t)room, sizeof *entries);
    if (entries == NULL)
        return 0;
    if (contents->count > 0)
        memcpy(entries, contents->entries, (size_t)contents->count * sizeof *entries);
    redist_release(contents->entries);
    contents->entries = entries;
    contents->room = room;
    return 1;
}

/* Reads `n` numbers of an attribute, if it has as many. */
static void read_numbers(hid_t dataset, const char *key, int n, double values[]) {
    if (H5Aexists(dataset, key) <= 0)
        return;
    hid_t attribute = H5Aopen(dataset, key, H5P_DEFAULT);
    hid_t space = H5Aget_space(attribute);
    if (H5Sget_simple_extent_npoints(space) == n)
        H5Aread(attribute, H5T_NATIVE_DOUBLE, values);
    redist__hdf5_drop(space);
    redist__hdf5_drop(attribute);
}

static void fill_extents(struct redist__hdf5_entry *entry, hid_t dataset) {
    hsize_t extent[H5S_MAX_RANK] = {0}, most[H5S_MAX_RANK] = {0};
    hid_t space = H5Dget_space(dataset);
    int rank = H5Sget_simple_extent_dims(space, extent, most);
    redist__hdf5_drop(space);
    int steps = redist__hdf5_has_steps(rank, most);
    entry->dataset.steps = steps ? (redist_index)extent[0] : -1;
    if (rank - steps > REDIST_MAX_NDIMS || rank < 1)
        return;
    entry->dataset.ndims = rank - steps;
    for (int i = 0; i < entry->dataset.ndims; i++) {
        entry->dataset.sizes[i] = (redist_index)extent[i + steps];
        entry->spacing[i] = 1.0;
    }
    read_numbers(dataset, "spacing", entry->dataset.ndims, entry->spacing);
    read_numbers(dataset, "origin", entry->dataset.ndims, entry->origin);
}

static void fill(struct redist__hdf5_entry *entry, hid_t dataset, const char *name) {
    *entry = (struct redist__hdf5_entry){.dataset = REDIST_HDF5_DATASET_DEFAULT};
    snprintf(entry->dataset.name, sizeof entry->dataset.name, "%s", name);
    hid_t type = H5Dget_type(dataset);
    entry->type = redist__hdf5_type_read(type);
    entry->dataset.items = entry->type.items;
    redist__hdf5_drop(type);
    fill_extents(entry, dataset);
}

/* Adds a dataset that is no dimension scale; names that are too long for an entry are left out. */
static herr_t visit(hid_t root, const char *name, const H5O_info_t *info, void *data) {
    struct redist__hdf5_contents *contents = data;
    if (info->type != H5O_TYPE_DATASET || strlen(name) >= REDIST_HDF5_NAME_BYTES)
        return 0;
    hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    HDF5_TRY(dataset);
    int is_scale = H5DSis_scale(dataset) > 0, has_room = is_scale || make_room(contents);
    if (!is_scale && has_room)
        fill(&contents->entries[contents->count++], dataset, name);
    redist__hdf5_drop(dataset);
    return has_room ? 0 : 1;
}

int redist__hdf5_list(struct redist_hdf5 *file, void *data) {
    const struct redist__hdf5_contents *contents = data;
    herr_t code = H5Ovisit(file->id, H5_INDEX_NAME, H5_ITER_INC, visit, data);
    return code <= 0 ? code
                     : redist_fail_in(contents->function, REDIST_ERR_MEMORY,
                                      "no memory for the list of datasets");
}

void redist__hdf5_read_times(struct redist_hdf5 *file, redist_index most, double times[]) {
    for (redist_index i = 0; i < most; i++)
        times[i] = NAN;
    if (most == 0 || H5Lexists(file->id, "time", H5P_DEFAULT) <= 0)
        return;
    hid_t dataset = H5Dopen2(file->id, "time", H5P_DEFAULT), space = H5Dget_space(dataset);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    const hsize_t start = 0, count = (hsize_t)(n < most ? n : most);
    if (H5Sget_simple_extent_ndims(space) == 1 && count > 0) {
        hid_t memory = H5Screate_simple(1, &count, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
        H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, times);
        redist__hdf5_drop(memory);
    }
    redist__hdf5_drop(space);
    redist__hdf5_drop(dataset);
}

/* ---------------------------------------------------------------- public functions */

/* Lists on the ranks that act; all get rank 0's count. */
static int list(const char *function, redist_hdf5 *file, struct redist__hdf5_contents *contents) {
    *contents = (struct redist__hdf5_contents){.function = function};
    int code = redist__hdf5_act(function, file, "list the datasets", redist__hdf5_list, contents);
    if (code == REDIST_OK)
        code = redist_agree(
            file->comm, redist_broadcast(file->comm, &contents->count, sizeof contents->count, 0));
    return code;
}

int redist_hdf5_count(redist_hdf5 *file, int *count) {
    struct redist__hdf5_contents contents;
    REDIST_TRY(redist__hdf5_check(__func__, file));
    REDIST_TRY(redist_agree(
        file->comm, count != NULL ? REDIST_OK : redist_fail(REDIST_ERR_NULL, "count = NULL")));
    int code = list(__func__, file, &contents);
    if (code == REDIST_OK)
        *count = contents.count;
    redist_release(contents.entries);
    return code;
}

/* Sends rank 0's entry to all ranks: datatypes differ between processes. */
static int share(redist_hdf5 *file, struct redist__hdf5_entry *entry) {
    int code = redist_agree(file->comm, redist_broadcast(file->comm, entry, sizeof *entry, 0));
    entry->dataset.number =
        entry->type.kind != 0 ? redist__hdf5_number(&entry->type) : MPI_DATATYPE_NULL;
    return code;
}

int redist_hdf5_info(redist_hdf5 *file, int index, redist_hdf5_dataset *dataset) {
    struct redist__hdf5_contents contents;
    struct redist__hdf5_entry entry;
    redist_hdf5_dataset own = REDIST_HDF5_DATASET_DEFAULT;
    REDIST_TRY(redist__hdf5_check(__func__, file));
    const redist_shared_value value = redist_share_number("index", index);
    int code = redist_struct_read(__func__, "dataset", dataset, &own, sizeof own);
    REDIST_TRY(redist_agree_values_in(__func__, file->comm, code, 1, &value));
    code = list(__func__, file, &contents);
    if (code == REDIST_OK && (index < 0 || index >= contents.count)) /* on all ranks */
        code = redist_agree(file->comm, redist_fail(REDIST_ERR_ARGUMENT,
                                                    "index = %d, but the file has %d datasets",
                                                    index, contents.count));
    if (code == REDIST_OK) {
        if (file->rank == 0)
            entry = contents.entries[index];
        code = share(file, &entry);
        if (code == REDIST_OK)
            code = redist_struct_write(__func__, "dataset", &entry.dataset, sizeof own, dataset);
    }
    redist_release(contents.entries);
    return code;
}
