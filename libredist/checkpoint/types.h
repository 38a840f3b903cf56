/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a field as the file names them, and their conversion to another precision. Not collective. */
#ifndef REDIST__CHECKPOINT_TYPES_H
#define REDIST__CHECKPOINT_TYPES_H

#include "redist_support.h"

/* Finds the name of the numbers of which a datatype consists without gaps; "bytes" = it does not. Errors: ERR_MPI,
 * ERR_MEMORY. */
int redist__type_name(MPI_Datatype datatype, const char **name);

/* Finds how elements of type `from` of `from_bytes` bytes become ones of type `to`: the same number of float and double,
 * both real or both complex, in the other precision. Returns 0 if they do not. */
int redist__type_converts(const char *from, size_t from_bytes, const char *to, size_t to_bytes);

/* Converts `count` numbers, in memory that has room for both precisions: from float to double, if `widens`, or from
 * double to float. */
void redist__type_convert(void *numbers, size_t count, int widens);

#endif
