/* SPDX-License-Identifier: BSD-3-Clause */
/* A host copy of an array on a device, for methods that hand MPI whole arrays and subarray types. */
#ifndef REDIST__MIRROR_H
#define REDIST__MIRROR_H

#include "../methods/method.h"

struct redist__mirror {
    const struct redist__problem *problem;
    int side;
    char *memory; /* laid out as the array; NULL = MPI gets the array itself */
    struct redist__batch fetch, store;
};

/* Does nothing unless the problem is staged; to be freed also if it fails. Not collective. */
int redist__mirror_create(struct redist__mirror *mirror, const struct redist__problem *problem,
                          int side);
void redist__mirror_free(struct redist__mirror *mirror);

/* What MPI gets instead of the array. */
void *redist__mirror_of(const struct redist__mirror *mirror, const void *array);

/* Copies the peers' parts from the array to the host or back, in a lane. */
int redist__mirror_fetch(struct redist__mirror *mirror, const void *array, int lane);
int redist__mirror_store(struct redist__mirror *mirror, void *array, int lane);

/* Of both sides. */
size_t redist__mirrors_bytes(const struct redist__mirror mirrors[2]);

/* How much `auto` likes a method that hands MPI subarray types. MPI copies each contiguous run of a type
 * on a device by itself, which takes for ever. */
int redist__types_preference(const struct redist__problem *problem, int variant);

#endif
