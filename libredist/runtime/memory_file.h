/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory files without names, so that nothing remains after their processes, and no other user can take a name before.
 * They count against the memory of the machine and of the control group, not against the size of /dev/shm.
 */
#ifndef REDIST__MEMORY_FILE_H
#define REDIST__MEMORY_FILE_H

#include "../comm/comm.h"

/* A multiple of any system's page size. */
enum { REDIST__FILE_PAGE = 1 << 16 };

/* Maps a part of a file, or returns NULL. */
char *redist__memory_file_map(int descriptor, uint64_t begin, uint64_t bytes);

/* Takes the pages of a part now, as without memory the program would end at their first use. 0 = no memory. */
int redist__memory_file_take(int descriptor, uint64_t begin, uint64_t end);

/* Returns whether the machine has more than this free memory. */
int redist__memory_has_room(uint64_t bytes);

/* Sends the file of rank 0 of a node to all its ranks. *descriptor: there the file's, which stays open; elsewhere a new
 * one of this rank, or -1. `code` is this rank's previous result. Collective on the node; the result is this rank's
 * alone. */
int redist__memory_file_share(const struct redist__context *context, int code, int *descriptor);

#endif
