/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of redist_alloc_local: parts of one memory file of this process, which peers open when a plan first uses a
 * part. It is host memory; space_host.c calls these functions.
 */
#ifndef REDIST__LOCAL_H
#define REDIST__LOCAL_H

#include "space.h"

/* Allocates, also without MPI; plain memory without a memory file. */
int redist__local_create(size_t bytes, void **array);

/* Frees the array at an address, whose bytes return to the system even if peers still map them; 0 = no such array. */
int redist__local_remove(const void *array);

/* Returns whether a byte is in such an array. */
int redist__local_has(const void *array);

/* As the functions of a space. A handle with an owner is of such memory. */
struct redist__memory_handle redist__local_export(const void *array, size_t bytes);
char *redist__local_map(const struct redist__memory_handle *handle,
                        struct redist__mappings *mappings);
void redist__local_unmap(struct redist__mappings *mappings);

/* Returns an empty handle, to test whether peers can open the file of this process; key 0 = no file. */
struct redist__memory_handle redist__local_probe(void);
int redist__local_reaches(const struct redist__memory_handle *probe);

/* Record, and return, that peers could not map such memory here: then plain memory is better for new arrays. */
void redist__local_note_unreachable(void);
int redist__local_is_reachable(void);

#endif
