/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a call, for libraries with files of their own. */
#include "file.h"

#include <string.h>

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
