/* SPDX-License-Identifier: BSD-3-Clause */
/* The chain of alignments (Dalcin, Mortensen, Keyes, sections 3.3 to 3.6). */
#include "layout.h"
#include "redist_support.h"

#include <string.h>

void fftnd__usual_order(const struct fftnd__shape *shape, int order[]) {
    int n = 0;
    for (int transformed = 0; transformed < 2; transformed++)
        for (int axis = 0; axis < shape->ndims; axis++)
            if (axis != shape->halved && (shape->axes[axis] != FFTND_AXIS_NONE) == transformed)
                order[n++] = axis;
    if (shape->halved >= 0)
        order[n] = shape->halved;
}

/* Finds block `block` of `nblocks`. */
static void find_block(const struct fftnd__blocks *blocks, redist_index extent, int nblocks,
                       int block, redist_index *count, redist_index *start) {
    if (block < 0) {
        *start = *count = 0;
    } else if (blocks->bounds != NULL) {
        *start = blocks->bounds[block];
        *count = blocks->bounds[block + 1] - *start;
    } else if (blocks->rule == FFTND_BLOCKS_CEILING) {
        redist_index length = extent / nblocks + (extent % nblocks != 0);
        *start = length == 0 || block <= extent / length ? length * block : extent;
        *count = extent - *start < length ? extent - *start : length;
    } else
        redist_decompose(extent, nblocks, block, count, start);
}

static int same_blocks(const struct fftnd__blocks *a, const struct fftnd__blocks *b, int nblocks) {
    if (a->bounds == NULL || b->bounds == NULL)
        return a->bounds == b->bounds && a->rule == b->rule;
    return memcmp(a->bounds, b->bounds, (size_t)(nblocks + 1) * sizeof *a->bounds) == 0;
}

/* ---------------------------------------------------------------- the chain */

/* Place of this rank in a grid, and the axes and blocks that it splits. */
struct split {
    int ndims, dims[REDIST_MAX_NDIMS], coords[REDIST_MAX_NDIMS], axes[REDIST_MAX_NDIMS];
    int is_outside;
    const struct fftnd__blocks *blocks[REDIST_MAX_NDIMS];
};

/* Aligns arrays of these sizes, which may be those of the alignment already. */
static void align(const struct fftnd__alignment *alignment, int ndims, const struct split *split,
                  const redist_index sizes[]) {
    for (int axis = 0; axis < ndims; axis++)
        fftnd__set_whole(alignment, axis, sizes[axis], split->is_outside);
    for (int i = 0; i < split->ndims; i++) {
        int axis = split->axes[i];
        find_block(split->blocks[i], sizes[axis], split->dims[i], split->coords[i],
                   &alignment->count[axis], &alignment->start[axis]);
    }
}

/* Gives an axis the retained modes, after its transform. */
static void transform_axis(const struct fftnd__chain *chain,
                           const struct fftnd__alignment *alignment, int axis) {
    fftnd__set_whole(alignment, axis, fftnd__side_extent(chain, axis, FFTND_SPECTRAL),
                     chain->is_outside);
}

/* Adds an axis to a link; the halved one, transformed first, is listed last. */
static void add_to_link(const struct fftnd__chain *chain, struct fftnd__link *link, int axis) {
    if (chain->axes[axis] == FFTND_AXIS_NONE)
        return;
    int at = axis == chain->halved ? link->naxes : 0;
    memmove(link->axes + at + 1, link->axes + at, (size_t)(link->naxes - at) * sizeof *link->axes);
    link->axes[at] = axis;
    link->naxes++;
    transform_axis(chain, &link->spectral, axis);
}

/* Aligns both ends of a link, the same before its transforms. */
static void align_link(const struct fftnd__link *link, int ndims, const struct split *split,
                       const redist_index sizes[]) {
    align(&link->physical, ndims, split, sizes);
    fftnd__copy_alignment(&link->spectral, &link->physical, ndims);
}

int fftnd__is_late(const struct fftnd__shape *shape, const int order[], int grid_ndims, int place) {
    int axis = order[place];
    return place > grid_ndims && axis != shape->halved && shape->axes[axis] != FFTND_AXIS_NONE &&
           shape->filled[axis] < shape->modes[axis];
}

static int has_exchange(const struct fftnd__shape *shape, const int order[],
                        const struct split *split) {
    for (int i = 0; i < split->ndims; i++)
        if (split->dims[i] > 1 && !fftnd__stays_split(shape->axes, order[i]))
            return 1;
    return 0;
}

/* Adds the axes that no grid dimension splits in the beginning to the first link, or the late ones to the last. */
static void add_unsplit(struct fftnd__chain *chain, const struct fftnd__shape *shape,
                        const int order[], const struct split *split, int late) {
    int exchanges = has_exchange(shape, order, split);
    for (int i = chain->ndims - 1; i >= split->ndims; i--)
        if ((exchanges && fftnd__is_late(shape, order, split->ndims, i)) == late)
            add_to_link(chain, &chain->links[chain->nlinks - 1], order[i]);
}

/* Builds link 0. */
static void build_first(struct fftnd__chain *chain, const struct fftnd__shape *shape,
                        const int order[], const struct split *split) {
    struct fftnd__link *link = &chain->links[0];
    link->grid_dim = -1;
    chain->nlinks = 1;
    align_link(link, chain->ndims, split, chain->filled);
    add_unsplit(chain, shape, order, split, 0);
}

int fftnd__place_split_next(const enum fftnd_axis axes[], const int order[], int grid_ndims,
                            int dim) {
    int place = dim + 1;
    while (place < grid_ndims && fftnd__stays_split(axes, order[place]))
        place++;
    return place;
}

/* Adds the link after the exchange along grid dimension `dim`, which makes its axis whole and splits the next one of
 * the order. A rank alone in its subgroup has both already: the axis joins the link before. */
static void add_axis(struct fftnd__chain *chain, const int order[], struct split *split, int dim) {
    struct fftnd__link *last = &chain->links[chain->nlinks - 1];
    if (split->dims[dim] == 1) {
        add_to_link(chain, last, order[dim]);
        return;
    }
    struct fftnd__link *link = &chain->links[chain->nlinks++];
    link->naxes = 0;
    link->grid_dim = dim;
    link->axis_before = split->axes[dim];
    link->axis_after = order[dim];
    align_link(link, chain->ndims, split, last->spectral.size);
    add_to_link(chain, link, order[dim]);
}

/* Axes that grid dimensions split at the beginning and end of the chain, and on each side. */
struct ends {
    int chain[2][REDIST_MAX_NDIMS], side[2][REDIST_MAX_NDIMS];
};

static struct ends find_ends(const struct fftnd__shape *shape, const int order[], int grid_ndims) {
    struct ends ends = {{{0}}, {{0}}};
    for (int i = grid_ndims - 1; i >= 0; i--) {
        int stays = fftnd__stays_split(shape->axes, order[i]);
        int place = fftnd__place_split_next(shape->axes, order, grid_ndims, i);
        ends.chain[FFTND_PHYSICAL][i] = order[i];
        ends.chain[FFTND_SPECTRAL][i] = order[stays ? i : place];
        for (int side = 0; side < 2; side++)
            ends.side[side][i] = shape->has_split[side] ? shape->split[side][i]
                                 : shape->aligns_input  ? order[i]
                                                        : ends.chain[side][i];
    }
    return ends;
}

/* Returns the blocks at an end of the chain: those of the side if it does not move and splits the same axis, else
 * balanced ones. */
static const struct fftnd__blocks *blocks_of(const struct fftnd__chain *chain,
                                             const struct fftnd__shape *shape,
                                             const struct ends *ends, enum fftnd_side side,
                                             int dim) {
    static const struct fftnd__blocks balanced = {FFTND_BLOCKS_BALANCED, NULL};
    int differs = ends->chain[side][dim] != ends->side[side][dim];
    return chain->moves[side] || differs ? &balanced : &shape->blocks[side][dim];
}

/* Returns nonzero if a side takes one more exchange; the same on all ranks. An axis that stays split keeps the blocks
 * with which the chain begins: those of the physical side, unless that moves. */
static int must_move(const struct fftnd__chain *chain, const struct fftnd__shape *shape,
                     const struct split *split, const struct ends *ends, enum fftnd_side side) {
    for (int i = 0; i < split->ndims; i++) {
        int stays = side == FFTND_SPECTRAL && ends->chain[0][i] == ends->chain[1][i] &&
                    !same_blocks(blocks_of(chain, shape, ends, FFTND_PHYSICAL, i),
                                 &shape->blocks[1][i], split->dims[i]);
        if (split->dims[i] > 1 && (ends->chain[side][i] != ends->side[side][i] || stays))
            return 1;
    }
    return shape->has_box[side];
}

/* Sets the alignment of a side: its box, or as the grid splits it. */
static void set_end(struct fftnd__chain *chain, const struct fftnd__shape *shape,
                    const struct split *grid, const struct ends *ends, enum fftnd_side side) {
    const struct fftnd__link *first = &chain->links[0], *last = &chain->links[chain->nlinks - 1];
    struct split split = *grid;
    struct fftnd__alignment *end = &chain->ends[side];
    for (int i = 0; i < split.ndims; i++) {
        split.axes[i] = ends->side[side][i];
        split.blocks[i] = &shape->blocks[side][i];
    }
    fftnd__copy_alignment(end, side == FFTND_PHYSICAL ? &first->physical : &last->spectral,
                          chain->ndims);
    if (chain->moves[side])
        align(end, chain->ndims, &split, end->size);
    for (int axis = 0; axis < chain->ndims && shape->has_box[side]; axis++) {
        end->start[axis] = shape->box[side].start[axis];
        end->count[axis] = shape->box[side].count[axis];
    }
}

/* Sets the sides that have real elements. */
static void find_real(struct fftnd__chain *chain) {
    int has_complex = 0;
    for (int axis = 0; axis < chain->ndims; axis++)
        has_complex |= chain->axes[axis] == FFTND_AXIS_COMPLEX;
    chain->real[FFTND_PHYSICAL] = chain->halved >= 0 || !has_complex;
    chain->real[FFTND_SPECTRAL] = chain->halved < 0 && !has_complex;
}

static int is_balanced(const struct fftnd__shape *shape) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < shape->ndims; i++)
            if (shape->blocks[side][i].bounds != NULL ||
                shape->blocks[side][i].rule != FFTND_BLOCKS_BALANCED)
                return 0;
    return 1;
}

static void build(struct fftnd__chain *chain, const struct fftnd__shape *shape, const int order[],
                  struct split *split) {
    const struct ends ends = find_ends(shape, order, split->ndims);
    for (int side = 0; side < 2; side++) /* the physical one first: see must_move */
        chain->moves[side] = must_move(chain, shape, split, &ends, (enum fftnd_side)side);
    for (int i = 0; i < split->ndims; i++) {
        split->axes[i] = order[i];
        split->blocks[i] = blocks_of(chain, shape, &ends, FFTND_PHYSICAL, i);
    }
    build_first(chain, shape, order, split);
    for (int dim = split->ndims - 1; dim >= 0; dim--)
        if (!fftnd__stays_split(chain->axes, order[dim])) {
            split->axes[dim] = ends.chain[FFTND_SPECTRAL][dim];
            split->blocks[dim] = blocks_of(chain, shape, &ends, FFTND_SPECTRAL, dim);
            add_axis(chain, order, split, dim);
        }
    add_unsplit(chain, shape, order, split, 1);
    for (int side = 0; side < 2; side++)
        set_end(chain, shape, split, &ends, (enum fftnd_side)side);
}

/* Allocates links, as many as there can be, and behind them the numbers of all alignments. */
static int allocate(struct fftnd__chain *chain, int most_links) {
    size_t n = (size_t)most_links, numbers = 3 * (size_t)chain->ndims;
    chain->links =
        redist_calloc(1, n * sizeof *chain->links + 2 * (n + 1) * numbers * sizeof(redist_index));
    if (chain->links == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for the links of a plan");
    redist_index *next = (redist_index *)(chain->links + n);
    for (size_t i = 0; i < n; i++, next += 2 * numbers) {
        fftnd__place_alignment(&chain->links[i].physical, chain->ndims, next);
        fftnd__place_alignment(&chain->links[i].spectral, chain->ndims, next + numbers);
    }
    for (int side = 0; side < 2; side++, next += numbers)
        fftnd__place_alignment(&chain->ends[side], chain->ndims, next);
    return REDIST_OK;
}

int fftnd__chain_build(struct fftnd__chain *chain, const struct fftnd__shape *shape,
                       const int order[], const redist_grid *grid) {
    struct fftnd__place place = {0};
    if (grid != NULL)
        REDIST_TRY(redist_grid_get(grid, &place.ndims, place.dims, place.coords));
    return fftnd__chain_build_at(chain, shape, order, &place);
}

int fftnd__chain_build_at(struct fftnd__chain *chain, const struct fftnd__shape *shape,
                          const int order[], const struct fftnd__place *place) {
    struct split split = {.ndims = place->ndims,
                          .is_outside = place->ndims > 0 && place->coords[0] < 0};
    memcpy(split.dims, place->dims, sizeof split.dims);
    memcpy(split.coords, place->coords, sizeof split.coords);
    *chain = (struct fftnd__chain){
        .ndims = shape->ndims, .halved = shape->halved, .is_outside = split.is_outside};
    REDIST_TRY(allocate(chain, split.ndims + 1));
    memcpy(chain->points, shape->points, sizeof chain->points);
    memcpy(chain->filled, shape->filled, sizeof chain->filled);
    memcpy(chain->modes, shape->modes, sizeof chain->modes);
    memcpy(chain->axes, shape->axes, sizeof chain->axes);
    find_real(chain);
    chain->balanced = is_balanced(shape);
    chain->twiddles = shape->twiddles;
    build(chain, shape, order, &split);
    return REDIST_OK;
}

void fftnd__chain_free(struct fftnd__chain *chain) {
    if (!chain->is_borrowed)
        redist_release(chain->links);
    chain->links = NULL;
}

int fftnd__chain_meets(const struct fftnd__chain *chain, enum fftnd_side side) {
    const struct fftnd__alignment *end = &chain->ends[side],
                                  *own = side == FFTND_PHYSICAL
                                             ? &chain->links[0].physical
                                             : &chain->links[chain->nlinks - 1].spectral;
    for (int axis = 0; axis < chain->ndims; axis++)
        if (end->start[axis] != own->start[axis] || end->count[axis] != own->count[axis])
            return 0;
    return 1;
}

struct fftnd__batch fftnd__batch_of(int count, int fields, enum fftnd_batch_position position,
                                    int ndims) {
    int is_axis = count > 1 || fields > 1, is_first = is_axis && position == FFTND_BATCH_FIRST;
    return (struct fftnd__batch){count, is_first ? 0 : is_axis ? ndims : -1, is_first};
}

void fftnd__set_local(struct fftnd__local *local, const struct fftnd__alignment *alignment,
                      int ndims, const int memory[], const struct fftnd__batch *batch,
                      const struct fftnd__padding *padding) {
    local->ndims = ndims + (batch->axis >= 0);
    local->elements = 1;
    for (int axis = 0; axis < ndims; axis++) {
        int at = axis + batch->shift;
        if (__builtin_add_overflow(alignment->count[axis],
                                   padding != NULL ? padding->added[axis] : 0, &local->extent[at]))
            local->extent[at] = INT64_MAX; /* too many elements, below */
        local->order[at] = (memory != NULL ? memory[axis] : axis) + batch->shift;
    }
    if (batch->axis >= 0) {
        local->extent[batch->axis] = batch->count;
        local->order[batch->axis] = batch->axis;
    }
    for (int i = local->ndims - 1; i >= 0; i--) {
        int axis = local->order[i];
        local->stride[axis] = (ptrdiff_t)local->elements;
        if (__builtin_mul_overflow(local->elements, (size_t)local->extent[axis],
                                   &local->elements) ||
            local->elements > FFTND__MOST_ELEMENTS)
            local->elements = FFTND__MOST_ELEMENTS + 1;
    }
    local->offset = 0;
    for (int axis = 0; axis < ndims && padding != NULL && local->elements <= FFTND__MOST_ELEMENTS;
         axis++)
        local->offset += (ptrdiff_t)padding->offset[axis] * local->stride[axis + batch->shift];
}

int fftnd__most_grid_ndims(const struct fftnd__shape *shape, const int order[]) {
    int most = shape->ndims - 1, behind = shape->ndims;
    for (int i = shape->ndims - 1; i >= 0; i--) {
        if (shape->axes[order[i]] == FFTND_AXIS_COMPLEX)
            behind = i;
        if (order[i] == shape->halved && behind < shape->ndims)
            most = i < most ? i : most;
    }
    return most;
}
