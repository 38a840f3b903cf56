/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions: of the library, and of the structures that callers pass. */
#include "comm.h"
#include "redist_checkpoint.h"
#include "redist_halo.h"
#include "redist_model.h"

#include <stdio.h>
#include <string.h>

void redist_version(int *major, int *minor, int *patch) {
    const int version[3] = {REDIST_VERSION_MAJOR, REDIST_VERSION_MINOR, REDIST_VERSION_PATCH};
    int *const wanted[3] = {major, minor, patch};
    for (int i = 0; i < 3; i++)
        if (wanted[i] != NULL)
            *wanted[i] = version[i];
}

/* ---------------------------------------------------------------- structures */

/* Limit of a structure (guess): a caller that passes more has not set the size. */
enum { MOST_BYTES = 1 << 16 };

static int check_size(const char *function, const char *name, size_t size) {
    if (size >= sizeof size && size % sizeof size == 0 && size <= MOST_BYTES)
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                          "%s = %zu is not the size of the structure: set it up with its *_DEFAULT "
                          "macro or its *_init function",
                          name, size);
}

static int read_size(const char *function, const char *name, const void *user, size_t *size) {
    char member[64];
    REDIST_TRY(redist__check_pointer(function, name, user));
    memcpy(size, user, sizeof *size);
    snprintf(member, sizeof member, "%s->size", name);
    return check_size(function, member, *size);
}

int redist_struct_read(const char *function, const char *name, const void *user, void *own,
                       size_t bytes) {
    size_t size = 0;
    REDIST_TRY(read_size(function, name, user, &size));
    for (size_t i = bytes; i < size; i++)
        if (((const char *)user)[i] != 0)
            return redist_fail_in(
                function, REDIST_ERR_ARGUMENT,
                "%s->size = %zu, but this library (%d.%d.%d) is older and knows only "
                "the first %zu bytes, and the others are not 0: use a newer library, or "
                "leave the new fields at their defaults",
                name, size, REDIST_VERSION_MAJOR, REDIST_VERSION_MINOR, REDIST_VERSION_PATCH,
                bytes);
    memcpy(own, user, size < bytes ? size : bytes);
    memcpy(own, &bytes, sizeof bytes);
    return REDIST_OK;
}

int redist_check_reserved_in(const char *function, const char *name, int reserved) {
    if (reserved == 0)
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                          "%s->reserved = %d is not 0: set the structure up with its *_DEFAULT "
                          "macro or its *_init function",
                          name, reserved);
}

int redist_struct_write(const char *function, const char *name, const void *own, size_t bytes,
                        void *user) {
    size_t size = 0;
    REDIST_TRY(read_size(function, name, user, &size));
    memcpy((char *)user + sizeof size, (const char *)own + sizeof size,
           (size < bytes ? size : bytes) - sizeof size);
    return REDIST_OK;
}

int redist_struct_init(const char *function, void *user, size_t size, const void *defaults,
                       size_t bytes) {
    if (user == NULL)
        return redist_fail_in(function, REDIST_ERR_NULL, "the structure is NULL");
    REDIST_TRY(check_size(function, "size", size));
    memset(user, 0, size);
    memcpy(user, defaults, size < bytes ? size : bytes);
    memcpy(user, &size, sizeof size);
    return REDIST_OK;
}

REDIST_INITIALISER(redist_box, REDIST_BOX_DEFAULT)
REDIST_INITIALISER(redist_options, REDIST_OPTIONS_DEFAULT)
REDIST_INITIALISER(redist_plan_info, REDIST_PLAN_INFO_DEFAULT)
REDIST_INITIALISER(redist_phases, REDIST_PHASES_DEFAULT)
REDIST_INITIALISER(redist_model, REDIST_MODEL_DEFAULT)
REDIST_INITIALISER(redist_halo, REDIST_HALO_DEFAULT)
REDIST_INITIALISER(redist_field, REDIST_FIELD_DEFAULT)
REDIST_INITIALISER(redist_file_options, REDIST_FILE_OPTIONS_DEFAULT)
REDIST_INITIALISER(redist_checkpoint_options, REDIST_CHECKPOINT_OPTIONS_DEFAULT)
