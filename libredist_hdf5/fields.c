/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a call: checks, beside those of libredist, and agreement. */
#include "fields.h"

#include <string.h>

#define FAIL(code, ...) redist_fail_in(call->function, code, __VA_ARGS__)

enum { NAME_BYTES = 40 };

int redist__hdf5_has(int ndims, const redist_index count[]) {
    for (int i = 0; i < ndims; i++)
        if (count[i] == 0)
            return 0;
    return 1;
}

redist_index redist__hdf5_volume(int ndims, const redist_index count[]) {
    redist_index volume = 1;
    for (int i = 0; i < ndims; i++)
        volume *= count[i];
    return volume;
}

/* ---------------------------------------------------------------- checks */

static int check_name(const struct redist__hdf5_call *call, int n, const char *name) {
    if (name == NULL)
        return FAIL(REDIST_ERR_NULL, "fields[%d].name = NULL: it names the dataset", n);
    size_t length = strlen(name);
    if (length == 0 || length >= REDIST_HDF5_NAME_BYTES || name[length - 1] == '/')
        return FAIL(REDIST_ERR_ARGUMENT,
                    "fields[%d].name = '%.60s' is no name of a dataset (1 to %d characters, the "
                    "last one not a slash)",
                    n, name, REDIST_HDF5_NAME_BYTES - 1);
    if (call->options.step != REDIST_HDF5_NO_STEP && strcmp(name + (name[0] == '/'), "time") == 0)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "fields[%d].name = '%s', which is the dataset of the times of steps", n, name);
    return REDIST_OK;
}

/* Refuses a name twice: a step would be two, and of other datasets the last field would remain. */
static int check_other_names(const struct redist__hdf5_call *call, int n) {
    const char *name = call->parts[n].at.name;
    for (int i = 0; i < n; i++)
        if (strcmp(call->parts[i].at.name, name) == 0)
            return FAIL(REDIST_ERR_ARGUMENT, "fields[%d].name = '%s' is that of fields[%d], too", n,
                        name, i);
    return REDIST_OK;
}

/* Completes a part. The extent of an element is its size, since types with gaps are refused. */
static int check_part(const struct redist__hdf5_call *call, int n, struct redist__hdf5_part *part) {
    REDIST_TRY(check_name(call, n, part->at.name));
    if (call->writes)
        REDIST_TRY(check_other_names(call, n));
    int code = redist__hdf5_type_of(part->at.datatype, &part->type);
    if (code == REDIST_ERR_DATATYPE || part->type.items < 1)
        return FAIL(REDIST_ERR_DATATYPE,
                    "fields[%d].datatype is neither a number of MPI nor some of them "
                    "(MPI_Type_contiguous)",
                    n);
    part->item = part->type.bytes * (size_t)part->type.items;
    return code;
}

static int check_options(const struct redist__hdf5_call *call) {
    const redist_hdf5_options *options = &call->options;
    redist_index least = call->writes ? REDIST_HDF5_NEXT_STEP : REDIST_HDF5_LAST_STEP;
    if (options->step < least || options->step == INT64_MAX ||
        (!call->writes && options->step == REDIST_HDF5_NEXT_STEP))
        return FAIL(REDIST_ERR_ARGUMENT, "options->step = %lld is not for a %s",
                    (long long)options->step, call->writes ? "write" : "read");
    if (options->compression < 0 || options->compression > 9)
        return FAIL(REDIST_ERR_ARGUMENT, "options->compression = %d is not in 0..9",
                    options->compression);
    for (int i = 0; i < REDIST_MAX_NDIMS; i++)
        if (options->chunk[i] < 0)
            return FAIL(REDIST_ERR_SIZE, "options->chunk[%d] = %lld is negative", i,
                        (long long)options->chunk[i]);
    for (int i = 0; i < REDIST_MAX_NDIMS; i++)
        if (options->axes[i] != NULL &&
            (options->axes[i][0] == 0 || strchr(options->axes[i], '/') != NULL ||
             strlen(options->axes[i]) > NAME_BYTES))
            return FAIL(REDIST_ERR_ARGUMENT,
                        "options->axes[%d] = '%.60s' is no name (1 to %d characters, no slash)", i,
                        options->axes[i], NAME_BYTES);
    if (call->writes && call->file->mode == REDIST_HDF5_READ)
        return FAIL(REDIST_ERR_STATE, "the file is open for reading: open it with %s",
                    "REDIST_HDF5_APPEND");
    return REDIST_OK;
}

static int check_call(struct redist__hdf5_call *call, const redist_hdf5_options *user) {
    if (user != NULL)
        REDIST_TRY(redist_struct_read(call->function, "options", user, &call->options,
                                      sizeof call->options));
    REDIST_TRY(redist_check_reserved_in(call->function, "options", call->options.reserved));
    if (call->nfields < 0 || (call->nfields > 0 && call->fields == NULL))
        return FAIL(call->nfields < 0 ? REDIST_ERR_ARGUMENT : REDIST_ERR_NULL,
                    "nfields = %d, fields = %p", call->nfields, (const void *)call->fields);
    REDIST_TRY(check_options(call));
    call->parts = redist_calloc((size_t)call->nfields + 1, sizeof *call->parts);
    if (call->parts == NULL)
        return FAIL(REDIST_ERR_MEMORY, "no memory for %d fields", call->nfields);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- agreement */

static int agree_options(const struct redist__hdf5_call *call, int code) {
    const redist_hdf5_options *options = &call->options;
    enum { OPTIONS = 7 };
    redist_shared_value values[OPTIONS + REDIST_MAX_NDIMS] = {
        redist_share_number("nfields", call->nfields),
        redist_share_number("options->step", options->step),
        redist_share_number("options->compression", options->compression),
        redist_share("options->chunk", REDIST_SHARED_EXTENTS, options->chunk, REDIST_MAX_NDIMS),
        redist_share("options->spacing", REDIST_SHARED_REALS, options->spacing, REDIST_MAX_NDIMS),
        redist_share("options->origin", REDIST_SHARED_REALS, options->origin, REDIST_MAX_NDIMS),
        redist_share("options->time", REDIST_SHARED_REALS, &options->time, 1)};
    for (int i = 0; i < REDIST_MAX_NDIMS; i++)
        values[OPTIONS + i] =
            redist_share("options->axes", REDIST_SHARED_TEXT, options->axes[i], 1);
    return redist_agree_values_in(call->function, call->file->comm, code,
                                  OPTIONS + REDIST_MAX_NDIMS, values);
}

/* Agrees on what libredist does not compare: numbers of the same size, by a letter for each field. */
static int agree_numbers(const struct redist__hdf5_call *call, int code) {
    char *kinds = redist_calloc((size_t)call->nfields + 1, 1);
    if (kinds == NULL && code == REDIST_OK)
        code = FAIL(REDIST_ERR_MEMORY, "no memory for %d fields", call->nfields);
    for (int n = 0; n < call->nfields && code == REDIST_OK; n++)
        kinds[n] = call->parts[n].type.kind;
    const redist_shared_value value =
        redist_share("the numbers of fields (f real, c complex, i integer, u unsigned)",
                     REDIST_SHARED_TEXT, kinds, 0);
    code = redist_agree_values_in(call->function, call->file->comm, code, 1, &value);
    redist_release(kinds);
    return code;
}

/* Has libredist check the fields, as it does for its own files. */
static int check_fields(const struct redist__hdf5_call *call) {
    redist_field_part *parts = redist_calloc((size_t)call->nfields + 1, sizeof *parts);
    int code = redist_agree(
        call->file->comm, parts != NULL
                              ? REDIST_OK
                              : FAIL(REDIST_ERR_MEMORY, "no memory for %d fields", call->nfields));
    if (code == REDIST_OK)
        code = redist_check_fields_in(call->function, call->file->comm, call->writes, call->nfields,
                                      call->fields, parts);
    for (int n = 0; n < call->nfields && code == REDIST_OK; n++)
        call->parts[n].at = parts[n];
    redist_release(parts);
    return code;
}

int redist__hdf5_prepare(struct redist__hdf5_call *call, const redist_hdf5_options *user) {
    REDIST_TRY(agree_options(call, check_call(call, user)));
    REDIST_TRY(check_fields(call));
    int code = REDIST_OK;
    for (int n = 0; n < call->nfields && code == REDIST_OK; n++)
        code = check_part(call, n, &call->parts[n]);
    return agree_numbers(call, code);
}
