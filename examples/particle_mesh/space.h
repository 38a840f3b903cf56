/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a rank's mesh and particles, and the work on them there: one table for each kind of memory. */
#ifndef SPACE_H
#define SPACE_H

#include "formulas.h"
#include <fftnd_operators.h>

struct space {
    enum redist_space redist; /* what the libraries call it */
    void (*clear)(double *mesh, size_t bytes);
    /* The formulas of these names for n particles; complete on return. */
    void (*spread)(const struct brick *brick, double *mesh, int n,
                   const struct particle *particles);
    void (*gather)(const struct brick *brick, const double *mesh, int n,
                   const struct particle *particles, struct sample *samples);
    /* Sets the function of FFTND_MODES that multiplies by the influence function, its `data`. */
    void (*set_function)(fftnd_operator_options *options);
};

extern const struct space space_host, space_cuda;

#endif
