/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference: MPI subarray datatypes and one MPI_Alltoallw (Dalcin, Mortensen, Keyes, Listing 3;
 * Egger, All2All-MPI_Type). MPI gathers and scatters the boxes. Of arrays on a device the own part is
 * copied there. A collective call has no room for news of a failure, so that the ranks agree on it
 * afterwards.
 */
#include "../copy/mirror.h"
#include "../copy/pack.h"
#include "messages.h"
#include "method.h"
#include "types.h"

struct state {
    const struct redist__problem *problem;
    struct redist__types types[2];
    struct redist__mirror mirrors[2];
    struct redist__copy own[2]; /* empty if the own part goes through MPI too */
    void *mark;
    struct redist__messages messages; /* the collective call under way, in the place of a send */
    int is_known;                     /* all ranks know of a failure: none calls MPI any more */
    int direction;
    void *destination;
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
    int code =
        redist__messages_create(&state->messages, problem->schedule->context, problem->failure, 1);
    if (code == REDIST_OK)
        code = problem->space->event_create(&state->mark);
    for (int side = 0; side < 2 && code == REDIST_OK; side++)
        code = create_side(state, side, own);
    return code;
}

static void note(struct state *state, int code) {
    redist__failure_note(state->problem->failure, code);
}

static int failed(const struct state *state) {
    return redist__failed(state->problem->failure);
}

/* Makes what MPI sends ready, and copies the own part meanwhile. */
static void prepare(struct state *state, int direction, const void *source, void *destination) {
    const struct redist__problem *problem = state->problem;
    const struct redist__context *context = problem->schedule->context;
    state->direction = direction;
    state->destination = destination;
    note(state, redist__finish_stream(problem->space, state->mark, problem->stream, context));
    redist__enter(problem->watch, REDIST__PACK);
    if (!failed(state))
        note(state, redist__mirror_fetch(&state->mirrors[direction], source, 0));
    if (problem->staged)
        note(state, redist__finish_stream(problem->space, state->mark, problem->space->stream(0),
                                          context));
    redist__enter(problem->watch, REDIST__OWN_PART);
    if (!failed(state))
        note(state, redist__own_copy_run(&state->own[direction], problem, direction, source,
                                         destination, 0));
    redist__enter(problem->watch, REDIST__COMMUNICATE);
}

static void complete(struct state *state) {
    const struct redist__problem *problem = state->problem;
    const struct redist__context *context = problem->schedule->context;
    redist__enter(problem->watch, REDIST__UNPACK);
    if (!failed(state))
        note(state,
             redist__mirror_store(&state->mirrors[!state->direction], state->destination, 0));
    note(state,
         redist__finish_stream(problem->space, state->mark, problem->space->stream(0), context));
    redist__enter(problem->watch, REDIST__COMMUNICATE);
    if (!state->messages.lost)
        state->is_known = redist__failure_agree(problem->failure, context);
}

struct call {
    const struct state *state;
    const void *source;
    void *destination;
};

static int begin_call(const void *data, MPI_Comm comm, MPI_Request *request) {
    const struct call *call = data;
    const struct state *state = call->state;
    const struct redist__types *from = &state->types[state->direction];
    const struct redist__types *to = &state->types[!state->direction];
    return MPI_Ialltoallw(redist__mirror_of(&state->mirrors[state->direction], call->source),
                          from->counts, from->displacements, from->types,
                          redist__mirror_of(&state->mirrors[!state->direction], call->destination),
                          to->counts, to->displacements, to->types, comm, request);
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct call call = {state, source, destination};
    if (state->is_known)
        return;
    prepare(state, direction, source, destination);
    redist__messages_collect(&state->messages, begin_call, &call);
}

static void wait(void *data) {
    struct state *state = data;
    if (state->is_known)
        return;
    redist__messages_end(&state->messages);
    complete(state);
}

/* The blocking call: in Open MPI 4.1 the other one may not end where some ranks have no elements. */
static void execute(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__types *from = &state->types[direction], *to = &state->types[!direction];
    if (state->is_known)
        return;
    prepare(state, direction, source, destination);
    int result = redist__try(
        state->problem->failure,
        MPI_Alltoallw(redist__mirror_of(&state->mirrors[direction], source), from->counts,
                      from->displacements, from->types,
                      redist__mirror_of(&state->mirrors[!direction], destination), to->counts,
                      to->displacements, to->types, state->problem->schedule->context->comm));
    state->messages.lost |= result != MPI_SUCCESS;
    complete(state);
}

static size_t workspace(const void *data) {
    const struct state *state = data;
    return redist__mirrors_bytes(state->mirrors);
}

static void destroy(void *data) {
    struct state *state = data;
    int in_use = redist__messages_free(&state->messages);
    for (int side = 0; side < 2; side++) {
        redist__types_free(&state->types[side]);
        if (!in_use)
            redist__mirror_free(&state->mirrors[side]);
    }
    state->problem->space->event_destroy(state->mark);
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
