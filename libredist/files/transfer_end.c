/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement on the result of a transfer, and the end of its fields in the file, for methods and checkpoints. */
#include "file.h"

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
