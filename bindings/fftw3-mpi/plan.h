/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plan of this library, used by programs as a plan of FFTW's. FFTW's begin with an address in the heap, ours with the
 * address of a variable here, which distinguishes them.
 */
#ifndef FFTND_FFTW_PLAN_H
#define FFTND_FFTW_PLAN_H

#include "fftnd.h"
#include "own.h"

#include <stdatomic.h>
#include <stdio.h>

struct fftnd_fftw__plan;

/* The kinds of plans: one const table each. */
struct fftnd_fftw__kind {
    const char *name;
    /* Executes on the arrays of planning, or on others. Collective; a failure ends the program, since FFTW's functions
     * return none. */
    int (*execute)(struct fftnd_fftw__plan *plan, void *in, void *out, int new_arrays);
    /* Frees the plan. Collective. */
    void (*destroy)(struct fftnd_fftw__plan *plan);
    /* Describes the plan in one line, without a newline. */
    void (*describe)(const struct fftnd_fftw__plan *plan, size_t bytes, char text[]);
};

/* The first member of all plans. */
struct fftnd_fftw__plan {
    const void *mark;
    const struct fftnd_fftw__kind *kind;
    void *in, *out;     /* of planning */
    double flops;       /* approximate floating point operations of this rank */
    atomic_int holders; /* references: one, and one more for each copy */
};

/* Nonzero while this thread makes or executes a plan here: calls of FFTW are then not the program's. */
extern _Thread_local int fftnd_fftw__is_inside;

/* Completes a new plan. */
void fftnd_fftw__plan_init(struct fftnd_fftw__plan *plan, const struct fftnd_fftw__kind *kind,
                           void *in, void *out);

/* Returns the plan of FFTW's type if it is one of ours, else NULL. */
struct fftnd_fftw__plan *fftnd_fftw__plan_of(const void *plan);

void fftnd_fftw__plan_execute(struct fftnd_fftw__plan *plan, void *in, void *out, int new_arrays);

/* Copies a plan, which is destroyed separately: the same one with one more reference, as FFTW's copies are. */
struct fftnd_fftw__plan *fftnd_fftw__plan_copy(struct fftnd_fftw__plan *plan);

/* Frees the plan with its last reference. Collective. */
void fftnd_fftw__plan_destroy(struct fftnd_fftw__plan *plan);

#endif
