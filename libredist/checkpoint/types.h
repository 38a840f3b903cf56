/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a field as the file names them, and their conversion to another precision. Not collective. */
#ifndef REDIST__CHECKPOINT_TYPES_H
#define REDIST__CHECKPOINT_TYPES_H

#include "redist_support.h"

/* Finds the name of the numbers of which a datatype consists without gaps; "bytes" = it does not. Errors: ERR_MPI,
 * ERR_MEMORY. */
int redist__type_name(MPI_Datatype datatype, const char **name);

/* Returns how elements of type `from` of `from_bytes` bytes become as many numbers of type `to`, both real or both
 * complex: 1 = floats become doubles, -1 = doubles become floats, 0 = not at all. */
int redist__type_converts(const char *from, size_t from_bytes, const char *to, size_t to_bytes);

/* Converts `count` real numbers, in memory that has room for both precisions: to double, or else to float. */
void redist__type_convert(void *numbers, size_t count, int widens);

#endif
