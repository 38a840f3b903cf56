/* SPDX-License-Identifier: BSD-3-Clause */
/* The file in which choices are remembered across runs. */
#ifndef REDIST__WISDOM_FILE_H
#define REDIST__WISDOM_FILE_H

#include "redist_support.h"

/* Both work on this rank alone and never fail: what is wrong with the file is printed to stderr, once for
 * each file and process. */

/* The last complete line for `key`; `name` is left as it is if there is none. */
void redist__wisdom_read(const char *file, const char *key, char name[REDIST_WISDOM_BYTES]);

/* Appends a line. A file that is not there is made, one with another heading is left as it is. */
void redist__wisdom_append(const char *file, const char *key, const char *name);

#endif
