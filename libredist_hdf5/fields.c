/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields: checks of each, agreement, and the selection as an array of its own. */
#include "fields.h"

#include <stdio.h>
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

/* ---------------------------------------------------------------- the arguments of a field */

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

static int check_axis(const struct redist__hdf5_call *call, int n, int i) {
    const redist_field *field = &call->fields[n];
    if (field->sizes[i] < 0)
        return FAIL(REDIST_ERR_SIZE, "fields[%d].sizes[%d] = %lld is negative", n, i,
                    (long long)field->sizes[i]);
    if (field->start[i] < 0 || field->count[i] < 0 ||
        field->count[i] > field->sizes[i] - field->start[i])
        return FAIL(REDIST_ERR_SIZE,
                    "fields[%d].start[%d] = %lld and count[%d] = %lld do not lie in sizes[%d] = "
                    "%lld",
                    n, i, (long long)field->start[i], i, (long long)field->count[i], i,
                    (long long)field->sizes[i]);
    if (field->selected_start[i] < 0 || field->selected_count[i] < 0 ||
        field->selected_start[i] > field->sizes[i] ||
        field->selected_count[i] > field->sizes[i] - field->selected_start[i])
        return FAIL(REDIST_ERR_SIZE,
                    "fields[%d].selected_start[%d] = %lld and selected_count[%d] = %lld do not "
                    "lie in sizes[%d] = %lld",
                    n, i, (long long)field->selected_start[i], i,
                    (long long)field->selected_count[i], i, (long long)field->sizes[i]);
    if (field->selected_step[i] < 0)
        return FAIL(REDIST_ERR_ARGUMENT, "fields[%d].selected_step[%d] = %lld is negative", n, i,
                    (long long)field->selected_step[i]);
    return REDIST_OK;
}

/* Finds the element; its extent is its size, since types with gaps are refused. */
static int check_datatype(const struct redist__hdf5_call *call, int n,
                          struct redist__hdf5_part *part) {
    MPI_Datatype datatype = call->fields[n].datatype;
    int code = datatype == MPI_DATATYPE_NULL ? REDIST_ERR_DATATYPE
                                             : redist__hdf5_type_of(datatype, &part->type);
    if (code == REDIST_ERR_DATATYPE || part->type.items < 1)
        return FAIL(REDIST_ERR_DATATYPE,
                    "fields[%d].datatype is null, or neither a number of MPI nor some of them "
                    "(MPI_Type_contiguous)",
                    n);
    part->datatype = datatype;
    part->item = part->type.bytes * (size_t)part->type.items;
    return code;
}

static int check_volume(const struct redist__hdf5_call *call, int n, size_t item) {
    const redist_field *field = &call->fields[n];
    redist_index most = INT64_MAX / (redist_index)item;
    for (int i = 0; i < field->ndims && redist__hdf5_has(field->ndims, field->sizes); i++) {
        if (field->sizes[i] > most)
            return FAIL(REDIST_ERR_LIMIT, "fields[%d] has more than 2^63 - 1 bytes", n);
        most /= field->sizes[i];
    }
    return REDIST_OK;
}

static int check_array(const struct redist__hdf5_call *call, int n,
                       struct redist__hdf5_part *part) {
    const redist_field *field = &call->fields[n];
    part->space = REDIST_SPACE_HOST;
    REDIST_TRY(redist_check_enum_in(call->function, "fields[].space", redist_space_name,
                                    (int)field->space));
    if (!redist__hdf5_has(field->ndims, part->count))
        return REDIST_OK;
    if (field->array == NULL)
        return FAIL(REDIST_ERR_NULL, "fields[%d].array = NULL, but this rank has elements", n);
    const redist__space *device = redist_space_at(REDIST_SPACE_CUDA);
    int is_device = device != NULL && device->recognises(field->array);
    if (field->space == REDIST_SPACE_AUTO ? is_device : field->space == REDIST_SPACE_CUDA)
        part->space = REDIST_SPACE_CUDA;
    const redist__space *space = redist_space_at(part->space);
    const char *absent = space == NULL ? "this build has no such memory" : space->absent();
    if (absent != NULL || is_device != (part->space == REDIST_SPACE_CUDA))
        return FAIL(REDIST_ERR_ARGUMENT, "fields[%d].array = %p is not in %s: %s", n, field->array,
                    redist_space_name((int)part->space),
                    absent != NULL ? absent : "the address is of other memory");
    return space->check_array(call->function, "fields[].array", field->array);
}

/* ---------------------------------------------------------------- the selection */

static redist_index ceil_divide(redist_index a, redist_index b) {
    return a <= 0 ? 0 : (a - 1) / b + 1;
}

static redist_index lesser(redist_index a, redist_index b) {
    return a < b ? a : b;
}

/* Finds the selected elements along an axis that this rank has, and the first of them in its part. */
static redist_index select_axis(const redist_field *field, int i, struct redist__hdf5_part *part) {
    redist_index step = field->selected_step[i] > 0 ? field->selected_step[i] : 1;
    redist_index from = field->selected_start[i], start = field->start[i];
    redist_index length =
        field->selected_count[i] > 0 ? field->selected_count[i] : field->sizes[i] - from;
    part->sizes[i] = ceil_divide(length, step);
    part->start[i] = lesser(ceil_divide(start - from, step), part->sizes[i]);
    redist_index end = lesser(ceil_divide(start + field->count[i] - from, step), part->sizes[i]);
    part->count[i] = end > part->start[i] ? end - part->start[i] : 0;
    return part->count[i] > 0 ? from + part->start[i] * step - start : 0;
}

static void place(const redist_field *field, struct redist__hdf5_part *part) {
    ptrdiff_t first = field->offset, packed = 1;
    int is_packed = 1;
    for (int i = 0; i < field->ndims; i++)
        is_packed &= field->stride[i] == 0;
    for (int i = field->ndims - 1; i >= 0; i--) {
        redist_index step = field->selected_step[i] > 0 ? field->selected_step[i] : 1;
        ptrdiff_t stride = is_packed ? packed : field->stride[i];
        first += (ptrdiff_t)select_axis(field, i, part) * stride;
        part->stride[i] = stride * (ptrdiff_t)step * (ptrdiff_t)part->item;
        packed *= (ptrdiff_t)field->count[i];
    }
    if (redist__hdf5_has(field->ndims, part->count) && field->array != NULL)
        part->first = (char *)field->array + first * (ptrdiff_t)part->item;
}

/* ---------------------------------------------------------------- checks of a call */

static int check_field(const struct redist__hdf5_call *call, int n,
                       struct redist__hdf5_part *part) {
    const redist_field *field = &call->fields[n];
    if (field->size != sizeof *field || field->reserved != 0)
        return FAIL(REDIST_ERR_ARGUMENT, "fields[%d].size = %zu or reserved = %d: begin with %s", n,
                    field->size, field->reserved, "REDIST_FIELD_DEFAULT");
    REDIST_TRY(check_name(call, n, field->name));
    if (field->ndims < 1 || field->ndims > REDIST_MAX_NDIMS)
        return FAIL(REDIST_ERR_ARGUMENT, "fields[%d].ndims = %d is not in 1..%d", n, field->ndims,
                    REDIST_MAX_NDIMS);
    for (int i = 0; i < field->ndims; i++)
        REDIST_TRY(check_axis(call, n, i));
    REDIST_TRY(check_datatype(call, n, part));
    REDIST_TRY(check_volume(call, n, part->item));
    part->name = field->name;
    part->ndims = field->ndims;
    place(field, part);
    return check_array(call, n, part);
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
    if (call->nfields < 0 || (call->nfields > 0 && call->fields == NULL))
        return FAIL(call->nfields < 0 ? REDIST_ERR_ARGUMENT : REDIST_ERR_NULL,
                    "nfields = %d, fields = %p", call->nfields, (const void *)call->fields);
    REDIST_TRY(check_options(call));
    call->parts = redist_calloc((size_t)call->nfields + 1, sizeof *call->parts);
    if (call->parts == NULL)
        return FAIL(REDIST_ERR_MEMORY, "no memory for %d fields", call->nfields);
    for (int n = 0; n < call->nfields; n++)
        REDIST_TRY(check_field(call, n, &call->parts[n]));
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

static int agree_field(const struct redist__hdf5_call *call, int n) {
    const redist_field *field = &call->fields[n];
    const struct redist__hdf5_part *part = &call->parts[n];
    const size_t ndims = (size_t)field->ndims;
    enum { VALUES = 8 };
    static const char *const members[VALUES] = {
        "name",           "ndims",         "sizes",           "selected_start",
        "selected_count", "selected_step", "datatype (kind)", "datatype (bytes)"};
    char names[VALUES][NAME_BYTES];
    for (int i = 0; i < VALUES; i++)
        snprintf(names[i], NAME_BYTES, "fields[%d].%s", n, members[i]);
    const redist_shared_value values[VALUES] = {
        redist_share(names[0], REDIST_SHARED_TEXT, field->name, 1),
        redist_share_number(names[1], field->ndims),
        redist_share(names[2], REDIST_SHARED_EXTENTS, field->sizes, ndims),
        redist_share(names[3], REDIST_SHARED_EXTENTS, field->selected_start, ndims),
        redist_share(names[4], REDIST_SHARED_EXTENTS, field->selected_count, ndims),
        redist_share(names[5], REDIST_SHARED_EXTENTS, field->selected_step, ndims),
        redist_share_number(names[6], part->type.kind),
        redist_share_number(names[7], (long long)part->item)};
    return redist_agree_values_in(call->function, call->file->comm, REDIST_OK, VALUES, values);
}

/* ---------------------------------------------------------------- who has what */

struct range {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
};

static int ranges_overlap(int ndims, const struct range *a, const struct range *b) {
    if (!redist__hdf5_has(ndims, a->count) || !redist__hdf5_has(ndims, b->count))
        return 0;
    for (int i = 0; i < ndims; i++)
        if (a->start[i] >= b->start[i] + b->count[i] || b->start[i] >= a->start[i] + a->count[i])
            return 0;
    return 1;
}

/* Compares this rank's part with those of the ranks before it; those without overlaps cover the dataset if their
 * elements are as many. */
static int check_all(const struct redist__hdf5_call *call, int n, const struct range all[],
                     int size) {
    const struct redist__hdf5_part *part = &call->parts[n];
    redist_index elements = 0, needed = redist__hdf5_volume(part->ndims, part->sizes);
    for (int rank = 0; rank < size; rank++)
        elements += redist__hdf5_volume(part->ndims, all[rank].count);
    for (int rank = 0; rank < call->file->rank; rank++)
        if (ranges_overlap(part->ndims, &all[rank], &all[call->file->rank]))
            return FAIL(REDIST_ERR_OVERLAP, "the part of fields[%d] overlaps that of rank %d", n,
                        rank);
    if (elements < needed)
        return FAIL(REDIST_ERR_SIZE,
                    "the parts of fields[%d] have %lld of %lld elements: no rank has the others", n,
                    (long long)elements, (long long)needed);
    return REDIST_OK;
}

static int check_cover(const struct redist__hdf5_call *call, int n) {
    const struct redist__hdf5_part *part = &call->parts[n];
    MPI_Comm comm = call->file->comm;
    struct range own = {{0}, {0}};
    int size = call->file->size;
    memcpy(own.start, part->start, sizeof own.start);
    memcpy(own.count, part->count, sizeof own.count);
    struct range *all = redist_calloc((size_t)size, sizeof *all);
    int code = redist_agree(
        comm, all != NULL ? REDIST_OK : FAIL(REDIST_ERR_MEMORY, "no memory for %d boxes", size));
    if (code == REDIST_OK)
        code = redist_all_gather(comm, &own, sizeof own, all);
    if (code == REDIST_OK)
        code = check_all(call, n, all, size);
    redist_release(all);
    return redist_agree(comm, code);
}

int redist__hdf5_prepare(struct redist__hdf5_call *call, const redist_hdf5_options *user) {
    REDIST_TRY(agree_options(call, check_call(call, user)));
    for (int n = 0; n < call->nfields; n++)
        REDIST_TRY(agree_field(call, n));
    for (int n = 0; n < call->nfields && call->writes; n++)
        REDIST_TRY(check_cover(call, n));
    return REDIST_OK;
}
