/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of fields and options, and the agreement on them; the list of methods. */
#include "file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 48 };

/* A field being checked: the user's, as a copy, and what becomes of it. */
struct check {
    const struct redist__file *file;
    char name[NAME_BYTES]; /* "fields[0]" */
    redist_field given;
    struct redist__file_field *field;
};

#define FAIL(code, ...) redist_fail_in(check->file->function, code, __VA_ARGS__)

/* ---------------------------------------------------------------- one field */

static int check_axis(struct check *check, int i) {
    redist_field *given = &check->given;
    const char *name = check->name;
    redist_index size = given->sizes[i];
    if (size < 0)
        return FAIL(REDIST_ERR_SIZE, "%s.sizes[%d] = %lld is negative", name, i, (long long)size);
    if (given->start[i] < 0 || given->count[i] < 0 || given->start[i] > size - given->count[i])
        return FAIL(REDIST_ERR_SIZE,
                    "%s.start[%d] = %lld and .count[%d] = %lld are not within .sizes[%d] = %lld",
                    name, i, (long long)given->start[i], i, (long long)given->count[i], i,
                    (long long)size);
    redist_index first = given->selected_start[i], *count = &given->selected_count[i];
    if (first < 0 || first > size || *count < 0 || *count > size - first)
        return FAIL(REDIST_ERR_SIZE,
                    "%s.selected_start[%d] = %lld and .selected_count[%d] = %lld are not within "
                    ".sizes[%d] = %lld",
                    name, i, (long long)first, i, (long long)*count, i, (long long)size);
    if (given->selected_step[i] < 0)
        return FAIL(REDIST_ERR_SIZE, "%s.selected_step[%d] = %lld is negative", name, i,
                    (long long)given->selected_step[i]);
    *count = *count == 0 ? size - first : *count;
    given->selected_step[i] += given->selected_step[i] == 0;
    if (given->selected_step[i] > size &&
        size > 0) /* the same element, and no overflow of strides */
        given->selected_step[i] = size;
    return REDIST_OK;
}

/* Replaces strides that are all 0 by those of C order, and refuses elements in one place. */
static int check_strides(struct check *check) {
    redist_field *given = &check->given;
    int none = 1, empty = 0;
    for (int i = 0; i < given->ndims; i++) {
        none &= given->stride[i] == 0;
        empty |= given->count[i] == 0;
    }
    if (none)
        redist__strides(given->ndims, given->count, 1, given->stride);
    for (int i = 0; i < given->ndims && !none && !empty; i++)
        if (given->stride[i] == 0 && given->count[i] > 1)
            return FAIL(REDIST_ERR_SIZE, "%s.stride[%d] = 0 with .count[%d] = %lld", check->name, i,
                        i, (long long)given->count[i]);
    return REDIST_OK;
}

static redist_index divide_up(redist_index a, redist_index b) {
    return a / b + (a % b != 0);
}

/* Finds the selected array along an axis and this rank's part of it; returns the array's index of its first element. */
static redist_index select_axis(const redist_field *given, int i,
                                struct redist__file_field *field) {
    redist_index first = given->selected_start[i], step = given->selected_step[i];
    redist_index end = first + given->selected_count[i];
    redist_index low = given->start[i], high = given->start[i] + given->count[i];
    low = low > first ? low : first;
    high = high < end ? high : end;
    redist_index begin = divide_up(low - first, step);
    redist_index behind = high > low ? divide_up(high - first, step) : begin;
    field->extent[i] = divide_up(given->selected_count[i], step);
    field->own.start[i] = begin;
    field->own.count[i] = behind - begin;
    return first + begin * step - given->start[i];
}

/* Finds this rank's part, as it is in memory. */
static void select_part(struct check *check) {
    const redist_field *given = &check->given;
    struct redist__file_field *field = check->field;
    ptrdiff_t extent = (ptrdiff_t)field->element.extent, before = given->offset;
    int empty = 0;
    for (int i = 0; i < field->ndims; i++) {
        before += (ptrdiff_t)select_axis(given, i, field) * given->stride[i];
        field->stride[i] = given->stride[i] * (ptrdiff_t)given->selected_step[i] * extent;
        empty |= field->own.count[i] == 0;
    }
    if (empty)
        field->own = (struct redist__part_box){.start = {0}};
    else
        field->first = (char *)((uintptr_t)given->array + (uintptr_t)(before * extent));
}

/* Returns the value of a field's size if the user's structures have one. */
static size_t size_of(const redist_field fields[]) {
    return fields[0].size;
}

static int check_datatype(struct check *check) {
    struct redist__file_field *field = check->field;
    char function[2 * NAME_BYTES]; /* so that messages name the field, too */
    snprintf(function, sizeof function, "%s: %s", check->file->function, check->name);
    struct redist__request request = {.function = function,
                                      .context = check->file->context,
                                      .ndims = check->given.ndims,
                                      .datatype = check->given.datatype};
    REDIST_TRY(redist__check_datatype(&request));
    field->element = request.element;
    field->item_size = request.item_size;
    field->datatype = request.datatype;
    if (field->element.before + field->element.behind != 0)
        return FAIL(REDIST_ERR_DATATYPE,
                    "%s.datatype has data outside of its extent, which a file has no place for: "
                    "resize it (MPI_Type_create_resized)",
                    check->name);
    return REDIST_OK;
}

static int check_space(struct check *check) {
    const redist_field *given = &check->given;
    char argument[2 * NAME_BYTES];
    snprintf(argument, sizeof argument, "%s.space", check->name);
    REDIST_TRY(redist__space_check(check->file->function, argument, given->space));
    enum redist_space space = given->space;
    if (space == REDIST_SPACE_AUTO)
        space = redist__space_of(given->array);
    check->field->space = redist_space_at(space);
    snprintf(argument, sizeof argument, "%s.array", check->name);
    if (given->array == NULL || check->field->space->check_array == NULL)
        return REDIST_OK;
    return check->field->space->check_array(check->file->function, argument, given->array);
}

/* Checks a field's own arguments, in the order in which they depend on each other. */
static int check_field(struct check *check) {
    const redist_field *given = &check->given;
    struct redist__file_field *field = check->field;
    struct redist_pieces whole;
    field->ndims = given->ndims;
    if (given->ndims < 1 || given->ndims > REDIST_MAX_NDIMS)
        return FAIL(REDIST_ERR_ARGUMENT, "%s.ndims = %d is not in 1..%d", check->name, given->ndims,
                    REDIST_MAX_NDIMS);
    REDIST_TRY(check_datatype(check));
    for (int i = 0; i < given->ndims; i++)
        REDIST_TRY(check_axis(check, i));
    REDIST_TRY(check_strides(check));
    REDIST_TRY(check_space(check));
    select_part(check);
    if (redist_pieces_cut(&whole, field->ndims, field->extent, field->element.extent, 1) !=
        REDIST_OK)
        return FAIL(REDIST_ERR_LIMIT, "%s has more than 2^63 bytes", check->name);
    field->bytes = redist_pieces_bytes(&whole);
    if (given->array == NULL && field->own.count[0] != 0)
        return FAIL(REDIST_ERR_NULL, "%s.array = NULL, but this rank has elements", check->name);
    return check->file->method->applies(check->file, check->name, field);
}

/* ---------------------------------------------------------------- agreement */

static uint64_t hash_of_element(const struct redist__element *element) {
    const size_t members[] = {element->extent, element->first, element->end, element->run,
                              (size_t)element->naxes};
    uint64_t hash = redist__hash(REDIST__HASH_BASIS, members, sizeof members);
    hash = redist__hash(hash, element->count, (size_t)element->naxes * sizeof element->count[0]);
    return redist__hash(hash, element->stride,
                        (size_t)element->naxes * sizeof element->stride[0]) >>
           1;
}

/* Agrees on what all ranks must have alike of a field. Collective. */
static int agree_on_field(const struct check *check) {
    const redist_field *given = &check->given;
    const struct redist__file_field *field = check->field;
    static const char *const members[] = {"name",
                                          "ndims",
                                          "sizes",
                                          "the extent of datatype",
                                          "space",
                                          "selected_start",
                                          "selected_count",
                                          "selected_step",
                                          "the size of datatype",
                                          "the layout of datatype"};
    enum { MEMBERS = sizeof members / sizeof members[0] };
    char names[MEMBERS][2 * NAME_BYTES];
    for (int i = 0; i < MEMBERS; i++)
        snprintf(names[i], sizeof names[i], "%s.%s", check->name, members[i]);
    const size_t n = (size_t)given->ndims;
    const redist_shared_value values[MEMBERS] = {
        redist_share(names[0], REDIST_SHARED_TEXT, given->name, 0),
        redist_share_number(names[1], given->ndims),
        redist_share(names[2], REDIST_SHARED_EXTENTS, given->sizes, n),
        redist_share_number(names[3], (long long)field->element.extent),
        redist_share_enum(names[4], (int)given->space, redist_space_name),
        redist_share(names[5], REDIST_SHARED_EXTENTS, given->selected_start, n),
        redist_share(names[6], REDIST_SHARED_EXTENTS, given->selected_count, n),
        redist_share(names[7], REDIST_SHARED_EXTENTS, given->selected_step, n),
        redist_share_number(names[8], field->item_size),
        redist_share_number(names[9], (long long)hash_of_element(&field->element))};
    return redist_agree_values_in(check->file->function, check->file->context->comm, REDIST_OK,
                                  MEMBERS, values);
}

/* Checks that this rank's part overlaps no other, and that all parts have all elements. */
static int check_cover(const struct check *check) {
    const struct redist__file_field *field = check->field;
    redist_index elements = 0, all = 0;
    int other = redist__find_overlap(check->file, field);
    if (other >= 0)
        return FAIL(REDIST_ERR_OVERLAP, "%s: this rank's part overlaps that of rank %d",
                    check->name, other);
    for (int rank = 0; rank < check->file->context->size; rank++)
        elements += (redist_index)redist__array_bytes(field->ndims, field->all[rank].count, 1);
    all = (redist_index)redist__array_bytes(field->ndims, field->extent, 1);
    if (elements == all)
        return REDIST_OK;
    return FAIL(REDIST_ERR_SIZE,
                "%s: the parts of all ranks have %lld of the %lld selected elements", check->name,
                (long long)elements, (long long)all);
}

/* Gets the parts of all ranks, and checks them if they are written. Collective. */
static int share_parts(const struct check *check) {
    struct redist__file_field *field = check->field;
    MPI_Comm comm = check->file->context->comm;
    REDIST_TRY(
        redist_agree(comm, redist_all_gather(comm, &field->own, sizeof field->own, field->all)));
    return redist__file_agree(check->file, check->file->writes ? check_cover(check) : REDIST_OK);
}

/* ---------------------------------------------------------------- the call */

/* The methods, the usual one first. */
static const struct redist__file_method *const methods[] = {&redist__file_stripes,
                                                            &redist__file_mpi};

/* Finds the method of a request, NULL or "auto" = the first one; NULL = there is none. */
static const struct redist__file_method *find_method(const char *request) {
    if (request == NULL || strcmp(request, "auto") == 0)
        return methods[0];
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(request, methods[i]->name) == 0)
            return methods[i];
    return NULL;
}

static int check_options(struct redist__file *file, const redist_file_options *options) {
    redist_file_options *own = &file->options;
    *own = REDIST_FILE_OPTIONS_DEFAULT;
    if (options != NULL)
        REDIST_TRY(redist_struct_read(file->function, "options", options, own, sizeof *own));
    REDIST_TRY(redist_check_reserved_in(file->function, "options", own->reserved));
    file->method = find_method(own->method);
    if (file->method == NULL)
        return redist_fail_in(file->function, REDIST_ERR_METHOD,
                              "options->method = \"%.60s\" is not auto, stripes or mpi",
                              own->method);
    if (own->offset < 0)
        return redist_fail_in(file->function, REDIST_ERR_ARGUMENT,
                              "options->offset = %lld is negative", (long long)own->offset);
    if (own->writers_per_node < 0)
        return redist_fail_in(file->function, REDIST_ERR_ARGUMENT,
                              "options->writers_per_node = %d is negative", own->writers_per_node);
    return REDIST_OK;
}

/* Finds the bytes of a piece: two are in the writer's buffers, up to two more in messages. Pieces that leave the
 * second-level caches before they are written take longer: 240 ms with 512 KiB, 560 with 2 MiB, 490 with 8 MiB (4 ranks
 * on 2 busy cores, 2 to 4 writers, blocks of 256^3 complex doubles; file-bench --grid 1x2x2 --flush --buffer-mib). */
static size_t find_piece_bytes(size_t buffer_bytes) {
    enum { BUFFERS = 4, USUAL = 512 << 10 };
    const size_t most = (size_t)1 << 30;
    size_t bytes = buffer_bytes == 0 ? USUAL : buffer_bytes / BUFFERS;
    return bytes < 1 ? 1 : bytes > most ? most : bytes;
}

/* Places the fields one behind the other. */
static int place_fields(struct redist__file *file) {
    redist_index end = file->options.offset;
    for (int i = 0; i < file->nfields; i++) {
        file->fields[i].offset = end;
        if (__builtin_add_overflow(end, file->fields[i].bytes, &end))
            return redist_fail_in(file->function, REDIST_ERR_LIMIT,
                                  "options->offset = %lld and %d fields have more than 2^63 bytes",
                                  (long long)file->options.offset, i + 1);
    }
    return REDIST_OK;
}

/* Allocates and fills the checks of all fields; `given` is an array of structures of the caller's size. */
static int check_fields(struct redist__file *file, const redist_field given[],
                        struct check checks[]) {
    int places = file->context->size;
    for (int i = 0; i < file->nfields; i++) {
        struct check *check = &checks[i];
        const void *user = (const char *)given + (size_t)i * size_of(given);
        *check = (struct check){.file = file, .field = &file->fields[i]};
        snprintf(check->name, sizeof check->name, "fields[%d]", i);
        check->given = REDIST_FIELD_DEFAULT;
        check->field->all = redist_calloc((size_t)places, sizeof *check->field->all);
        if (check->field->all == NULL)
            return FAIL(REDIST_ERR_MEMORY, "no memory for the parts of %d ranks", places);
        REDIST_TRY(redist_struct_read(file->function, check->name, user, &check->given,
                                      sizeof check->given));
        REDIST_TRY(redist_check_reserved_in(file->function, check->name, check->given.reserved));
        REDIST_TRY(check_field(check));
    }
    return place_fields(file);
}

/* Checks this rank's arguments; *checks is to be freed. */
static int check_all(struct redist__file *file, const char *path, const redist_field fields[],
                     const redist_file_options *options, struct check **checks) {
    const char *function = file->function;
    REDIST_TRY(check_options(file, options));
    REDIST_TRY(redist__check_pointer(function, "path", path));
    if (file->nfields > 0)
        REDIST_TRY(redist__check_pointer(function, "fields", fields));
    if (*path == '\0')
        return redist_fail_in(function, REDIST_ERR_ARGUMENT, "path = \"\" names no file");
    if (file->nfields < 0)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT, "nfields = %d is negative",
                              file->nfields);
    file->piece_bytes = find_piece_bytes(file->options.buffer_bytes);
    size_t n = (size_t)file->nfields;
    file->path = redist_calloc(strlen(path) + 1, 1);
    file->fields = redist_calloc(n, sizeof *file->fields);
    *checks = redist_calloc(n, sizeof **checks);
    if (file->path == NULL || file->fields == NULL || *checks == NULL)
        return redist_fail_in(function, REDIST_ERR_MEMORY, "no memory for %d fields",
                              file->nfields);
    strcpy(file->path, path);
    return check_fields(file, fields, *checks);
}

/* Agrees on the arguments of the call. Collective. */
static int agree_on_call(const struct redist__file *file, int code, const char *path) {
    const redist_file_options *options = &file->options;
    const redist_shared_value values[] = {
        redist_share("path", REDIST_SHARED_TEXT, path, 0),
        redist_share_number("nfields", file->nfields),
        redist_share("options->method", REDIST_SHARED_TEXT, options->method, 0),
        redist_share_number("options->offset", options->offset),
        redist_share_number("options->writers_per_node", options->writers_per_node),
        redist_share_number("options->truncate", options->truncate != 0),
        redist_share_number("options->flush", options->flush != 0),
        redist_share_number("options->buffer_bytes", (long long)options->buffer_bytes)};
    return redist_agree_values_in(file->function, file->context->comm, code,
                                  sizeof values / sizeof *values, values);
}

/* Finds the place of arrays on a device, if this rank has some. */
static int find_place(struct redist__file *file) {
    for (int i = 0; i < file->nfields; i++)
        if (file->fields[i].space->find_place != NULL)
            return redist_place_find(file->function, file->fields[i].space, NULL, NULL,
                                     &file->place);
    return REDIST_OK;
}

static int open_file(struct redist__file *file, const char *path, const redist_field fields[],
                     const redist_file_options *options, struct check **checks) {
    int code = check_all(file, path, fields, options, checks);
    REDIST_TRY(agree_on_call(file, code, path));
    for (int i = 0; i < file->nfields; i++) {
        REDIST_TRY(agree_on_field(&(*checks)[i]));
        REDIST_TRY(share_parts(&(*checks)[i]));
    }
    return redist_agree(file->context->comm, find_place(file));
}

int redist__file_open(const char *function, MPI_Comm comm, int writes, const char *path,
                      int nfields, const redist_field fields[], const redist_file_options *options,
                      struct redist__file *file) {
    struct check *checks = NULL;
    *file = (struct redist__file){.function = function, .writes = writes, .nfields = nfields};
    REDIST_TRY(redist_check_comm_in(function, comm));
    REDIST_TRY(redist__context_get(comm, &file->context));
    int code = redist__tags_take(function, file->context, &file->tag);
    if (code == REDIST_OK)
        code = open_file(file, path, fields, options, &checks);
    redist_release(checks);
    return code;
}

void redist__file_close(struct redist__file *file) {
    if (file->context == NULL)
        return;
    for (int i = 0; i < file->nfields && file->fields != NULL; i++)
        redist_release(file->fields[i].all);
    redist_release(file->fields);
    redist_release(file->path);
    if (file->tag >= 0)
        redist__tags_give(file->context, file->tag);
    redist__context_release(file->context);
    *file = (struct redist__file){.context = NULL};
}

/* ---------------------------------------------------------------- for libraries with files of their own */

static redist_field_part part_of(const struct redist__file_field *field) {
    redist_field_part part;
    memset(&part, 0, sizeof part);
    part.ndims = field->ndims;
    part.space = field->space->id;
    part.first = field->first;
    memcpy(part.sizes, field->extent, sizeof part.sizes);
    memcpy(part.start, field->own.start, sizeof part.start);
    memcpy(part.count, field->own.count, sizeof part.count);
    memcpy(part.stride, field->stride, sizeof part.stride);
    return part;
}

int redist_check_fields_in(const char *function, MPI_Comm comm, int writes, int nfields,
                           const redist_field fields[], redist_field_part parts[]) {
    struct redist__file file;
    int code = redist__file_open(function, comm, writes, "(no file)", nfields, fields, NULL, &file);
    for (int i = 0; i < nfields && code == REDIST_OK; i++) {
        const redist_field *given =
            (const redist_field *)(const void *)((const char *)fields + (size_t)i * fields->size);
        parts[i] = part_of(&file.fields[i]);
        parts[i].name = given->name;
        parts[i].datatype = given->datatype;
    }
    redist__file_close(&file);
    return code;
}
