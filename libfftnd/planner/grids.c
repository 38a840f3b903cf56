/* SPDX-License-Identifier: BSD-3-Clause */
#include "../geometry/layout.h"
#include "planner.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- prediction */

double fftnd__predict(const redist_model *model, const struct fftnd__request *request,
                      const struct fftnd__configuration *configuration) {
    const int *grid = configuration->grid;
    double seconds = 0;
    for (int dim = configuration->grid_ndims - 1, stride = 1; dim >= 0; stride *= grid[dim--])
        if (fftnd__exchanges(request, configuration, dim))
            seconds += redist_model_seconds(model, request->nranks, grid[dim], stride,
                                            fftnd__local_bytes(request, configuration, dim));
    return seconds;
}

/* ---------------------------------------------------------------- all grids */

/* Lists all factorizations of `rest` over the grid dimensions from `dim` on, with factors of at least `least`, the last
 * one of at least `least_last`. */
static void add_factors(struct fftnd__grids *grids, struct fftnd__grid *grid, int dim, int rest,
                        int least, int least_last) {
    int is_last = dim == grid->ndims - 1;
    for (int factor = is_last ? rest : least; factor <= rest; factor++) {
        grid->dims[dim] = factor;
        if (!is_last && rest % factor == 0)
            add_factors(grids, grid, dim + 1, rest / factor, least, least_last);
        else if (is_last && factor >= least_last && grids->count < FFTND__MOST_GRIDS)
            grids->list[grids->count++] = *grid;
    }
}

/* A last dimension of one process equals the grid without it: left out, unless the user fixed the number of
 * dimensions. */
static void list_all(const struct fftnd__request *request, const int order[],
                     struct fftnd__grids *grids) {
    int fixed = request->grid_ndims, least = fixed != 0 ? fixed : 1;
    int most = fixed != 0 ? fixed : fftnd__most_grid_ndims(&request->shape, order);
    grids->count = 0;
    for (int n = least; n <= most; n++) {
        struct fftnd__grid grid = {.ndims = n};
        add_factors(grids, &grid, 0, request->nranks, 1, fixed != 0 || n == 1 ? 1 : 2);
    }
}

/* ---------------------------------------------------------------- what ranks send */

enum { MOST_SAMPLES = 32 };

/* Counts what a rank sends in one direction on a grid, at most: the ranks of a sample are spread over all. */
static void count_bytes(const struct fftnd__request *request,
                        const struct fftnd__configuration *configuration, const int node_of[],
                        struct fftnd__grid *grid) {
    struct fftnd__configuration candidate = *configuration;
    int samples = request->nranks < MOST_SAMPLES ? request->nranks : MOST_SAMPLES;
    candidate.grid_ndims = grid->ndims;
    memcpy(candidate.grid, grid->dims, sizeof candidate.grid);
    grid->bytes = grid->far_bytes = 0;
    for (int sample = 0; sample < samples; sample++) {
        int rank = (int)((long long)sample * request->nranks / samples);
        uint64_t bytes = fftnd__sent_bytes(request, &candidate, rank, NULL);
        grid->bytes = bytes > grid->bytes ? bytes : grid->bytes;
        grid->far_bytes += fftnd__sent_bytes(request, &candidate, rank, node_of);
    }
}

/* ---------------------------------------------------------------- the promising ones */

/* A grid is not measured if more than this many times the least bytes are sent on it. */
enum { WORST_RATIO = 2 };

/* The network between nodes is slower than their memory. */
static int sends_less(const struct fftnd__grid *a, const struct fftnd__grid *b) {
    return a->far_bytes != b->far_bytes ? a->far_bytes < b->far_bytes : a->bytes < b->bytes;
}

static int is_hopeless(const struct fftnd__grid *grid, const struct fftnd__grid *least) {
    return grid->far_bytes != least->far_bytes ? grid->far_bytes > WORST_RATIO * least->far_bytes
                                               : grid->bytes > WORST_RATIO * least->bytes;
}

static void sort(struct fftnd__grids *grids) {
    for (int i = 1; i < grids->count; i++) {
        struct fftnd__grid grid = grids->list[i];
        int at = i;
        for (; at > 0 && sends_less(&grid, &grids->list[at - 1]); at--)
            grids->list[at] = grids->list[at - 1];
        grids->list[at] = grid;
    }
}

static void report(const struct fftnd__grids *grids, int first) {
    for (int i = first; i < grids->count; i++) {
        const struct fftnd__grid *grid = &grids->list[i];
        fprintf(stderr, "fftnd: grid=");
        for (int dim = 0; dim < grid->ndims; dim++)
            fprintf(stderr, "%s%d", dim > 0 ? "x" : "", grid->dims[dim]);
        fprintf(stderr,
                " is not tried: a rank sends %llu bytes, %llu on the best grid; to other nodes "
                "ranks send %llu and %llu\n",
                (unsigned long long)grid->bytes, (unsigned long long)grids->list[0].bytes,
                (unsigned long long)grid->far_bytes, (unsigned long long)grids->list[0].far_bytes);
    }
}

int fftnd__grids_find(const struct fftnd__request *request,
                      const struct fftnd__configuration *configuration, int verbose,
                      struct fftnd__grids *grids) {
    int nnodes, rank, count = 0;
    const int *node_of;
    list_all(request, configuration->order, grids);
    REDIST_TRY(redist_nodes(request->user_comm, request->settings.by_node, &nnodes, &node_of));
    for (int i = 0; i < grids->count; i++)
        count_bytes(request, configuration, node_of, &grids->list[i]);
    sort(grids);
    while (count < grids->count && !is_hopeless(&grids->list[count], &grids->list[0]))
        count++;
    MPI_Comm_rank(request->comm, &rank);
    if (verbose && rank == 0)
        report(grids, count);
    grids->count = count;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- grids that know the nodes */

static int largest_of(const struct fftnd__grid *grid) {
    int largest = 0;
    for (int i = 0; i < grid->ndims; i++)
        largest = grid->dims[i] > largest ? grid->dims[i] : largest;
    return largest;
}

/* The shortest axis, which no grid dimension may exceed. */
static redist_index shortest_of(const struct fftnd__request *request) {
    redist_index shortest = fftnd__request_extent(request, 0);
    for (int i = 1; i < request->shape.ndims; i++) {
        redist_index extent = fftnd__request_extent(request, i);
        shortest = extent < shortest ? extent : shortest;
    }
    return shortest;
}

/* Takes the grid of as many dimensions with which ranks send least to other nodes. Among equals the one with the least
 * messages stays. */
static void align_to_nodes(const struct fftnd__request *request, const int node_of[],
                           struct fftnd__configuration *configuration) {
    struct fftnd__grids grids = {.count = 0};
    struct fftnd__grid best = {.ndims = configuration->grid_ndims}, trial = best;
    const redist_index shortest = shortest_of(request);
    memcpy(best.dims, configuration->grid, sizeof best.dims);
    count_bytes(request, configuration, node_of, &best);
    add_factors(&grids, &trial, 0, request->nranks, 2, 2);
    for (int i = 0; i < grids.count; i++) {
        struct fftnd__grid *grid = &grids.list[i];
        if (largest_of(grid) > shortest)
            continue;
        count_bytes(request, configuration, node_of, grid);
        if (grid->far_bytes < best.far_bytes ||
            (grid->far_bytes == best.far_bytes && largest_of(grid) < largest_of(&best)))
            best = *grid;
    }
    memcpy(configuration->grid, best.dims, sizeof best.dims);
}

/* ---------------------------------------------------------------- the guess */

/* Whether balanced grid dimensions leave no rank without elements. */
static int has_room(const struct fftnd__request *request, const struct fftnd__configuration *guess,
                    int grid_ndims) {
    struct fftnd__configuration trial = *guess;
    trial.grid_ndims = grid_ndims;
    memset(trial.grid, 0, sizeof trial.grid);
    return MPI_Dims_create(request->nranks, grid_ndims, trial.grid) == MPI_SUCCESS &&
           fftnd__has_room(request, &trial);
}

static int choose_ndims(const struct fftnd__request *request,
                        const struct fftnd__configuration *guess) {
    int n = 1, most = fftnd__most_grid_ndims(&request->shape, guess->order);
    while (n < most && !has_room(request, guess, n))
        n++;
    return n < most ? n : most;
}

void fftnd__grids_guess(const struct fftnd__request *request,
                        struct fftnd__configuration *configuration) {
    int *order = configuration->order, *grid = configuration->grid;
    fftnd__usual_order(&request->shape, order);
    if (request->has_order)
        memcpy(order, request->order, sizeof request->order);
    if (request->shape.ndims == 1)
        return;
    int ndims = request->grid_ndims, is_open = 1;
    for (int i = 0; i < ndims; i++) {
        grid[i] = request->grid[i];
        is_open &= grid[i] == 0;
    }
    if (ndims == 0)
        ndims = choose_ndims(request, configuration);
    configuration->grid_ndims = ndims;
    MPI_Dims_create(request->nranks, ndims, grid);
    int nnodes = 1;
    const int *node_of;
    if (redist_nodes(request->user_comm, request->settings.by_node, &nnodes, &node_of) ==
            REDIST_OK &&
        nnodes > 1 && ndims > 1 && is_open)
        align_to_nodes(request, node_of, configuration);
    fftnd__order_guess(request, configuration,
                       nnodes == 1 && request->settings.space == REDIST_SPACE_HOST);
}
