/* SPDX-License-Identifier: BSD-3-Clause */
/* Replay of programs in a stream: a graph of the device for executions with the same arrays. */
#ifndef FFTND__REPLAY_H
#define FFTND__REPLAY_H

#include "../run/executor.h"

enum { FFTND__REPLAYS = 8 }; /* a guess */

/* An asynchronous program with certain arrays, and its graph. */
struct fftnd__replay {
    const struct fftnd__program *program;
    void *in, *out;
    int runs;
    long long last_run; /* 0 = unused */
    void *graph;        /* NULL = none yet */
};

struct fftnd__replays {
    struct fftnd__replay *list; /* FFTND__REPLAYS elements; NULL before the first */
    long long runs;
};

/* Executes as a graph, or returns 0. The third execution with the same arrays is captured as a graph. From then on a
 * call costs the host one launch, whose time is added to *seconds, and the device no gaps between kernels. */
int fftnd__replay(struct fftnd__replays *replays, const struct fftnd__program *program,
                  const struct fftnd__transform *transform, void *const buffers[],
                  long double scale, double *seconds, struct fftnd__failure *failure);

/* Frees all graphs. To be called before exchanges or work space are freed. */
void fftnd__replays_forget(struct fftnd__replays *replays,
                           const struct fftnd__transform *transform);

#endif
