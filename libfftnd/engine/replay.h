/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program, again and again with the same arrays as one graph of the device. */
#ifndef FFTND__REPLAY_H
#define FFTND__REPLAY_H

#include "../run/executor.h"

enum { FFTND__REPLAYS = 8 };

/* What an asynchronous transform enqueued when it last ran with certain arrays. */
struct fftnd__replay {
    const struct fftnd__program *program;
    void *in, *out;
    int runs;
    long long last_run; /* 0 = the place is free */
    void *graph;        /* NULL = there is none, yet */
};

struct fftnd__replays {
    struct fftnd__replay *list; /* FFTND__REPLAYS of them; NULL before the first */
    long long runs;
};

/* Whether it ran a program, as fftnd__execute does, as a graph. The third time with certain arrays what fftnd__execute
 * enqueues is kept as a graph; from then on a call costs the host one launch, and the device no gaps between kernels.
 * The time of the launch is added to *seconds. */
int fftnd__replay(struct fftnd__replays *replays, const struct fftnd__program *program,
                  const struct fftnd__transform *transform, void *const buffers[],
                  long double scale, double *seconds, struct fftnd__failure *failure);

/* To be called before exchanges or work space go. */
void fftnd__replays_forget(struct fftnd__replays *replays,
                           const struct fftnd__transform *transform);

#endif
