/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of redist_alloc_local: parts of one memory file of this process, which peers open when a plan first meets a
 * part. It is host memory; space_host.c calls these functions.
 */
#ifndef REDIST__LOCAL_H
#define REDIST__LOCAL_H

#include "space.h"

/* Works without MPI; plain memory where there is no such file. */
int redist__local_create(size_t bytes, void **array);

/* Frees the array that begins there, whose bytes are the system's again even if peers still map them; 0 = there is
 * none. */
int redist__local_remove(const void *array);

/* Whether a byte lies in such an array. */
int redist__local_has(const void *array);

/* As the functions of a space. A handle with an owner is of such memory. */
struct redist__memory_handle redist__local_export(const void *array, size_t bytes);
char *redist__local_map(const struct redist__memory_handle *handle,
                        struct redist__mappings *mappings);
void redist__local_unmap(struct redist__mappings *mappings);

/* A handle of nothing, which shows whether peers can open the file of this process; key 0 = it has none. */
struct redist__memory_handle redist__local_probe(void);
int redist__local_reaches(const struct redist__memory_handle *probe);

/* Whether all that plans have tried of it was reachable, in this process: who asks before there is a plan does better
 * with plain memory where it was not. Plans themselves know what they reach. */
void redist__local_note_unreachable(void);
int redist__local_is_reachable(void);

#endif
