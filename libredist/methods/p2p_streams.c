/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing of each part runs on its own lane, and the part's message leaves as soon as it is packed
 * (Egger, Peer2Peer-Streams); the host polls for both what is packed and what has arrived. The own part
 * is copied directly, on a lane of its own.
 */
#include "../copy/pack.h"
#include "messages.h"
#include "method.h"

struct state {
    const struct redist__problem *problem;
    struct redist__packing packing[2];
    struct redist__copy own[2];
    MPI_Datatype element;             /* the item's bytes */
    struct redist__messages messages; /* with each rank one */
    void **marks;                     /* of each rank: its part is packed */
    char *is_packed;                  /* and sent */
    int to_send;                      /* parts that are not */
    int direction;                    /* of the execution under way */
    const void *source;
    void *destination;
};

static int applies(const struct redist__problem *problem, int variant) {
    (void)variant;
    int code = redist__check_copyable(problem->schedule, "p2p-streams");
    return code == REDIST_OK ? redist__check_counts(problem->schedule, "p2p-streams", 0) : code;
}

/* In host memory it is p2p without its virtues. */
static int preference(const struct redist__problem *problem, int variant) {
    (void)variant;
    return problem->space->asynchronous ? 0 : REDIST__BY_NAME;
}

static const struct redist__context *context_of(const struct state *state) {
    return state->problem->schedule->context;
}

static int allocate(struct state *state) {
    size_t size = (size_t)context_of(state)->size;
    int code = redist__messages_create(&state->messages, context_of(state), state->problem->failure,
                                       context_of(state)->size);
    if (code != REDIST_OK)
        return code;
    state->marks = redist_calloc(size, sizeof *state->marks);
    state->is_packed = redist_calloc(size, 1);
    if (state->marks == NULL || state->is_packed == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the messages of %zu ranks", size);
    for (size_t i = 0; i < size && code == REDIST_OK; i++)
        code = state->problem->space->event_create(&state->marks[i]);
    return code == REDIST_OK ? redist__element_type(state->problem->schedule, &state->element)
                             : code;
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method p2p-streams");
    state->problem = problem;
    state->element = MPI_DATATYPE_NULL;
    enum redist__in_array each = problem->staged ? REDIST__NONE_IN_ARRAY : REDIST__EACH_IN_ARRAY;
    const enum redist__in_array in_array[2] = {each, each};
    int code = allocate(state);
    return code == REDIST_OK ? redist__packings_create(state->packing, state->own, problem,
                                                       in_array, problem->staged)
                             : code;
}

/* ---------------------------------------------------------------- execution */

static int elements(const struct state *state, int side, int peer) {
    return (int)state->packing[side].side->parts[peer].elements;
}

static void note(struct state *state, int code) {
    redist__failure_note(state->problem->failure, code);
}

static int failed(const struct state *state) {
    return redist__failed(state->problem->failure);
}

static void post_receives(struct state *state) {
    const struct redist__packing *to = &state->packing[!state->direction];
    for (int peer = 0; peer < context_of(state)->size; peer++)
        if (peer != context_of(state)->rank && elements(state, !state->direction, peer) != 0)
            redist__messages_receive(&state->messages, peer,
                                     redist__packing_message(to, peer, state->destination),
                                     elements(state, !state->direction, peer), state->element, peer,
                                     state->problem->tag);
}

/* Lane 0 is for the own part and for unpacking, lane i for the i-th peer. */
static void pack_parts(struct state *state) {
    const struct redist__context *context = context_of(state);
    state->to_send = 0;
    for (int i = 0; i < context->size; i++) {
        int peer = (context->rank + i) % context->size;
        state->is_packed[peer] = i == 0 || elements(state, state->direction, peer) == 0;
        if (state->is_packed[peer])
            continue;
        state->to_send++;
        if (!failed(state))
            note(state,
                 redist__packing_pack(&state->packing[state->direction], peer, state->source, i));
        if (!failed(state))
            note(state, state->problem->space->event_record(state->marks[peer],
                                                            state->problem->space->stream(i)));
    }
}

static void send(struct state *state, int peer) {
    const struct redist__packing *from = &state->packing[state->direction];
    state->is_packed[peer] = 1;
    state->to_send--;
    redist__messages_send(
        &state->messages, peer, redist__packing_message(from, peer, state->source),
        elements(state, state->direction, peer), state->element, peer, state->problem->tag);
}

/* Sends what is packed. After a failure all messages leave, empty. */
static void send_packed(struct state *state) {
    const struct redist__context *context = context_of(state);
    for (int i = 1; i < context->size; i++) {
        int peer = (context->rank + i) % context->size, reached = 1;
        if (state->is_packed[peer])
            continue;
        if (!failed(state))
            note(state, state->problem->space->event_is_reached(state->marks[peer], &reached));
        if (reached || failed(state))
            send(state, peer);
    }
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    const struct redist__context *context = context_of(state);
    state->direction = direction;
    state->source = source;
    state->destination = destination;
    note(state, redist__finish_stream(problem->space, state->marks[context->rank], problem->stream,
                                      context));
    post_receives(state);
    redist__enter(problem->watch, REDIST__PACK);
    pack_parts(state);
    redist__enter(problem->watch, REDIST__OWN_PART);
    if (!failed(state))
        note(state, redist__own_copy_run(&state->own[direction], problem, direction, source,
                                         destination, 0));
    redist__enter(problem->watch, REDIST__FIRST_MESSAGE);
    send_packed(state);
}

/* Unpacks what has arrived; returns 0 when all has. */
static int unpack_arrived(struct state *state) {
    int left, i;
    while ((i = redist__messages_test(&state->messages, &left)) >= 0) {
        redist__arrived(state->problem->watch);
        redist__enter(state->problem->watch, REDIST__UNPACK);
        if (!failed(state))
            note(state, redist__packing_unpack(&state->packing[!state->direction], i,
                                               state->destination, 0));
    }
    return left;
}

/* Lanes that pack may still be at work after a failure. */
static void finish_lanes(struct state *state) {
    const struct redist__space *space = state->problem->space;
    const struct redist__context *context = context_of(state);
    note(state,
         redist__finish_stream(space, state->marks[context->rank], space->stream(0), context));
    if (failed(state))
        space->drain();
}

static void wait(void *data) {
    struct state *state = data;
    struct redist__watch *watch = state->problem->watch;
    int left = 1;
    for (unsigned poll = 0; (left || state->to_send != 0) && !state->messages.lost; poll++) {
        send_packed(state);
        redist__enter(watch, state->to_send != 0 ? REDIST__PACK : REDIST__FIRST_MESSAGE);
        left = unpack_arrived(state);
        redist__messages_pause(&state->messages, poll);
    }
    redist__enter(watch, REDIST__COMMUNICATE);
    redist__messages_end(&state->messages);
    redist__enter(watch, REDIST__UNPACK);
    finish_lanes(state);
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    const struct state *state = data;
    return redist__packings_bytes(state->packing);
}

static void destroy(void *data) {
    struct state *state = data;
    if (!redist__messages_free(&state->messages))
        redist__packings_free(state->packing);
    for (int i = 0; state->marks != NULL && i < context_of(state)->size; i++)
        state->problem->space->event_destroy(state->marks[i]);
    if (state->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&state->element);
    redist_release(state->marks);
    redist_release(state->is_packed);
    redist_release(state);
}

const struct redist__method redist__method_p2p_streams = {
    .name = "p2p-streams",
    .summary = "as p2p, each part packed on a stream of its own and sent when that is done",
    .applies = applies,
    .preference = preference,
    .create = create,
    .start = start,
    .wait = wait,
    .workspace = workspace,
    .destroy = destroy,
};
