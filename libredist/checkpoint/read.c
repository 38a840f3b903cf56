/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading of checkpoints. Each piece is compared with its checksum as it has been read. Fields in another precision are
 * read into arrays of the file's precision, of which each rank has its part, and converted from there.
 */
#include "../files/disk.h"
#include "../geometry/box.h"
#include "checkpoint.h"

#include <stdio.h>
#include <string.h>

struct reading {
    struct redist__checkpoint checkpoint;
    struct redist__file converted; /* the fields as the file has them, if some are converted, */
    redist_field *fields;          /* and these; else NULL */
    int *converts;                 /* how each field is converted (redist__type_converts) */
};

#define FAIL(code, ...) redist_fail_in(checkpoint->file.function, code, __VA_ARGS__)

/* ---------------------------------------------------------------- which entry is whose */

static int find_entry(const struct redist__checkpoint *checkpoint, const char *name) {
    int n = (int)checkpoint->header.head->nfields;
    for (int i = 0; i < n; i++)
        if (strcmp(checkpoint->header.entries[i].name, name) == 0)
            return i;
    return -1;
}

static int refuse_name(const struct redist__checkpoint *checkpoint, int index) {
    char names[200] = "";
    size_t used = 0, n = checkpoint->header.head->nfields;
    for (size_t i = 0; i < n && used + 1 < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'", i == 0 ? "" : ", ",
                                 checkpoint->header.entries[i].name);
    return FAIL(REDIST_ERR_ARGUMENT,
                "fields[%d].name = \"%s\" is not in %.200s, which has %zu: %s%s", index,
                checkpoint->given[index].name, checkpoint->file.path, n, names,
                used >= sizeof names ? " ..." : "");
}

/* Prints extents as "4 x 5", as far as there is room. */
static void print_extents(int ndims, const int64_t extents[], char text[], size_t bytes) {
    size_t used = 0;
    for (int i = 0; i < ndims && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%lld", i == 0 ? "" : " x ",
                                 (long long)extents[i]);
}

static int check_extents(const struct redist__checkpoint *checkpoint, int index,
                         const struct redist__checkpoint_entry *entry) {
    const struct redist__file_field *field = &checkpoint->file.fields[index];
    char own[96], theirs[96];
    if ((int)entry->ndims == field->ndims &&
        memcmp(entry->sizes, field->extent, entry->ndims * sizeof entry->sizes[0]) == 0)
        return REDIST_OK;
    print_extents(field->ndims, field->extent, own, sizeof own);
    print_extents((int)entry->ndims, entry->sizes, theirs, sizeof theirs);
    return FAIL(REDIST_ERR_SIZE, "fields[%d] ('%.60s') has extents of %s, but %.200s has %s", index,
                entry->name, own, checkpoint->file.path, theirs);
}

static int check_type(const struct redist__checkpoint *checkpoint, int index,
                      const struct redist__checkpoint_entry *entry, int *converts) {
    const struct redist__file_field *field = &checkpoint->file.fields[index];
    size_t bytes = field->element.extent;
    const char *type;
    REDIST_TRY(redist__type_name(field->datatype, &type));
    *converts = 0;
    if (strcmp(type, entry->type) == 0 && bytes == entry->element_bytes)
        return REDIST_OK;
    int possible = redist__type_converts(entry->type, (size_t)entry->element_bytes, type, bytes);
    if (checkpoint->options.convert && possible != 0) {
        *converts = possible;
        return REDIST_OK;
    }
    return FAIL(
        REDIST_ERR_DATATYPE,
        "fields[%d] ('%.60s') has elements of %zu bytes, type %s, but %.200s has %llu bytes, "
        "type %s%s",
        index, entry->name, bytes, type, checkpoint->file.path,
        (unsigned long long)entry->element_bytes, entry->type,
        possible != 0 ? ": set options->convert to convert them" : "");
}

/* Finds the entry of each field and whether it is converted, on this rank. */
static int match(const struct reading *reading) {
    const struct redist__checkpoint *checkpoint = &reading->checkpoint;
    for (int i = 0; i < checkpoint->file.nfields; i++) {
        int found = find_entry(checkpoint, checkpoint->given[i].name);
        if (found < 0)
            return refuse_name(checkpoint, i);
        const struct redist__checkpoint_entry *entry = &checkpoint->header.entries[found];
        checkpoint->entries[i] = found;
        REDIST_TRY(check_extents(checkpoint, i, entry));
        REDIST_TRY(check_type(checkpoint, i, entry, &reading->converts[i]));
    }
    return REDIST_OK;
}

static int check_parameters(const struct redist__checkpoint *checkpoint, const void *parameters,
                            size_t parameter_bytes) {
    size_t bytes = (size_t)checkpoint->header.head->parameter_bytes;
    if (parameters == NULL || parameter_bytes == bytes)
        return REDIST_OK;
    return FAIL(REDIST_ERR_SIZE, "parameter_bytes = %zu, but %.200s has %zu bytes of parameters",
                parameter_bytes, checkpoint->file.path, bytes);
}

/* ---------------------------------------------------------------- conversion */

static const struct redist__checkpoint_entry *entry_of(const struct reading *reading, int index) {
    return &reading->checkpoint.header.entries[reading->checkpoint.entries[index]];
}

static size_t own_elements(const struct redist__file_field *field) {
    return redist__array_bytes(field->ndims, field->own.count, 1);
}

/* Describes the array of this rank that a field is read into before it is converted: its part in C order. */
static int make_substitute(const struct reading *reading, int index) {
    const struct redist__file_field *field = &reading->checkpoint.file.fields[index];
    const struct redist__checkpoint_entry *entry = entry_of(reading, index);
    size_t largest = field->element.extent > entry->element_bytes ? field->element.extent
                                                                  : (size_t)entry->element_bytes;
    int widens = reading->converts[index] > 0;
    int numbers = (int)(entry->element_bytes / (widens ? sizeof(float) : sizeof(double)));
    redist_field *own = &reading->fields[index];
    own->name = reading->checkpoint.given[index].name;
    own->ndims = field->ndims;
    own->space = REDIST_SPACE_HOST;
    size_t axes = (size_t)field->ndims * sizeof own->sizes[0];
    memcpy(own->sizes, field->extent, axes);
    memcpy(own->start, field->own.start, axes);
    memcpy(own->count, field->own.count, axes);
    own->array = redist_calloc(own_elements(field), largest);
    if (own->array == NULL)
        return redist_fail_in(reading->checkpoint.file.function, REDIST_ERR_MEMORY,
                              "no memory to convert %zu elements of field '%.60s'",
                              own_elements(field), entry->name);
    REDIST_TRY(redist_check_mpi(
        MPI_Type_contiguous(numbers, widens ? MPI_FLOAT : MPI_DOUBLE, &own->datatype)));
    return redist_check_mpi(MPI_Type_commit(&own->datatype));
}

static int make_substitutes(const struct reading *reading) {
    for (int i = 0; i < reading->checkpoint.file.nfields; i++)
        if (reading->converts[i] != 0)
            REDIST_TRY(make_substitute(reading, i));
    return REDIST_OK;
}

/* Makes the list of fields, all of which can be freed from here on: those to be converted have nothing yet. */
static int make_list(struct reading *reading) {
    const struct redist__checkpoint *checkpoint = &reading->checkpoint;
    int n = checkpoint->file.nfields;
    reading->fields = redist_calloc((size_t)n, sizeof *reading->fields);
    if (reading->fields == NULL)
        return FAIL(REDIST_ERR_MEMORY, "no memory for %d fields", n);
    for (int i = 0; i < n; i++)
        reading->fields[i] =
            reading->converts[i] != 0 ? REDIST_FIELD_DEFAULT : checkpoint->given[i];
    return REDIST_OK;
}

static void free_substitutes(const struct reading *reading) {
    for (int i = 0; i < reading->checkpoint.file.nfields && reading->fields != NULL; i++) {
        if (reading->converts[i] == 0)
            continue;
        redist_release(reading->fields[i].array);
        if (reading->fields[i].datatype != MPI_DATATYPE_NULL)
            MPI_Type_free(&reading->fields[i].datatype);
    }
    redist_release(reading->fields);
}

/* Opens the fields as the file has them, if some are converted. Collective. */
static int open_converted(struct reading *reading, MPI_Comm comm) {
    const struct redist__file *user = &reading->checkpoint.file;
    const redist_file_options options = redist__checkpoint_file_options(&reading->checkpoint);
    int some = 0;
    for (int i = 0; i < user->nfields; i++)
        some |= reading->converts[i] != 0;
    if (!some)
        return REDIST_OK;
    REDIST_TRY(redist__file_agree(user, make_list(reading)));
    REDIST_TRY(redist__file_agree(user, make_substitutes(reading)));
    return redist__file_open(user->function, comm, 0, user->path, user->nfields, reading->fields,
                             &options, &reading->converted);
}

/* Copies a converted field into the user's array. A device's kernel copies short rows, from page-locked memory only. */
static int copy_converted(const struct redist__file_field *field, const void *array) {
    const size_t extent = field->element.extent, bytes = own_elements(field) * extent;
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    void *pinned = NULL;
    if (field->space->asynchronous) {
        REDIST_TRY(field->space->allocate_pinned(bytes, &pinned));
        array = memcpy(pinned, array, bytes);
    }
    redist__strides(field->ndims, field->own.count, extent, stride);
    int code = redist_copy_box_in(field->space->id, NULL, field->ndims, field->own.count, extent,
                                  array, stride, field->first, field->stride);
    int waited = field->space->stream_wait(NULL);
    if (pinned != NULL)
        field->space->release_pinned(pinned);
    return code != REDIST_OK ? code : waited;
}

static int convert(const struct reading *reading, int index) {
    const struct redist__file_field *field = &reading->checkpoint.file.fields[index];
    void *array = reading->fields[index].array;
    int widens = reading->converts[index] > 0;
    size_t bytes = own_elements(field) * field->element.extent;
    if (bytes == 0)
        return REDIST_OK;
    redist__type_convert(array, bytes / (widens ? sizeof(double) : sizeof(float)), widens);
    return copy_converted(field, array);
}

static int convert_all(const struct reading *reading) {
    redist_visit visit;
    int code = redist_enter(&reading->checkpoint.file.place, &visit);
    for (int i = 0; i < reading->checkpoint.file.nfields && code == REDIST_OK; i++)
        if (reading->converts[i] != 0)
            code = convert(reading, i);
    redist_leave(&visit);
    return code;
}

/* ---------------------------------------------------------------- the data */

/* Compares a piece with its checksum; runs in a thread. */
static int check_piece(void *context, int field, redist_index piece, void *data, size_t bytes) {
    const struct redist__checkpoint *checkpoint = context;
    uint64_t sum = 0;
    REDIST_TRY(redist__disk_read(&checkpoint->file, checkpoint->descriptor, (char *)&sum,
                                 sizeof sum, redist__checkpoint_place(checkpoint, field, piece),
                                 0));
    if (sum == redist__checksum(data, bytes))
        return REDIST_OK;
    return FAIL(REDIST_ERR_FILE,
                "%.200s is damaged: piece %lld of field '%.60s' does not match its checksum; the "
                "arrays are undefined now",
                checkpoint->file.path, (long long)piece, checkpoint->given[field].name);
}

/* Reads the data of all fields. Collective, the same result on all ranks. */
static int read_data(struct reading *reading) {
    struct redist__checkpoint *checkpoint = &reading->checkpoint;
    struct redist__file *file = reading->fields != NULL ? &reading->converted : &checkpoint->file;
    const struct redist__piece_hook hook = {check_piece, NULL, checkpoint};
    file->piece_bytes = (size_t)checkpoint->header.head->piece_bytes;
    for (int i = 0; i < file->nfields; i++)
        file->fields[i].offset = (redist_index)entry_of(reading, i)->offset;
    int opens = redist__stripes_is_writer(file);
    REDIST_TRY(redist__file_agree(file, opens ? redist__disk_open(file, 0, &checkpoint->descriptor)
                                              : REDIST_OK));
    REDIST_TRY(redist__stripes_run(file, checkpoint->descriptor, &hook));
    return redist__file_agree(file, convert_all(reading));
}

static int read_file(struct reading *reading, MPI_Comm comm, void *parameters,
                     size_t parameter_bytes) {
    struct redist__checkpoint *checkpoint = &reading->checkpoint;
    struct redist__file *file = &checkpoint->file;
    MPI_Comm own = file->context->comm;
    REDIST_TRY(redist__checkpoint_load(file->function, own, file->path, &checkpoint->header));
    reading->converts = redist_calloc((size_t)file->nfields, sizeof *reading->converts);
    REDIST_TRY(redist__agree_memory(own, reading->converts, "for the fields of a checkpoint"));
    int code = match(reading);
    redist__keep_first(&code, check_parameters(checkpoint, parameters, parameter_bytes));
    REDIST_TRY(redist__file_agree(file, code));
    REDIST_TRY(open_converted(reading, comm));
    REDIST_TRY(read_data(reading));
    if (parameters != NULL && parameter_bytes > 0)
        memcpy(parameters, checkpoint->header.parameters, parameter_bytes);
    return REDIST_OK;
}

int redist_checkpoint_read(MPI_Comm comm, const char *path, int nfields,
                           const redist_field fields[], void *parameters, size_t parameter_bytes,
                           const redist_checkpoint_options *options) {
    struct reading reading = {.converts = NULL};
    int code = redist__checkpoint_open(__func__, comm, 0, path, nfields, fields, options, REDIST_OK,
                                       &reading.checkpoint);
    if (code == REDIST_OK)
        code = read_file(&reading, comm, parameters, parameter_bytes);
    (void)redist__disk_close(&reading.checkpoint.file, &reading.checkpoint.descriptor);
    free_substitutes(&reading);
    redist__file_close(&reading.converted);
    redist__checkpoint_close(&reading.checkpoint);
    redist_release(reading.converts);
    return code;
}
