/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of the operating system, with messages that name the path and the reason. None is collective, nor calls MPI
 * functions that threads may not call. All return REDIST_ERR_FILE unless stated otherwise. */
#ifndef REDIST__DISK_H
#define REDIST__DISK_H

#include "file.h"

/* Creates the file if there is none, and gives it its length, without options.truncate at least that. */
int redist__disk_create(const struct redist__file *file);

/* Gives an open file its length, so that what is not written is 0. */
int redist__disk_set_length(const struct redist__file *file, int descriptor, redist_index bytes);

/* Reserves the disk's room for the fields in a file that exists; does nothing for devices, and where no system call
 * does it. */
int redist__disk_reserve(const struct redist__file *file);

/* Opens the file for its direction, or for both directions, and checks the length of one that is read. */
int redist__disk_open(const struct redist__file *file, int both, int *descriptor);

/* Closes a descriptor, -1 = none, and sets it to -1. */
int redist__disk_close(const struct redist__file *file, int *descriptor);

/* Write and read bytes at an offset; a read that may be `short` fills what the file lacks with zeros. */
int redist__disk_write(const struct redist__file *file, int descriptor, const char *data,
                       size_t bytes, redist_index offset);
int redist__disk_read(const struct redist__file *file, int descriptor, char *data, size_t bytes,
                      redist_index offset, int may_be_short);

/* Lets the system begin to write bytes to the disk, if it can; without waiting, and without result. */
void redist__disk_begin_flush(int descriptor, size_t bytes, redist_index offset);

/* Have the file's data reach the disk, and its name. */
int redist__disk_flush(const struct redist__file *file, int descriptor);
int redist__disk_flush_folder(const struct redist__file *file);

#endif
