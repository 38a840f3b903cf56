/* SPDX-License-Identifier: BSD-3-Clause */
/* A chain on some of the ranks, between sides on all of them. */
#include "planner.h"

#include <string.h>

/* Finds the coordinates of a rank, the last grid dimension fastest. */
static void find_coords(int rank, struct fftnd__place *place) {
    for (int i = place->ndims - 1; i >= 0; i--) {
        place->coords[i] = rank % place->dims[i];
        rank /= place->dims[i];
    }
}

/* Finds the place of this rank in the order of the grid. */
static int find_rank(const struct fftnd__request *request, int *place) {
    int rank, nnodes;
    const int *node_of;
    MPI_Comm_rank(request->comm, &rank);
    REDIST_TRY(redist_nodes(request->user_comm, 0, &nnodes, &node_of));
    *place = request->settings.by_node ? 0 : rank;
    for (int i = 0; i < request->nranks && request->settings.by_node; i++)
        *place += node_of[i] < node_of[rank] || (node_of[i] == node_of[rank] && i < rank);
    return REDIST_OK;
}

/* Gives a side the box that this rank has of it in a chain of all ranks, unless it has one of the user. */
static void set_box(const struct fftnd__chain *chain, int side, struct fftnd__shape *shape) {
    const struct fftnd__alignment *end = &chain->ends[side];
    for (int axis = 0; axis < shape->ndims && !shape->has_box[side]; axis++) {
        shape->box[side].start[axis] = end->start[axis];
        shape->box[side].count[axis] = end->count[axis];
    }
    shape->has_box[side] = 1;
}

static int find_boxes(const struct fftnd__request *request, struct fftnd__shape *shape) {
    struct fftnd__configuration guess = {0};
    struct fftnd__chain chain = {0};
    struct fftnd__place place;
    int rank = 0;
    fftnd__grids_guess(request, &guess);
    REDIST_TRY(find_rank(request, &rank));
    place.ndims = guess.grid_ndims;
    memcpy(place.dims, guess.grid, sizeof place.dims);
    find_coords(rank, &place);
    REDIST_TRY(fftnd__chain_build_at(&chain, &request->shape, guess.order, &place));
    for (int side = 0; side < 2; side++)
        set_box(&chain, side, shape);
    fftnd__chain_free(&chain);
    return REDIST_OK;
}

int fftnd__ranks_take(const struct fftnd__request *request, int ranks, struct fftnd__request *own) {
    *own = *request;
    own->ranks = 0;
    if (ranks == 0 || ranks == request->nranks)
        return REDIST_OK;
    struct fftnd__shape *shape = &own->shape;
    REDIST_TRY(redist_agree(request->comm, find_boxes(request, shape)));
    own->nranks = own->ranks = ranks;
    own->has_grid = own->grid_ndims = 0;
    shape->aligns_input = shape->has_split[0] = shape->has_split[1] = 0;
    memset(shape->blocks, 0, sizeof shape->blocks); /* balanced */
    return REDIST_OK;
}
