/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers: the cheapest assignment of arrays to the steps of a program. */
#include "program.h"

enum { IMPOSSIBLE = 1 << 28 };

/* Costs that only order the assignments: a second work array, an exchange that peers cannot map, a transform not in
 * place, one of a single axis, which may do without tiles, a first work array. Between devices of one node a second
 * work array is cheaper than messages, which pass through the host: a pair of c2c 256^3 from bricks to bricks took 23
 * ms on two H200s with one such exchange. */
enum { SECOND_WORK = 10000, UNMAPPED = 1000, EXTRA_ARRAY = 20, SINGLE_AXIS = 2, FIRST_WORK = 1 };
enum { UNMAPPED_BESIDE = 2 * SECOND_WORK };

/* Way from one array to the next. */
struct edge {
    enum fftnd__step_type type;
    int naxes;
    int ruins_source, reaches_output;
    int maps_source, maps_destination; /* peers have to map them */
    int apart;        /* the destination is not the array before the source either */
    int knows_source; /* asynchronous: peers have to know the source, else the destination */
};

/* Edges of a program, and padding of the user's arrays at both ends. */
struct problem {
    const struct fftnd__settings *settings;
    int padded[2], unmapped, n;
    struct edge edges[FFTND__MOST_STEPS];
};

static int same_memory(const struct fftnd__settings *settings, int a, int b) {
    int aliased = settings->in_place && a <= FFTND__OUTPUT && b <= FFTND__OUTPUT;
    return a == b || aliased;
}

static int is_mapped(const struct fftnd__settings *settings, int buffer) {
    return settings->mapped_arrays || buffer == FFTND__WORK0 || buffer == FFTND__WORK1;
}

/* Returns nonzero if the array after edge `j` may be in `buffer`. Padded arrays of the user hold no others, which would
 * change their padding. */
static int may_hold(const struct problem *problem, int j, int buffer) {
    const struct fftnd__settings *settings = problem->settings;
    if (j == problem->n - 1)
        return buffer == FFTND__OUTPUT;
    int free_use = settings->in_place || settings->overwrite_input;
    if (buffer == FFTND__INPUT)
        return free_use && !problem->padded[0] && !(settings->in_place && problem->padded[1]);
    if (buffer == FFTND__OUTPUT)
        return !settings->in_place && !problem->padded[1] &&
               (free_use || problem->edges[j].reaches_output);
    return 1;
}

static int edge_cost(const struct problem *problem, const struct edge *edge, int before, int source,
                     int destination) {
    const struct fftnd__settings *settings = problem->settings;
    int same = same_memory(settings, source, destination);
    int free_use = settings->in_place || settings->overwrite_input;
    if (same && edge->type != FFTND__KEEPS_LAYOUT)
        return IMPOSSIBLE;
    if ((edge->maps_source && !is_mapped(settings, source)) ||
        (edge->maps_destination && !is_mapped(settings, destination)))
        return IMPOSSIBLE;
    if (edge->apart && same_memory(settings, before, destination))
        return IMPOSSIBLE;
    if (edge->type >= FFTND__EXCHANGE && settings->asynchronous &&
        (edge->knows_source ? source : destination) < FFTND__WORK0)
        return IMPOSSIBLE; /* peers have to know it when the plan is made */
    if (edge->ruins_source && source == FFTND__INPUT && !free_use)
        return IMPOSSIBLE;
    int cost = destination == FFTND__WORK1   ? SECOND_WORK
               : destination == FFTND__WORK0 ? FIRST_WORK
                                             : 0;
    if (edge->type == FFTND__EXCHANGE && !is_mapped(settings, source) &&
        !is_mapped(settings, destination))
        cost += problem->unmapped;
    if (edge->type == FFTND__KEEPS_LAYOUT && !same)
        cost += EXTRA_ARRAY + (edge->naxes == 1 ? SINGLE_AXIS : 0);
    return cost;
}

/* Least cost to the end, and next array, by the array before an edge and the one before that. */
struct table {
    int cost[FFTND__BUFFERS][FFTND__BUFFERS], next[FFTND__BUFFERS][FFTND__BUFFERS];
};

static void choose_next(const struct problem *problem, int j, int before, int source,
                        struct table tables[]) {
    int *cost = &tables[j].cost[before][source], *next = &tables[j].next[before][source];
    *cost = IMPOSSIBLE;
    *next = source;
    for (int to = 0; to < FFTND__BUFFERS; to++) {
        if (!may_hold(problem, j, to))
            continue;
        int rest = j + 1 < problem->n ? tables[j + 1].cost[source][to] : 0;
        int total = rest + edge_cost(problem, &problem->edges[j], before, source, to);
        if (total < *cost) {
            *cost = total;
            *next = to;
        }
    }
}

/* Returns the edge from the array after step `from` to that after step `to`; steps between them are done in pieces. */
static struct edge edge_between(const struct fftnd__program *program, int from, int to) {
    const struct fftnd__step *before = &program->steps[from], *step = &program->steps[to];
    struct edge edge = {
        .type = step->type, .naxes = step->naxes, .reaches_output = step->reaches_output};
    edge.maps_destination = step->fused_with == FFTND__PUSHED;
    if (to > from + 1) {
        edge.type = FFTND__EXCHANGE;
        edge.maps_source = before[1].fused_with == FFTND__PULLED;
        return edge;
    }
    edge.ruins_source = step->ruins_source && !program->fused;
    edge.apart = edge.maps_destination || before->by_partitions;
    edge.knows_source = step->fills_ghosts;
    return edge;
}

/* Assigns buffers by dynamic programming, from the last array backwards: the least cost to the end from each buffer. */
int fftnd__assign_buffers(struct fftnd__program *program,
                          const struct fftnd__transform *transform) {
    struct table tables[FFTND__MOST_STEPS];
    struct problem problem = {
        .settings = &transform->settings,
        .padded = {transform->padded[program->direction], transform->padded[program->ends]},
        .unmapped =
            transform->space->asynchronous && transform->in_one_node ? UNMAPPED_BESIDE : UNMAPPED};
    int arrays[FFTND__MOST_STEPS + 1] = {0}, n = 0;
    for (int i = 1; i <= program->nsteps; i++)
        if (program->steps[i].buffer != FFTND__NOWHERE) {
            problem.edges[n] = edge_between(program, arrays[n], i);
            arrays[++n] = i;
        }
    problem.n = n;
    for (int j = n - 1; j >= 0; j--)
        for (int before = 0; before < FFTND__BUFFERS; before++)
            for (int source = 0; source < FFTND__BUFFERS; source++)
                choose_next(&problem, j, before, source, tables);
    for (int j = 0, before = FFTND__INPUT, buffer = FFTND__INPUT; j < n; j++) {
        int next = tables[j].next[before][buffer];
        program->steps[arrays[j + 1]].buffer = next;
        before = buffer;
        buffer = next;
    }
    return n == 0 || tables[0].cost[FFTND__INPUT][FFTND__INPUT] < IMPOSSIBLE;
}
