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

static int is_work(int buffer) {
    return buffer == FFTND__WORK0 || buffer == FFTND__WORK1;
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

static int hop_cost(const struct fftnd__rules *rules, const struct fftnd__hop *hop, int source,
                    int destination) {
    int same = same_memory(rules, source, destination);
    int free_use = rules->in_place || rules->overwrite_input;
    if (same && hop->type != FFTND__KEEPS_LAYOUT)
        return IMPOSSIBLE;
    if ((hop->source_is_work && !is_work(source)) ||
        (hop->destination_is_work && !is_work(destination)))
        return IMPOSSIBLE;
    if (hop->ruins_source && source == FFTND__INPUT && !free_use)
        return IMPOSSIBLE;
    int cost = destination == FFTND__WORK1   ? SECOND_WORK
               : destination == FFTND__WORK0 ? FIRST_WORK
                                             : 0;
    if (hop->type == FFTND__EXCHANGE && !is_work(source) && !is_work(destination))
        cost += UNMAPPED;
    if (hop->type == FFTND__KEEPS_LAYOUT && !same)
        cost += EXTRA_ARRAY;
    return cost;
}

int fftnd__route(int n, struct fftnd__hop hops[], const struct fftnd__rules *rules) {
    int cost[FFTND__MOST_HOPS + 1][FFTND__BUFFERS], next[FFTND__MOST_HOPS][FFTND__BUFFERS];
    for (int buffer = 0; buffer < FFTND__BUFFERS; buffer++)
        cost[n][buffer] = 0;
    for (int j = n - 1; j >= 0; j--)
        for (int source = 0; source < FFTND__BUFFERS; source++) {
            cost[j][source] = IMPOSSIBLE;
            next[j][source] = source;
            for (int to = 0; to < FFTND__BUFFERS; to++) {
                if (!may_hold(rules, n, hops, j, to))
                    continue;
                int total = cost[j + 1][to] + hop_cost(rules, &hops[j], source, to);
                if (total < cost[j][source]) {
                    cost[j][source] = total;
                    next[j][source] = to;
                }
            }
        }
    for (int j = 0, buffer = FFTND__INPUT; j < n; j++) {
        hops[j].source = buffer;
        buffer = hops[j].destination = next[j][buffer];
    }
    return cost[0][FFTND__INPUT] < IMPOSSIBLE;
}
