/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Candidates that are alive together run in turns, and before each run this rank writes memory of its own. A candidate
 * that runs alone finds its arrays in the caches; a program has other data, too, and that changes which one is fastest.
 */
#include "redist_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_ROUNDS = 3, MOST_ROUNDS = 15 };
enum { OTHER_ARRAYS = 4 }; /* as many bytes of other data for each byte of the arrays */

struct rounds {
    const redist_turns *turns;
    double begin;
    size_t bytes;
    void *memory; /* the other data */
    int count;    /* candidates that were opened */
    struct {
        int rounds; /* -1 = it failed, or has no chance */
        double seconds[MOST_ROUNDS];
    } entry[REDIST_MOST_TURNS];
};

/* Arrays that do not fit the cache are not there in the next run, whatever is written in between: *bytes = 0. */
static int find_bytes(const redist_turns *turns, size_t *bytes) {
    const redist_caches *caches = redist_find_caches();
    int node_size = 1, known = redist_node_size(turns->comm, &node_size);
    size_t share = caches->last_whole / (size_t)(known == REDIST_OK ? node_size : 1);
    share = share > caches->last ? share : caches->last;
    long long most[2] = {(long long)turns->array_bytes, -(long long)share};
    int reduced = redist_check_mpi(
        redist_insist(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_LONG_LONG, MPI_MAX, turns->comm)));
    size_t arrays = (size_t)most[0], least_share = (size_t)-most[1];
    size_t others = arrays < least_share / OTHER_ARRAYS ? OTHER_ARRAYS * arrays : least_share;
    *bytes = arrays <= least_share ? others : 0;
    return redist_agree(turns->comm, known != REDIST_OK ? known : reduced);
}

/* Whether `seconds` more were too many, by rank 0's clock. */
static int is_late(const struct rounds *rounds, double seconds) {
    int late = MPI_Wtime() - rounds->begin + seconds > rounds->turns->seconds;
    int result = redist_insist(MPI_Bcast(&late, 1, MPI_INT, 0, rounds->turns->comm));
    return late || result != MPI_SUCCESS;
}

static int take_turn(struct rounds *rounds, int i, double *seconds) {
    memset(rounds->memory, i + 1, rounds->bytes);
    return rounds->turns->time(rounds->turns->context, i, seconds);
}

/* As many candidates, the first ones, as have time for some rounds; one that cannot be opened is left out. */
static void open_candidates(struct rounds *rounds) {
    const redist_turns *turns = rounds->turns;
    double cost = 0; /* of a round; the next candidate will take about as long as the others */
    for (int i = 0; i < turns->count; i++) {
        if (i > 0 && is_late(rounds, FEWEST_ROUNDS * cost * (i + 1) / i))
            break;
        double seconds, begin = MPI_Wtime();
        int code = turns->open(turns->context, i);
        if (code == REDIST_OK)
            code = turns->time(turns->context, i, &seconds); /* touches pages */
        begin = code == REDIST_OK ? MPI_Wtime() : begin;
        if (code == REDIST_OK)
            code = take_turn(rounds, i, &seconds);
        rounds->entry[i].rounds = code == REDIST_OK ? 0 : -1;
        cost += MPI_Wtime() - begin;
        rounds->count = i + 1;
    }
}

static int compare_seconds(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The seconds become sorted. */
static double find_median(struct rounds *rounds, int i) {
    int n = rounds->entry[i].rounds;
    double *seconds = rounds->entry[i].seconds;
    if (n < FEWEST_ROUNDS)
        return INFINITY;
    qsort(seconds, (size_t)n, sizeof *seconds, compare_seconds);
    return n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
}

static double find_least_median(struct rounds *rounds) {
    double least = INFINITY;
    for (int i = 0; i < rounds->count; i++)
        least = find_median(rounds, i) < least ? find_median(rounds, i) : least;
    return least;
}

/* Those whose best run is behind the usual one of the leader only take time from the others. */
static int drop_hopeless(struct rounds *rounds) {
    double leader = find_least_median(rounds);
    int left = 0;
    for (int i = 0; i < rounds->count; i++) {
        if (find_median(rounds, i) < INFINITY && rounds->entry[i].seconds[0] > leader)
            rounds->entry[i].rounds = -1;
        left += rounds->entry[i].rounds >= 0;
    }
    return left;
}

/* Forth and back by turns, and each round begins with another candidate: none is always behind the same one. */
static void run_round(struct rounds *rounds, int round) {
    int n = rounds->count;
    for (int k = 0; k < n; k++) {
        int i = ((round % 2 ? n - 1 - k : k) + round / 2) % n;
        double seconds;
        if (rounds->entry[i].rounds < 0)
            continue;
        if (take_turn(rounds, i, &seconds) == REDIST_OK)
            rounds->entry[i].seconds[rounds->entry[i].rounds++] = seconds;
        else
            rounds->entry[i].rounds = -1;
    }
}

static int find_winner(struct rounds *rounds, double medians[]) {
    int winner = -1;
    for (int i = 0; i < rounds->count; i++) {
        double median = find_median(rounds, i);
        medians[i] = median < INFINITY ? median : -1;
        if (medians[i] >= 0 && (winner < 0 || median < medians[winner]))
            winner = i;
    }
    return winner;
}

int redist_take_turns(const redist_turns *turns, double medians[]) {
    struct rounds rounds = {.turns = turns, .begin = MPI_Wtime()};
    int winner = -1;
    for (int i = 0; i < turns->count; i++)
        medians[i] = -1;
    if (turns->count < 2 || find_bytes(turns, &rounds.bytes) != REDIST_OK || rounds.bytes == 0)
        return -1;
    rounds.memory = redist_calloc(rounds.bytes, 1);
    int code = redist_agree(turns->comm, rounds.memory != NULL ? REDIST_OK : REDIST_ERR_MEMORY);
    if (code == REDIST_OK) {
        open_candidates(&rounds);
        for (int round = 0; round < MOST_ROUNDS && drop_hopeless(&rounds) > 1; round++) {
            if (is_late(&rounds, 0))
                break;
            run_round(&rounds, round);
        }
        winner = find_winner(&rounds, medians);
        for (int i = 0; i < rounds.count; i++)
            turns->close(turns->context, i);
    }
    redist_release(rounds.memory);
    return winner;
}
