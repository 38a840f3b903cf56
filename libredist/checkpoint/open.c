/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a call, which is what raw files check, and names. */
#include "checkpoint.h"

#include <string.h>

static int check_options(const char *function, const redist_checkpoint_options *options,
                         redist_checkpoint_options *own) {
    enum { USUAL_PIECE = 2 << 20, MOST_KEPT = 1 << 20 };
    *own = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
    if (options != NULL)
        REDIST_TRY(redist_struct_read(function, "options", options, own, sizeof *own));
    REDIST_TRY(redist_check_reserved_in(function, "options", own->reserved));
    REDIST_TRY(redist__check_range(function, REDIST_ERR_ARGUMENT, "options->keep", own->keep, 0,
                                   MOST_KEPT));
    if (own->piece_bytes > REDIST__CHECKPOINT_PIECE_BYTES)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "options->piece_bytes = %zu is larger than %d", own->piece_bytes,
                              REDIST__CHECKPOINT_PIECE_BYTES);
    own->piece_bytes = own->piece_bytes == 0 ? USUAL_PIECE : own->piece_bytes;
    return REDIST_OK;
}

/* Checks what only checkpoints have, on this rank. */
static int check_own(const char *function, int nfields, const redist_checkpoint_options *options,
                     redist_checkpoint_options *own) {
    if (redist__checksum_absent() != NULL)
        return redist_fail_in(function, REDIST_ERR_METHOD, "%s", redist__checksum_absent());
    if (nfields > REDIST_CHECKPOINT_FIELDS)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT, "nfields = %d is more than %d",
                              nfields, REDIST_CHECKPOINT_FIELDS);
    return check_options(function, options, own);
}

/* Agrees on what only checkpoints have. Collective. */
static int agree_on_own(const char *function, MPI_Comm comm, int code,
                        const redist_checkpoint_options *own) {
    const redist_shared_value values[] = {
        redist_share_number("options->keep", own->keep),
        redist_share_number("options->convert", own->convert != 0),
        redist_share_number("options->piece_bytes", (long long)own->piece_bytes)};
    struct redist__context *context;
    REDIST_TRY(redist_check_comm_in(function, comm));
    REDIST_TRY(redist__context_get(comm, &context));
    code = redist_agree_values_in(function, context->comm, code, sizeof values / sizeof *values,
                                  values);
    redist__context_release(context);
    return code;
}

/* Copies the user's structures, which may be of another size, with their names, on which all ranks have agreed. */
static int take_fields(struct redist__checkpoint *checkpoint, const redist_field fields[]) {
    const struct redist__file *file = &checkpoint->file;
    const char *user = (const char *)fields;
    checkpoint->given = redist_calloc((size_t)file->nfields, sizeof *checkpoint->given);
    checkpoint->entries = redist_calloc((size_t)file->nfields, sizeof *checkpoint->entries);
    if (checkpoint->given == NULL || checkpoint->entries == NULL)
        return redist_fail_in(file->function, REDIST_ERR_MEMORY, "no memory for %d fields",
                              file->nfields);
    for (int i = 0; i < file->nfields; i++) {
        checkpoint->given[i] = REDIST_FIELD_DEFAULT;
        REDIST_TRY(redist_struct_read(file->function, "fields", user, &checkpoint->given[i],
                                      sizeof *checkpoint->given));
        user += fields[0].size;
    }
    return REDIST_OK;
}

static int check_name(const struct redist__checkpoint *checkpoint, int index) {
    const char *function = checkpoint->file.function, *name = checkpoint->given[index].name;
    if (name == NULL)
        return redist_fail_in(function, REDIST_ERR_NULL, "fields[%d].name = NULL", index);
    if (name[0] == 0 || strlen(name) >= REDIST_CHECKPOINT_NAME_BYTES)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "fields[%d].name = \"%.40s\" has %zu bytes, not 1..%d", index, name,
                              strlen(name), REDIST_CHECKPOINT_NAME_BYTES - 1);
    for (int i = 0; i < index; i++)
        if (strcmp(checkpoint->given[i].name, name) == 0)
            return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                                  "fields[%d].name = \"%s\" is that of fields[%d], too", index,
                                  name, i);
    return REDIST_OK;
}

static int check_names(const struct redist__checkpoint *checkpoint) {
    for (int i = 0; i < checkpoint->file.nfields; i++)
        REDIST_TRY(check_name(checkpoint, i));
    return REDIST_OK;
}

redist_file_options redist__checkpoint_file_options(const struct redist__checkpoint *checkpoint) {
    redist_file_options own = REDIST_FILE_OPTIONS_DEFAULT;
    own.method = "stripes";
    own.flush = 1; /* begins early */
    own.writers_per_node = checkpoint->options.writers_per_node;
    return own;
}

int redist__checkpoint_open(const char *function, MPI_Comm comm, int writes, const char *path,
                            int nfields, const redist_field fields[],
                            const redist_checkpoint_options *options, int code,
                            struct redist__checkpoint *checkpoint) {
    *checkpoint = (struct redist__checkpoint){.descriptor = -1};
    redist__keep_first(&code, check_own(function, nfields, options, &checkpoint->options));
    REDIST_TRY(agree_on_own(function, comm, code, &checkpoint->options));
    const redist_file_options own = redist__checkpoint_file_options(checkpoint);
    REDIST_TRY(
        redist__file_open(function, comm, writes, path, nfields, fields, &own, &checkpoint->file));
    code = take_fields(checkpoint, fields);
    return redist__file_agree(&checkpoint->file,
                              code == REDIST_OK ? check_names(checkpoint) : code);
}

void redist__checkpoint_close(struct redist__checkpoint *checkpoint) {
    redist__file_close(&checkpoint->file);
    redist_release(checkpoint->given);
    redist_release(checkpoint->entries);
    redist_release(checkpoint->header.head);
}

int64_t redist__checkpoint_place(const struct redist__checkpoint *checkpoint, int field,
                                 redist_index piece) {
    const struct redist__checkpoint_entry *entry =
        &checkpoint->header.entries[checkpoint->entries[field]];
    return (int64_t)entry->checksums + piece * (int64_t)sizeof(uint64_t);
}
