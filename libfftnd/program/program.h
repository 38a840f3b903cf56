/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of a direction: the list of its steps, and the array that each of them uses. */
#ifndef FFTND__PROGRAM_H
#define FFTND__PROGRAM_H

#include "steps.h"

/* Splits of a link whose transforms cannot be in place, if the given arrays allow nothing else. */
enum fftnd__split {
    FFTND__UNSPLIT,
    FFTND__COPY_FIRST,   /* unsplit, but backward begins with a copy that may be overwritten */
    FFTND__HALVED_APART, /* the halved axis first (backward: last) */
    FFTND__WITH_COPY     /* besides a copy between two arrays, also where modes are dropped */
};

/* Lists the steps, in place of earlier ones, without buffers; with an operator those of `direction` up to it, and back.
 * `transposed`: transforms before an exchange write their own axes as the slowest (backward: the fastest) in memory, so
 * that forward each line of the next ones is contiguous (Egger, chapter 4). Not collective. REDIST_ERR_LIMIT,
 * REDIST_ERR_MEMORY. */
int fftnd__list_steps(struct fftnd__program *program, const struct fftnd__transform *transform,
                      int direction, int transposed, enum fftnd__split split);
void fftnd__free_steps(struct fftnd__program *program);

/* Returns the padding of the array of a side. In place, a real side where the halved axis is transformed gets the bytes
 * of the complex side, too. */
struct fftnd__padding fftnd__padding_of(const struct fftnd__transform *transform,
                                        enum fftnd_side side);

/* Chooses the array after each step that is not NOWHERE, with the least work space and the fewest extra arrays. Returns
 * 0 if none can be. */
int fftnd__assign_buffers(struct fftnd__program *program, const struct fftnd__transform *transform);

#endif
