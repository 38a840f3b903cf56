/* SPDX-License-Identifier: BSD-3-Clause */
/* The resources that both directions of a transform share: grid, chain, device, streams and threads. */
#ifndef FFTND__TRANSFORM_H
#define FFTND__TRANSFORM_H

#include "../program/steps.h"

/* Makes the resources. Collective on the request's communicator; to be freed after a failure, too. */
int fftnd__transform_create(struct fftnd__transform *transform,
                            const struct fftnd__request *request,
                            const struct fftnd__configuration *configuration);

/* Frees the resources; chain and room are freed by their engines, as operators have their own. */
void fftnd__transform_free(struct fftnd__transform *transform);

#endif
