/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods of files, by name. */
#include "file.h"

#include <string.h>

/* The methods, the usual one first. */
static const struct redist__file_method *const methods[] = {&redist__file_stripes,
                                                            &redist__file_mpi};

const struct redist__file_method *redist__file_method_find(const char *request) {
    if (request == NULL || strcmp(request, "auto") == 0)
        return methods[0];
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(request, methods[i]->name) == 0)
            return methods[i];
    return NULL;
}
