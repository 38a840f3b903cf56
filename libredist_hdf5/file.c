/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: opening and closing. */
#include "calls.h"

#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 26 };

static REDIST_NAMES(mode_name, REDIST_NAME(REDIST_HDF5_READ), REDIST_NAME(REDIST_HDF5_CREATE),
                    REDIST_NAME(REDIST_HDF5_APPEND))

static REDIST_NAMES(access_name, REDIST_NAME(REDIST_HDF5_AUTO), REDIST_NAME(REDIST_HDF5_ALL),
                    REDIST_NAME(REDIST_HDF5_ROOT))

REDIST_INITIALISER(redist_hdf5_file_options, REDIST_HDF5_FILE_OPTIONS_DEFAULT)

/* ---------------------------------------------------------------- opening */

static int check(const char *function, const char *path, int mode,
                 const redist_hdf5_file_options *user, redist_hdf5_file_options *own,
                 redist_hdf5 **file) {
    if (user != NULL)
        REDIST_TRY(redist_struct_read(function, "options", user, own, sizeof *own));
    REDIST_TRY(redist_check_reserved_in(function, "options", own->reserved));
    if (path == NULL || file == NULL)
        return redist_fail_in(function, REDIST_ERR_NULL, "%s = NULL",
                              path == NULL ? "path" : "file");
    if (*path == '\0')
        return redist_fail_in(function, REDIST_ERR_ARGUMENT, "path = \"\" names no file");
    REDIST_TRY(redist_check_enum_in(function, "mode", mode_name, mode));
    REDIST_TRY(redist_check_enum_in(function, "options->access", access_name, (int)own->access));
    if (own->access == REDIST_HDF5_ALL && !redist__hdf5_is_parallel())
        return redist_fail_in(function, REDIST_ERR_METHOD,
                              "options->access = REDIST_HDF5_ALL, but this HDF5 is built without "
                              "MPI: use REDIST_HDF5_ROOT");
    return REDIST_OK;
}

static int agree(const char *function, MPI_Comm comm, int code, const char *path, int mode,
                 const redist_hdf5_file_options *options) {
    const redist_shared_value values[] = {
        redist_share("path", REDIST_SHARED_TEXT, path, 1),
        redist_share_enum("mode", mode, mode_name),
        redist_share_enum("options->access", (int)options->access, access_name),
        redist_share_number("options->buffer_bytes", (long long)options->buffer_bytes)};
    return redist_agree_values_in(function, comm, code, (int)(sizeof values / sizeof values[0]),
                                  values);
}

static int fill(const char *function, redist_hdf5 *file, const char *path, int mode,
                const redist_hdf5_file_options *options) {
    if (file == NULL)
        return redist_fail_in(function, REDIST_ERR_MEMORY, "no memory for a file");
    file->path = redist_calloc(strlen(path) + 1, 1);
    if (file->path == NULL || !redist_handle_add(file, REDIST_HANDLE_HDF5))
        return redist_fail_in(function, REDIST_ERR_MEMORY, "no memory for a file");
    memcpy(file->path, path, strlen(path));
    file->mode = mode;
    file->all = options->access != REDIST_HDF5_ROOT && redist__hdf5_is_parallel();
    file->buffer_bytes = options->buffer_bytes != 0 ? options->buffer_bytes : BUFFER_BYTES;
    REDIST_TRY(redist_check_mpi_in(function, MPI_Comm_size(file->comm, &file->size)));
    return redist_check_mpi_in(function, MPI_Comm_rank(file->comm, &file->rank));
}

static void release(redist_hdf5 *file) {
    if (file == NULL)
        return;
    redist_handle_remove(file);
    redist_release(file->path);
    redist_release(file);
}

/* Decides whether the file is made, as rank 0 finds it: the others may see it a moment later. Collective. */
static int find_whether_new(redist_hdf5 *file) {
    file->is_new = file->mode == REDIST_HDF5_CREATE ||
                   (file->mode == REDIST_HDF5_APPEND && access(file->path, F_OK) != 0);
    return redist_broadcast(file->comm, &file->is_new, sizeof file->is_new, 0);
}

static hid_t open_or_make(const redist_hdf5 *file, hid_t made, hid_t access) {
    if (file->is_new)
        return H5Fcreate(file->path, H5F_ACC_TRUNC, made, access);
    return H5Fopen(file->path, file->mode == REDIST_HDF5_READ ? H5F_ACC_RDONLY : H5F_ACC_RDWR,
                   access);
}

/* Attributes and groups keep the order in which they were made, which NetCDF's library wants to write to the file. */
static int set_properties(redist_hdf5 *file, hid_t made, hid_t access) {
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    HDF5_TRY(H5Pset_link_creation_order(made, order));
    HDF5_TRY(H5Pset_attr_creation_order(made, order));
    HDF5_TRY(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
    return file->all ? redist__hdf5_set_parallel(file->comm, access, file->collective) : 0;
}

static int open_file(redist_hdf5 *file, void *data) {
    (void)data;
    hid_t made = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    file->transfer = H5Pcreate(H5P_DATASET_XFER);
    file->collective = H5Pcreate(H5P_DATASET_XFER);
    int set = set_properties(file, made, access);
    file->id = set < 0 ? -1 : open_or_make(file, made, access);
    redist__hdf5_drop(made);
    redist__hdf5_drop(access);
    if (file->id >= 0)
        return REDIST_OK;
    redist__hdf5_drop(file->transfer);
    redist__hdf5_drop(file->collective);
    return -1;
}

static int close_file(redist_hdf5 *file, void *data) {
    (void)data;
    redist__hdf5_drop(file->transfer);
    redist__hdf5_drop(file->collective);
    return H5Fclose(file->id) < 0 ? -1 : REDIST_OK;
}

int redist_hdf5_open(MPI_Comm comm, const char *path, enum redist_hdf5_mode mode,
                     const redist_hdf5_file_options *options, redist_hdf5 **file) {
    redist_hdf5_file_options own = REDIST_HDF5_FILE_OPTIONS_DEFAULT;
    MPI_Comm private_comm;
    REDIST_TRY(redist_check_comm(comm));
    REDIST_TRY(redist_private_comm(comm, &private_comm));
    int code = check(__func__, path, (int)mode, options, &own, file);
    REDIST_TRY(agree(__func__, private_comm, code, path, (int)mode, &own));
    redist_hdf5 *made = redist_calloc(1, sizeof *made);
    if (made != NULL)
        *made = (redist_hdf5){.comm = private_comm, .id = -1, .transfer = -1, .collective = -1};
    code = redist_agree(private_comm, fill(__func__, made, path, (int)mode, &own));
    if (code == REDIST_OK) {
        made->acts = made->all || made->rank == 0;
        code = redist_agree(private_comm, find_whether_new(made));
    }
    /* After a failure nothing is closed: that is collective, and some ranks may have no file */
    if (code == REDIST_OK)
        code = redist__hdf5_act(__func__, made, "open the file", open_file, NULL);
    if (code != REDIST_OK)
        release(made);
    else
        *file = made;
    return code;
}

int redist_hdf5_close(redist_hdf5 **file) {
    if (file == NULL)
        return redist_fail(REDIST_ERR_NULL, "file = NULL");
    REDIST_TRY(redist__hdf5_check(__func__, *file));
    int code = redist__hdf5_act(__func__, *file, "close the file", close_file, NULL);
    release(*file);
    *file = NULL;
    return code;
}
