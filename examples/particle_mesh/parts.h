/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of each part of a step. */
#ifndef PARTS_H
#define PARTS_H

#include <mpi.h>

enum part { SPREAD, TRANSFORM, GATHER, PAIRS, PARTS };

struct times {
    double last, seconds[PARTS];
};

static inline void begin_parts(struct times *times) {
    times->last = MPI_Wtime();
}

static inline void end_part(struct times *times, enum part part) {
    double now = MPI_Wtime();
    times->seconds[part] += now - times->last;
    times->last = now;
}

#endif
