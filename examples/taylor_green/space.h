/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the fields of the flow live, and what is done with whole fields there: one table for each kind
 * of memory. Fields on a device stay there. */
#ifndef SPACE_H
#define SPACE_H

#include "formulas.h"
#include <fftnd_operators.h>

struct space {
    const char *name;
    enum redist_space redist; /* what the libraries call it */
    /* Called before MPI_Init, if not NULL. */
    void (*prepare)(void);
    /* Why there is no such memory, NULL = there is. Collective over MPI_COMM_WORLD. */
    const char *(*absent)(void);

    void (*clear)(void *array, size_t bytes);
    /* Between arrays of this space and of the host, in any combination. */
    void (*copy)(void *to, const void *from, size_t bytes);

    /* The formulas of these names, for the whole block. */
    void (*set_vortex)(const struct work *work);
    void (*advance)(const struct work *work);
    void (*measure)(const struct work *work);
    /* How FFTND_POINTS makes the products of a vector field at points. */
    void (*set_products)(fftnd_operator_options *options);
    /* The same for n grid points. */
    double (*largest_speed)(ptrdiff_t n, const double *velocity);
};

extern const struct space space_host, space_cuda;

/* The space of that name, NULL if there is none such. */
const struct space *space_named(const char *name);

/* Zero or, if the space is not to be had on some rank, a message and the exit status 1. Collective. */
int space_begin(const struct space *space);

/* An array of zeros that the other ranks can map; all ranks call it together, each with the size it
 * needs. Freed with release(). */
void *space_allocate(const struct space *space, size_t bytes);

#endif
