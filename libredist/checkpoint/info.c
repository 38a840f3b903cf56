/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of a checkpoint. */
#include "checkpoint.h"

#include <string.h>

/* The user's structure, and what it points to. */
struct contents {
    redist_checkpoint_info info;
    struct redist__checkpoint_header header;
    redist_checkpoint_field *fields;
    const redist_checkpoint_field **list;
};

static void release(struct contents *contents) {
    redist_release(contents->header.head);
    redist_release(contents->fields);
    redist_release(contents->list);
    redist_release(contents);
}

static void describe(const struct redist__checkpoint_entry *entry, redist_checkpoint_field *field) {
    *field = (redist_checkpoint_field){.name = entry->name,
                                       .type = entry->type,
                                       .element_bytes = (size_t)entry->element_bytes,
                                       .ndims = (int)entry->ndims};
    memcpy(field->sizes, entry->sizes, sizeof field->sizes);
}

/* Fills the structure from the header. */
static int fill(const char *function, struct contents *contents) {
    const struct redist__checkpoint_head *head = contents->header.head;
    size_t n = head->nfields;
    contents->fields = redist_calloc(n, sizeof *contents->fields);
    contents->list = redist_calloc(n, sizeof *contents->list);
    if (contents->fields == NULL || contents->list == NULL)
        return redist_fail_in(function, REDIST_ERR_MEMORY, "no memory for %zu fields", n);
    for (size_t i = 0; i < n; i++) {
        describe(&contents->header.entries[i], &contents->fields[i]);
        contents->list[i] = &contents->fields[i];
    }
    contents->info = (redist_checkpoint_info){.nfields = (int)n,
                                              .fields = contents->list,
                                              .parameter_bytes = (size_t)head->parameter_bytes,
                                              .parameters = contents->header.parameters,
                                              .seconds = head->seconds};
    for (int i = 0; i < 3; i++)
        contents->info.version[i] = (int)head->library[i];
    return REDIST_OK;
}

/* Checks the arguments and agrees on them. Collective. */
static int check(const char *function, MPI_Comm comm, const char *path, const void *info,
                 const void *contents) {
    const redist_shared_value value = redist_share("path", REDIST_SHARED_TEXT, path, 0);
    int code = REDIST_OK;
    if (path == NULL || info == NULL)
        code = redist__check_pointer(function, path == NULL ? "path" : "info", NULL);
    else if (contents == NULL)
        code = redist_fail_in(function, REDIST_ERR_MEMORY, "no memory for a description");
    else if (redist__checksum_absent() != NULL)
        code = redist_fail_in(function, REDIST_ERR_METHOD, "%s", redist__checksum_absent());
    return redist_agree_values_in(function, comm, code, 1, &value);
}

int redist_checkpoint_get_info(MPI_Comm comm, const char *path, redist_checkpoint_info **info) {
    struct redist__context *context;
    REDIST_TRY(redist_check_comm(comm));
    REDIST_TRY(redist__context_get(comm, &context));
    struct contents *contents = redist_calloc(1, sizeof *contents);
    int code = check(__func__, context->comm, path, info, contents);
    if (code == REDIST_OK)
        code = redist__checkpoint_load(__func__, context->comm, path, &contents->header);
    if (code == REDIST_OK)
        code = redist_agree(context->comm, fill(__func__, contents));
    redist__context_release(context);
    if (code == REDIST_OK)
        *info = &contents->info;
    else if (contents != NULL)
        release(contents);
    return code;
}

int redist_checkpoint_info_free(redist_checkpoint_info **info) {
    REDIST_TRY(redist__check_pointer(__func__, "info", info));
    if (*info != NULL)
        release((struct contents *)*info); /* its first member */
    *info = NULL;
    return REDIST_OK;
}
