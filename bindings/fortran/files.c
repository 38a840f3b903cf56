/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the Fortran module redist for those of redist_file.h and redist_checkpoint.h. The arguments are those of
 * C unless noted otherwise. */
#include "fields.h"
#include "redist_process.h"

#include <string.h>

/* ---------------------------------------------------------------- fields */

void redist__f_field_put(const redist_field *own, const CFI_cdesc_t *array,
                         struct redist__f_field *field) {
    int d = field->ndims = own->ndims;
    field->space = (int)own->space;
    field->offset = own->offset;
    field->array = own->array;
    field->element_bytes = array->elem_len;
    field->element_type = array->type;
    for (int i = 0; i < d; i++) {
        field->sizes[d - 1 - i] = own->sizes[i];
        field->start[d - 1 - i] = own->start[i] + 1;
        field->count[d - 1 - i] = own->count[i];
        field->stride[d - 1 - i] = own->stride[i];
    }
}

/* Converts a field to C's order; its datatype is to be released. Nothing is checked, as the library does that. */
static redist_field take(const struct redist__f_field *field) {
    redist_field own = REDIST_FIELD_DEFAULT;
    int d = own.ndims = field->ndims;
    own.name = field->name[0] != 0 ? field->name : NULL;
    own.datatype = redist__f_element_type((CFI_type_t)field->element_type, field->element_bytes);
    own.offset = field->offset;
    own.space = (enum redist_space)field->space;
    own.array = field->array;
    for (int i = 0; i < d && d <= REDIST_MAX_NDIMS; i++) {
        own.sizes[i] = field->sizes[d - 1 - i];
        own.start[i] = field->start[d - 1 - i] - 1;
        own.count[i] = field->count[d - 1 - i];
        own.stride[i] = field->stride[d - 1 - i];
        own.selected_start[i] = field->selected_start[d - 1 - i] - 1;
        own.selected_count[i] = field->selected_count[d - 1 - i];
        own.selected_step[i] = field->selected_step[d - 1 - i];
    }
    return own;
}

int redist__f_field_set_name(struct redist__f_field *field, const char *name) {
    size_t bytes = strlen(name) + 1;
    if (bytes > sizeof field->name)
        return redist_fail(REDIST_ERR_ARGUMENT,
                           "name = \"%.40s ...\" has %zu bytes, not at most %zu", name, bytes - 1,
                           sizeof field->name - 1);
    memcpy(field->name, name, bytes);
    return REDIST_OK;
}

/* Replaces the strides of a field by those of an array with as many axes, in which the box begins at `offset`. */
static int set_strides(const redist_box *box, const CFI_cdesc_t *array, redist_field *own) {
    ptrdiff_t bytes = (ptrdiff_t)array->elem_len;
    own->offset = 0;
    for (int i = 0; i < own->ndims; i++)
        if (own->count[i] == 0)
            return REDIST_OK;
    for (int i = 0; i < own->ndims; i++) {
        const CFI_dim_t *axis = &array->dim[own->ndims - 1 - i];
        if (axis->extent < box->offset[i] + box->count[i])
            return redist_fail(REDIST_ERR_SIZE,
                               "axis %d of array has %lld elements, but the box ends at %lld",
                               own->ndims - i, (long long)axis->extent,
                               (long long)(box->offset[i] + box->count[i]));
        if (axis->extent > 1 && axis->sm % bytes != 0)
            return redist_fail(REDIST_ERR_ARGUMENT,
                               "elements of array are %lld bytes apart along axis %d, not a "
                               "multiple of their %lld bytes",
                               (long long)axis->sm, own->ndims - i, (long long)bytes);
        own->stride[i] = axis->extent > 1 ? axis->sm / bytes : 1;
        own->offset += box->offset[i] * own->stride[i];
    }
    return REDIST_OK;
}

/* `box` counts as in C. An array with as many axes as `sizes` has values may be a section, and has its own extents. */
int redist__f_field_set_box(struct redist__f_field *field, int ndims, const redist_index sizes[],
                            const redist_box *box, int space, const CFI_cdesc_t *array) {
    redist_field own = REDIST_FIELD_DEFAULT;
    redist_box place = *box;
    int has_axes = array->rank == ndims;
    if (!has_axes && redist__f_address(array) == NULL && array->base_addr != NULL)
        return redist_fail(REDIST_ERR_ARGUMENT,
                           "array is a section with %d axes, but sizes has %d values", array->rank,
                           ndims);
    if (has_axes)
        redist__f_extents(array, place.extent);
    REDIST_TRY(redist_field_set_box(&own, ndims, sizes, &place));
    if (has_axes)
        REDIST_TRY(set_strides(box, array, &own));
    own.space = (enum redist_space)space;
    own.array = array->base_addr;
    redist__f_field_put(&own, array, field);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- the fields of a call */

redist_field *redist__f_fields_take(int *nfields, const struct redist__f_field fields[]) {
    redist_field *all = redist_calloc((size_t)(*nfields > 0 ? *nfields : 1), sizeof *all);
    if (all == NULL)
        *nfields = -1;
    for (int i = 0; i < *nfields; i++)
        all[i] = take(&fields[i]);
    return all;
}

int redist__f_fields_release(int nfields, redist_field all[], int code) {
    for (int i = 0; i < nfields; i++)
        redist__f_datatype_free(&all[i].datatype);
    if (all == NULL)
        code = redist_fail(REDIST_ERR_MEMORY, "no memory for fields");
    redist_release(all);
    return code;
}

/* ---------------------------------------------------------------- files */

int redist__f_write(MPI_Fint comm, const char *path, int nfields,
                    const struct redist__f_field fields[], const redist_file_options *options) {
    redist_field *all = redist__f_fields_take(&nfields, fields);
    return redist__f_fields_release(nfields, all,
                                    redist_write(MPI_Comm_f2c(comm), path, nfields, all, options));
}

int redist__f_read(MPI_Fint comm, const char *path, int nfields,
                   const struct redist__f_field fields[], const redist_file_options *options) {
    redist_field *all = redist__f_fields_take(&nfields, fields);
    return redist__f_fields_release(nfields, all,
                                    redist_read(MPI_Comm_f2c(comm), path, nfields, all, options));
}

int redist__f_write_start(MPI_Fint comm, const char *path, int nfields,
                          const struct redist__f_field fields[], const redist_file_options *options,
                          redist_file_request **request) {
    redist_field *all = redist__f_fields_take(&nfields, fields);
    return redist__f_fields_release(
        nfields, all, redist_write_start(MPI_Comm_f2c(comm), path, nfields, all, options, request));
}

/* ---------------------------------------------------------------- checkpoints */

static size_t bytes_of(const CFI_cdesc_t *array) {
    size_t bytes = array->elem_len;
    for (int i = 0; i < array->rank; i++)
        bytes *= (size_t)array->dim[i].extent;
    return bytes;
}

int redist__f_checkpoint_write(MPI_Fint comm, const char *path, int nfields,
                               const struct redist__f_field fields[], const CFI_cdesc_t *parameters,
                               const redist_checkpoint_options *options) {
    redist_field *all = redist__f_fields_take(&nfields, fields);
    return redist__f_fields_release(nfields, all,
                                    redist_checkpoint_write(MPI_Comm_f2c(comm), path, nfields, all,
                                                            redist__f_address(parameters),
                                                            bytes_of(parameters), options));
}

int redist__f_checkpoint_write_start(MPI_Fint comm, const char *path, int nfields,
                                     const struct redist__f_field fields[],
                                     const CFI_cdesc_t *parameters,
                                     const redist_checkpoint_options *options,
                                     redist_checkpoint_request **request) {
    redist_field *all = redist__f_fields_take(&nfields, fields);
    return redist__f_fields_release(
        nfields, all,
        redist_checkpoint_write_start(MPI_Comm_f2c(comm), path, nfields, all,
                                      redist__f_address(parameters), bytes_of(parameters), options,
                                      request));
}

/* Reads the parameters, too, unless their array is empty. */
int redist__f_checkpoint_read(MPI_Fint comm, const char *path, int nfields,
                              const struct redist__f_field fields[], const CFI_cdesc_t *parameters,
                              const redist_checkpoint_options *options) {
    size_t bytes = bytes_of(parameters);
    void *place = bytes > 0 ? redist__f_address(parameters) : NULL;
    int fits = bytes == 0 || place != NULL;
    /* no fields: an error on all ranks, so that none waits for one whose parameters do not fit */
    nfields = fits ? nfields : -1;
    redist_field *all = redist__f_fields_take(&nfields, fields);
    int code =
        redist_checkpoint_read(MPI_Comm_f2c(comm), path, nfields, all, place, bytes, options);
    if (!fits)
        code = redist_fail(REDIST_ERR_ARGUMENT, "parameters are not contiguous");
    return redist__f_fields_release(nfields, all, code);
}

int redist__f_checkpoint_get_info(MPI_Fint comm, const char *path, redist_checkpoint_info **info) {
    return redist_checkpoint_get_info(MPI_Comm_f2c(comm), path, info);
}
