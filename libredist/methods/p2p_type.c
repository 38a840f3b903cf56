/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Isend and Irecv of subarray datatypes (Egger, Peer2Peer-MPI_Type). The own part is copied here,
 * or sent to oneself when its elements cannot be copied as bytes.
 */
#include "../method.h"
#include "../mirror.h"
#include "../pack.h"
#include "../types.h"

struct state {
    const struct redist__problem *problem;
    const struct redist__schedule *schedule;
    struct redist__types types[2];
    struct redist__mirror mirrors[2];
    void *mark;
    int direction;
    void *destination;
    struct redist__copy own[2];
    MPI_Request *requests;
    int nrequests, nreceives; /* the receives come first */
};

static int applies(const struct redist__problem *problem, int variant) {
    (void)variant;
    return problem->staged ? redist__check_copyable(problem->schedule, "p2p-type (staged)")
                           : REDIST_OK;
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    const struct redist__schedule *schedule = problem->schedule;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method p2p-type");
    state->problem = problem;
    state->schedule = schedule;
    state->requests = redist_calloc(2 * (size_t)schedule->context->size, sizeof(MPI_Request));
    if (state->requests == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for requests");
    int code = problem->space->mark_create(&state->mark);
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        redist__own_copy_prepare(&state->own[side], schedule, side);
        code = redist__types_create(&state->types[side], schedule, side, 1);
        if (code == REDIST_OK)
            code = redist__mirror_create(&state->mirrors[side], problem, side);
    }
    return code;
}

/* Makes what is sent ready. */
static int prepare(struct state *state, const void *source) {
    const struct redist__problem *problem = state->problem;
    const struct redist__context *context = state->schedule->context;
    int code = redist__finish_stream(problem->space, state->mark, problem->stream, context);
    redist__enter(problem->watch, REDIST__PACK);
    if (code == REDIST_OK)
        code = redist__mirror_fetch(&state->mirrors[state->direction], source, 0);
    if (code == REDIST_OK && problem->staged)
        code = redist__finish_lane(problem->space, state->mark, 0, context);
    redist__enter(problem->watch, REDIST__FIRST_MESSAGE);
    return code;
}

static int exchange(struct state *state, const void *source, void *destination) {
    const struct redist__schedule *schedule = state->schedule;
    const struct redist__types *from = &state->types[state->direction];
    const struct redist__types *to = &state->types[!state->direction];
    int rank = schedule->context->rank, size = schedule->context->size, result = MPI_SUCCESS;
    int own = redist__schedule_copyable(schedule) ? 1 : 0; /* first distance that needs a message */
    state->nrequests = 0;
    for (int i = own; i < size && result == MPI_SUCCESS; i++) {
        int peer = (rank + size - i) % size;
        if (to->counts[peer] != 0)
            result = MPI_Irecv(destination, 1, to->types[peer], peer, state->problem->tag,
                               schedule->context->comm, &state->requests[state->nrequests++]);
    }
    state->nreceives = state->nrequests;
    for (int i = own; i < size && result == MPI_SUCCESS; i++) {
        int peer = (rank + i) % size;
        if (from->counts[peer] != 0)
            result = MPI_Isend(source, 1, from->types[peer], peer, state->problem->tag,
                               schedule->context->comm, &state->requests[state->nrequests++]);
    }
    return redist_check_mpi(result);
}

static int start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    state->direction = direction;
    state->destination = destination;
    int prepared = prepare(state, source);
    int code = exchange(state, redist__mirror_of(&state->mirrors[direction], source),
                        redist__mirror_of(&state->mirrors[!direction], destination));
    redist__enter(state->problem->watch, REDIST__OWN_PART);
    if (code == REDIST_OK && redist__schedule_copyable(state->schedule))
        code = redist__own_copy_run(&state->own[direction], state->problem, direction, source,
                                    destination, 0);
    return prepared == REDIST_OK ? code : prepared;
}

/* Only somebody who asks for phases wants to know which message is the first. */
static int wait_first(const struct state *state) {
    struct redist__watch *watch = state->problem->watch;
    int i, result = MPI_SUCCESS;
    redist__enter(watch, REDIST__FIRST_MESSAGE);
    if (watch != NULL)
        result = MPI_Waitany(state->nreceives, state->requests, &i, MPI_STATUS_IGNORE);
    redist__arrived(watch);
    return redist_check_mpi(result);
}

static int wait(void *data) {
    struct state *state = data;
    int code = wait_first(state);
    if (code == REDIST_OK)
        code =
            redist_check_mpi(MPI_Waitall(state->nrequests, state->requests, MPI_STATUSES_IGNORE));
    redist__enter(state->problem->watch, REDIST__UNPACK);
    if (code == REDIST_OK)
        code = redist__mirror_store(&state->mirrors[!state->direction], state->destination, 0);
    int finished =
        redist__finish_lane(state->problem->space, state->mark, 0, state->schedule->context);
    return code == REDIST_OK ? finished : code;
}

static size_t workspace(const void *data) {
    const struct state *state = data;
    return redist__mirrors_bytes(state->mirrors);
}

static void destroy(void *data) {
    struct state *state = data;
    for (int side = 0; side < 2; side++) {
        redist__types_free(&state->types[side]);
        redist__mirror_free(&state->mirrors[side]);
    }
    state->problem->space->mark_destroy(state->mark);
    redist_release(state->requests);
    redist_release(state);
}

const struct redist__method redist__method_p2p_type = {
    .name = "p2p-type",
    .summary = "MPI_Isend and MPI_Irecv of subarray datatypes; the own part is copied locally",
    .applies = applies,
    .preference = redist__types_preference,
    .create = create,
    .start = start,
    .wait = wait,
    .workspace = workspace,
    .destroy = destroy,
};
