/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of a field, in an array or in a piece of the file; and its copies to messages, from them, and directly. */
#ifndef REDIST__PART_H
#define REDIST__PART_H

#include "file.h"

struct redist__file_part {
    const struct redist__file_field *field;
    redist_index count[REDIST_MAX_NDIMS]; /* with the axes inside an element */
    ptrdiff_t stride[REDIST_MAX_NDIMS];   /* bytes */
    char *first;                          /* address of the first element */
    const struct redist__space *space;    /* of that memory */
    size_t bytes;                         /* of data */
};

/* Finds the part of a field that a rank has of a piece; returns its elements. */
size_t redist__part_find(const struct redist__file_field *field, int rank,
                         const struct redist_piece *piece, struct redist__part_box *box);

/* Describe it in this rank's array, and in the piece at `data`. */
struct redist__file_part redist__part_in_array(const struct redist__file_field *field,
                                               const struct redist__part_box *box);
struct redist__file_part redist__part_in_piece(const struct redist__file_field *field,
                                               const struct redist_piece *piece, char *data,
                                               const struct redist__part_box *box);

/* Returns the address of a part that is a message as it is, contiguous in host memory; else NULL. */
char *redist__part_direct(const struct redist__file_part *part);

/* Copy a part to a message, and back; and between two places. REDIST_ERR_MPI, REDIST_ERR_DEVICE, REDIST_ERR_MEMORY. */
int redist__part_pack(const struct redist__file *file, const struct redist__file_part *part,
                      char *message);
int redist__part_unpack(const struct redist__file *file, const struct redist__file_part *part,
                        char *message);
int redist__part_copy_to(const struct redist__file *file, const struct redist__file_part *source,
                         const struct redist__file_part *destination);

/* Creates and commits the type of a box of elements with strides in bytes; counts are not above INT_MAX. */
int redist__part_type(const struct redist__file *file, const struct redist__file_field *field,
                      const redist_index count[], const ptrdiff_t stride[], MPI_Datatype *type);

#endif
