/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files in memory that have no name, so that nothing of them is left behind, whichever way their processes end, and
 * nobody else can have taken a name before. They count against the memory of the machine and of the process's group,
 * not against the size of /dev/shm.
 */
#ifndef REDIST__MEMORY_FILE_H
#define REDIST__MEMORY_FILE_H

#include "../comm/comm.h"

/* A multiple of the system's pages everywhere. */
enum { REDIST__FILE_PAGE = 1 << 16 };

/* A part of one in this process, NULL if it cannot be mapped. */
char *redist__memory_file_map(int descriptor, uint64_t begin, uint64_t bytes);

/* Takes the pages of a part now: where there is no memory for them, the program would end when they are first used.
 * 0 = there is none. */
int redist__memory_file_take(int descriptor, uint64_t begin, uint64_t end);

/* Whether the machine has more than so many bytes of memory that no program uses. */
int redist__memory_has_room(uint64_t bytes);

/* Gives the file of rank 0 of a node to all its ranks. *descriptor: of the file there, which stays; elsewhere that of
 * this rank from now on, or -1. `code` is what has happened on this rank before. Collective on the node; the result is
 * this rank's alone. */
int redist__memory_file_share(const struct redist__context *context, int code, int *descriptor);

#endif
