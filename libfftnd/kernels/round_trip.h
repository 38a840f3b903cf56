/* SPDX-License-Identifier: BSD-3-Clause */
/* The last transform before an operator, the operator and the first transform back in one stage, where the serial
 * library has such a thing. */
#ifndef FFTND__ROUND_TRIP_H
#define FFTND__ROUND_TRIP_H

#include "../operators/operator.h"
#include "kernel.h"

struct fftnd__round_trip {
    const struct lines__round_trips *library; /* NULL = there is none */
    void *plans[2];                           /* for pieces like the first one, and shorter ones */
    int axis;                                 /* of the array */
};

/* The axis of a step with an operator that can be transformed so, -1 = none: one whose modes are all retained, and the
 * slowest in the array before. */
int fftnd__round_trip_axis(const struct fftnd__transform *transform, const struct fftnd__step *step,
                           const struct lines__library *library);

/* Plans it between two sides; the cut says how many elements a piece has there. Where the library cannot do it,
 * trip->library stays NULL. As fftnd__kernel_create. */
int fftnd__round_trip_create(struct fftnd__round_trip *trip,
                             const struct fftnd__kernel_problem *problem, int axis);
void fftnd__round_trip_free(struct fftnd__round_trip *trip);

/* Of a piece, from one block to the other, or begins to. */
int fftnd__round_trip_run(const struct fftnd__round_trip *trip, int is_shorter,
                          const struct lines__operation *operation, const struct fftnd__block *in,
                          const struct fftnd__block *out);

#endif
