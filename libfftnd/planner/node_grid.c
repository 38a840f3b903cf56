/* SPDX-License-Identifier: BSD-3-Clause */
/* Process grids that know the nodes: of the grids with so many dimensions, the one with which a rank sends
 * least to other nodes, so that the subgroup that exchanges most stays inside a node. */
#include "node_grid.h"

#include <limits.h>
#include <string.h>

enum { MOST_SAMPLES = 32 };

struct search {
    int nranks, ndims, largest;
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
    if (largest > search->largest || sent > search->least + same ||
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

static void find_grid(int nranks, const int node_of[], int largest, int ndims, int dims[]) {
    struct search search = {
        .nranks = nranks, .ndims = ndims, .largest = largest, .node_of = node_of};
    memcpy(search.best, dims, (size_t)ndims * sizeof *dims);
    search.least = sent_between_nodes(&search, dims);
    try_factors(&search, 0, nranks);
    memcpy(dims, search.best, (size_t)ndims * sizeof *dims);
}

static int is_open(const fftnd_options *options) {
    int fixed = 0;
    for (int i = 0; i < options->grid_ndims && options->grid != NULL; i++)
        fixed |= options->grid[i] != 0;
    return !fixed;
}

void fftnd__align_grid(const struct fftnd__request *request, int nranks,
                       struct fftnd__choice *choice) {
    const int *modes =
        request->options.retained_modes != NULL ? request->options.retained_modes : request->sizes;
    int halved = fftnd__halved_axis(request), shortest = INT_MAX, nnodes;
    const int *node_of;
    for (int i = 0; i < request->ndims; i++) {
        int extent = i == halved ? modes[i] / 2 + 1 : modes[i];
        shortest = extent < shortest ? extent : shortest;
    }
    if (choice->grid_ndims > 1 && is_open(&request->options) &&
        redist_nodes(request->comm, request->options.by_node, &nnodes, &node_of) == REDIST_OK &&
        nnodes > 1)
        find_grid(nranks, node_of, shortest, choice->grid_ndims, choice->grid);
}
