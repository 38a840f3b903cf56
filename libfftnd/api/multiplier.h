/* SPDX-License-Identifier: BSD-3-Clause */
/* The factors of operators that multiply each mode by one of its own: a user's array, or a Green's function. */
#ifndef FFTND__API_MULTIPLIER_H
#define FFTND__API_MULTIPLIER_H

#include "../operators/multiplier.h"
#include "plan.h"

/* What the factors of FFTND_MULTIPLY are made of. */
struct fftnd__factors {
    long double scale; /* of the user's array */
    int are_of_kernel; /* nonzero: the array has the modes of a kernel */
};

/* Sets the factors of FFTND_MULTIPLY, for the modes of the engine that applies the operator. Collective. */
int fftnd__multiply_by_array(struct fftnd__operator *op, const fftnd_plan *plan,
                             const struct fftnd__engine *engine,
                             const fftnd_operator_options *options,
                             const struct fftnd__factors *factors);

/* Sets those of FFTND_OPEN_POISSON. Collective. */
int fftnd__multiply_by_green(struct fftnd__operator *op, const struct fftnd__engine *engine,
                             const fftnd_operator_options *options);

/* Moves an array of the host between two boxes of each rank, of which those in B may overlap.
 * Collective. */
int fftnd__redistribute(MPI_Comm comm, MPI_Datatype type, int ndims, const redist_index sizes[],
                        const redist_box *box_a, void *a, const redist_box *box_b, void *b);

/* Checks what does not depend on the kind of an operator, and reads the options. Not collective. */
int fftnd__operator_check(const char *function, const fftnd_plan *plan,
                          const fftnd_operator_options *options, fftnd_operator *const *op,
                          fftnd_operator_options *own);

/* Makes an operator as fftnd_operator_create, for the function of this name. Collective. */
int fftnd__operator_make(const char *function, fftnd_plan *plan, enum fftnd_operator_kind kind,
                         const fftnd_operator_options *options,
                         const struct fftnd__factors *factors, fftnd_operator **op);

#endif
