/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files by method mpi: MPI's collective functions on a view of the file, the reference for other methods. */
#include "disk.h"
#include "part.h"

#include <limits.h>

/* Turns the result of a call for files into a code with the path. */
static int check(const struct redist__file *file, int result) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (result == MPI_SUCCESS)
        return REDIST_OK;
    MPI_Error_string(result, text, &length);
    return redist_fail_in(file->function, REDIST_ERR_FILE, "%.200s: MPI: %.180s", file->path, text);
}

static int applies(const struct redist__file *file, const char *argument,
                   const struct redist__file_field *field) {
    if (field->space->asynchronous)
        return redist_fail_in(file->function, REDIST_ERR_METHOD,
                              "options->method = \"mpi\" is for host memory, and %s.array is on a "
                              "device",
                              argument);
    for (int i = 0; i < field->ndims; i++)
        if (field->own.count[i] > INT_MAX)
            return redist_fail_in(file->function, REDIST_ERR_LIMIT,
                                  "options->method = \"mpi\" is for less than 2^31 elements along "
                                  "an axis, and %s has %lld along axis %d",
                                  argument, (long long)field->own.count[i], i);
    return REDIST_OK;
}

/* The types of a part in memory and in the file, and the byte of the file where it begins; no elements: the datatype,
 * for none of them. */
struct view {
    int count;
    MPI_Datatype in_memory, in_file;
    MPI_Offset begin;
};

static int make_view(const struct redist__file *file, const struct redist__file_field *field,
                     struct view *view) {
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    const redist_index *count = field->own.count;
    *view = (struct view){0, field->datatype, field->datatype, (MPI_Offset)field->offset};
    if (count[0] == 0)
        return REDIST_OK;
    redist__strides(field->ndims, field->extent, field->element.extent, stride);
    for (int i = 0; i < field->ndims; i++)
        view->begin += field->own.start[i] * stride[i];
    view->count = 1;
    REDIST_TRY(redist__part_type(file, field, count, field->stride, &view->in_memory));
    return redist__part_type(file, field, count, stride, &view->in_file);
}

static void free_view(const struct redist__file_field *field, struct view *view) {
    if (view->in_memory != field->datatype)
        MPI_Type_free(&view->in_memory);
    if (view->in_file != field->datatype)
        MPI_Type_free(&view->in_file);
}

/* Finds whether parts of a field overlap. Collective. */
static int find_overlaps(const struct redist__file *file, const struct redist__file_field *field,
                         int *overlaps) {
    int disjoint = redist__find_overlap(file, field) < 0, all = 0;
    int code = redist_all_lowest(file->context->comm, disjoint, &all);
    *overlaps = !all;
    return redist_agree(file->context->comm, code);
}

/* Moves the elements of a view. Collective. Parts that overlap are read by each rank alone, since Open MPI 4.1 reads
 * wrong elements then. */
static int move_view(const struct redist__file *file, const struct redist__file_field *field,
                     const struct view *view, int overlaps, MPI_File handle) {
    int (*const read)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *) =
        overlaps ? MPI_File_read_at : MPI_File_read_at_all;
    int result = file->writes ? MPI_File_write_at_all(handle, 0, field->first, view->count,
                                                      view->in_memory, MPI_STATUS_IGNORE)
                              : read(handle, 0, field->first, view->count, view->in_memory,
                                     MPI_STATUS_IGNORE);
    return check(file, result);
}

/* Moves one field. Collective. */
static int move_field(const struct redist__file *file, const struct redist__file_field *field,
                      MPI_File handle) {
    struct view view;
    MPI_Comm comm = file->context->comm;
    int overlaps = 0, code = redist_agree(comm, make_view(file, field, &view));
    if (code == REDIST_OK)
        code = find_overlaps(file, field, &overlaps);
    if (code == REDIST_OK)
        code = redist_agree(comm,
                            check(file, MPI_File_set_view(handle, view.begin, field->datatype,
                                                          view.in_file, "native", MPI_INFO_NULL)));
    if (code == REDIST_OK)
        code = redist_agree(comm, move_view(file, field, &view, overlaps, handle));
    free_view(field, &view);
    return code;
}

/* Creates the file, or checks its length. */
static int prepare(const struct redist__file *file) {
    int descriptor = -1;
    if (file->writes) {
        REDIST_TRY(redist__disk_create(file));
        return redist__disk_reserve(file); /* Open MPI 4.1 says MPI_SUCCESS when the disk is full */
    }
    REDIST_TRY(redist__disk_open(file, 0, &descriptor));
    return redist__disk_close(file, &descriptor);
}

/* Flushes what MPI has written. */
static int flush(const struct redist__file *file) {
    int descriptor = -1;
    REDIST_TRY(redist__disk_open(file, 0, &descriptor));
    int code = redist__disk_flush(file, descriptor);
    (void)redist__disk_close(file, &descriptor);
    return code != REDIST_OK ? code : redist__disk_flush_folder(file);
}

static int start(const struct redist__file *file, int keeps, void **data) {
    MPI_File handle = MPI_FILE_NULL;
    MPI_Comm comm = file->context->comm;
    int is_root = file->context->rank == 0, flushes = file->writes && file->options.flush;
    (void)keeps; /* all is written on return */
    *data = NULL;
    REDIST_TRY(redist_agree(comm, is_root ? prepare(file) : REDIST_OK));
    /* gaps of elements may be read, too */
    int mode = file->writes ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
    REDIST_TRY(redist_agree(
        comm, check(file, MPI_File_open(comm, file->path, mode, MPI_INFO_NULL, &handle))));
    int code = REDIST_OK;
    for (int i = 0; i < file->nfields && code == REDIST_OK; i++)
        code = move_field(file, &file->fields[i], handle);
    int closed = flushes ? check(file, MPI_File_sync(handle)) : REDIST_OK;
    redist__keep_first(&closed, check(file, MPI_File_close(&handle)));
    if (flushes && is_root && closed == REDIST_OK)
        closed = flush(file);
    closed = redist_agree(comm, closed);
    return code != REDIST_OK ? code : closed;
}

static int finish(const struct redist__file *file, void *data) {
    (void)file;
    (void)data;
    return REDIST_OK;
}

const struct redist__file_method redist__file_mpi = {"mpi", applies, start, finish};
