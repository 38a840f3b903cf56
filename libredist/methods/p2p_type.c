/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Isend and Irecv of subarray datatypes (Egger, Peer2Peer-MPI_Type). The own part is copied here,
 * or sent to oneself when its elements cannot be copied as bytes.
 */
#include "../method.h"
#include "../pack.h"
#include "../types.h"

struct state {
    const struct redist__schedule *schedule;
    int tag;
    struct redist__types types[2];
    struct redist__copy own[2];
    MPI_Request *requests;
    int nrequests;
};

static int applies(const struct redist__problem *problem, int variant) {
    (void)problem, (void)variant;
    return REDIST_OK;
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    const struct redist__schedule *schedule = problem->schedule;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method p2p-type");
    state->schedule = schedule;
    state->tag = problem->tag;
    state->requests = redist_calloc(2 * (size_t)schedule->context->size, sizeof(MPI_Request));
    if (state->requests == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for requests");
    int code = REDIST_OK;
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        redist__own_copy_prepare(&state->own[side], schedule, side);
        code = redist__types_create(&state->types[side], schedule, side);
    }
    return code;
}

static int start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__schedule *schedule = state->schedule;
    const struct redist__types *from = &state->types[direction], *to = &state->types[!direction];
    int rank = schedule->context->rank, size = schedule->context->size, result = MPI_SUCCESS;
    int own = redist__schedule_copyable(schedule) ? 1 : 0; /* first distance that needs a message */
    state->nrequests = 0;
    for (int i = own; i < size && result == MPI_SUCCESS; i++) {
        int peer = (rank + size - i) % size;
        if (to->counts[peer] != 0)
            result = MPI_Irecv(destination, 1, to->types[peer], peer, state->tag,
                               schedule->context->comm, &state->requests[state->nrequests++]);
    }
    for (int i = own; i < size && result == MPI_SUCCESS; i++) {
        int peer = (rank + i) % size;
        if (from->counts[peer] != 0)
            result = MPI_Isend(source, 1, from->types[peer], peer, state->tag,
                               schedule->context->comm, &state->requests[state->nrequests++]);
    }
    if (redist__schedule_copyable(schedule))
        redist__own_copy_run(&state->own[direction], schedule, direction, source, destination);
    return redist_check_mpi(result);
}

static int wait(void *data) {
    struct state *state = data;
    return redist_check_mpi(MPI_Waitall(state->nrequests, state->requests, MPI_STATUSES_IGNORE));
}

static size_t workspace(const void *data) {
    (void)data;
    return 0;
}

static void destroy(void *data) {
    struct state *state = data;
    redist__types_free(&state->types[0]);
    redist__types_free(&state->types[1]);
    redist_release(state->requests);
    redist_release(state);
}

const struct redist__method redist__method_p2p_type = {
    .name = "p2p-type",
    .summary = "MPI_Isend and MPI_Irecv of subarray datatypes; the own part is copied locally",
    .applies = applies,
    .create = create,
    .start = start,
    .wait = wait,
    .workspace = workspace,
    .destroy = destroy,
};
