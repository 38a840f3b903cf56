/* SPDX-License-Identifier: BSD-3-Clause */
#include "../geometry/layout.h"
#include "planner.h"

#include <math.h>
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

/* Lists all factorizations of `rest` over the grid dimensions from `dim` on. A last dimension of one process
 * equals the grid without it: left out, unless the user fixed the number of dimensions. */
static void add_factors(struct fftnd__grids *grids, struct fftnd__grid *grid, int dim, int rest,
                        int fixed) {
    if (dim == grid->ndims - 1) {
        grid->dims[dim] = rest;
        if ((rest > 1 || fixed || dim == 0) && grids->count < FFTND__MOST_GRIDS)
            grids->list[grids->count++] = *grid;
        return;
    }
    for (int factor = 1; factor <= rest; factor++)
        if (rest % factor == 0) {
            grid->dims[dim] = factor;
            add_factors(grids, grid, dim + 1, rest / factor, fixed);
        }
}

static void list_all(const struct fftnd__request *request, const int order[],
                     struct fftnd__grids *grids) {
    int fixed = request->options.grid_ndims, least = fixed != 0 ? fixed : 1;
    int most = fftnd__most_grid_ndims(&request->shape, order);
    most = fixed != 0 ? fixed : most;
    grids->count = 0;
    for (int n = least; n <= most; n++) {
        struct fftnd__grid grid = {.ndims = n};
        add_factors(grids, &grid, 0, request->nranks, fixed != 0);
    }
}

/* ---------------------------------------------------------------- the model */

static int is_link(const redist_link *link) {
    return link->start >= 0 && link->latency >= 0 && link->bandwidth >= 0 &&
           isfinite(link->start + link->latency + link->bandwidth);
}

/* A file may hold anything. */
static int scan_model(const char *text, redist_model *model) {
    return redist_text_scan(text, "node=%d %lg %lg %lg network %lg %lg %lg", &model->ranks_per_node,
                            &model->node.start, &model->node.latency, &model->node.bandwidth,
                            &model->network.start, &model->network.latency,
                            &model->network.bandwidth) == 7 &&
           model->ranks_per_node > 0 && is_link(&model->node) && is_link(&model->network);
}

static int measure_model(const struct fftnd__request *request, const char *key,
                         redist_model *model) {
    char text[REDIST_WISDOM_BYTES];
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = request->options.method;
    options.space = request->options.space;
    options.staging = request->options.staging;
    REDIST_TRY(redist_model_fit(request->comm, &options, model));
    redist_text_print(text, sizeof text, "node=%d %.6g %.6g %.6g network %.6g %.6g %.6g",
                      model->ranks_per_node, model->node.start, model->node.latency,
                      model->node.bandwidth, model->network.start, model->network.latency,
                      model->network.bandwidth);
    return redist_wisdom_store(request->comm, request->options.wisdom_file, key, text);
}

/* Rank 0's model, if it can read one from the text. Collective. */
static int share_model(MPI_Comm comm, const char *text, int *found, redist_model *model) {
    struct {
        int found;
        redist_model model;
    } shared = {.model = REDIST_MODEL_DEFAULT};
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        shared.found = scan_model(text, &shared.model);
    int code = redist_broadcast(comm, &shared, sizeof shared, 0);
    *found = shared.found;
    if (*found)
        *model = shared.model;
    return redist_agree(comm, code);
}

/* The same on all ranks: the grids that are tried are chosen by it. Collective. */
static int get_model(const struct fftnd__request *request, redist_model *model) {
    const fftnd_options *options = &request->options;
    char key[REDIST_WISDOM_BYTES], text[REDIST_WISDOM_BYTES] = "";
    int node_size, found;
    REDIST_TRY(redist_node_size(request->comm, &node_size));
    snprintf(key, sizeof key, "model/ranks=%d/node=%d/space=%d/staging=%d/method=%s",
             request->nranks, node_size, (int)options->space, (int)options->staging,
             options->method != NULL ? options->method : "auto");
    REDIST_TRY(redist_wisdom_find(request->comm, options->wisdom_file, key, sizeof text, text));
    REDIST_TRY(share_model(request->comm, text, &found, model));
    return found ? REDIST_OK : measure_model(request, key, model);
}

/* ---------------------------------------------------------------- the promising ones */

/* Grids whose exchanges are predicted to take longer than this many times those of the best are not measured. */
static const double worst_ratio = 2.0;

static void sort(struct fftnd__grids *grids) {
    for (int i = 1; i < grids->count; i++) {
        struct fftnd__grid grid = grids->list[i];
        int at = i;
        for (; at > 0 && grids->list[at - 1].seconds > grid.seconds; at--)
            grids->list[at] = grids->list[at - 1];
        grids->list[at] = grid;
    }
}

static void report(const struct fftnd__grids *grids, int first, int verbose) {
    for (int i = first; i < grids->count && verbose; i++) {
        fprintf(stderr, "fftnd: grid=");
        for (int dim = 0; dim < grids->list[i].ndims; dim++)
            fprintf(stderr, "%s%d", dim > 0 ? "x" : "", grids->list[i].dims[dim]);
        fprintf(stderr, " is not tried: %.3f ms of exchanges predicted, %.3f for the best\n",
                1e3 * grids->list[i].seconds, 1e3 * grids->list[0].seconds);
    }
}

static void keep_promising(const redist_model *model, const struct fftnd__request *request,
                           const struct fftnd__configuration *configuration, int verbose,
                           struct fftnd__grids *grids) {
    struct fftnd__configuration candidate = *configuration;
    int count = 0, rank;
    MPI_Comm_rank(request->comm, &rank);
    for (int i = 0; i < grids->count; i++) {
        candidate.grid_ndims = grids->list[i].ndims;
        memcpy(candidate.grid, grids->list[i].dims, sizeof candidate.grid);
        grids->list[i].seconds = fftnd__predict(model, request, &candidate);
    }
    sort(grids);
    while (count < grids->count &&
           grids->list[count].seconds <= worst_ratio * grids->list[0].seconds)
        count++;
    report(grids, count, verbose && rank == 0);
    grids->count = count;
}

/* All slabs exchange alike. */
static int any_pencil(const struct fftnd__grids *grids) {
    for (int i = 0; i < grids->count; i++) {
        int above = 0;
        for (int dim = 0; dim < grids->list[i].ndims; dim++)
            above += grids->list[i].dims[dim] > 1;
        if (above > 1)
            return 1;
    }
    return 0;
}

/* A method that cannot be fitted is no reason to give up. */
int fftnd__grids_find(const struct fftnd__request *request,
                      const struct fftnd__configuration *configuration, int verbose,
                      struct fftnd__grids *grids) {
    list_all(request, configuration->order, grids);
    if (!any_pencil(grids))
        return REDIST_OK;
    redist_model model = REDIST_MODEL_DEFAULT;
    int code = get_model(request, &model);
    if (code == REDIST_OK)
        keep_promising(&model, request, configuration, verbose, grids);
    return code == REDIST_ERR_METHOD || code == REDIST_ERR_MEMORY ? REDIST_OK : code;
}

/* ---------------------------------------------------------------- grids that know the nodes */

enum { MOST_SAMPLES = 32 };

struct search {
    int nranks, ndims;
    redist_index shortest; /* axis: no grid dimension may exceed it */
    const int *node_of;
    int dims[REDIST_MAX_NDIMS], best[REDIST_MAX_NDIMS];
    double least; /* of the best grid */
};

/* How many times its own array a rank sends to other nodes in one direction of a transform, on the
 * average of some ranks: what it has for its peers on other nodes, in all subgroups. */
static double sent_between_nodes(const struct search *search, const int dims[]) {
    int samples = search->nranks < MOST_SAMPLES ? search->nranks : MOST_SAMPLES;
    double sum = 0;
    for (int sample = 0; sample < samples; sample++) {
        int rank = (int)((long long)sample * search->nranks / samples);
        for (int i = search->ndims - 1, stride = 1; i >= 0; stride *= dims[i--]) {
            int far = 0, first = rank - rank / stride % dims[i] * stride;
            for (int j = 0; j < dims[i]; j++)
                far += search->node_of[first + j * stride] != search->node_of[rank];
            sum += (double)far / dims[i];
        }
    }
    return sum / samples;
}

static int largest_of(int ndims, const int dims[]) {
    int largest = 0;
    for (int i = 0; i < ndims; i++)
        largest = dims[i] > largest ? dims[i] : largest;
    return largest;
}

/* Among equals the one with the least messages stays. */
static void try_grid(struct search *search) {
    double sent = sent_between_nodes(search, search->dims);
    int largest = largest_of(search->ndims, search->dims);
    const double same = 1e-9;
    if (largest > search->shortest || sent > search->least + same ||
        (sent > search->least - same && largest >= largest_of(search->ndims, search->best)))
        return;
    search->least = sent;
    memcpy(search->best, search->dims, sizeof search->best);
}

static void try_factors(struct search *search, int dim, int rest) {
    if (dim == search->ndims - 1) {
        search->dims[dim] = rest;
        try_grid(search);
        return;
    }
    for (int factor = 2; factor <= rest / 2; factor++)
        if (rest % factor == 0) {
            search->dims[dim] = factor;
            try_factors(search, dim + 1, rest / factor);
        }
}

static void align_to_nodes(const struct fftnd__request *request, const int node_of[], int ndims,
                           int dims[]) {
    struct search search = {.nranks = request->nranks, .ndims = ndims, .node_of = node_of};
    search.shortest = fftnd__request_extent(request, 0);
    for (int i = 1; i < request->shape.ndims; i++) {
        redist_index extent = fftnd__request_extent(request, i);
        search.shortest = extent < search.shortest ? extent : search.shortest;
    }
    memcpy(search.best, dims, (size_t)ndims * sizeof *dims);
    search.least = sent_between_nodes(&search, dims);
    try_factors(&search, 0, request->nranks);
    memcpy(dims, search.best, (size_t)ndims * sizeof *dims);
}

/* ---------------------------------------------------------------- the guess */

/* Whether balanced grid dimensions leave no rank without modes in any link. */
static int has_room(const struct fftnd__request *request, const int order[], int grid_ndims) {
    int dims[REDIST_MAX_NDIMS] = {0};
    if (MPI_Dims_create(request->nranks, grid_ndims, dims) != MPI_SUCCESS)
        return 0;
    const enum fftnd_axis *axes = request->shape.axes;
    for (int i = 0; i < grid_ndims; i++) {
        int next = fftnd__place_split_next(axes, order, grid_ndims, i);
        if (dims[i] > fftnd__request_extent(request, order[i]) ||
            (!fftnd__stays_split(axes, order[i]) &&
             dims[i] > fftnd__request_extent(request, order[next])))
            return 0;
    }
    return 1;
}

static int choose_ndims(const struct fftnd__request *request, const int order[]) {
    int n = 1, most = fftnd__most_grid_ndims(&request->shape, order);
    while (n < most && !has_room(request, order, n))
        n++;
    return n < most ? n : most;
}

void fftnd__grids_guess(const struct fftnd__request *request,
                        struct fftnd__configuration *configuration) {
    const fftnd_options *options = &request->options;
    int *order = configuration->order, *grid = configuration->grid;
    fftnd__usual_order(&request->shape, order);
    if (request->has_order)
        memcpy(order, request->order, sizeof request->order);
    if (request->shape.ndims == 1)
        return;
    int ndims = options->grid_ndims, is_open = 1;
    for (int i = 0; i < ndims && options->grid != NULL; i++) {
        grid[i] = options->grid[i];
        is_open &= grid[i] == 0;
    }
    if (ndims == 0)
        ndims = choose_ndims(request, order);
    configuration->grid_ndims = ndims;
    MPI_Dims_create(request->nranks, ndims, grid);
    int nnodes;
    const int *node_of;
    if (ndims > 1 && is_open &&
        redist_nodes(request->user_comm, options->by_node, &nnodes, &node_of) == REDIST_OK &&
        nnodes > 1)
        align_to_nodes(request, node_of, ndims, grid);
    fftnd__order_guess(request, configuration);
}
