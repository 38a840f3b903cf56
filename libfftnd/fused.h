/* SPDX-License-Identifier: BSD-3-Clause */
/* A transform whose serial steps work in tiles and hand these straight to the peers. */
#ifndef FFTND__FUSED_H
#define FFTND__FUSED_H

#include "pipeline.h"

/* How an exchange is joined to the transforms around it. */
enum fftnd__join {
    FFTND__PUSH, /* the transform before puts its tiles into the peers' arrays */
    FFTND__PULL, /* the transform after gets its tiles from the peers' arrays */
    FFTND__PLAIN /* not at all: at an end of the chain, from or to the user's array */
};

struct fftnd__fused {
    struct fftnd__pipeline list;                 /* steps, arrays and exchanges */
    enum fftnd__join join[FFTND__MOST_HOPS + 2]; /* of each exchange step; else PLAIN */
    int buffer[FFTND__MOST_HOPS +
               1]; /* where the array after each step is; -1 = only tiles of it */
    struct fftnd__tiling tilings[FFTND__MOST_HOPS + 1]; /* of each serial step */
};

/* Lists the steps, cuts the tiles and decides how exchanges are joined. *suits says whether tiles are any
 * good for these shapes. Collective on the transform's communicator. */
int fftnd__fused_build(struct fftnd__fused *fused, const struct fftnd__transform *transform,
                       int direction, int *suits);

/* Whether some transforms are to work on whole arrays, and their plans; scratch as in pipeline.h. Not
 * collective. */
int fftnd__fused_has_whole(const struct fftnd__fused *fused,
                           const struct fftnd__transform *transform);
int fftnd__fused_plan_whole(struct fftnd__fused *fused, const struct fftnd__transform *transform,
                            void *const scratch[2]);

/* Bytes that the arrays in `buffer` need. */
size_t fftnd__fused_bytes(const struct fftnd__fused *fused,
                          const struct fftnd__transform *transform, int buffer);

/* Makes the exchanges; `work` are the work arrays. Collective. */
int fftnd__fused_plan_exchanges(struct fftnd__fused *fused,
                                const struct fftnd__transform *transform, void *const work[2]);

/* As fftnd__pipeline_run; the results are multiplied by `scale`. Collective. */
void fftnd__fused_run(const struct fftnd__fused *fused, const struct fftnd__transform *transform,
                      void *const buffers[], double scale, double seconds[2],
                      struct fftnd__failure *failure);

void fftnd__fused_free(struct fftnd__fused *fused, const struct fftnd__transform *transform);

#endif
