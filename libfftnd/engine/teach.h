/* SPDX-License-Identifier: BSD-3-Clause */
/* Serial plans that some ranks measure for all. */
#ifndef FFTND__TEACH_H
#define FFTND__TEACH_H

#include "../program/program.h"

/* The most ranks that measure at once for all: for a grid of three dimensions whose blocks have two sizes. */
enum { FFTND__MOST_TEACHERS = 16 };

/* A rank that measures first, while others wait. */
struct fftnd__teacher {
    int rank;
    int is_own; /* its arrays have the shape of this rank's */
};

/* The teachers: of each shape of the ranks' arrays one for each direction, or one for both. */
struct fftnd__teachers {
    int count; /* 0 = all ranks measure */
    struct fftnd__teacher list[FFTND__MOST_TEACHERS];
    int has_own;     /* some have this rank's shape */
    int measures[2]; /* this rank measures forward, backward transforms */
};

/* Finds the teachers: there are some for arrays of at most `largest_bytes` on this rank that fit the caches of all
 * ranks, if the serial library can pass its findings on. Collective. */
void fftnd__find_teachers(const struct fftnd__transform *transform, size_t largest_bytes,
                          struct fftnd__teachers *teachers);

/* Passes on what the teachers have found: to the ranks of their shape, and to those whose shape has none. Where it
 * fails, ranks measure for themselves. Collective. */
void fftnd__teach(const struct fftnd__transform *transform, const struct fftnd__teachers *teachers);

#endif
