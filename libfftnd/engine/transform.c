/* SPDX-License-Identifier: BSD-3-Clause */
/* The resources that both directions of a transform share: grid, chain, device, streams and threads. */
#include "../program/program.h"
#include "parts.h"

#include <string.h>

/* Axes transformed at once may take an eighth of a device's limit, which holds three tiles, a copy of each if one side
 * is real, and scratch. The upper bounds, a guess, leave enough tiles for transfers beside the transforms. */
enum { GROUPS_IN_LIMIT = 8, MOST_AXES_BYTES = 512 << 20, MOST_TILE_BYTES = 128 << 20 };

/* Contiguous bytes that still cost less to copy to a device than another pass over the array: a guess. */
enum { SHORT_ROW = 4 << 10 };

static void set_r2r(struct fftnd__transform *transform, const struct fftnd__request *request) {
    for (int i = 0; i < request->shape.ndims; i++)
        if (request->shape.axes[i] == FFTND_AXIS_R2R) {
            transform->r2r[REDIST_FORWARD][i] = request->r2r[i];
            transform->r2r[REDIST_BACKWARD][i] = fftnd__r2r_kinds[request->r2r[i]].inverse;
        }
}

/* Makes the grid, on some of the ranks if the chain runs on these; one rank with a one-dimensional array has none. The
 * transform's communicator is the library's own, on which collective operations are its fast ones, unless the grid has
 * its ranks in another order. Collective. */
static int create_grid(struct fftnd__transform *transform, const struct fftnd__request *request) {
    const struct fftnd__configuration *configuration = &transform->configuration;
    int by_node = request->settings.by_node, ndims = configuration->grid_ndims, nranks, node_size;
    REDIST_TRY(redist_node_size(request->user_comm, &node_size));
    MPI_Comm_size(request->user_comm, &nranks);
    transform->in_one_node = node_size == nranks;
    transform->comm = request->comm;
    if (request->shape.ndims == 1)
        return REDIST_OK;
    if (request->ranks != 0)
        return redist_grid_create_on(request->user_comm, request->nranks, by_node, ndims,
                                     configuration->grid, &transform->grid);
    REDIST_TRY((by_node ? redist_grid_create_by_node : redist_grid_create)(
        request->user_comm, ndims, configuration->grid, &transform->grid));
    return by_node ? redist_grid_comm(transform->grid, &transform->comm) : REDIST_OK;
}

/* Adapts the configuration to tiles on a device. All devices need room for the axes of a tile, as ranks have the same
 * steps. */
static void adjust_to_device(const struct fftnd__offload *offload,
                             struct fftnd__configuration *configuration) {
    configuration->tiled = configuration->segments = 1;
    configuration->transposed = 0; /* transfers move rows, not single elements */
    configuration->untiled = configuration->direct_stores = FFTND__DIRECT_NONE;
    configuration->group_bytes = offload->least_limit / GROUPS_IN_LIMIT;
    if (configuration->group_bytes > MOST_AXES_BYTES)
        configuration->group_bytes = MOST_AXES_BYTES;
    configuration->row_bytes = SHORT_ROW;
    configuration->tile_bytes =
        configuration->group_bytes < MOST_TILE_BYTES ? configuration->group_bytes : MOST_TILE_BYTES;
}

/* Collective. */
static int create_offload(struct fftnd__transform *transform) {
    const struct fftnd__settings *settings = &transform->settings;
    if (!settings->offloads)
        return REDIST_OK;
    REDIST_TRY(fftnd__offload_create(transform->comm, settings->device, settings->device_bytes,
                                     &transform->offload));
    adjust_to_device(transform->offload, &transform->configuration);
    return REDIST_OK;
}

/* Creates events and a stream for every other segment, so that a device is not idle in part where a segment ends. */
static int create_streams(struct fftnd__transform *transform) {
    const redist__space *space = transform->space;
    REDIST_TRY(space->event_create(&transform->event));
    const struct fftnd__configuration *configuration = &transform->configuration;
    if (!space->asynchronous || transform->settings.asynchronous ||
        (configuration->segments == 1 && configuration->partitions == 1))
        return REDIST_OK;
    REDIST_TRY(space->event_create(&transform->forked));
    REDIST_TRY(space->event_create(&transform->begun));
    return space->stream_create(&transform->second);
}

static int has_padding(const struct fftnd__transform *transform, int side) {
    int has = 0;
    for (int axis = 0; axis < transform->chain.ndims && transform->room != NULL; axis++)
        has |= transform->room->padding[side].added[axis] != 0;
    return has;
}

/* Drops the exchange with a side whose boxes are those of the chain on all ranks; not in place, where a real array may
 * need more room. Collective. */
static int keep_sides(struct fftnd__transform *transform) {
    struct fftnd__chain *chain = &transform->chain;
    int found[4]; /* moves, padded: the latter differs between ranks with boxes only */
    for (int side = 0; side < 2; side++) {
        int padded = has_padding(transform, side);
        found[2 + side] = transform->padded[side] = padded;
        found[side] = chain->moves[side] && (!fftnd__chain_meets(chain, (enum fftnd_side)side) ||
                                             padded || transform->settings.in_place);
    }
    if (!chain->moves[0] && !chain->moves[1] && transform->room == NULL) /* on all ranks */
        return REDIST_OK;
    REDIST_TRY(redist_agree(transform->comm,
                            redist_all_reduce(transform->comm, found, 4, MPI_INT, MPI_MAX)));
    memcpy(chain->moves, found, sizeof chain->moves);
    memcpy(transform->padded, &found[2], sizeof transform->padded);
    return REDIST_OK;
}

int fftnd__transform_create(struct fftnd__transform *transform,
                            const struct fftnd__request *request,
                            const struct fftnd__configuration *configuration) {
    transform->plan_comm = request->comm;
    transform->precision = request->precision;
    transform->settings = request->settings;
    transform->configuration = *configuration;
    transform->library = lines__library_for(request->settings.space);
    transform->space = redist_space_at(transform->library->space);
    transform->batch = fftnd__batch_of(request->settings.batch, 1, request->settings.batch_position,
                                       request->shape.ndims);
    transform->user_ndims = request->user_ndims;
    memcpy(transform->user_axis, request->user_axis, sizeof transform->user_axis);
    memcpy(transform->memory, request->memory, sizeof transform->memory);
    transform->fields[0] = transform->fields[1] = 1;
    set_r2r(transform, request);
    REDIST_TRY(create_grid(transform, request));
    REDIST_TRY(create_offload(transform));
    transform->workplace = fftnd__workplace_of(transform->space, transform->offload);
    transform->worker = transform->offload != NULL ? transform->offload->device : transform->space;
    int code = create_streams(transform);
    if (code == REDIST_OK)
        code = fftnd__pool_create(request->settings.threads, &transform->pool);
    if (code == REDIST_OK)
        code = fftnd__set_room(transform, &request->room);
    if (code == REDIST_OK)
        code = fftnd__chain_build(&transform->chain, &request->shape,
                                  transform->configuration.order, transform->grid);
    REDIST_TRY(redist_agree(transform->comm, code));
    return keep_sides(transform);
}

void fftnd__transform_free(struct fftnd__transform *transform) {
    if (transform->space != NULL) {
        transform->space->event_destroy(transform->event);
        transform->space->event_destroy(transform->forked);
        transform->space->event_destroy(transform->begun);
    }
    if (transform->second != NULL)
        transform->space->stream_destroy(transform->second);
    fftnd__pool_free(transform->pool);
    fftnd__offload_free(transform->offload);
    if (transform->grid != NULL)
        redist_grid_free(&transform->grid);
}
