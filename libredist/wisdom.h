/* SPDX-License-Identifier: BSD-3-Clause */
/* What was measured, for this process and, in a file, for later ones. */
#ifndef REDIST__WISDOM_H
#define REDIST__WISDOM_H

#include "error.h"

enum { REDIST__WISDOM_KEY = 192 };

/* Looks a key up in rank 0's memory and file; `name` is "" if it is not there. `file` NULL = the
 * environment variable REDIST_WISDOM, or no file. Collective; REDIST_ERR_FILE if the file is there
 * but holds something else. */
int redist__wisdom_find(MPI_Comm comm, const char *file, const char *key, size_t bytes,
                        char name[]);

/* Remembers a choice. Collective; REDIST_ERR_FILE, REDIST_ERR_MEMORY. */
int redist__wisdom_store(MPI_Comm comm, const char *file, const char *key, const char *name);

#endif
