/* SPDX-License-Identifier: BSD-3-Clause */
/* One distributed transform of some library, as the benchmark sees it. */
#ifndef BENCH_TRANSFORM_H
#define BENCH_TRANSFORM_H

#include "field.h"
#include "space.h"
#include "timing.h"

/* What is transformed; the same for all libraries. */
typedef struct bench_problem {
    int ndims;
    redist_index sizes[REDIST_MAX_NDIMS];
    enum fftnd_kind kind;
    enum fftnd_axis axes[REDIST_MAX_NDIMS]; /* the kind of each, whatever that of all is */
    enum fftnd_r2r r2r[REDIST_MAX_NDIMS];   /* of real-to-real axes */
    enum fftnd_precision precision;
    enum fftnd_effort effort;
    int batch;
    enum fftnd_batch_position batch_position;
    int threads; /* of each rank */
    int in_place;
    int seed;
    int unchecked; /* any field will do */
    const bench_space *space;
} bench_problem;

/* Arrays that several transforms may share. */
typedef struct bench_arrays {
    bench_field field;     /* the physical side */
    void *input;           /* the field, in host memory */
    void *original;        /* the field, in the space of the arrays; NULL = `input` serves */
    void *physical;        /* what is transformed */
    void *spectral;        /* the same array if in place */
    size_t physical_bytes; /* of `input` and `physical` */
    size_t spectral_bytes; /* of `spectral` */
    int mappable[2];
} bench_arrays;

typedef struct bench_transform {
    const char *library;
    const char *method;   /* the one requested */
    const char *chosen;   /* that is used */
    const char *ordering; /* how the spectral side is distributed */
    const char *effort;   /* of the planner; "guess": of libfftnd's, with nothing tried */
    int in_place;
    int grid_ndims;
    int grid[REDIST_MAX_NDIMS];
    int order[REDIST_MAX_NDIMS]; /* the axis at each place of the chain */
    const bench_space *space;
    bench_arrays *arrays;
    double growth; /* factor by which a forward and a backward transform multiply the field */
    double plan_ms;
    double workspace_bytes; /* NAN = not known */
    double max_error;
    int unchecked;  /* the results are not checked */
    void *plans[2]; /* of the library */
    void (*execute)(struct bench_transform *transform, int direction);
    double (*exchange_seconds)(struct bench_transform *transform); /* NULL = not known */
    void (*release)(struct bench_transform *transform);
} bench_transform;

/* In the order of fftnd_effort; NULL behind the last. */
extern const char *const bench_efforts[];

/* Numbers of an element: 1 real, 2 complex. */
int bench_components(const bench_problem *problem, enum fftnd_side side);

/* The factor by which an unscaled round trip multiplies the field. */
double bench_unscaled_growth(const bench_problem *problem);

/* Allocates and fills arrays whose field and byte counts are set. */
void bench_arrays_create(const bench_problem *problem, bench_arrays *arrays);

void bench_arrays_release(const bench_space *space, bench_arrays *arrays);

/* A candidate whose steps are the forward and the backward transform. */
bench_candidate bench_transform_candidate(bench_transform *transform);

/* One round trip that is not timed, through spoilt arrays; sets max_error. */
void bench_transform_check(bench_transform *transform);

#endif
