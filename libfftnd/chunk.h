/* SPDX-License-Identifier: BSD-3-Clause */
/* A serial transform between whole arrays in a few large chunks: each is put into the peers' arrays as soon
 * as it is done, while the next one is transformed. */
#ifndef FFTND__CHUNK_H
#define FFTND__CHUNK_H

#include "steps.h"

struct fftnd__chunks {
    int ndims, axis;              /* of the arrays, as they lie in memory; the axis that is cut */
    int extent[REDIST_MAX_NDIMS]; /* of the array after the transform */
    int n;                        /* chunks */
    size_t item;                  /* bytes of an element after the transform */
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes, in the array after the transform */
    ptrdiff_t in, out;                  /* bytes along the cut axis, before and after */
    void *serial[2]; /* for the longer chunks, which come first, and the others */
};

/* `before` and `step` are the arrays before and after the serial step; in == out plans for a transform in
 * place. Not collective. */
int fftnd__chunks_create(struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                         const struct fftnd__step *before, const struct fftnd__step *step,
                         int direction, void *in, void *out);
void fftnd__chunks_free(struct fftnd__chunks *chunks, const struct fftnd__transform *transform);

/* Transforms all chunks; without `exchange` the last ones may still be under way on return. */
int fftnd__chunks_run(const struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                      void *in, void *out, redist_plan *exchange);

/* Waits for all that the transform's library has begun. */
int fftnd__finish(const struct fftnd__transform *transform);

#endif
