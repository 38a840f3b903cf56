/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures several candidates side by side: round i of every candidate comes before round i + 1 of
 * any, each begins behind a barrier, and what counts is the slowest rank of each round.
 */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <mpi.h>

#define BENCH_MAX_STEPS 2

/* What is recorded of each round: each step, all steps together, and the candidate's own count. */
enum bench_series {
    BENCH_FIRST_STEP,
    BENCH_SECOND_STEP,
    BENCH_WHOLE,
    BENCH_COUNTED,
    BENCH_NSERIES
};

typedef struct bench_candidate {
    void *context; /* handed to the functions below */
    void (*prepare)(void *context);
    int nsteps;
    void (*steps[BENCH_MAX_STEPS])(void *context); /* timed, no barrier in between */
    double (*count)(void *context); /* seconds counted by the candidate so far; may be NULL */
    int settles; /* it runs twice in a round, the second time counts: it finds the caches as it leaves them */
    int nrounds;
    double *seconds; /* BENCH_NSERIES times nrounds, the maximum over the ranks */
} bench_candidate;

/* Runs `warmup` and then `nrounds` rounds; frees nothing. Collective on comm. */
void bench_rounds(MPI_Comm comm, bench_candidate candidates[], int ncandidates, int warmup,
                  int nrounds);

double bench_median_ms(const bench_candidate *candidate, enum bench_series series);
double bench_min_ms(const bench_candidate *candidate, enum bench_series series);

/* Prints on rank 0 the times of each candidate, and those of number `base` over them; `what` says whose these are. */
void bench_print_times(const bench_candidate candidates[], int ncandidates,
                       const char *const names[], int base, const char *what);

/* Frees the records. */
void bench_forget(bench_candidate candidates[], int ncandidates);

#endif
