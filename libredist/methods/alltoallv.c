/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pack all parts, one MPI_Alltoallv, unpack all (Egger, All2All-Sync). A side whose parts are all
 * contiguous in the array is not packed. The own part is copied directly. A collective call has no room for
 * news of a failure, so that the ranks agree on it afterwards.
 */
#include "../copy/pack.h"
#include "messages.h"
#include "method.h"

struct state {
    const struct redist__problem *problem;
    const struct redist__schedule *schedule;
    struct redist__packing packing[2];
    struct redist__copy own[2];
    int *counts[2], *displacements[2]; /* in elements */
    MPI_Datatype element;              /* the item's bytes */
    void *mark;
    struct redist__messages messages; /* the collective call under way, in the place of a send */
    int is_known;                     /* all ranks know of a failure: none calls MPI any more */
    int direction;                    /* of the execution under way */
    void *destination;
};

static int applies(const struct redist__problem *problem, int variant) {
    (void)variant;
    int code = redist__check_copyable(problem->schedule, "alltoallv");
    return code == REDIST_OK ? redist__check_counts(problem->schedule, "alltoallv", 1) : code;
}

static int set_counts(struct state *state, int side) {
    const struct redist__context *context = state->schedule->context;
    size_t size = (size_t)context->size;
    state->counts[side] = redist_calloc(size, sizeof(int));
    state->displacements[side] = redist_calloc(size, sizeof(int));
    if (state->counts[side] == NULL || state->displacements[side] == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the counts of %zu ranks", size);
    const struct redist__packing *packing = &state->packing[side];
    for (int peer = 0; peer < context->size; peer++) {
        if (peer == context->rank)
            continue;
        state->counts[side][peer] = (int)packing->side->parts[peer].elements;
        state->displacements[side][peer] = (int)(packing->position[peer] / state->schedule->item);
    }
    return REDIST_OK;
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method alltoallv");
    state->problem = problem;
    state->schedule = problem->schedule;
    state->element = MPI_DATATYPE_NULL;
    enum redist__in_array all = problem->staged ? REDIST__NONE_IN_ARRAY : REDIST__ALL_IN_ARRAY;
    const enum redist__in_array in_array[2] = {all, all};
    int code =
        redist__messages_create(&state->messages, state->schedule->context, problem->failure, 1);
    if (code == REDIST_OK)
        code = redist__element_type(problem->schedule, &state->element);
    if (code == REDIST_OK)
        code = problem->space->event_create(&state->mark);
    if (code == REDIST_OK)
        code =
            redist__packings_create(state->packing, state->own, problem, in_array, problem->staged);
    for (int side = 0; side < 2 && code == REDIST_OK; side++)
        code = set_counts(state, side);
    return code;
}

static void *base(const struct redist__packing *packing, const void *array) {
    return packing->all_in_array ? (void *)(size_t)array : packing->buffer;
}

static void note(struct state *state, int code) {
    redist__failure_note(state->problem->failure, code);
}

static int failed(const struct state *state) {
    return redist__failed(state->problem->failure);
}

/* Packs all. */
static void prepare(struct state *state, int direction, const void *source, void *destination) {
    const struct redist__problem *problem = state->problem;
    const struct redist__context *context = state->schedule->context;
    state->direction = direction;
    state->destination = destination;
    note(state, redist__finish_stream(problem->space, state->mark, problem->stream, context));
    redist__enter(problem->watch, REDIST__PACK);
    if (!failed(state))
        note(state, redist__packing_pack_all(&state->packing[direction], source, 0));
    note(state,
         redist__finish_stream(problem->space, state->mark, problem->space->stream(0), context));
    redist__enter(problem->watch, REDIST__COMMUNICATE);
}

static void copy_own(struct state *state, const void *source) {
    redist__enter(state->problem->watch, REDIST__OWN_PART);
    if (!failed(state))
        note(state, redist__own_copy_run(&state->own[state->direction], state->problem,
                                         state->direction, source, state->destination, 0));
    redist__enter(state->problem->watch, REDIST__COMMUNICATE);
}

static void complete(struct state *state) {
    const struct redist__context *context = state->schedule->context;
    redist__enter(state->problem->watch, REDIST__UNPACK);
    if (!failed(state))
        note(state,
             redist__packing_unpack_all(&state->packing[!state->direction], state->destination, 0));
    note(state, redist__finish_stream(state->problem->space, state->mark,
                                      state->problem->space->stream(0), context));
    redist__enter(state->problem->watch, REDIST__COMMUNICATE);
    if (!state->messages.lost)
        state->is_known = redist__failure_agree(state->problem->failure, context);
}

struct call {
    const struct state *state;
    const void *source;
    void *destination;
};

static int begin_call(const void *data, MPI_Comm comm, MPI_Request *request) {
    const struct call *call = data;
    const struct state *state = call->state;
    int from = state->direction, to = !from;
    return MPI_Ialltoallv(base(&state->packing[from], call->source), state->counts[from],
                          state->displacements[from], state->element,
                          base(&state->packing[to], call->destination), state->counts[to],
                          state->displacements[to], state->element, comm, request);
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct call call = {state, source, destination};
    if (state->is_known)
        return;
    prepare(state, direction, source, destination);
    redist__messages_collect(&state->messages, begin_call, &call);
    copy_own(state, source);
}

static void wait(void *data) {
    struct state *state = data;
    if (state->is_known)
        return;
    redist__messages_end(&state->messages);
    complete(state);
}

/* MPI libraries have better algorithms for the blocking call, and Open MPI 4.1 one that always ends. */
static void execute(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__packing *from = &state->packing[direction];
    const struct redist__packing *to = &state->packing[!direction];
    int early = state->problem->space->asynchronous;
    if (state->is_known)
        return;
    prepare(state, direction, source, destination);
    if (early)
        copy_own(state, source);
    int result = redist__try(state->problem->failure,
                             MPI_Alltoallv(base(from, source), state->counts[direction],
                                           state->displacements[direction], state->element,
                                           base(to, destination), state->counts[!direction],
                                           state->displacements[!direction], state->element,
                                           state->schedule->context->comm));
    state->messages.lost |= result != MPI_SUCCESS;
    if (!early)
        copy_own(state, source);
    complete(state);
}

static size_t workspace(const void *data) {
    const struct state *state = data;
    return redist__packings_bytes(state->packing);
}

static void destroy(void *data) {
    struct state *state = data;
    if (!redist__messages_free(&state->messages))
        redist__packings_free(state->packing);
    for (int side = 0; side < 2; side++) {
        redist_release(state->counts[side]);
        redist_release(state->displacements[side]);
    }
    if (state->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&state->element);
    state->problem->space->event_destroy(state->mark);
    redist_release(state);
}

const struct redist__method redist__method_alltoallv = {
    .name = "alltoallv",
    .summary = "packs all parts, one MPI_Alltoallv, unpacks all",
    .applies = applies,
    .create = create,
    .start = start,
    .wait = wait,
    .execute = execute,
    .workspace = workspace,
    .destroy = destroy,
};
