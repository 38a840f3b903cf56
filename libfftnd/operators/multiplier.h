/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of an operator that multiplies each mode by a factor of its own: those of this rank's modes. */
#ifndef FFTND__MULTIPLIER_H
#define FFTND__MULTIPLIER_H

#include "../program/steps.h"
#include "operator.h"

/* Finds the modes of this rank between the transforms of a program with an operator, and allocates their factors in
 * host memory, in C order of the library's axes. To be freed after a failure, too. REDIST_ERR_MEMORY. */
int fftnd__multiplier_create(struct fftnd__operator *op, const struct fftnd__transform *transform,
                             const struct fftnd__program *program, int numbers);

/* Returns the number of these modes. */
size_t fftnd__multiplier_elements(const struct fftnd__multiplier *multiplier);

/* Sets all factors: values in the same order and of as many numbers, times `scale`, or the conjugates of these. Factors
 * of rows in double have the operator's scale, too. */
void fftnd__multiplier_fill(struct fftnd__operator *op, enum fftnd_precision precision,
                            const void *values, long double scale, int conjugated);

/* Halves the factors that are modes of a kernel half-way along truncated axes: sums of two modes, for their mean. */
void fftnd__multiplier_halve(struct fftnd__operator *op, const struct fftnd__transform *transform);

/* Moves the factors to the device that has the modes, if there is one. REDIST_ERR_DEVICE. */
int fftnd__multiplier_place(struct fftnd__operator *op);

void fftnd__multiplier_free(struct fftnd__operator *op);

/* Returns the factor of a mode, whose global indices are by the library's axes. */
static inline const char *fftnd__factor_at(const struct fftnd__multiplier *multiplier,
                                           const redist_index at[]) {
    const char *factor = multiplier->factors;
    for (int axis = 0; axis < multiplier->ndims; axis++)
        factor += (ptrdiff_t)(at[axis] - multiplier->start[axis]) * multiplier->stride[axis];
    return factor;
}

/* Returns the factors of a row, times the operator's scale: in `room` if they are of another type or apart. */
const double *fftnd__multiplier_row(const struct fftnd__operator *op, const struct fftnd__row *row,
                                    double room[]);

#endif
