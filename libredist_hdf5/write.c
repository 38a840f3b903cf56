/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing and reading fields: checks, then all datasets, then their elements. */
#include "transfer.h"

REDIST_INITIALISER(redist_hdf5_options, REDIST_HDF5_OPTIONS_DEFAULT)

/* The datasets of a call, for redist__hdf5_act. */
struct opened {
    int count;
    struct redist__hdf5_dataset *datasets;
};

/* Closes all of them; HDF5 may write then. */
static int close_datasets(struct redist_hdf5 *file, void *data) {
    const struct opened *opened = data;
    int code = REDIST_OK;
    (void)file;
    for (int n = 0; n < opened->count; n++) {
        redist__hdf5_drop(opened->datasets[n].type);
        if (opened->datasets[n].id > 0 && H5Dclose(opened->datasets[n].id) < 0)
            code = -1;
    }
    return code;
}

/* Flushes, so that a program that ends later has written what it has. */
static int flush(struct redist_hdf5 *file, void *data) {
    (void)data;
    return H5Fflush(file->id, H5F_SCOPE_GLOBAL);
}

static struct redist__hdf5_target target_at(const struct redist__hdf5_call *call,
                                            struct redist__hdf5_dataset datasets[], int n) {
    return (struct redist__hdf5_target){call, &call->parts[n], &datasets[n]};
}

/* Finds all datasets before the first element moves. */
static int transfer_all(const struct redist__hdf5_call *call,
                        struct redist__hdf5_dataset datasets[]) {
    struct redist_hdf5 *file = call->file;
    for (int n = 0; n < call->nfields; n++) {
        struct redist__hdf5_target target = target_at(call, datasets, n);
        REDIST_TRY(redist__hdf5_act(call->function, file,
                                    call->writes ? "make or open a dataset" : "open a dataset",
                                    redist__hdf5_find_dataset, &target));
    }
    for (int n = 0; n < call->nfields; n++) {
        struct redist__hdf5_target target = target_at(call, datasets, n);
        REDIST_TRY(redist__hdf5_transfer(&target));
    }
    return call->writes ? redist__hdf5_act(call->function, file, "write", flush, NULL) : REDIST_OK;
}

static int transfer_and_close(const struct redist__hdf5_call *call,
                              struct redist__hdf5_dataset datasets[]) {
    struct opened opened = {call->nfields, datasets};
    int code = transfer_all(call, datasets);
    int closed =
        redist__hdf5_act_alone(call->function, call->file, "write", close_datasets, &opened);
    return redist_agree(call->file->comm, code != REDIST_OK ? code : closed);
}

static int run(struct redist__hdf5_call *call, const redist_hdf5_options *options) {
    struct redist__hdf5_dataset *datasets = NULL;
    REDIST_TRY(redist__hdf5_check(call->function, call->file));
    call->options = REDIST_HDF5_OPTIONS_DEFAULT;
    int code = redist__hdf5_prepare(call, options);
    if (code == REDIST_OK) {
        datasets = redist_calloc((size_t)call->nfields + 1, sizeof *datasets);
        int made = datasets != NULL ? REDIST_OK
                                    : redist_fail_in(call->function, REDIST_ERR_MEMORY,
                                                     "no memory for %d fields", call->nfields);
        code = redist_agree(call->file->comm, made);
        if (code == REDIST_OK)
            code = transfer_and_close(call, datasets);
        redist_release(datasets);
    }
    redist_release(call->parts);
    return code;
}

int redist_hdf5_write(redist_hdf5 *file, int nfields, const redist_field fields[],
                      const redist_hdf5_options *options) {
    struct redist__hdf5_call call = {
        .function = __func__, .file = file, .writes = 1, .nfields = nfields, .fields = fields};
    return run(&call, options);
}

int redist_hdf5_read(redist_hdf5 *file, int nfields, const redist_field fields[],
                     const redist_hdf5_options *options) {
    struct redist__hdf5_call call = {
        .function = __func__, .file = file, .writes = 0, .nfields = nfields, .fields = fields};
    return run(&call, options);
}
