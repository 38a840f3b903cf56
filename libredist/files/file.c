/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions of redist_file.h. */
#include "file.h"

int redist_field_set_box(redist_field *field, int ndims, const redist_index sizes[],
                         const redist_box *box) {
    redist_field own = REDIST_FIELD_DEFAULT;
    redist_box place = REDIST_BOX_DEFAULT;
    redist_index extent[REDIST_MAX_NDIMS];
    const struct redist__request request = {.function = __func__, .ndims = ndims};
    REDIST_TRY(redist_struct_read(__func__, "field", field, &own, sizeof own));
    REDIST_TRY(redist__check_ndims(&request, 1));
    REDIST_TRY(redist_struct_read(__func__, "box", box, &place, sizeof place));
    REDIST_TRY(redist__check_box(&request, sizes, "box", &place));
    own.ndims = ndims;
    own.offset = 0;
    for (int i = 0; i < ndims; i++)
        extent[i] = place.extent[i] != 0 ? place.extent[i] : place.count[i];
    redist__strides(ndims, extent, 1, own.stride);
    for (int i = 0; i < ndims; i++) {
        own.sizes[i] = sizes[i];
        own.start[i] = place.start[i];
        own.count[i] = place.count[i];
        own.offset += place.offset[i] * own.stride[i];
    }
    return redist_struct_write(__func__, "field", &own, sizeof own, field);
}

/* Moves fields between arrays and a file. Collective. */
static int move(const char *function, MPI_Comm comm, int writes, const char *path, int nfields,
                const redist_field fields[], const redist_file_options *options) {
    struct redist__file file;
    void *data;
    int code = redist__file_open(function, comm, writes, path, nfields, fields, options, &file);
    if (code == REDIST_OK)
        code = file.method->start(&file, 0, &data);
    if (code == REDIST_OK)
        code = file.method->finish(&file, data);
    redist__file_close(&file);
    return code;
}

int redist_write(MPI_Comm comm, const char *path, int nfields, const redist_field fields[],
                 const redist_file_options *options) {
    return move(__func__, comm, 1, path, nfields, fields, options);
}

int redist_read(MPI_Comm comm, const char *path, int nfields, const redist_field fields[],
                const redist_file_options *options) {
    return move(__func__, comm, 0, path, nfields, fields, options);
}

/* ---------------------------------------------------------------- writes that have started */

struct redist_file_request {
    redist_closer closer; /* first */
    struct redist__file file;
    void *data; /* of the method */
    int closed; /* in MPI_Finalize, with the result `code` */
    int code;
};

/* Completes a write. Collective. */
static void complete(redist_closer *closer) {
    redist_file_request *request = (redist_file_request *)closer;
    request->code = request->file.method->finish(&request->file, request->data);
    redist__file_close(&request->file);
    request->closed = 1;
}

/* Makes the request of a checked call and starts its write. Collective. */
static int start(struct redist__file *file, redist_file_request **result) {
    redist_file_request *request = redist_calloc(1, sizeof *request);
    int code = redist__check_pointer(file->function, "request", result);
    if (code == REDIST_OK && (request == NULL || !redist_handle_add(request, REDIST_HANDLE_FILE)))
        code = redist_fail_in(file->function, REDIST_ERR_MEMORY, "no memory for a request");
    code = redist_agree(file->context->comm, code);
    if (code == REDIST_OK) {
        request->file = *file;
        code = file->method->start(&request->file, 1, &request->data);
    }
    if (code == REDIST_OK) {
        redist_closer_add(request->file.context->comm, &request->closer, complete);
        *result = request;
        return REDIST_OK;
    }
    redist_handle_remove(request);
    redist_release(request);
    return code;
}

int redist_write_start(MPI_Comm comm, const char *path, int nfields, const redist_field fields[],
                       const redist_file_options *options, redist_file_request **request) {
    struct redist__file file;
    int code = redist__file_open(__func__, comm, 1, path, nfields, fields, options, &file);
    if (code == REDIST_OK)
        code = start(&file, request);
    if (code != REDIST_OK)
        redist__file_close(&file);
    return code;
}

int redist_file_wait(redist_file_request **request) {
    if (request == NULL || *request == NULL)
        return redist_fail(REDIST_ERR_NULL, "request = NULL");
    if (!redist_handle_is(*request, REDIST_HANDLE_FILE))
        return redist_fail(REDIST_ERR_STATE, "request = %p is not a write that has started",
                           (void *)*request);
    if (!(*request)->closed) {
        if (!redist__mpi_is_running())
            return redist_fail(REDIST_ERR_STATE, "MPI is not running");
        redist_closer_remove(&(*request)->closer);
        complete(&(*request)->closer);
    }
    int code = (*request)->code;
    redist_handle_remove(*request);
    redist_release(*request);
    *request = NULL;
    return code;
}
