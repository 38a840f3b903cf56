/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing of checkpoints. Writers put pieces and their checksums into a file of another name and flush it; when all
 * have, rank 0 writes and flushes the header, and the file gets its name.
 */
#include "../files/disk.h"
#include "checkpoint.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct redist_checkpoint_request {
    redist_closer closer; /* first */
    struct redist__checkpoint checkpoint;
    struct redist__piece_hook hook;
    struct redist__stripes *stripes;
    char *path; /* what the file, now `path`.part, is called in the end */
    int closed; /* in MPI_Finalize, with the result `code` */
    int code;
};

#define FAIL(...) redist_fail_in(checkpoint->file.function, REDIST_ERR_FILE, __VA_ARGS__)

/* ---------------------------------------------------------------- the header */

static int describe_field(const struct redist__checkpoint *checkpoint, int index) {
    const struct redist__file_field *field = &checkpoint->file.fields[index];
    struct redist__checkpoint_entry *entry = &checkpoint->header.entries[index];
    const char *type;
    REDIST_TRY(redist__type_name(field->datatype, &type));
    strcpy(entry->name, checkpoint->given[index].name);
    strcpy(entry->type, type);
    entry->element_bytes = field->element.extent;
    entry->ndims = (uint32_t)field->ndims;
    memcpy(entry->sizes, field->extent, (size_t)field->ndims * sizeof entry->sizes[0]);
    checkpoint->entries[index] = index;
    return REDIST_OK;
}

/* Makes the header, the same on all ranks except for parameters and time, which rank 0 writes. */
static int make_header(struct redist__checkpoint *checkpoint, const void *parameters,
                       size_t parameter_bytes) {
    const struct redist__file *file = &checkpoint->file;
    size_t n = (size_t)file->nfields;
    struct redist__checkpoint_head *head =
        redist_calloc(redist__checkpoint_header_bytes(n, parameter_bytes), 1);
    int version[3];
    checkpoint->header.head = head;
    if (head == NULL)
        return redist_fail_in(file->function, REDIST_ERR_MEMORY, "no memory for %d fields",
                              file->nfields);
    head->nfields = (uint32_t)n;
    head->parameter_bytes = parameter_bytes;
    head->piece_bytes = checkpoint->options.piece_bytes;
    head->seconds = (int64_t)time(NULL);
    redist_version(&version[0], &version[1], &version[2]);
    for (int i = 0; i < 3; i++)
        head->library[i] = (uint32_t)version[i];
    checkpoint->header = redist__checkpoint_header_in(head);
    if (parameter_bytes > 0)
        memcpy(checkpoint->header.parameters, parameters, parameter_bytes);
    for (int i = 0; i < file->nfields; i++)
        REDIST_TRY(describe_field(checkpoint, i));
    return redist__checkpoint_complete(file->function, &checkpoint->header);
}

/* ---------------------------------------------------------------- the file */

/* Writes the checksum of a piece; runs in a thread. */
static int write_checksum(void *context, int field, redist_index piece, void *data, size_t bytes) {
    const struct redist__checkpoint *checkpoint = context;
    uint64_t sum = redist__checksum(data, bytes);
    return redist__disk_write(&checkpoint->file, checkpoint->descriptor, (const char *)&sum,
                              sizeof sum, redist__checkpoint_place(checkpoint, field, piece));
}

/* Flushes what a writer has written; runs in its thread. */
static int flush_pieces(void *context) {
    const struct redist__checkpoint *checkpoint = context;
    return redist__disk_flush(&checkpoint->file, checkpoint->descriptor);
}

/* Refuses to replace what is not a file. */
static int check_replaced(const struct redist_checkpoint_request *request) {
    const struct redist__checkpoint *checkpoint = &request->checkpoint;
    struct stat status;
    if (stat(request->path, &status) != 0 || S_ISREG(status.st_mode))
        return REDIST_OK;
    return FAIL("%.200s exists and is not a regular file", request->path);
}

/* Makes the file, without what an earlier writer may have left. */
static int make_part(struct redist_checkpoint_request *request) {
    struct redist__checkpoint *checkpoint = &request->checkpoint;
    REDIST_TRY(check_replaced(request));
    (void)unlink(checkpoint->file.path);
    REDIST_TRY(redist__disk_create(&checkpoint->file));
    REDIST_TRY(redist__disk_open(&checkpoint->file, 1, &checkpoint->descriptor));
    return redist__disk_set_length(&checkpoint->file, checkpoint->descriptor,
                                   (redist_index)checkpoint->header.head->file_bytes);
}

/* Opens the file on all writers, after rank 0 has made it. Collective. */
static int open_parts(struct redist_checkpoint_request *request) {
    struct redist__checkpoint *checkpoint = &request->checkpoint;
    const struct redist__file *file = &checkpoint->file;
    int is_first = file->context->rank == 0;
    REDIST_TRY(redist__file_agree(file, is_first ? make_part(request) : REDIST_OK));
    int opens = !is_first && redist__stripes_is_writer(file);
    return redist__file_agree(file, opens ? redist__disk_open(file, 1, &checkpoint->descriptor)
                                          : REDIST_OK);
}

/* ---------------------------------------------------------------- the end */

/* Writes the header and gives the file its name, on rank 0. */
static int complete(const struct redist_checkpoint_request *request) {
    const struct redist__checkpoint *checkpoint = &request->checkpoint;
    const struct redist__file *file = &checkpoint->file;
    REDIST_TRY(redist__disk_write(file, checkpoint->descriptor,
                                  (const char *)checkpoint->header.head, checkpoint->header.bytes,
                                  0));
    REDIST_TRY(redist__disk_flush(file, checkpoint->descriptor));
    REDIST_TRY(redist__generation_advance(file->function, request->path, file->path,
                                          checkpoint->options.keep));
    return redist__disk_flush_folder(file);
}

/* Closes the file, and removes it from rank 0 after a failure, unless it has its name. */
static void close_part(struct redist__checkpoint *checkpoint, int code) {
    if (checkpoint->descriptor < 0)
        return;
    (void)redist__disk_close(&checkpoint->file, &checkpoint->descriptor);
    if (code != REDIST_OK && checkpoint->file.context->rank == 0)
        (void)unlink(checkpoint->file.path);
}

/* Ends a write, whether it succeeded so far or not. Collective, the same result on all ranks. */
static int end(struct redist_checkpoint_request *request, int code) {
    struct redist__checkpoint *checkpoint = &request->checkpoint;
    if (request->stripes != NULL)
        redist__keep_first(&code, redist__stripes_finish(request->stripes));
    if (code == REDIST_OK)
        code = redist__file_agree(
            &checkpoint->file, checkpoint->file.context->rank == 0 ? complete(request) : REDIST_OK);
    close_part(checkpoint, code);
    redist_release(request->path);
    redist__checkpoint_close(checkpoint);
    return code;
}

static void close_request(redist_closer *closer) {
    struct redist_checkpoint_request *request = (struct redist_checkpoint_request *)closer;
    request->code = end(request, REDIST_OK);
    request->closed = 1;
}

static void release(struct redist_checkpoint_request *request) {
    redist_handle_remove(request);
    redist_release(request);
}

/* ---------------------------------------------------------------- the beginning */

static int check_parameters(const char *function, const void *parameters, size_t parameter_bytes) {
    if (parameters == NULL && parameter_bytes > 0)
        return redist_fail_in(function, REDIST_ERR_NULL, "parameters = NULL, parameter_bytes = %zu",
                              parameter_bytes);
    if (parameter_bytes > REDIST_CHECKPOINT_PARAMETER_BYTES)
        return redist_fail_in(function, REDIST_ERR_LIMIT, "parameter_bytes = %zu is more than %d",
                              parameter_bytes, REDIST_CHECKPOINT_PARAMETER_BYTES);
    return REDIST_OK;
}

/* Lists the types of all fields, to be compared, and freed by redist_release; NULL = no memory. */
static char *list_types(const struct redist__checkpoint *checkpoint) {
    const struct redist__checkpoint_entry *entries = checkpoint->header.entries;
    const size_t most = sizeof entries->type + 2;
    int n = checkpoint->file.nfields;
    char *list = redist_calloc((size_t)n * most + 1, 1), *end = list;
    for (int i = 0; i < n && list != NULL; i++)
        end += snprintf(end, most, "%s%s", i > 0 ? ", " : "", entries[i].type);
    return list;
}

/* Makes header and names, and agrees that all ranks have them. Collective. */
static int prepare(struct redist_checkpoint_request *request, const void *parameters,
                   size_t parameter_bytes) {
    struct redist__checkpoint *checkpoint = &request->checkpoint;
    struct redist__file *file = &checkpoint->file;
    int code = make_header(checkpoint, parameters, parameter_bytes);
    char *part = redist__generation_part(file->path);
    char *types = code == REDIST_OK ? list_types(checkpoint) : NULL;
    if (part == NULL || types == NULL)
        redist__keep_first(&code, redist_fail_in(file->function, REDIST_ERR_MEMORY,
                                                 "no memory for the name of a file"));
    const redist_shared_value values[] = {
        redist_share_number("parameter_bytes", (long long)parameter_bytes),
        redist_share("the types of fields", REDIST_SHARED_TEXT, types, 0)};
    request->path = file->path;
    file->path = part;
    code = redist_agree_values_in(file->function, file->context->comm, code, 2, values);
    redist_release(types);
    REDIST_TRY(code);
    file->piece_bytes = checkpoint->options.piece_bytes;
    for (int i = 0; i < file->nfields; i++)
        file->fields[i].offset = (redist_index)checkpoint->header.entries[i].offset;
    return REDIST_OK;
}

static int start(struct redist_checkpoint_request *request, int keeps) {
    struct redist__checkpoint *checkpoint = &request->checkpoint;
    request->hook = (struct redist__piece_hook){write_checksum, flush_pieces, checkpoint};
    REDIST_TRY(open_parts(request));
    return redist__stripes_start(&checkpoint->file, checkpoint->descriptor, keeps, &request->hook,
                                 &request->stripes);
}

/* Starts a write; *request is NULL after a failure. Collective, the same result on all ranks. */
static int begin(const char *function, MPI_Comm comm, const char *path, int nfields,
                 const redist_field fields[], const void *parameters, size_t parameter_bytes,
                 const redist_checkpoint_options *options, int keeps, int code,
                 struct redist_checkpoint_request **request) {
    struct redist_checkpoint_request *own = redist_calloc(1, sizeof *own), none;
    struct redist__checkpoint *checkpoint = own != NULL ? &own->checkpoint : &none.checkpoint;
    if (own == NULL || !redist_handle_add(own, REDIST_HANDLE_CHECKPOINT))
        redist__keep_first(&code, redist_fail_in(function, REDIST_ERR_MEMORY,
                                                 "no memory for the state of a write"));
    redist__keep_first(&code, check_parameters(function, parameters, parameter_bytes));
    code = redist__checkpoint_open(function, comm, 1, path, nfields, fields, options, code,
                                   checkpoint);
    if (own == NULL)
        return code;
    if (code == REDIST_OK)
        code = prepare(own, parameters, parameter_bytes);
    if (code == REDIST_OK)
        code = start(own, keeps);
    if (code == REDIST_OK) {
        *request = own;
        return REDIST_OK;
    }
    (void)end(own, code);
    release(own);
    return code;
}

int redist_checkpoint_write(MPI_Comm comm, const char *path, int nfields,
                            const redist_field fields[], const void *parameters,
                            size_t parameter_bytes, const redist_checkpoint_options *options) {
    struct redist_checkpoint_request *request = NULL;
    REDIST_TRY(begin(__func__, comm, path, nfields, fields, parameters, parameter_bytes, options, 0,
                     REDIST_OK, &request));
    int code = end(request, REDIST_OK);
    release(request);
    return code;
}

int redist_checkpoint_write_start(MPI_Comm comm, const char *path, int nfields,
                                  const redist_field fields[], const void *parameters,
                                  size_t parameter_bytes, const redist_checkpoint_options *options,
                                  redist_checkpoint_request **request) {
    struct redist_checkpoint_request *own = NULL;
    int code = redist__check_pointer(__func__, "request", request);
    REDIST_TRY(begin(__func__, comm, path, nfields, fields, parameters, parameter_bytes, options, 1,
                     code, &own));
    redist_closer_add(own->checkpoint.file.context->comm, &own->closer, close_request);
    *request = own;
    return REDIST_OK;
}

int redist_checkpoint_wait(redist_checkpoint_request **request) {
    if (request == NULL || *request == NULL)
        return redist_fail(REDIST_ERR_NULL, "request = NULL");
    struct redist_checkpoint_request *own = *request;
    if (!redist_handle_is(own, REDIST_HANDLE_CHECKPOINT))
        return redist_fail(REDIST_ERR_STATE, "request = %p is not a checkpoint that has started",
                           (void *)own);
    if (!own->closed) {
        if (!redist__mpi_is_running())
            return redist_fail(REDIST_ERR_STATE, "MPI is not running");
        redist_closer_remove(&own->closer);
        close_request(&own->closer);
    }
    int code = own->code;
    release(own);
    *request = NULL;
    return code;
}
