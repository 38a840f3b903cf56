/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Candidates that exist together run in turns, so that all meet the same noise, and before each run this rank writes
 * other memory. A candidate that runs alone finds its arrays in the caches; a program has other data, too, which
 * changes the ranking.
 */
#include "planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_ROUNDS = 3, USUAL_ROUNDS = 10, MOST_ROUNDS = 25 };
enum { OTHER_ARRAYS = 4 }; /* bytes of other data for each byte of the arrays */

static const size_t little_memory = 64 << 20;

struct rounds {
    const struct redist__turns *turns;
    double begin, seconds; /* of all turns */
    size_t bytes;
    void *memory; /* the other data */
    size_t held;  /* bytes of buffers of all candidates except the first */
    int count;    /* opened candidates */
    struct entry {
        int failed, hopeless;
        int rounds;
        double seconds[MOST_ROUNDS];
    } entry[REDIST__MOST_TURNS];
};

/* Finds the bytes of other data: 0 for arrays that do not fit the cache, as these are evicted anyway. */
static int find_bytes(const struct redist__turns *turns, size_t *bytes) {
    const redist_caches *caches = redist_find_caches();
    int node_size = 1, known = redist_node_size(turns->comm, &node_size);
    size_t cache_bytes = caches->last_whole / (size_t)(known == REDIST_OK ? node_size : 1);
    cache_bytes = cache_bytes > caches->last ? cache_bytes : caches->last;
    long long most[2] = {(long long)turns->array_bytes, -(long long)cache_bytes};
    int reduced = redist_all_reduce(turns->comm, most, 2, MPI_LONG_LONG, MPI_MAX);
    size_t arrays = (size_t)most[0], least_cache_bytes = (size_t)-most[1];
    size_t others =
        arrays < least_cache_bytes / OTHER_ARRAYS ? OTHER_ARRAYS * arrays : least_cache_bytes;
    *bytes = arrays <= least_cache_bytes && !turns->on_device ? others : 0;
    return redist_agree(turns->comm, known != REDIST_OK ? known : reduced);
}

/* Returns whether `seconds` more would exceed the time, by rank 0's clock. */
static int is_late(const struct rounds *rounds, double seconds) {
    int late = MPI_Wtime() - rounds->begin + seconds > rounds->seconds;
    int code = redist_broadcast(rounds->turns->comm, &late, sizeof late, 0);
    return late || code != REDIST_OK;
}

/* Takes a turn. The run before the first turn, which touches pages, does not count. */
static void take_turn(struct rounds *rounds, int i) {
    struct entry *entry = &rounds->entry[i];
    double *seconds = &entry->seconds[entry->rounds];
    memset(rounds->memory, i + 1, rounds->bytes);
    entry->failed = rounds->turns->time(rounds->turns->context, i, seconds) != REDIST_OK;
    entry->rounds += !entry->failed;
}

/* Returns whether a candidate may win, by its time alone, which is reliable without other data. */
static int has_chance(const struct rounds *rounds, int i) {
    const double *alone = rounds->turns->alone;
    return rounds->bytes != 0 || alone == NULL || alone[i] <= REDIST__TURNS_BEHIND * alone[0];
}

/* Opens a candidate unless the buffers of all exceed a limit that users can expect. */
static int open_candidate(struct rounds *rounds, int i) {
    const struct redist__turns *turns = rounds->turns;
    size_t buffers = 0;
    REDIST_TRY(turns->open(turns->context, i, &buffers));
    size_t held = rounds->held + (i > 0 ? buffers : 0);
    int fits = held <= turns->array_bytes || held <= little_memory;
    REDIST_TRY(redist_agree(turns->comm, fits ? REDIST_OK : REDIST_ERR_MEMORY));
    rounds->held = held;
    return REDIST_OK;
}

/* Opens the first candidates, as many as have time for some rounds; one that cannot be opened is skipped. */
static void open_candidates(struct rounds *rounds) {
    const struct redist__turns *turns = rounds->turns;
    double cost = 0; /* of a round; the next candidate is assumed to take as long as the others */
    for (int i = 0; i < turns->count && has_chance(rounds, i); i++) {
        if (i > 0 && is_late(rounds, FEWEST_ROUNDS * cost * (i + 1) / i))
            break;
        double seconds, begin = MPI_Wtime();
        struct entry *entry = &rounds->entry[i];
        entry->failed = open_candidate(rounds, i) != REDIST_OK ||
                        turns->time(turns->context, i, &seconds) != REDIST_OK;
        begin = entry->failed ? begin : MPI_Wtime();
        if (!entry->failed)
            take_turn(rounds, i);
        cost += MPI_Wtime() - begin;
        rounds->count = i + 1;
    }
    double usual = MPI_Wtime() - rounds->begin + USUAL_ROUNDS * cost;
    rounds->seconds = usual < rounds->seconds ? usual : rounds->seconds;
    rounds->seconds = turns->seconds > rounds->seconds ? turns->seconds : rounds->seconds;
}

static int compare_seconds(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds the usual and the best time of a run; infinite if unknown. */
static void summarise(const struct entry *entry, double *usual, double *best) {
    double sorted[MOST_ROUNDS];
    int n = entry->rounds;
    *usual = *best = INFINITY;
    if (entry->failed || entry->hopeless || n < FEWEST_ROUNDS)
        return;
    memcpy(sorted, entry->seconds, sizeof sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_seconds);
    *usual = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    *best = sorted[0];
}

/* Returns the winner, or -1; medians are of a run, -1 = unknown. */
static int find_winner(const struct rounds *rounds, double medians[]) {
    int winner = -1;
    for (int i = 0; i < rounds->count; i++) {
        double median, best;
        summarise(&rounds->entry[i], &median, &best);
        medians[i] = median < INFINITY ? median : -1;
        if (medians[i] >= 0 && (winner < 0 || median < medians[winner]))
            winner = i;
    }
    return winner;
}

/* Drops candidates whose best run is slower than the leader's usual one. */
static int drop_hopeless(struct rounds *rounds) {
    double medians[REDIST__MOST_TURNS];
    int left = 0, winner = find_winner(rounds, medians);
    double limit = winner >= 0 ? medians[winner] : INFINITY;
    for (int i = 0; i < rounds->count; i++) {
        struct entry *entry = &rounds->entry[i];
        double usual, best;
        summarise(entry, &usual, &best);
        entry->hopeless |= entry->rounds >= FEWEST_ROUNDS && best > limit;
        left += !entry->failed && !entry->hopeless;
    }
    return left;
}

/* Runs a round: directions alternate, and another candidate begins, so that none always follows the same one. */
static void run_round(struct rounds *rounds, int round) {
    int n = rounds->count;
    for (int k = 0; k < n; k++) {
        int i = ((round % 2 ? n - 1 - k : k) + round / 2) % n;
        if (!rounds->entry[i].failed && !rounds->entry[i].hopeless)
            take_turn(rounds, i);
    }
}

int redist__take_turns(const struct redist__turns *turns, double medians[]) {
    struct rounds rounds = {.turns = turns, .begin = MPI_Wtime()};
    rounds.seconds = turns->most_seconds > turns->seconds ? turns->most_seconds : turns->seconds;
    int winner = -1;
    for (int i = 0; i < turns->count; i++)
        medians[i] = -1;
    if (turns->count < 2 || find_bytes(turns, &rounds.bytes) != REDIST_OK)
        return -1;
    rounds.memory = redist_calloc(rounds.bytes + 1, 1);
    int code = redist_agree(turns->comm, rounds.memory != NULL ? REDIST_OK : REDIST_ERR_MEMORY);
    if (code == REDIST_OK) {
        open_candidates(&rounds);
        for (int round = 0; round < MOST_ROUNDS - 1 && drop_hopeless(&rounds) > 1; round++) {
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
