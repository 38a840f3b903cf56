/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference: MPI subarray datatypes and one MPI_Alltoallw (Dalcin, Mortensen, Keyes, Listing 3;
 * Egger, All2All-MPI_Type). MPI gathers and scatters the boxes.
 */
#include "../method.h"
#include "../types.h"

struct state {
    MPI_Comm comm;
    struct redist__types types[2];
    MPI_Request request;
};

static int applies(const struct redist__problem *problem, int variant) {
    (void)problem, (void)variant;
    return REDIST_OK;
}

/* MPI wants a datatype in each place, also where the count is 0. */
static void fill_empty(struct redist__types *types, MPI_Datatype datatype) {
    for (int peer = 0; peer < types->size; peer++)
        if (types->counts[peer] == 0)
            types->types[peer] = datatype;
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    const struct redist__schedule *schedule = problem->schedule;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method alltoallw");
    state->comm = schedule->context->comm;
    int code = REDIST_OK;
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        code = redist__types_create(&state->types[side], schedule, side);
        if (code == REDIST_OK)
            fill_empty(&state->types[side], schedule->datatype);
    }
    return code;
}

static int execute(void *data, int direction, const void *source, void *destination) {
    const struct state *state = data;
    const struct redist__types *from = &state->types[direction], *to = &state->types[!direction];
    return redist_check_mpi(MPI_Alltoallw(source, from->counts, from->displacements, from->types,
                                          destination, to->counts, to->displacements, to->types,
                                          state->comm));
}

static int start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__types *from = &state->types[direction], *to = &state->types[!direction];
    return redist_check_mpi(MPI_Ialltoallw(source, from->counts, from->displacements, from->types,
                                           destination, to->counts, to->displacements, to->types,
                                           state->comm, &state->request));
}

static int wait(void *data) {
    struct state *state = data;
    return redist_check_mpi(MPI_Wait(&state->request, MPI_STATUS_IGNORE));
}

static size_t workspace(const void *data) {
    (void)data;
    return 0;
}

static void destroy(void *data) {
    struct state *state = data;
    redist__types_free(&state->types[0]);
    redist__types_free(&state->types[1]);
    redist_release(state);
}

const struct redist__method redist__method_alltoallw = {
    .name = "alltoallw",
    .summary = "one MPI_Alltoallw over subarray datatypes; the reference for all others",
    .applies = applies,
    .create = create,
    .start = start,
    .wait = wait,
    .execute = execute,
    .workspace = workspace,
    .destroy = destroy,
};
