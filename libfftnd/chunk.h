/* SPDX-License-Identifier: BSD-3-Clause */
/* A serial transform between whole arrays in a few large chunks: each is put into the peers' arrays as soon
 * as it is done, while the next one is transformed; or it begins as soon as the peers have put all of it. */
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
    void **marks;    /* one for each chunk; NULL if the library has none */
};

/* The axis along which all ranks can cut a transform best, -1 = there is none. Collective. */
int fftnd__choose_cut(const struct fftnd__transform *transform, const struct fftnd__step *before,
                      const struct fftnd__step *step, int *axis);

/* `before` and `step` are the arrays before and after the serial step; in == out plans for a transform in
 * place. Not collective. */
int fftnd__chunks_create(struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                         const struct fftnd__step *before, const struct fftnd__step *step,
                         int direction, void *in, void *out);
void fftnd__chunks_free(struct fftnd__chunks *chunks, const struct fftnd__transform *transform);

/* Begins to transform all chunks. With `exchange`, which is open, each is put there as soon as it is done. */
int fftnd__chunks_run(const struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                      void *in, void *out, redist_plan *exchange);

/* The same in two: begins each chunk as soon as its piece has arrived in an exchange that is still open; puts
 * all of them into another one. */
int fftnd__chunks_receive(const struct fftnd__chunks *chunks,
                          const struct fftnd__transform *transform, void *in, void *out,
                          redist_plan *exchange);
int fftnd__chunks_put(const struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                      const void *out, redist_plan *exchange);

/* Waits for all that the transform's library has begun. */
int fftnd__finish(const struct fftnd__transform *transform);

#endif
