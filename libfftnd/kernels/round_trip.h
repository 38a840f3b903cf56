/* SPDX-License-Identifier: BSD-3-Clause */
/* Round trips: the last transform before an operator, the operator and the first transform back at once, by serial
 * libraries that can. */
#ifndef FFTND__ROUND_TRIP_H
#define FFTND__ROUND_TRIP_H

#include "../operators/operator.h"
#include "kernel.h"

struct fftnd__round_trip {
    const struct lines__round_trips *library; /* NULL = none */
    void *plans[2];                           /* for pieces like the first one, and shorter ones */
    int axis;                                 /* of the array */
    redist_index modes;                       /* along it */
};

/* Returns the axis of a step with an operator that can make a round trip, the slowest in the array before, or -1. All
 * modes have to be retained. */
int fftnd__round_trip_axis(const struct fftnd__transform *transform, const struct fftnd__step *step,
                           const struct lines__library *library);

/* Plans a round trip between two sides, on which a piece has the elements of the cut. trip->library stays NULL if the
 * library cannot. As fftnd__kernel_create. */
int fftnd__round_trip_create(struct fftnd__round_trip *trip,
                             const struct fftnd__kernel_problem *problem, int axis);
void fftnd__round_trip_free(struct fftnd__round_trip *trip);

/* Executes the round trip of a piece from one block to the other, or enqueues it. */
int fftnd__round_trip_run(const struct fftnd__round_trip *trip, int is_shorter,
                          const struct lines__operation *operation, const struct fftnd__block *in,
                          const struct fftnd__block *out);

#endif
