/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The methods that move each part by MPI. They differ in what a message is and in who sends it:
 *
 *   alltoallw    subarray datatypes, one MPI_Alltoallw: the reference (Dalcin, Mortensen, Keyes, Listing 3)
 *   p2p-type     the same datatypes, MPI_Isend and MPI_Irecv
 *   alltoallv    packed parts, one MPI_Alltoallv (Egger, All2All-Sync)
 *   p2p          packed parts, MPI_Isend and MPI_Irecv; each is unpacked as it arrives (Egger, Peer2Peer-Sync;
 *                Verma et al.)
 *   p2p-streams  the same, each part packed on a stream of its own and sent as soon as it is packed (Egger,
 *                Peer2Peer-Streams)
 *
 * The own part is copied directly, except that alltoallw leaves it to MPI in host memory. Executions that are
 * started always use messages of their own: in Open MPI 4.1 MPI_Ialltoallw and MPI_Ialltoallv may not end where
 * some ranks have no elements. A collective call has no room for news of a failure, so the ranks agree
 * afterwards.
 *
 * In tiles (p2p only), a part travels in several segments, each of which leaves as soon as its last tile was
 * put, and tiles are fetched as soon as their segments have arrived.
 */
#include "../copy/copy.h"
#include "messages.h"
#include "packing.h"
#include "tiles.h"

#include <string.h>

struct kind {
    enum redist__layout layout;
    int collective; /* one call for all messages */
    int streams;    /* each part is packed on a stream of its own */
};

/* Messages of a part that exists in tiles. */
enum { SEGMENTS = 8 };

struct state {
    const struct redist__problem *problem;
    const struct redist__transfer *transfer;
    const struct kind *kind;
    struct redist__packing packing[2];
    struct redist__types types[2];
    struct redist__copy own[2]; /* empty where MPI moves the own part too */
    int segments;               /* messages for each peer, at most */
    struct redist__messages messages;
    size_t *missing; /* elements of each message that were not put yet */
    void **events;   /* with streams, of each distance: the part is packed; else one */
    int nevents;
    int is_known;  /* all ranks know of a failure: none calls MPI any more */
    int direction; /* of the execution under way */
    const char *source;
    char *destination;
};

/* ---------------------------------------------------------------- what they can serve */

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    const struct kind *kind = candidate->method->kind;
    const char *name = candidate->method->name;
    int as_types = kind->layout == REDIST__AS_IN_ARRAY;
    if (!as_types || problem->staged)
        REDIST_TRY(redist__check_copyable(problem->transfer, name));
    if (problem->tiles != REDIST_WHOLE && problem->space->asynchronous)
        return redist__fail(REDIST_ERR_METHOD, "method %s has tiles in host memory only", name);
    return as_types ? redist__check_extents(problem->transfer, name)
                    : redist__check_counts(problem->transfer, name, kind->collective);
}

/* MPI copies each contiguous run of a type on a device by itself, which is extremely slow. In host memory
 * p2p-streams has nothing that p2p lacks. */
static int preference(const struct redist__problem *problem,
                      const struct redist__candidate *candidate) {
    const struct kind *kind = candidate->method->kind;
    int device = problem->space->asynchronous;
    int slow =
        kind->layout == REDIST__AS_IN_ARRAY ? device && !problem->staged : kind->streams && !device;
    return slow ? REDIST__BY_NAME : 0;
}

/* ---------------------------------------------------------------- making */

static int allocate(struct state *state) {
    int nranks = state->transfer->nranks, n = nranks * state->segments;
    state->nevents = state->kind->streams ? nranks : 1;
    state->missing = redist_calloc((size_t)n, sizeof *state->missing);
    state->events = redist_calloc((size_t)state->nevents, sizeof *state->events);
    if (state->missing == NULL || state->events == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %d messages", n);
    for (int i = 0; i < state->nevents; i++)
        REDIST_TRY(state->problem->space->event_create(&state->events[i]));
    return redist__messages_create(&state->messages, state->problem, n);
}

/* The reference leaves the own part to MPI, and elements that are no plain bytes only MPI can copy. */
static int create_side(struct state *state, int side) {
    const struct redist__problem *problem = state->problem;
    enum redist__layout layout = state->kind->layout;
    int as_types = layout == REDIST__AS_IN_ARRAY;
    int own = as_types && (!redist__transfer_copyable(problem->transfer) ||
                           (state->kind->collective && !problem->space->asynchronous));
    if (!as_types && (problem->staged || problem->tiles == (side == 0 ? REDIST_PUT : REDIST_GET)))
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
    state->segments = problem->tiles == REDIST_WHOLE ? 1 : SEGMENTS;
    REDIST_TRY(allocate(state));
    REDIST_TRY(create_side(state, 0));
    return create_side(state, 1);
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
    for (int i = 0; state->events != NULL && i < state->nevents; i++)
        state->problem->space->event_destroy(state->events[i]);
    redist_release(state->events);
    redist_release(state->missing);
    redist_release(state);
}

/* ---------------------------------------------------------------- messages */

/* A segment of a part: some indices of its first axis that has more than one element. */
struct segment {
    int axis;
    redist_index start, count; /* along the axis, from the part's begin */
    size_t first, elements;    /* in the order of the packed part */
};

static int axis_of(const struct state *state, const struct redist__part *part) {
    int axis = 0;
    while (axis < state->transfer->ndims - 1 && part->count[axis] == 1)
        axis++;
    return axis;
}

static int count_segments(const struct state *state, const struct redist__part *part) {
    redist_index n = part->count[axis_of(state, part)];
    if (part->elements == 0)
        return 0;
    return n < state->segments ? (int)n : state->segments;
}

static struct segment segment_of(const struct state *state, const struct redist__part *part,
                                 int i) {
    struct segment segment = {.axis = axis_of(state, part)};
    redist_index n = part->count[segment.axis];
    size_t across = part->elements / (size_t)n; /* elements for each index of the axis */
    redist_decompose(n, count_segments(state, part), i, &segment.count, &segment.start);
    segment.first = (size_t)segment.start * across;
    segment.elements = (size_t)segment.count * across;
    return segment;
}

static int message_of(const struct state *state, int peer, int segment) {
    return peer * state->segments + segment;
}

static void post_segment(struct state *state, int sends, int peer, int i) {
    int side = sends ? state->direction : !state->direction, index = message_of(state, peer, i);
    const struct redist__types *types = &state->types[side];
    const struct redist__packing *packing = &state->packing[side];
    struct segment segment = segment_of(state, &packing->side->parts[peer], i);
    int count = state->segments == 1 ? types->counts[peer] : (int)segment.elements;
    int tag = state->problem->tag + i;
    char *message =
        redist__packing_message(packing, peer, sends ? state->source : state->destination);
    message += segment.first * state->transfer->item;
    void *packed =
        state->kind->streams ? state->events[redist__distance_of(state->transfer, peer)] : NULL;
    if (sends)
        redist__messages_send(&state->messages, index, packed, message, count, types->types[peer],
                              peer, tag);
    else
        redist__messages_receive(&state->messages, index, message, count, types->types[peer], peer,
                                 tag);
}

static void post(struct state *state, int sends, int peer) {
    int side = sends ? state->direction : !state->direction;
    const struct redist__part *part = &state->transfer->side[side].parts[peer];
    int n = state->types[side].counts[peer] != 0 ? count_segments(state, part) : 0;
    for (int i = 0; i < n; i++)
        post_segment(state, sends, peer, i);
}

static void post_receives(struct state *state) {
    for (int i = 0; i < state->transfer->nranks; i++)
        post(state, 0, redist__rank_at(state->transfer, -i));
}

/* ---------------------------------------------------------------- packing */

static void finish_stream(struct state *state) {
    redist__finish(state->problem, state->events[0], state->problem->space->stream(0));
}

static void pack_all(struct state *state) {
    struct redist__packing *from = &state->packing[state->direction];
    redist__enter(state->problem->timer, REDIST__PACK);
    redist__attempt(state->problem,
                    redist__packing_pack(from, 0, state->transfer->nranks, state->source, 0));
    if (!from->all_in_array)
        finish_stream(state);
}

/* On a device one kernel packs for all peers, unless there is a stream for each: stream 0 is for the own part and
 * for unpacking, stream i for the i-th peer. Elsewhere each message leaves as soon as it is packed. */
static void pack_and_send(struct state *state) {
    const struct redist__problem *problem = state->problem;
    const struct redist__space *space = problem->space;
    int streams = state->kind->streams, at_once = space->asynchronous && !streams;
    if (at_once)
        pack_all(state);
    for (int i = 0; i < state->transfer->nranks; i++) {
        int peer = redist__rank_at(state->transfer, i), stream = streams ? i : 0;
        if (state->types[state->direction].counts[peer] == 0)
            continue;
        redist__enter(problem->timer, REDIST__PACK);
        if (!at_once)
            redist__attempt(problem, redist__packing_pack(&state->packing[state->direction], peer,
                                                          1, state->source, stream));
        if (streams)
            redist__attempt(problem, space->event_record(state->events[i], space->stream(i)));
        redist__enter(problem->timer, REDIST__FIRST_MESSAGE);
        post(state, 1, peer);
    }
}

static void copy_own(struct state *state) {
    redist__enter(state->problem->timer, REDIST__OWN_PART);
    redist__attempt(state->problem,
                    redist__own_copy_run(&state->own[state->direction], state->problem,
                                         state->direction, state->source, state->destination, 0));
}

/* One of several segments of a part, in host memory. */
static void unpack_segment(const struct state *state, int peer, int i) {
    const struct redist__packing *to = &state->packing[!state->direction];
    const struct redist__part *part = &to->side->parts[peer];
    struct segment segment = segment_of(state, part, i);
    int ndims = state->transfer->ndims;
    redist_index box[REDIST_MAX_NDIMS];
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    struct redist__copy copy;
    if (to->in_array[peer])
        return;
    memcpy(box, part->count, sizeof box);
    box[segment.axis] = segment.count;
    redist__strides(ndims, part->count, state->transfer->item, packed);
    redist__copy_prepare(&copy, ndims, box, state->transfer->item, packed, to->side->stride);
    redist__copy_run(
        &copy, to->buffer + to->position[peer] + segment.first * state->transfer->item,
        state->destination + part->offset + segment.start * to->side->stride[segment.axis], 0);
}

static void unpack(struct state *state, int message) {
    int peer = message / state->segments;
    struct redist__packing *to = &state->packing[!state->direction];
    redist__arrived(state->problem->timer);
    redist__enter(state->problem->timer, REDIST__UNPACK);
    if (state->segments == 1)
        redist__attempt(state->problem, redist__packing_unpack(to, peer, 1, state->destination, 0));
    else if (!redist__has_failed(state->problem))
        unpack_segment(state, peer, message % state->segments);
    redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
}

/* ---------------------------------------------------------------- whole arrays */

static void begin(struct state *state, int direction, const void *source, void *destination) {
    state->direction = direction;
    state->source = source;
    state->destination = destination;
    redist__finish(state->problem, state->events[0], state->problem->stream);
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
        redist__enter(timer, state->messages.nlater != 0 ? REDIST__PACK : REDIST__FIRST_MESSAGE);
        i = redist__messages_test(&state->messages, &left);
        if (i >= 0) {
            unpack(state, i);
            poll = 0;
        } else if (left)
            redist__messages_pause(&state->messages, poll++);
    }
    redist__enter(timer, REDIST__COMMUNICATE);
    redist__messages_end(&state->messages);
    redist__enter(timer, REDIST__UNPACK);
    finish_stream(state);
    if (state->kind->streams && redist__has_failed(state->problem))
        state->problem->space->drain(); /* streams that pack may still be at work */
}

/* The base address of all messages. */
static void *base_of(const struct redist__packing *packing, const void *array) {
    return packing->all_in_array ? (void *)(size_t)array : packing->buffer;
}

static int call_mpi(const struct state *state) {
    const struct redist__types *from = &state->types[state->direction];
    const struct redist__types *to = &state->types[!state->direction];
    const void *source = base_of(&state->packing[state->direction], state->source);
    void *destination = base_of(&state->packing[!state->direction], state->destination);
    MPI_Comm comm = state->problem->context->comm;
    if (from->shared)
        return MPI_Alltoallv(source, from->counts, from->displacements, from->types[0], destination,
                             to->counts, to->displacements, to->types[0], comm);
    return MPI_Alltoallw(source, from->counts, from->displacements, from->types, destination,
                         to->counts, to->displacements, to->types, comm);
}

/* Where MPI copies on this core, the own part is better copied after the call. */
static void execute_collective(struct state *state) {
    const struct redist__problem *problem = state->problem;
    int beside = problem->space->asynchronous;
    pack_all(state);
    if (beside)
        copy_own(state);
    redist__enter(problem->timer, REDIST__COMMUNICATE);
    redist__try(problem->failure, call_mpi(state));
    if (!beside)
        copy_own(state);
    redist__enter(problem->timer, REDIST__UNPACK);
    redist__attempt(problem,
                    redist__packing_unpack(&state->packing[!state->direction], 0,
                                           state->transfer->nranks, state->destination, 0));
    finish_stream(state);
    redist__enter(problem->timer, REDIST__COMMUNICATE);
    if (!state->messages.lost)
        state->is_known = redist__failure_agree(problem->failure, problem->context);
}

static void execute(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    if (!state->kind->collective) {
        start(state, direction, source, destination);
        wait(state);
    } else if (!state->is_known) {
        begin(state, direction, source, destination);
        execute_collective(state);
    }
}

/* ---------------------------------------------------------------- tiles */

static size_t overlap(const struct state *state, const struct redist__tile *tile,
                      const struct redist__part *part, redist_index start[], redist_index count[]) {
    return redist__intersect(state->transfer->ndims, tile->start, tile->count, part->start,
                             part->count, start, count);
}

/* Copies what a tile and a rank's part have in common, between the tile and an array in which the part begins at
 * `array`. */
static void copy_overlap(const struct state *state, const struct redist__tile *tile, int rank,
                         char *array, const ptrdiff_t stride[]) {
    int put = state->problem->tiles == REDIST_PUT;
    const struct redist__tile far =
        redist__tile_of_part(state->transfer, !put, rank, array, stride);
    struct redist__copy copy;
    const char *from;
    char *to;
    if (redist__tile_copy(state->transfer, put ? tile : &far, put ? &far : tile, &copy, &from, &to))
        redist__copy_run(&copy, from, to, 0);
}

/* The own part goes between the tile and the array that exists. */
static void copy_own_tile(const struct state *state, const struct redist__tile *tile) {
    int put = state->problem->tiles == REDIST_PUT, rank = state->transfer->rank;
    const struct redist__side *other = &state->transfer->side[put];
    char *array = put ? state->destination : (char *)(size_t)state->source;
    copy_overlap(state, tile, rank, array + other->parts[rank].offset, other->stride);
}

static void copy_peer_tile(const struct state *state, const struct redist__tile *tile, int peer) {
    const struct redist__packing *packing = &state->packing[state->problem->tiles != REDIST_PUT];
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    redist__strides(state->transfer->ndims, packing->side->parts[peer].count, state->transfer->item,
                    packed);
    copy_overlap(state, tile, peer, packing->buffer + packing->position[peer], packed);
}

/* How many indices of a segment lie in a range of the axis that is cut. */
static redist_index indices_in(const struct redist__part *part, const struct segment *segment,
                               redist_index start, redist_index count) {
    redist_index first = part->start[segment->axis] + segment->start;
    redist_index begin = start > first ? start : first;
    redist_index end =
        start + count < first + segment->count ? start + count : first + segment->count;
    return end > begin ? end - begin : 0;
}

static void put_peer(struct state *state, const struct redist__tile *tile, int peer) {
    const struct redist__part *part = &state->transfer->side[0].parts[peer];
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    size_t elements = overlap(state, tile, part, start, count);
    int axis = axis_of(state, part);
    if (elements == 0)
        return;
    redist__enter(state->problem->timer, REDIST__PACK);
    copy_peer_tile(state, tile, peer);
    redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
    for (int i = 0; i < count_segments(state, part); i++) {
        struct segment segment = segment_of(state, part, i);
        redist_index indices = indices_in(part, &segment, start[axis], count[axis]);
        size_t *missing = &state->missing[message_of(state, peer, i)];
        *missing -= (size_t)indices * (elements / (size_t)count[axis]);
        if (indices != 0 && *missing == 0)
            post_segment(state, 1, peer, i);
    }
}

static void get_peer(struct state *state, const struct redist__tile *tile, int peer) {
    const struct redist__part *part = &state->transfer->side[1].parts[peer];
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    if (overlap(state, tile, part, start, count) == 0)
        return;
    redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
    for (int i = 0; i < count_segments(state, part); i++) {
        struct segment segment = segment_of(state, part, i);
        if (indices_in(part, &segment, start[segment.axis], count[segment.axis]) != 0)
            redist__messages_wait(&state->messages, message_of(state, peer, i));
    }
    redist__arrived(state->problem->timer);
    redist__enter(state->problem->timer, REDIST__UNPACK);
    if (!redist__has_failed(state->problem))
        copy_peer_tile(state, tile, peer);
}

static void move_tile(void *data, const struct redist__tile *tile) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    redist__enter(problem->timer, REDIST__OWN_PART);
    if (!redist__has_failed(problem))
        copy_own_tile(state, tile);
    for (int i = 1; i < state->transfer->nranks && !redist__has_failed(problem); i++)
        (problem->tiles == REDIST_PUT ? put_peer : get_peer)(state, tile,
                                                             redist__rank_at(state->transfer, i));
}

static void open_tiles(void *data, void *array) {
    struct state *state = data;
    int put = state->problem->tiles == REDIST_PUT;
    begin(state, REDIST_FORWARD, put ? NULL : array, put ? array : NULL);
    for (int peer = 0; peer < state->transfer->nranks; peer++) {
        const struct redist__part *part = &state->transfer->side[0].parts[peer];
        for (int i = 0; i < count_segments(state, part); i++)
            state->missing[message_of(state, peer, i)] = segment_of(state, part, i).elements;
    }
    post_receives(state);
    if (!put)
        pack_and_send(state);
}

/* Peers wait for every segment, also for those of a source that was not put as a whole. */
static void send_missing(struct state *state) {
    for (int i = 1; i < state->transfer->nranks; i++) {
        int peer = redist__rank_at(state->transfer, i);
        for (int k = 0; k < count_segments(state, &state->transfer->side[0].parts[peer]); k++)
            if (state->missing[message_of(state, peer, k)] != 0)
                post_segment(state, 1, peer, k);
    }
}

/* Tiles that were never fetched leave their messages to be waited for, but nowhere to unpack them. */
static void close_tiles(void *data) {
    struct state *state = data;
    if (state->problem->tiles == REDIST_PUT) {
        send_missing(state);
        wait(state);
    } else
        redist__messages_end(&state->messages);
}

/* ---------------------------------------------------------------- the methods */

#define METHOD(id, sentence, ...)                                                                  \
    .name = id, .summary = sentence, .kind = &(const struct kind){__VA_ARGS__},                    \
    .applies = applies, .preference = preference, .create = create, .start = start, .wait = wait,  \
    .execute = execute, .workspace = workspace, .destroy = destroy

const struct redist__method redist__method_alltoallw = {
    METHOD("alltoallw", "one MPI_Alltoallw over subarray datatypes; the reference for all others",
           REDIST__AS_IN_ARRAY, 1, 0)};

const struct redist__method redist__method_p2p_type = {METHOD(
    "p2p-type", "MPI_Isend and MPI_Irecv of subarray datatypes; the own part is copied locally",
    REDIST__AS_IN_ARRAY, 0, 0)};

const struct redist__method redist__method_alltoallv = {METHOD(
    "alltoallv", "packs all parts, one MPI_Alltoallv, unpacks all", REDIST__ALL_IN_ARRAY, 1, 0)};

const struct redist__method redist__method_p2p_streams = {METHOD(
    "p2p-streams", "as p2p, each part packed on a stream of its own and sent when that is done",
    REDIST__EACH_IN_ARRAY, 0, 1)};

const struct redist__method redist__method_p2p = {
    METHOD("p2p", "packed MPI_Isend and MPI_Irecv; each part is unpacked as it arrives",
           REDIST__EACH_IN_ARRAY, 0, 0),
    .open = open_tiles,
    .put = move_tile,
    .get = move_tile,
    .close = close_tiles,
};
