/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cheapest assignment of arrays to the states between steps: from the last state backwards,
 * what is the least cost to the end from each array (dynamic programming).
 */
#include "route.h"

enum { IMPOSSIBLE = 1 << 28 };

/* Costs, in order of weight: a second work array, an exchange that peers cannot map, a transform
 * that is not in place, a first work array. */
enum { SECOND_WORK = 10000, UNMAPPED = 1000, EXTRA_ARRAY = 10, FIRST_WORK = 1 };

static int same_memory(const struct fftnd__rules *rules, int a, int b) {
    int aliased = rules->in_place && a <= FFTND__OUTPUT && b <= FFTND__OUTPUT;
    return a == b || aliased;
}

static int is_mapped(const struct fftnd__rules *rules, int buffer) {
    return rules->mapped_arrays || buffer == FFTND__WORK0 || buffer == FFTND__WORK1;
}

/* Whether the array after hop `j` may lie in `buffer`. */
static int may_hold(const struct fftnd__rules *rules, int n, const struct fftnd__hop hops[], int j,
                    int buffer) {
    if (j == n - 1)
        return buffer == FFTND__OUTPUT;
    int free_use = rules->in_place || rules->overwrite_input;
    if (buffer == FFTND__INPUT)
        return free_use;
    if (buffer == FFTND__OUTPUT)
        return !rules->in_place && (free_use || hops[j].reaches_output);
    return 1;
}

static int hop_cost(const struct fftnd__rules *rules, const struct fftnd__hop *hop, int before,
                    int source, int destination) {
    int same = same_memory(rules, source, destination);
    int free_use = rules->in_place || rules->overwrite_input;
    if (same && hop->type != FFTND__KEEPS_LAYOUT)
        return IMPOSSIBLE;
    if ((hop->maps_source && !is_mapped(rules, source)) ||
        (hop->maps_destination && !is_mapped(rules, destination)))
        return IMPOSSIBLE;
    if (hop->apart && same_memory(rules, before, destination))
        return IMPOSSIBLE;
    if (hop->ruins_source && source == FFTND__INPUT && !free_use)
        return IMPOSSIBLE;
    int cost = destination == FFTND__WORK1   ? SECOND_WORK
               : destination == FFTND__WORK0 ? FIRST_WORK
                                             : 0;
    if (hop->type == FFTND__EXCHANGE && !is_mapped(rules, source) && !is_mapped(rules, destination))
        cost += UNMAPPED;
    if (hop->type == FFTND__KEEPS_LAYOUT && !same)
        cost += EXTRA_ARRAY;
    return cost;
}

/* For the array before hop `j` and the one before that: the least cost to the end, and where to go. */
struct table {
    int cost[FFTND__BUFFERS][FFTND__BUFFERS], next[FFTND__BUFFERS][FFTND__BUFFERS];
};

static void choose_next(const struct fftnd__rules *rules, int n, const struct fftnd__hop hops[],
                        int j, int before, int source, struct table tables[]) {
    int *cost = &tables[j].cost[before][source], *next = &tables[j].next[before][source];
    *cost = IMPOSSIBLE;
    *next = source;
    for (int to = 0; to < FFTND__BUFFERS; to++) {
        if (!may_hold(rules, n, hops, j, to))
            continue;
        int rest = j + 1 < n ? tables[j + 1].cost[source][to] : 0;
        int total = rest + hop_cost(rules, &hops[j], before, source, to);
        if (total < *cost) {
            *cost = total;
            *next = to;
        }
    }
}

int fftnd__route(int n, struct fftnd__hop hops[], const struct fftnd__rules *rules) {
    struct table tables[FFTND__MOST_HOPS];
    for (int j = n - 1; j >= 0; j--)
        for (int before = 0; before < FFTND__BUFFERS; before++)
            for (int source = 0; source < FFTND__BUFFERS; source++)
                choose_next(rules, n, hops, j, before, source, tables);
    for (int j = 0, before = FFTND__INPUT, buffer = FFTND__INPUT; j < n; j++) {
        hops[j].source = buffer;
        hops[j].destination = tables[j].next[before][buffer];
        before = buffer;
        buffer = hops[j].destination;
    }
    return n == 0 || tables[0].cost[FFTND__INPUT][FFTND__INPUT] < IMPOSSIBLE;
}
