/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts of a checked call: overlaps of parts, its end in the file; and agreement among its ranks. */
#include "file.h"

int redist__find_overlap(const struct redist__file *file, const struct redist__file_field *field) {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    const struct redist__part_box *own = &field->own;
    for (int rank = file->context->rank + 1; rank < file->context->size; rank++)
        if (redist_intersect(field->ndims, own->start, own->count, field->all[rank].start,
                             field->all[rank].count, start, count) != 0)
            return rank;
    return -1;
}

int redist__file_agree(const struct redist__file *file, int code) {
    MPI_Comm comm = file->context->comm;
    REDIST_TRY(redist_agree(comm, code == REDIST_ERR_PEER ? REDIST_OK : code));
    return redist_agree(comm, code);
}

redist_index redist__file_end(const struct redist__file *file) {
    redist_index end = file->options.offset;
    for (int i = 0; i < file->nfields; i++) {
        redist_index next = file->fields[i].offset + file->fields[i].bytes;
        end = next > end ? next : end;
    }
    return end;
}
