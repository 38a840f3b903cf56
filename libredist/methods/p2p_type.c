/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Isend and Irecv of subarray datatypes (Egger, Peer2Peer-MPI_Type). The own part is copied here,
 * or sent to oneself when its elements cannot be copied as bytes.
 */
#include "../copy/mirror.h"
#include "../copy/pack.h"
#include "messages.h"
#include "method.h"
#include "types.h"

struct state {
    const struct redist__problem *problem;
    const struct redist__schedule *schedule;
    struct redist__types types[2];
    struct redist__mirror mirrors[2];
    void *mark;
    int direction;
    void *destination;
    struct redist__copy own[2];
    struct redist__messages messages; /* with each rank one */
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
    int code = redist__messages_create(&state->messages, schedule->context, problem->failure,
                                       schedule->context->size);
    if (code == REDIST_OK)
        code = problem->space->event_create(&state->mark);
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        redist__own_copy_prepare(&state->own[side], schedule, side);
        code = redist__types_create(&state->types[side], schedule, side, 1);
        if (code == REDIST_OK)
            code = redist__mirror_create(&state->mirrors[side], problem, side);
    }
    return code;
}

static void note(struct state *state, int code) {
    redist__failure_note(state->problem->failure, code);
}

static int failed(const struct state *state) {
    return redist__failed(state->problem->failure);
}

/* Makes what is sent ready. */
static void prepare(struct state *state, const void *source) {
    const struct redist__problem *problem = state->problem;
    const struct redist__context *context = state->schedule->context;
    note(state, redist__finish_stream(problem->space, state->mark, problem->stream, context));
    redist__enter(problem->watch, REDIST__PACK);
    if (!failed(state))
        note(state, redist__mirror_fetch(&state->mirrors[state->direction], source, 0));
    if (problem->staged)
        note(state, redist__finish_stream(problem->space, state->mark, problem->space->stream(0),
                                          context));
    redist__enter(problem->watch, REDIST__FIRST_MESSAGE);
}

static void exchange(struct state *state, const void *source, void *destination) {
    const struct redist__schedule *schedule = state->schedule;
    const struct redist__types *from = &state->types[state->direction];
    const struct redist__types *to = &state->types[!state->direction];
    int rank = schedule->context->rank, size = schedule->context->size;
    int own = redist__schedule_copyable(schedule) ? 1 : 0; /* first distance that needs a message */
    for (int i = own; i < size; i++) {
        int peer = (rank + size - i) % size;
        if (to->counts[peer] != 0)
            redist__messages_receive(&state->messages, peer, destination, 1, to->types[peer], peer,
                                     state->problem->tag);
    }
    for (int i = own; i < size; i++) {
        int peer = (rank + i) % size;
        if (from->counts[peer] != 0)
            redist__messages_send(&state->messages, peer, source, 1, from->types[peer], peer,
                                  state->problem->tag);
    }
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    state->direction = direction;
    state->destination = destination;
    prepare(state, source);
    exchange(state, redist__mirror_of(&state->mirrors[direction], source),
             redist__mirror_of(&state->mirrors[!direction], destination));
    redist__enter(state->problem->watch, REDIST__OWN_PART);
    if (!failed(state) && redist__schedule_copyable(state->schedule))
        note(state, redist__own_copy_run(&state->own[direction], state->problem, direction, source,
                                         destination, 0));
}

static void wait(void *data) {
    struct state *state = data;
    struct redist__watch *watch = state->problem->watch;
    redist__enter(watch, REDIST__FIRST_MESSAGE);
    (void)redist__messages_next(&state->messages);
    redist__arrived(watch);
    redist__messages_end(&state->messages);
    redist__enter(watch, REDIST__UNPACK);
    if (!failed(state))
        note(state,
             redist__mirror_store(&state->mirrors[!state->direction], state->destination, 0));
    note(state, redist__finish_stream(state->problem->space, state->mark,
                                      state->problem->space->stream(0), state->schedule->context));
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
