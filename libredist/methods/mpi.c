/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Methods that move each part by MPI, with different messages and calls:
 *
 *   alltoallw    subarray datatypes, one MPI_Ialltoallw: the reference (Dalcin, Mortensen, Keyes, Listing 3)
 *   p2p-type     the same datatypes, MPI_Isend and MPI_Irecv
 *   alltoallv    packed parts, one MPI_Ialltoallv (Egger, All2All-Sync)
 *   p2p          packed parts, MPI_Isend and MPI_Irecv; each is unpacked as it arrives (Egger, Peer2Peer-Sync;
 *                Verma et al.)
 *   p2p-streams  the same, on a device each part packed on a stream of its own (Egger, Peer2Peer-Streams)
 *
 * This rank's own part is copied directly, except that alltoallw leaves it to MPI in host memory. The collective calls
 * are nonblocking, since a blocking one does not end when a peer is gone. Started executions send messages instead. A
 * collective call cannot carry a failure, so the ranks agree before it: a later failure concerns the rank's own data,
 * and the others learn of it in the next execution.
 *
 * On devices or in a format, not both, and in tiles (p2p only), a packed part travels in several messages
 * (tiled_messages.h). A list of boxes, and what is added, is one message for each peer.
 */
#include "../copy/copy.h"
#include "messages.h"
#include "packing.h"
#include "tiled_messages.h"

#include <stdint.h>
#include <stdlib.h>

struct kind {
    enum redist__layout layout;
    int collective; /* one call for all messages */
    int streams;    /* on a device each part is packed on its own stream */
};

struct state {
    const struct redist__problem *problem;
    const struct redist__transfer *transfer;
    const struct kind *kind;
    struct redist__packing packing[2];
    struct redist__types types[2];
    struct redist__copy own[2]; /* empty if MPI moves the own part too */
    struct redist__messages messages;
    void *event;   /* of the work in a stream */
    int is_known;  /* a failure is known to all ranks: none calls MPI any more */
    int direction; /* of the pending execution */
    const char *source;
    char *destination;
};

/* ---------------------------------------------------------------- what they can serve */

/* Returns whether packed parts travel in pieces: those of tiles, and of whole arrays on devices without a format or on
 * the host in one; not lists of boxes, which follow each other in one message, and those that are added when all have
 * arrived. */
static int is_cut(const struct redist__problem *problem) {
    return problem->tiles != REDIST_WHOLE ||
           (redist__is_single(problem->transfer) &&
            problem->space->asynchronous != (problem->format != NULL));
}

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    const struct kind *kind = candidate->method->kind;
    const char *name = candidate->method->name;
    int as_types = kind->layout == REDIST__AS_IN_ARRAY;
    if (!as_types || problem->staged)
        REDIST_TRY(redist__check_copyable(problem->transfer, name));
    if (as_types && problem->transfer->adds != NULL)
        return redist__fail(REDIST_ERR_METHOD,
                            "method %s adds no elements to others: with options->overlap = "
                            "REDIST_OVERLAP_READ it only copies them",
                            name);
    if (problem->tiles == REDIST_GET && problem->space->asynchronous)
        return redist__fail(REDIST_ERR_METHOD, "method %s gets tiles in host memory only", name);
    if (candidate->variant > 0 && (!problem->space->asynchronous || !is_cut(problem)))
        return redist__fail(REDIST_ERR_METHOD,
                            "the pieces of method %s are for devices, without sums and formats, "
                            "and for one box between two ranks",
                            name);
    return as_types ? redist__check_extents(problem->transfer, name)
                    : redist__check_counts(problem, name, kind->collective);
}

/* Ranks the methods: MPI copies a type on a device run by run, extremely slowly, and types in host memory need whole
 * arrays there, one after the other; without pieces p2p-streams is p2p. Variants of p2p are for comparisons. */
static int preference(const struct redist__problem *problem,
                      const struct redist__candidate *candidate) {
    const struct kind *kind = candidate->method->kind;
    int device = problem->space->asynchronous;
    if (candidate->variant > 0)
        return REDIST__BY_NAME;
    int slow = kind->layout == REDIST__AS_IN_ARRAY ? device
                                                   : kind->streams && !(device && is_cut(problem));
    return slow ? REDIST__BY_NAME : 0;
}

/* ---------------------------------------------------------------- making */

/* Creates a side. MPI moves the own part of the reference, and of elements that are not plain bytes. */
static int create_side(struct state *state, int side) {
    const struct redist__problem *problem = state->problem;
    enum redist__layout layout = state->kind->layout;
    int as_types = layout == REDIST__AS_IN_ARRAY;
    int own = as_types && (!redist__transfer_copyable(problem->transfer) ||
                           (state->kind->collective && !problem->space->asynchronous));
    if (!as_types && (problem->staged || redist__added_to(problem->transfer, side)))
        layout = REDIST__NONE_IN_ARRAY;
    if (!own)
        redist__own_copy_prepare(&state->own[side], problem->transfer, side);
    REDIST_TRY(
        redist__packing_create(&state->packing[side], problem, side, layout, problem->staged));
    return redist__types_create(&state->types[side], problem, side, &state->packing[side], own);
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method %s", candidate->method->name);
    state->problem = problem;
    state->transfer = problem->transfer;
    state->kind = candidate->method->kind;
    REDIST_TRY(problem->space->event_create(&state->event));
    REDIST_TRY(redist__messages_create(&state->messages, problem, problem->transfer->nranks));
    REDIST_TRY(create_side(state, 0));
    return create_side(state, 1);
}

static size_t workspace(const void *data) {
    const struct state *state = data;
    return redist__packing_bytes(&state->packing[0]) + redist__packing_bytes(&state->packing[1]);
}

static void destroy(void *data) {
    struct state *state = data;
    int in_use = redist__messages_free(&state->messages);
    for (int side = 0; side < 2; side++) {
        if (!in_use && state->packing[side].space != NULL)
            redist__packing_free(&state->packing[side]);
        if (!in_use) /* a collective call reads the counts until it is complete */
            redist__types_free(&state->types[side]);
    }
    state->problem->space->event_destroy(state->event);
    redist_release(state);
}

/* ---------------------------------------------------------------- messages */

static void post(struct state *state, int sends, int peer) {
    int side = sends ? state->direction : !state->direction;
    const struct redist__types *types = &state->types[side];
    char *message = redist__packing_on_wire(&state->packing[side], peer,
                                            sends ? state->source : state->destination);
    if (types->counts[peer] == 0)
        return;
    if (sends)
        redist__messages_send(&state->messages, peer, NULL, message, types->counts[peer],
                              types->types[peer], peer, state->problem->tag);
    else
        redist__messages_receive(&state->messages, peer, message, types->counts[peer],
                                 types->types[peer], peer, state->problem->tag);
}

static void post_receives(struct state *state) {
    for (int i = 0; i < state->transfer->nranks; i++)
        post(state, 0, redist__rank_at(state->transfer, -i));
}

/* ---------------------------------------------------------------- packing */

static void finish_stream(struct state *state) {
    redist__finish(state->problem, state->event, state->problem->space->stream(0));
}

static void pack_all(struct state *state) {
    struct redist__packing *from = &state->packing[state->direction];
    redist__enter(state->problem->timer, REDIST__PACK);
    redist__attempt(state->problem,
                    redist__packing_pack(from, 0, state->transfer->nranks, state->source,
                                         state->problem->space->stream(0)));
    if (!from->all_in_array)
        finish_stream(state);
}

/* Packs and sends; in host memory each message leaves as soon as it is packed. */
static void pack_and_send(struct state *state) {
    const struct redist__problem *problem = state->problem;
    int at_once = problem->space->asynchronous;
    if (at_once)
        pack_all(state);
    for (int i = 0; i < state->transfer->nranks; i++) {
        int peer = redist__rank_at(state->transfer, i);
        if (state->types[state->direction].counts[peer] == 0)
            continue;
        redist__enter(problem->timer, REDIST__PACK);
        if (!at_once)
            redist__attempt(problem, redist__packing_pack(&state->packing[state->direction], peer,
                                                          1, state->source, NULL));
        redist__enter(problem->timer, REDIST__FIRST_MESSAGE);
        post(state, 1, peer);
    }
}

static void copy_own(struct state *state) {
    redist__enter(state->problem->timer, REDIST__OWN_PART);
    redist__attempt(state->problem,
                    redist__own_copy_run(&state->own[state->direction], state->problem,
                                         state->direction, state->source, state->destination,
                                         state->problem->space->stream(0)));
}

static void unpack(struct state *state, int peer) {
    redist__arrived(state->problem->timer);
    redist__enter(state->problem->timer, REDIST__UNPACK);
    redist__attempt(state->problem,
                    redist__packing_unpack(&state->packing[!state->direction], peer, 1,
                                           state->destination, state->problem->space->stream(0)));
    redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
}

/* ---------------------------------------------------------------- whole arrays */

/* Adds what is added, when all has arrived. */
static void add_all(struct state *state) {
    const struct redist__problem *problem = state->problem;
    redist__enter(problem->timer, REDIST__UNPACK);
    redist__attempt(problem, redist__packing_add(&state->packing[!state->direction],
                                                 &state->own[state->direction], problem,
                                                 state->direction, state->source,
                                                 state->destination, problem->space->stream(0)));
}

static void begin(struct state *state, int direction, const void *source, void *destination) {
    state->direction = direction;
    state->source = source;
    state->destination = destination;
    redist__finish(state->problem, state->event, state->problem->stream);
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    if (state->is_known)
        return;
    begin(state, direction, source, destination);
    post_receives(state);
    pack_and_send(state);
    copy_own(state);
    redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
}

static void wait(void *data) {
    struct state *state = data;
    struct redist__phase_timer *timer = state->problem->timer;
    int left = !state->is_known, i;
    for (unsigned poll = 0; left && !state->messages.lost;) {
        redist__enter(timer, REDIST__FIRST_MESSAGE);
        i = redist__messages_test(&state->messages, &left);
        if (i >= 0) {
            unpack(state, i);
            poll = 0;
        } else if (left)
            redist__messages_pause(&state->messages, poll++);
    }
    redist__enter(timer, REDIST__COMMUNICATE);
    redist__messages_end(&state->messages);
    if (!state->is_known)
        add_all(state);
    redist__enter(timer, REDIST__UNPACK);
    finish_stream(state);
}

/* Returns the base address of all messages. For an array without elements it may be the address of the other array, and
 * Open MPI's nonblocking calls read two equal addresses as MPI_IN_PLACE: a rank that only sends would send nothing. */
static void *base_of(const struct redist__packing *packing, const void *array) {
    const void *buffer = packing->wire != NULL ? packing->wire : packing->buffer;
    const void *base = packing->all_in_array ? array : buffer;
    return packing->side->bytes == 0 ? NULL : (void *)((uintptr_t)base - packing->shift);
}

static int begin_collective(const void *data, MPI_Comm comm, MPI_Request *request) {
    const struct state *state = data;
    const struct redist__types *from = &state->types[state->direction];
    const struct redist__types *to = &state->types[!state->direction];
    const void *source = base_of(&state->packing[state->direction], state->source);
    void *destination = base_of(&state->packing[!state->direction], state->destination);
    if (from->shared)
        return MPI_Ialltoallv(source, from->counts, from->displacements, from->types[0],
                              destination, to->counts, to->displacements, to->types[0], comm,
                              request);
    return MPI_Ialltoallw(source, from->counts, from->displacements, from->types, destination,
                          to->counts, to->displacements, to->types, comm, request);
}

/* Agrees that no rank has failed, and all are here: MPI matches collective calls by their order, so no rank may begin
 * one that another rank omits. */
static int all_begin(struct state *state) {
    const struct redist__problem *problem = state->problem;
    const struct redist__context *context = problem->context;
    int lowest, mine = redist__has_failed(problem) ? context->rank : context->size;
    int code = redist__life_lowest(problem->life, mine, &lowest);
    redist__note(problem, code);
    state->is_known = code == REDIST_OK && lowest < context->size;
    if (state->is_known)
        redist__failure_note_peer(problem->failure, lowest, REDIST_OK);
    return code == REDIST_OK && !state->is_known;
}

/* Makes the call, and copies the own part after it if MPI copies on this core. */
static void execute_collective(struct state *state) {
    const struct redist__problem *problem = state->problem;
    int beside = problem->space->asynchronous;
    pack_all(state);
    if (beside)
        copy_own(state);
    redist__enter(problem->timer, REDIST__COMMUNICATE);
    if (all_begin(state))
        redist__messages_collect(&state->messages, begin_collective, state);
    redist__messages_end(&state->messages);
    if (!beside)
        copy_own(state);
    redist__enter(problem->timer, REDIST__UNPACK);
    redist__attempt(problem, redist__packing_unpack(&state->packing[!state->direction], 0,
                                                    state->transfer->nranks, state->destination,
                                                    problem->space->stream(0)));
    add_all(state);
    finish_stream(state);
}

static void execute(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    if (state->is_known)
        return;
    begin(state, direction, source, destination);
    execute_collective(state);
}

/* ---------------------------------------------------------------- packed messages */

/* Sizes of pieces on a device in MiB: the usual one, and others for comparisons. */
static const char *const variants[] = {"", "1m", "4m", "16m", "64m", NULL};

static int create_packed(const struct redist__problem *problem,
                         const struct redist__candidate *candidate, void **result) {
    const struct kind *kind = candidate->method->kind;
    size_t mebibytes = strtoul(variants[candidate->variant], NULL, 10);
    return is_cut(problem)
               ? redist__tiled_messages_create(problem, kind->streams, mebibytes << 20, result)
               : create(problem, candidate, result);
}

static const struct redist__method *serving(const struct redist__problem *problem) {
    return is_cut(problem) ? &redist__tiled_messages : NULL;
}

/* ---------------------------------------------------------------- the methods */

#define METHOD(id, sentence, ...)                                                                  \
    .name = id, .summary = sentence, .kind = &(const struct kind){__VA_ARGS__},                    \
    .applies = applies, .preference = preference, .start = start, .wait = wait,                    \
    .workspace = workspace, .destroy = destroy

const struct redist__method redist__method_alltoallw = {
    METHOD("alltoallw", "one MPI_Ialltoallw over subarray datatypes; the reference for all others",
           REDIST__AS_IN_ARRAY, 1, 0),
    .create = create, .execute = execute};

const struct redist__method redist__method_p2p_type = {
    METHOD("p2p-type",
           "MPI_Isend and MPI_Irecv of subarray datatypes; the own part is copied locally",
           REDIST__AS_IN_ARRAY, 0, 0),
    .create = create};

const struct redist__method redist__method_alltoallv = {
    METHOD("alltoallv", "packs all parts, one MPI_Ialltoallv, unpacks all", REDIST__ALL_IN_ARRAY, 1,
           0),
    .create = create, .execute = execute, .formats = 1};

const struct redist__method redist__method_p2p_streams = {
    METHOD("p2p-streams",
           "as p2p, each part packed on a stream of its own and sent when that is done",
           REDIST__EACH_IN_ARRAY, 0, 1),
    .create = create_packed, .serving = serving, .formats = 1};

const struct redist__method redist__method_p2p = {
    METHOD("p2p", "packed MPI_Isend and MPI_Irecv; each part is unpacked as it arrives",
           REDIST__EACH_IN_ARRAY, 0, 0),
    .create = create_packed, .serving = serving, .formats = 1, .variants = variants};
