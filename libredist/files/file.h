/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a call that writes or reads fields, checked once and agreed on by all ranks. */
#ifndef REDIST__FILE_H
#define REDIST__FILE_H

#include "../api/api.h"
#include "redist_file.h"
#include "redist_pieces.h"

/* A box of the selected array: a rank's part of it. */
struct redist__part_box {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
};

/* A field: the selected array, as the file has it, and this rank's part. */
struct redist__file_field {
    MPI_Datatype datatype;
    struct redist__element
        element;   /* its run is 0 if only MPI can pack it; see redist__part_pack */
    int item_size; /* bytes of data in an element */
    int ndims;
    redist_index extent[REDIST_MAX_NDIMS]; /* of the selected array */
    struct redist__part_box own;           /* this rank's part; all counts are 0 without elements */
    ptrdiff_t stride[REDIST_MAX_NDIMS];    /* bytes from one selected element to the next */
    char *first;                           /* this rank's first selected element */
    const struct redist__space *space;     /* of the array on this rank */
    redist_index offset, bytes;            /* in the file; a caller may place fields elsewhere */
    struct redist__part_box *all;          /* the part of each rank */
};

struct redist__file_method;

struct redist__file {
    const char *function;            /* for messages */
    struct redist__context *context; /* with a reference */
    int tag;                         /* first of REDIST__TAGS tags of the context */
    int writes;                      /* 1 = to the file, 0 = from it */
    char *path;
    int nfields;
    struct redist__file_field *fields;
    redist_file_options options; /* method and size are not kept */
    const struct redist__file_method *method;
    size_t piece_bytes; /* most bytes of a piece; a caller may set it, the same on all ranks */
    redist_place place;
};

/* How bytes come into the file: a row of the table in check.c. */
struct redist__file_method {
    const char *name;
    /* Whether it serves a field, else a code with a message that begins with `argument`, such as "fields[0]" */
    int (*applies)(const struct redist__file *file, const char *argument,
                   const struct redist__file_field *field);
    /* Starts the transfer, with *data for `finish`, which is called on all ranks after `start` has succeeded and frees
     * it, too. Collective, the same result on all ranks; `keeps`: arrays may be changed between the two. */
    int (*start)(const struct redist__file *file, int keeps, void **data);
    int (*finish)(const struct redist__file *file, void *data);
};

extern const struct redist__file_method redist__file_stripes, redist__file_mpi;

/*
 * Checks the arguments of a call and agrees on them; places the fields one behind the other from options.offset on.
 *   function  the user's, for messages
 *   writes    1 = the parts must cover the selected arrays without overlaps; 0 = they may do as they like
 *   file      out: to be freed by redist__file_close, also after a failure
 * Collective on comm, the same result on all ranks. Errors: those of redist_write that come before the file is touched.
 */
int redist__file_open(const char *function, MPI_Comm comm, int writes, const char *path,
                      int nfields, const redist_field fields[], const redist_file_options *options,
                      struct redist__file *file);

/* Collective. */
void redist__file_close(struct redist__file *file);

/* ---------------------------------------------------------------- of a checked call (call.c) */

/* Finds the lowest rank after this one whose part of a field overlaps this rank's; -1 = none. */
int redist__find_overlap(const struct redist__file *file, const struct redist__file_field *field);

/* Agrees on the code of each rank, first on those that are not only the consequence of another rank's. Collective. */
int redist__file_agree(const struct redist__file *file, int code);

/* Returns the first byte behind all fields. */
redist_index redist__file_end(const struct redist__file *file);

#endif
