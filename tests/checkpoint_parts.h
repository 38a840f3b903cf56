/* SPDX-License-Identifier: BSD-3-Clause */
/** Distributed arrays with known contents, as fields of checkpoints. */
#ifndef TESTS_CHECKPOINT_PARTS_H
#define TESTS_CHECKPOINT_PARTS_H

#include "redist_checkpoint.h"

/** Kinds of elements, and the names that files give them. */
enum part_kind {
    PART_DOUBLE,
    PART_FLOAT,
    PART_DOUBLE_COMPLEX,
    PART_FLOAT_COMPLEX,
    PART_INT32,
    PART_UINT8,
    PART_VECTOR, /**< three doubles */
    PART_GAPS,   /**< a structure with gaps */
    PART_KINDS
};

/** The name of a kind in a file. */
const char *part_type(enum part_kind kind);

/** The kind of the other precision; the same if it has none. */
enum part_kind part_other_precision(enum part_kind kind);

/** A global array: its values follow from its name's first letter and the index. */
typedef struct part_array {
    char name[32];
    enum part_kind kind;
    int ndims;
    redist_index sizes[REDIST_MAX_NDIMS];
} part_array;

/** A random one. */
part_array part_array_random(const char *name);

/** This rank's part of it. */
typedef struct part_local {
    redist_field field;
    enum part_kind kind;
    size_t bytes; /**< of the local array, with padding */
    char *memory,
        *on_device; /**< the array, and the same on a device that stands in for CUDA's, or NULL */
} part_local;

/** Distributes an array over the ranks of comm, in a random way and memory order; all bytes are those of no value.
 * Collective on comm, which draws alike. */
part_local part_create(MPI_Comm comm, const part_array *array);

/** Gives all elements their values. */
void part_fill(const part_local *part);

/** Sets all bytes to 0. */
void part_clear(const part_local *part);

/** Whether all elements, and all bytes between them, are as they should be: filled or not. */
int part_is_right(const part_local *part, int is_filled);

void part_free(part_local *part);

#endif
