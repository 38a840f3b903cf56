/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a plan, and the checks that they pass before anything is made of them. */
#ifndef REDIST__REQUEST_H
#define REDIST__REQUEST_H

#include "../geometry/schedule.h"

/* The arguments that both ways to make a plan have. */
struct redist__request {
    const char *function; /* for messages */
    struct redist__context *context;
    int tag; /* first of REDIST__TAGS tags of the context */
    MPI_Datatype datatype;
    int ndims;
    const char *names[2]; /* of the arrays: "a" and "b" */
    void *arrays[2];
    redist_options options;
    size_t item; /* extent of datatype, set by redist__check_datatype */
    int item_size;
    size_t before, behind; /* bytes of an element outside its extent */
};

/* Copies the options that the user's structure has; the others keep their default. */
int redist__check_options(struct redist__request *request, const redist_options *options);

/* In how many partitions array B is completed; ndims is checked already. */
int redist__check_partitions(const struct redist__request *request);

int redist__check_datatype(struct redist__request *request);
int redist__check_ndims(const struct redist__request *request, int least);

/* Null and overlapping arrays; later ones are not looked at. */
int redist__check_arrays(const struct redist__request *request, void *const arrays[2],
                         const size_t bytes[2]);

int redist__check_exchange(const struct redist__request *request, const int sizes_a[], int axis_a,
                           const int sizes_b[], int axis_b);
int redist__check_box(const struct redist__request *request, const int sizes[], const char *name,
                      const redist_box *box);

/* This rank's box against those of later ranks. */
int redist__check_disjoint(const struct redist__request *request, const char *name,
                           const redist_box all[]);

/* Bytes of an array with these extents; SIZE_MAX if that does not fit. */
size_t redist__array_bytes(int ndims, const int extent[], size_t item);

/* Compares with the other ranks what must agree; `sizes` are the global extents. Collective. */
int redist__agree_request(const struct redist__request *request, int code, int axis_a, int axis_b,
                          const int sizes[]);

#endif
