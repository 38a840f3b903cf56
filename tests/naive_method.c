/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plainest method: each part is packed and sent, and unpacked when all have arrived. The example of
 * docs/extending.md, which the library does not register.
 */
#include "../libredist/methods/messages.h"
#include "../libredist/methods/packing.h"

struct state {
    const struct redist__problem *problem;
    struct redist__packing packing[2];
    struct redist__types types[2];
    struct redist__copy own[2];
    struct redist__messages messages;
    int direction; /* of the execution under way */
    const void *source;
    void *destination;
};

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    if (problem->tiles != REDIST_WHOLE || problem->space->asynchronous)
        return redist__fail(REDIST_ERR_METHOD, "method naive moves whole arrays of the host only");
    REDIST_TRY(redist__check_copyable(problem->transfer, candidate->method->name));
    REDIST_TRY(redist__check_single(problem->transfer, candidate->method->name));
    return redist__check_counts(problem, candidate->method->name, 0);
}

/* Only for those who name it. */
static int preference(const struct redist__problem *problem,
                      const struct redist__candidate *candidate) {
    (void)problem, (void)candidate;
    return REDIST__BY_NAME;
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    struct state *state = *result = redist_calloc(1, sizeof *state);
    (void)candidate;
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method naive");
    state->problem = problem;
    for (int side = 0; side < 2; side++) {
        redist__own_copy_prepare(&state->own[side], problem->transfer, side);
        REDIST_TRY(
            redist__packing_create(&state->packing[side], problem, side, REDIST__NONE_IN_ARRAY, 0));
        REDIST_TRY(
            redist__types_create(&state->types[side], problem, side, &state->packing[side], 0));
    }
    return redist__messages_create(&state->messages, problem, problem->transfer->nranks);
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    const struct redist__types *out = &state->types[direction], *in = &state->types[!direction];
    int nranks = problem->transfer->nranks;
    state->direction = direction;
    state->source = source;
    state->destination = destination;
    for (int peer = 0; peer < nranks; peer++)
        if (in->counts[peer] != 0)
            redist__messages_receive(
                &state->messages, peer,
                redist__packing_message(&state->packing[!direction], peer, destination),
                in->counts[peer], in->types[peer], peer, problem->tag);
    redist__attempt(problem,
                    redist__packing_pack(&state->packing[direction], 0, nranks, source, 0));
    for (int peer = 0; peer < nranks; peer++)
        if (out->counts[peer] != 0) /* also after a failure: then it is sent empty */
            redist__messages_send(&state->messages, peer, NULL,
                                  redist__packing_message(&state->packing[direction], peer, source),
                                  out->counts[peer], out->types[peer], peer, problem->tag);
}

static void wait(void *data) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    redist__messages_end(&state->messages);
    redist__attempt(problem,
                    redist__packing_unpack(&state->packing[!state->direction], 0,
                                           problem->transfer->nranks, state->destination, 0));
    redist__attempt(problem,
                    redist__own_copy_run(&state->own[state->direction], problem, state->direction,
                                         state->source, state->destination, 0));
}

static size_t workspace(const void *data) {
    const struct state *state = data;
    return state->packing[0].buffer_bytes + state->packing[1].buffer_bytes;
}

static void destroy(void *data) {
    struct state *state = data;
    int in_use = redist__messages_free(&state->messages);
    for (int side = 0; side < 2; side++) {
        if (!in_use)
            redist__packing_free(&state->packing[side]);
        redist__types_free(&state->types[side]);
    }
    redist_release(state);
}

const struct redist__method redist__method_naive = {
    .name = "naive",
    .summary = "packed messages, unpacked when all have arrived",
    .applies = applies,
    .preference = preference,
    .create = create,
    .start = start,
    .wait = wait,
    .workspace = workspace,
    .destroy = destroy,
};
