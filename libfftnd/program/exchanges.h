/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchanges of a program. */
#ifndef FFTND__EXCHANGES_H
#define FFTND__EXCHANGES_H

#include "program.h"

/* Plans all exchanges; `work` are the work arrays (NULL = not used). In a program over whole arrays those that the
 * method cannot do in segments move whole arrays; a fused one is refused with REDIST_ERR_METHOD. Collective. */
int fftnd__plan_exchanges(struct fftnd__program *program, const struct fftnd__transform *transform,
                          void *const work[2]);

/* Whether asynchronous exchanges can be planned later, when there is work space. Collective. REDIST_ERR_METHOD. */
int fftnd__check_exchanges(const struct fftnd__program *program,
                           const struct fftnd__transform *transform);
void fftnd__free_exchanges(struct fftnd__program *program);

#endif
