/* SPDX-License-Identifier: BSD-3-Clause */
#include "timing.h"
#include "options.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double count_seconds(const bench_candidate *candidate) {
    return candidate->count ? candidate->count(candidate->context) : 0.0;
}

/* One round of one candidate; seconds[] gets a value for each series. */
static void run_round(MPI_Comm comm, const bench_candidate *candidate,
                      double seconds[BENCH_NSERIES]) {
    if (candidate->prepare)
        candidate->prepare(candidate->context);
    double counted = count_seconds(candidate);
    memset(seconds, 0, BENCH_NSERIES * sizeof *seconds);
    MPI_Barrier(comm);
    double begin = MPI_Wtime();
    double before = begin;
    for (int step = 0; step < candidate->nsteps; step++) {
        candidate->steps[step](candidate->context);
        double now = MPI_Wtime();
        seconds[step] = now - before;
        before = now;
    }
    seconds[BENCH_WHOLE] = before - begin;
    seconds[BENCH_COUNTED] = count_seconds(candidate) - counted;
}

static void make_room(bench_candidate *candidate, int nrounds) {
    candidate->nrounds = nrounds;
    candidate->seconds = calloc((size_t)nrounds * BENCH_NSERIES, sizeof(double));
    if (!candidate->seconds)
        bench_abort("no memory for the times of %d rounds", nrounds);
}

static void record(bench_candidate *candidate, int round, const double seconds[BENCH_NSERIES]) {
    for (int series = 0; series < BENCH_NSERIES; series++)
        candidate->seconds[series * candidate->nrounds + round] = seconds[series];
}

/* What ran before a candidate decides what it finds in the caches, and what they still have to write: each round has
 * an order of its own, the same on all ranks. */
static void shuffle(int n, int order[], unsigned *state) {
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        *state = 1664525U * *state + 1013904223U;
        int other = (int)((*state >> 16) % (unsigned)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

void bench_rounds(MPI_Comm comm, bench_candidate candidates[], int ncandidates, int warmup,
                  int nrounds) {
    for (int i = 0; i < ncandidates; i++)
        make_room(&candidates[i], nrounds);
    unsigned state = 1;
    int *order = calloc((size_t)ncandidates, sizeof *order);
    if (!order)
        bench_abort("no memory for the order of %d candidates", ncandidates);
    for (int round = -warmup; round < nrounds; round++) {
        shuffle(ncandidates, order, &state);
        for (int i = 0; i < ncandidates; i++) {
            double seconds[BENCH_NSERIES];
            for (int again = candidates[order[i]].settles; again >= 0; again--)
                run_round(comm, &candidates[order[i]], seconds);
            if (round >= 0)
                record(&candidates[order[i]], round, seconds);
        }
    }
    free(order);
    for (int i = 0; i < ncandidates; i++)
        MPI_Allreduce(MPI_IN_PLACE, candidates[i].seconds, nrounds * BENCH_NSERIES, MPI_DOUBLE,
                      MPI_MAX, comm);
}

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double bench_median_ms(const bench_candidate *candidate, enum bench_series series) {
    int n = candidate->nrounds;
    double *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted)
        bench_abort("no memory to sort %d times", n);
    memcpy(sorted, &candidate->seconds[(int)series * n], (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    double median = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
    free(sorted);
    return 1e3 * median;
}

double bench_min_ms(const bench_candidate *candidate, enum bench_series series) {
    const double *seconds = &candidate->seconds[(int)series * candidate->nrounds];
    double least = seconds[0];
    for (int i = 1; i < candidate->nrounds; i++)
        least = seconds[i] < least ? seconds[i] : least;
    return 1e3 * least;
}

void bench_print_times(const bench_candidate candidates[], int ncandidates,
                       const char *const names[], int base, const char *what) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ncandidates && rank == 0; i++) {
        double median = bench_median_ms(&candidates[i], BENCH_WHOLE);
        printf("%-20s %9.4f ms, least %9.4f ms; %s is %.3f of it\n", names[i], median,
               bench_min_ms(&candidates[i], BENCH_WHOLE), what,
               bench_median_ms(&candidates[base], BENCH_WHOLE) / median);
    }
}

void bench_forget(bench_candidate candidates[], int ncandidates) {
    for (int i = 0; i < ncandidates; i++)
        free(candidates[i].seconds);
}
