/* SPDX-License-Identifier: BSD-3-Clause */
/* The boxes of a schedule as MPI subarray datatypes (paper, Listing 2). */
#ifndef REDIST__TYPES_H
#define REDIST__TYPES_H

#include "../geometry/schedule.h"

/* counts[p] elements of types[p] at the array's start are what is exchanged with rank p: one
 * subarray, or nothing for an empty box, which MPI has no subarray for. */
struct redist__types {
    int size;
    int *counts, *displacements; /* displacements are 0 */
    MPI_Datatype *types;
};

/* Without `own`, the part that stays on this rank is left out. Not collective; REDIST_ERR_MEMORY or
 * REDIST_ERR_MPI, and then to be freed all the same. */
int redist__types_create(struct redist__types *types, const struct redist__schedule *schedule,
                         int side, int own);
void redist__types_free(struct redist__types *types);

#endif
