/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchanges of a program. */
#ifndef FFTND__EXCHANGES_H
#define FFTND__EXCHANGES_H

#include "steps.h"

/* Returns the datatype of real or complex elements. */
MPI_Datatype fftnd__element_type(const struct fftnd__transform *transform, int real);

/* Plans all exchanges; `work` are the work arrays (NULL = not used). If a method cannot do segments, the exchange moves
 * whole arrays, or of a fused program fails with REDIST_ERR_METHOD. Collective. */
int fftnd__plan_exchanges(struct fftnd__program *program, const struct fftnd__transform *transform,
                          void *const work[2]);

/* Checks that asynchronous exchanges can be planned, before they have work space. Collective. REDIST_ERR_METHOD. */
int fftnd__check_exchanges(const struct fftnd__program *program,
                           const struct fftnd__transform *transform);

/* Frees the exchanges, the first one last, to whose words the others are joined. Collective. */
void fftnd__free_exchanges(struct fftnd__program *program);

/* Returns the number of segments in which a step's results go to a pushed exchange, and the array axis along which they
 * are cut, -1 = none. */
int fftnd__segments_of(const struct fftnd__transform *transform, const struct fftnd__step *step,
                       int *axis);

#endif
