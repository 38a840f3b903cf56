/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files that write and read checkpoints. */
#ifndef REDIST__CHECKPOINT_H
#define REDIST__CHECKPOINT_H

#include "../files/stripes.h"
#include "format.h"

/* The arguments of a call, and what it works with. */
struct redist__checkpoint {
    struct redist__file file;                /* the fields, as raw files have them, and the path */
    redist_checkpoint_options options;       /* with the default of piece_bytes */
    redist_field *given;                     /* the user's fields */
    struct redist__checkpoint_header header; /* its memory is of redist_calloc: header.head */
    int *entries;                            /* the entry of each field */
    int descriptor;                          /* of a writer; -1 = none */
};

/* Checks the arguments of a call and agrees on them. `code` is the result of further checks on this rank. The
 * checkpoint has to be closed, also after a failure. Collective, the same result on all ranks. */
int redist__checkpoint_open(const char *function, MPI_Comm comm, int writes, const char *path,
                            int nfields, const redist_field fields[],
                            const redist_checkpoint_options *options, int code,
                            struct redist__checkpoint *checkpoint);
void redist__checkpoint_close(struct redist__checkpoint *checkpoint);

/* Returns the options by which the data are read or written. */
redist_file_options redist__checkpoint_file_options(const struct redist__checkpoint *checkpoint);

/* Reads the header of a file by rank 0, and sends it to all. Collective, the same result on all ranks. Errors:
 * ERR_FILE, ERR_MEMORY, ERR_MPI, ERR_PEER.
 *   header  out: its head is to be freed by redist_release, if this succeeds */
int redist__checkpoint_load(const char *function, MPI_Comm comm, const char *path,
                            struct redist__checkpoint_header *header);

/* Returns the place of the checksum of a piece. */
int64_t redist__checkpoint_place(const struct redist__checkpoint *checkpoint, int field,
                                 redist_index piece);

/* ---------------------------------------------------------------- elements (types.c) */

/* Finds the name of the numbers of which a datatype consists without gaps; "bytes" = it does not. Errors: ERR_MPI,
 * ERR_MEMORY. */
int redist__type_name(MPI_Datatype datatype, const char **name);

/* Returns how elements of type `from` of `from_bytes` bytes become as many numbers of type `to`, both real or both
 * complex: 1 = floats become doubles, -1 = doubles become floats, 0 = not at all. */
int redist__type_converts(const char *from, size_t from_bytes, const char *to, size_t to_bytes);

/* Converts `count` real numbers, in memory that has room for both precisions: to double, or else to float. */
void redist__type_convert(void *numbers, size_t count, int widens);

/* ---------------------------------------------------------------- the files of a checkpoint (generations.c) */

/* Returns the name of the file that is written before it becomes `path`; NULL without memory, else freed with
 * redist_release. */
char *redist__generation_part(const char *path);

/* Makes `part`, which is complete on disk, the file `path`, and the one before it `path`.1, that one `path`.2, up to
 * `keep`. `path` always exists, if it did before. Errors: ERR_FILE, ERR_MEMORY; `part` remains. */
int redist__generation_advance(const char *function, const char *path, const char *part, int keep);

#endif
