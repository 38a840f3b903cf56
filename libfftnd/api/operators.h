/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators, for the files of their public functions. */
#ifndef FFTND__API_OPERATORS_H
#define FFTND__API_OPERATORS_H

#include "../operators/multiplier.h"
#include "plan.h"

/* ---------------------------------------------------------------- describe.c: what the options describe */

/* Reads the user's options, NULL = defaults. Not collective. */
int fftnd__read_operator_options(const char *function, const fftnd_operator_options *options,
                                 fftnd_operator_options *own);

/* Checks that a plan can have operators. Not collective. */
int fftnd__check_operable(const char *function, const struct fftnd__transform *transform);

/* Checks the other arguments and describes an operator, to be freed with fftnd__symbols_free, after a failure, too. Not
 * collective. */
int fftnd__describe_operator(struct fftnd__operator *op, const struct fftnd__engine *plan,
                             enum fftnd_operator_kind kind, const fftnd_operator_options *options);

/* Compares the arguments of all ranks; on this one the description returned `code`. Collective. */
int fftnd__agree_on_operator(const char *function, const struct fftnd__engine *plan,
                             const struct fftnd__operator *op,
                             const fftnd_operator_options *options, int code);

/* ---------------------------------------------------------------- factors of operators that have one for each mode */

/* What the factors of FFTND_MULTIPLY are made of. */
struct fftnd__factors {
    long double scale; /* of the user's array */
    const fftnd_plan *
        kernel_plan; /* the array has the modes of a kernel that this plan transformed; NULL = it is one
                                    * of the operator's plan */
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
