/* SPDX-License-Identifier: BSD-3-Clause */
#include "grids.h"
#include "../layout.h"
#include "predict.h"
#include "redist_support.h"

#include <stdio.h>
#include <string.h>

/* Whose exchanges are predicted to take so many times those of the best is not measured. */
static const double hopeless = 2.0;

/* ---------------------------------------------------------------- all grids */

/* All ways to write `rest` as a product of the grid dimensions from `dim` on. A last dimension of one
 * process is the grid without it: left out, unless the user fixed the number of dimensions. */
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

static void list_all(const struct fftnd__request *request, const int order[], int nranks,
                     struct fftnd__grids *grids) {
    int fixed = request->options.grid_ndims, least = fixed != 0 ? fixed : 1;
    int most = fftnd__most_grid_ndims(request->ndims, fftnd__halved_axis(request), order);
    most = fixed != 0 ? fixed : most;
    grids->count = 0;
    for (int n = least; n <= most; n++) {
        struct fftnd__grid grid = {.ndims = n};
        add_factors(grids, &grid, 0, nranks, fixed != 0);
    }
}

/* ---------------------------------------------------------------- the model */

static void describe(const struct fftnd__request *request, int nranks, int node_size,
                     char key[REDIST_WISDOM_BYTES]) {
    const fftnd_options *options = &request->options;
    snprintf(key, REDIST_WISDOM_BYTES, "model/ranks=%d/node=%d/space=%d/staging=%d/method=%s",
             nranks, node_size, (int)options->space, (int)options->staging,
             options->method != NULL ? options->method : "auto");
}

static int scan_model(const char *text, redist_model *model) {
    return sscanf(text, "node=%d %lg %lg %lg network %lg %lg %lg", &model->ranks_per_node,
                  &model->node.start, &model->node.latency, &model->node.bandwidth,
                  &model->network.start, &model->network.latency, &model->network.bandwidth) == 7;
}

static int measure_model(MPI_Comm comm, const struct fftnd__request *request, const char *key,
                         redist_model *model) {
    char text[REDIST_WISDOM_BYTES];
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = request->options.method;
    options.space = request->options.space;
    options.staging = request->options.staging;
    int code = redist_model_fit(comm, &options, model);
    if (code != REDIST_OK)
        return code;
    snprintf(text, sizeof text, "node=%d %.6g %.6g %.6g network %.6g %.6g %.6g",
             model->ranks_per_node, model->node.start, model->node.latency, model->node.bandwidth,
             model->network.start, model->network.latency, model->network.bandwidth);
    return redist_wisdom_store(comm, request->options.wisdom_file, key, text);
}

static int get_model(MPI_Comm comm, const struct fftnd__request *request, int nranks,
                     redist_model *model) {
    char key[REDIST_WISDOM_BYTES], text[REDIST_WISDOM_BYTES] = "";
    int node_size;
    int code = redist_node_size(comm, &node_size);
    describe(request, nranks, node_size, key);
    if (code == REDIST_OK)
        code = redist_wisdom_find(comm, request->options.wisdom_file, key, sizeof text, text);
    if (code != REDIST_OK || scan_model(text, model))
        return code;
    return measure_model(comm, request, key, model);
}

/* ---------------------------------------------------------------- the promising ones */

static void sort(struct fftnd__grids *grids) {
    for (int i = 1; i < grids->count; i++) {
        struct fftnd__grid grid = grids->list[i];
        int place = i;
        for (; place > 0 && grids->list[place - 1].seconds > grid.seconds; place--)
            grids->list[place] = grids->list[place - 1];
        grids->list[place] = grid;
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
                           const int order[], int nranks, int verbose, struct fftnd__grids *grids) {
    int count = 0, rank;
    MPI_Comm_rank(request->comm, &rank);
    for (int i = 0; i < grids->count; i++)
        grids->list[i].seconds = fftnd__predict(
            model, nranks, request->ndims, request->sizes, request->kind, request->precision,
            &request->options, order, grids->list[i].ndims, grids->list[i].dims);
    sort(grids);
    while (count < grids->count && grids->list[count].seconds <= hopeless * grids->list[0].seconds)
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
int fftnd__grids_find(MPI_Comm comm, const struct fftnd__request *request, const int order[],
                      int verbose, struct fftnd__grids *grids) {
    int nranks;
    MPI_Comm_size(comm, &nranks);
    list_all(request, order, nranks, grids);
    if (!any_pencil(grids))
        return REDIST_OK;
    redist_model model = REDIST_MODEL_DEFAULT;
    int code = get_model(comm, request, nranks, &model);
    if (code == REDIST_OK)
        keep_promising(&model, request, order, nranks, verbose, grids);
    return code == REDIST_ERR_METHOD || code == REDIST_ERR_MEMORY ? REDIST_OK : code;
}
