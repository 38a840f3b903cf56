/* SPDX-License-Identifier: BSD-3-Clause */
/* The chain of alignments (Dalcin, Mortensen, Keyes, sections 3.3 to 3.6). */
#include "layout.h"

#include <string.h>

void fftnd__usual_order(int ndims, int halved, int order[]) {
    int n = 0;
    for (int axis = 0; axis < ndims; axis++)
        if (axis != halved)
            order[n++] = axis;
    if (halved >= 0)
        order[n] = halved;
}

/* This rank's place in a grid, and which axes that splits. */
struct split {
    int ndims, dims[REDIST_MAX_NDIMS], coords[REDIST_MAX_NDIMS], axes[REDIST_MAX_NDIMS];
};

static struct fftnd__alignment align(const struct split *split, const redist_index sizes[]) {
    struct fftnd__alignment alignment = {{0}, {0}, {0}};
    memcpy(alignment.size, sizes, sizeof alignment.size);
    memcpy(alignment.count, sizes, sizeof alignment.count);
    for (int i = 0; i < split->ndims; i++)
        redist_decompose(sizes[split->axes[i]], split->dims[i], split->coords[i],
                         &alignment.count[split->axes[i]], &alignment.start[split->axes[i]]);
    return alignment;
}

/* After its transform an axis has the retained modes. */
static void transform_axis(const struct fftnd__chain *chain, struct fftnd__alignment *alignment,
                           int axis) {
    fftnd__set_whole(alignment, axis, fftnd__spectral_extent(chain, axis, chain->modes[axis]));
}

/* Stage 0: the axes that no grid dimension splits are whole and transformed at once. */
static void list_first_axes(struct fftnd__chain *chain, const int order[], int grid_ndims) {
    struct fftnd__stage *stage = &chain->stages[0];
    for (int i = grid_ndims; i < chain->ndims; i++)
        if (order[i] != chain->halved)
            stage->axes[stage->naxes++] = order[i];
    if (chain->halved >= 0)
        stage->axes[stage->naxes++] = chain->halved;
}

static void build_first(struct fftnd__chain *chain, const int order[], const struct split *split) {
    struct fftnd__stage *stage = &chain->stages[0];
    stage->grid_dim = -1;
    chain->nstages = 1;
    stage->physical = stage->spectral = align(split, chain->points);
    list_first_axes(chain, order, split->ndims);
    for (int i = 0; i < stage->naxes; i++)
        transform_axis(chain, &stage->spectral, stage->axes[i]);
}

/* The exchange among grid dimension `dim` makes the axis that it split whole, and splits the next
 * one of the order instead. Alone in its subgroup, a rank holds both already: no exchange, and the
 * axis joins the transforms of the stage before. */
static void add_axis(struct fftnd__chain *chain, const int order[], struct split *split, int dim) {
    struct fftnd__stage *last = &chain->stages[chain->nstages - 1];
    split->axes[dim] = order[dim + 1];
    if (split->dims[dim] == 1) {
        memmove(last->axes + 1, last->axes, (size_t)last->naxes * sizeof *last->axes);
        last->axes[0] = order[dim];
        last->naxes++;
        transform_axis(chain, &last->spectral, order[dim]);
        return;
    }
    struct fftnd__stage *stage = &chain->stages[chain->nstages++];
    stage->naxes = 1;
    stage->axes[0] = order[dim];
    stage->grid_dim = dim;
    stage->axis_before = order[dim + 1];
    stage->axis_after = order[dim];
    stage->physical = stage->spectral = align(split, last->spectral.size);
    transform_axis(chain, &stage->spectral, order[dim]);
}

int fftnd__chain_build(struct fftnd__chain *chain, int ndims, const redist_index sizes[],
                       const redist_index modes[], int halved, const int order[],
                       const redist_grid *grid) {
    struct split split = {0};
    int code = REDIST_OK;
    if (grid != NULL)
        code = redist_grid_get(grid, &split.ndims, split.dims, split.coords);
    if (code != REDIST_OK)
        return code;
    *chain = (struct fftnd__chain){.ndims = ndims, .halved = halved};
    memcpy(chain->points, sizes, (size_t)ndims * sizeof *sizes);
    memcpy(chain->modes, modes, (size_t)ndims * sizeof *modes);
    memcpy(split.axes, order, (size_t)ndims * sizeof *order);
    build_first(chain, order, &split);
    for (int dim = split.ndims - 1; dim >= 0; dim--)
        add_axis(chain, order, &split, dim);
    memcpy(split.axes, order, (size_t)ndims * sizeof *order);
    chain->returned = align(&split, chain->stages[chain->nstages - 1].spectral.size);
    return REDIST_OK;
}

struct fftnd__batch fftnd__batch_of(const fftnd_options *options, int ndims) {
    struct fftnd__batch batch = {options->batch, -1, 0};
    if (options->batch > 1 && options->batch_position == FFTND_BATCH_FIRST)
        batch = (struct fftnd__batch){options->batch, 0, 1};
    else if (options->batch > 1)
        batch = (struct fftnd__batch){options->batch, ndims, 0};
    return batch;
}

struct fftnd__local fftnd__local_of(const struct fftnd__alignment *alignment, int ndims,
                                    const int memory[], const struct fftnd__batch *batch,
                                    int padded_axis) {
    struct fftnd__local local = {.ndims = ndims + (batch->axis >= 0), .elements = 1};
    for (int axis = 0; axis < ndims; axis++) {
        redist_index count = alignment->count[axis];
        int at = axis + batch->shift;
        local.extent[at] = axis == padded_axis ? 2 * (count / 2 + 1) : count;
        local.order[at] = (memory != NULL ? memory[axis] : axis) + batch->shift;
    }
    if (batch->axis >= 0) {
        local.extent[batch->axis] = batch->count;
        local.order[batch->axis] = batch->axis;
    }
    for (int i = local.ndims - 1; i >= 0; i--) {
        int axis = local.order[i];
        local.stride[axis] = (ptrdiff_t)local.elements;
        if (__builtin_mul_overflow(local.elements, (size_t)local.extent[axis], &local.elements) ||
            local.elements > FFTND__MOST_ELEMENTS)
            local.elements = FFTND__MOST_ELEMENTS + 1;
    }
    return local;
}

int fftnd__most_grid_ndims(int ndims, int halved, const int order[]) {
    for (int i = 0; i < ndims - 1; i++)
        if (order[i] == halved)
            return i;
    return ndims - 1;
}
