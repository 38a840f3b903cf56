/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference: MPI subarray datatypes and one MPI_Alltoallw (Dalcin, Mortensen, Keyes, Listing 3;
 * Egger, All2All-MPI_Type). MPI gathers and scatters the boxes. Of arrays on a device the own part is
 * copied there.
 */
#include "../method.h"
#include "../mirror.h"
#include "../pack.h"
#include "../types.h"

struct state {
    const struct redist__problem *problem;
    struct redist__types types[2];
    struct redist__mirror mirrors[2];
    struct redist__copy own[2]; /* empty if the own part goes through MPI too */
    void *mark;
    int direction;
    void *destination;
    MPI_Request request;
};

static int applies(const struct redist__problem *problem, int variant) {
    (void)variant;
    return problem->staged ? redist__check_copyable(problem->schedule, "alltoallw (staged)")
                           : REDIST_OK;
}

/* MPI wants a datatype in each place, also where the count is 0. */
static void fill_empty(struct redist__types *types, MPI_Datatype datatype) {
    for (int peer = 0; peer < types->size; peer++)
        if (types->counts[peer] == 0)
            types->types[peer] = datatype;
}

static int create_side(struct state *state, int side, int own) {
    const struct redist__schedule *schedule = state->problem->schedule;
    int code = redist__types_create(&state->types[side], schedule, side, own);
    if (code == REDIST_OK)
        fill_empty(&state->types[side], schedule->datatype);
    if (code == REDIST_OK && !own)
        redist__own_copy_prepare(&state->own[side], schedule, side);
    return code == REDIST_OK ? redist__mirror_create(&state->mirrors[side], state->problem, side)
                             : code;
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method alltoallw");
    state->problem = problem;
    int own = !problem->space->asynchronous || !redist__schedule_copyable(problem->schedule);
    int code = problem->space->mark_create(&state->mark);
    for (int side = 0; side < 2 && code == REDIST_OK; side++)
        code = create_side(state, side, own);
    return code;
}

/* Makes what MPI sends ready, and copies the own part meanwhile. */
static int prepare(struct state *state, int direction, const void *source, void *destination) {
    const struct redist__problem *problem = state->problem;
    const struct redist__context *context = problem->schedule->context;
    state->direction = direction;
    state->destination = destination;
    int code = redist__finish_stream(problem->space, state->mark, problem->stream, context);
    redist__enter(problem->watch, REDIST__PACK);
    if (code == REDIST_OK)
        code = redist__mirror_fetch(&state->mirrors[direction], source, 0);
    if (code == REDIST_OK && problem->staged)
        code = redist__finish_lane(problem->space, state->mark, 0, context);
    redist__enter(problem->watch, REDIST__OWN_PART);
    if (code == REDIST_OK)
        code = redist__own_copy_run(&state->own[direction], problem, direction, source, destination,
                                    0);
    redist__enter(problem->watch, REDIST__COMMUNICATE);
    return code;
}

static int complete(struct state *state) {
    const struct redist__problem *problem = state->problem;
    redist__enter(problem->watch, REDIST__UNPACK);
    int code = redist__mirror_store(&state->mirrors[!state->direction], state->destination, 0);
    int finished = redist__finish_lane(problem->space, state->mark, 0, problem->schedule->context);
    return code == REDIST_OK ? finished : code;
}

static int execute(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__types *from = &state->types[direction], *to = &state->types[!direction];
    int prepared = prepare(state, direction, source, destination);
    int code = redist_check_mpi(MPI_Alltoallw(
        redist__mirror_of(&state->mirrors[direction], source), from->counts, from->displacements,
        from->types, redist__mirror_of(&state->mirrors[!direction], destination), to->counts,
        to->displacements, to->types, state->problem->schedule->context->comm));
    int completed = code == REDIST_OK ? complete(state) : code;
    return prepared == REDIST_OK ? completed : prepared;
}

static int start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__types *from = &state->types[direction], *to = &state->types[!direction];
    int prepared = prepare(state, direction, source, destination);
    int code = redist_check_mpi(MPI_Ialltoallw(
        redist__mirror_of(&state->mirrors[direction], source), from->counts, from->displacements,
        from->types, redist__mirror_of(&state->mirrors[!direction], destination), to->counts,
        to->displacements, to->types, state->problem->schedule->context->comm, &state->request));
    return prepared == REDIST_OK ? code : prepared;
}

static int wait(void *data) {
    struct state *state = data;
    int code = redist_check_mpi(MPI_Wait(&state->request, MPI_STATUS_IGNORE));
    return code == REDIST_OK ? complete(state) : code;
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
    redist_release(state);
}

const struct redist__method redist__method_alltoallw = {
    .name = "alltoallw",
    .summary = "one MPI_Alltoallw over subarray datatypes; the reference for all others",
    .applies = applies,
    .preference = redist__types_preference,
    .create = create,
    .start = start,
    .wait = wait,
    .execute = execute,
    .workspace = workspace,
    .destroy = destroy,
};
