/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pack, MPI_Isend and MPI_Irecv, and unpack each message as it arrives; the own part is copied directly
 * (Egger, Peer2Peer-Sync; Verma et al.). Parts that are contiguous in the array travel from or to where
 * they are. In tiles, a part travels in several pieces, each of which leaves as soon as its last tile
 * was put, and tiles are fetched as soon as their pieces are there.
 */
#include "../copy/pack.h"
#include "messages.h"
#include "method.h"

#include <string.h>

/* Messages of a part that exists in tiles. */
enum { PIECES = 8 };

/* The cut of a part in messages along its first axis that has more than one element. */
struct pieces {
    int count, axis;
    size_t elements_across; /* elements for each index of that axis */
};

struct state {
    const struct redist__problem *problem;
    const struct redist__schedule *schedule;
    struct redist__packing packing[2];
    struct redist__copy own[2];
    MPI_Datatype element; /* the item's bytes */
    int pieces;           /* messages for each peer, at most */
    struct redist__messages messages;
    size_t *missing; /* elements of each piece that were not put yet */
    void *mark;
    int direction; /* of the execution under way */
    const char *source;
    char *destination;
};

static int applies(const struct redist__problem *problem, int variant) {
    (void)variant;
    int code = redist__check_copyable(problem->schedule, "p2p");
    if (code == REDIST_OK && problem->tiles != REDIST_WHOLE && problem->space->asynchronous)
        code = redist__fail(REDIST_ERR_METHOD, "method p2p has tiles in host memory only");
    return code == REDIST_OK ? redist__check_counts(problem->schedule, "p2p", 0) : code;
}

static int create_messages(struct state *state) {
    const struct redist__context *context = state->schedule->context;
    int n = context->size * state->pieces;
    state->missing = redist_calloc((size_t)n, sizeof *state->missing);
    if (state->missing == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %d messages", n);
    int code = redist__messages_create(&state->messages, context, state->problem->failure, n);
    return code == REDIST_OK ? redist__element_type(state->schedule, &state->element) : code;
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method p2p");
    state->problem = problem;
    state->schedule = problem->schedule;
    state->pieces = problem->tiles == REDIST_WHOLE ? 1 : PIECES;
    state->element = MPI_DATATYPE_NULL;
    enum redist__in_array in_array[2];
    for (int side = 0; side < 2; side++) {
        int in_tiles = problem->tiles == (side == 0 ? REDIST_PUT : REDIST_GET);
        in_array[side] =
            in_tiles || problem->staged ? REDIST__NONE_IN_ARRAY : REDIST__EACH_IN_ARRAY;
    }
    int code = create_messages(state);
    if (code == REDIST_OK)
        code = problem->space->event_create(&state->mark);
    return code == REDIST_OK ? redist__packings_create(state->packing, state->own, problem,
                                                       in_array, problem->staged)
                             : code;
}

/* ---------------------------------------------------------------- messages */

static struct pieces cut(const struct state *state, const struct redist__part *part) {
    struct pieces pieces = {part->elements != 0, 0, part->elements};
    int ndims = state->schedule->ndims, axis = 0;
    while (axis < ndims - 1 && part->count[axis] == 1)
        axis++;
    if (part->elements == 0 || state->pieces == 1)
        return pieces;
    int n = part->count[axis];
    return (struct pieces){n < state->pieces ? n : state->pieces, axis, part->elements / (size_t)n};
}

/* First element and elements of a piece, in the order of the packed part. */
static void piece_range(const struct redist__part *part, const struct pieces *pieces, int piece,
                        size_t *first, int *count) {
    int indices, start;
    if (pieces->count == 1) {
        *first = 0;
        *count = (int)part->elements;
        return;
    }
    redist_decompose(part->count[pieces->axis], pieces->count, piece, &indices, &start);
    *first = (size_t)start * pieces->elements_across;
    *count = (int)((size_t)indices * pieces->elements_across);
}

static int message_of(const struct state *state, int peer, int piece) {
    return peer * state->pieces + piece;
}

static void send_piece(struct state *state, int peer, const struct pieces *pieces, int piece) {
    const struct redist__packing *from = &state->packing[state->direction];
    size_t first;
    int count;
    piece_range(&from->side->parts[peer], pieces, piece, &first, &count);
    char *message = redist__packing_message(from, peer, state->source);
    redist__messages_send(&state->messages, message_of(state, peer, piece),
                          message + first * state->schedule->item, count, state->element, peer,
                          state->problem->tag + piece);
}

static void receive_piece(struct state *state, int peer, const struct pieces *pieces, int piece) {
    const struct redist__packing *to = &state->packing[!state->direction];
    size_t first;
    int count;
    piece_range(&to->side->parts[peer], pieces, piece, &first, &count);
    char *message = redist__packing_message(to, peer, state->destination);
    redist__messages_receive(&state->messages, message_of(state, peer, piece),
                             message + first * state->schedule->item, count, state->element, peer,
                             state->problem->tag + piece);
}

typedef void post_piece(struct state *state, int peer, const struct pieces *pieces, int piece);

static void post_pieces(struct state *state, int side, int peer, post_piece *post) {
    struct pieces pieces = cut(state, &state->schedule->side[side].parts[peer]);
    for (int piece = 0; piece < pieces.count; piece++)
        post(state, peer, &pieces, piece);
}

static void post_receives(struct state *state) {
    const struct redist__context *context = state->schedule->context;
    for (int i = 1; i < context->size; i++) {
        int peer = (context->rank + context->size - i) % context->size;
        post_pieces(state, !state->direction, peer, receive_piece);
    }
}

static void note(struct state *state, int code) {
    redist__failure_note(state->problem->failure, code);
}

static int failed(const struct state *state) {
    return redist__failed(state->problem->failure);
}

/* On a device one kernel packs for all peers; elsewhere each message leaves as soon as it is packed. */
static void pack_all(struct state *state) {
    const struct redist__space *space = state->problem->space;
    if (!space->asynchronous || failed(state))
        return;
    redist__enter(state->problem->watch, REDIST__PACK);
    note(state, redist__packing_pack_all(&state->packing[state->direction], state->source, 0));
    note(state,
         redist__finish_stream(space, state->mark, space->stream(0), state->schedule->context));
}

static void pack_and_send(struct state *state) {
    const struct redist__context *context = state->schedule->context;
    int at_once = state->problem->space->asynchronous;
    pack_all(state);
    for (int i = 1; i < context->size; i++) {
        int peer = (context->rank + i) % context->size;
        redist__enter(state->problem->watch, REDIST__PACK);
        if (!at_once && !failed(state))
            redist__packing_pack(&state->packing[state->direction], peer, state->source, 0);
        redist__enter(state->problem->watch, REDIST__FIRST_MESSAGE);
        post_pieces(state, state->direction, peer, send_piece);
    }
}

/* ---------------------------------------------------------------- whole arrays */

static void begin(struct state *state, int direction, const void *source, void *destination) {
    state->direction = direction;
    state->source = source;
    state->destination = destination;
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    begin(state, direction, source, destination);
    note(state, redist__finish_stream(problem->space, state->mark, problem->stream,
                                      state->schedule->context));
    post_receives(state);
    pack_and_send(state);
    redist__enter(problem->watch, REDIST__OWN_PART);
    if (!failed(state))
        note(state, redist__own_copy_run(&state->own[direction], problem, direction, source,
                                         destination, 0));
}

/* One of the several pieces of a part, in host memory. */
static void unpack_piece(const struct state *state, int peer, int piece) {
    const struct redist__packing *to = &state->packing[!state->direction];
    const struct redist__part *part = &to->side->parts[peer];
    struct pieces pieces = cut(state, part);
    if (to->in_array[peer])
        return;
    size_t first, item = state->schedule->item;
    int count, box[REDIST_MAX_NDIMS], ndims = state->schedule->ndims, start = 0;
    piece_range(part, &pieces, piece, &first, &count);
    memcpy(box, part->count, sizeof box);
    if (pieces.count > 1)
        redist_decompose(part->count[pieces.axis], pieces.count, piece, &box[pieces.axis], &start);
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    redist__strides(ndims, part->count, item, packed);
    struct redist__copy copy;
    redist__copy_prepare(&copy, ndims, box, item, packed, to->side->stride);
    redist__copy_run(&copy, to->buffer + to->position[peer] + first * item,
                     state->destination + part->offset + start * to->side->stride[pieces.axis], 0);
}

static void unpack_received(struct state *state, int received) {
    int peer = received / state->pieces;
    if (failed(state))
        return;
    if (state->pieces == 1)
        note(state, redist__packing_unpack(&state->packing[!state->direction], peer,
                                           state->destination, 0));
    else
        unpack_piece(state, peer, received % state->pieces);
}

static void wait(void *data) {
    struct state *state = data;
    struct redist__watch *watch = state->problem->watch;
    int i;
    redist__enter(watch, REDIST__FIRST_MESSAGE);
    while ((i = redist__messages_next(&state->messages)) >= 0) {
        redist__arrived(watch);
        redist__enter(watch, REDIST__UNPACK);
        unpack_received(state, i);
        redist__enter(watch, REDIST__FIRST_MESSAGE);
    }
    redist__enter(watch, REDIST__COMMUNICATE);
    redist__messages_end(&state->messages);
    redist__enter(watch, REDIST__UNPACK);
    note(state, redist__finish_stream(state->problem->space, state->mark,
                                      state->problem->space->stream(0), state->schedule->context));
}

/* ---------------------------------------------------------------- tiles */

/* What a tile and a peer's part have in common; 0 = nothing. */
static int overlap(const struct state *state, const struct redist__tile *tile,
                   const struct redist__part *part, int start[], int count[]) {
    return redist__intersect(state->schedule->ndims, tile->start, tile->count, part->start,
                             part->count, start, count);
}

/* Copies that between the tile and an array in which the part begins at `part_base`. */
static void copy_overlap(const struct state *state, const struct redist__tile *tile,
                         const struct redist__part *part, const int start[], const int count[],
                         char *part_base, const ptrdiff_t stride[]) {
    int put = state->problem->tiles == REDIST_PUT, ndims = state->schedule->ndims;
    char *near = tile->data;
    for (int i = 0; i < ndims; i++) {
        near += (start[i] - tile->start[i]) * tile->stride[i];
        part_base += (start[i] - part->start[i]) * stride[i];
    }
    struct redist__copy copy;
    redist__copy_prepare(&copy, ndims, count, state->schedule->item, put ? tile->stride : stride,
                         put ? stride : tile->stride);
    redist__copy_run(&copy, put ? near : part_base, put ? part_base : near, 0);
}

/* The own part goes between the tile and the array that exists. */
static void copy_own_tile(const struct state *state, const struct redist__tile *tile) {
    int put = state->problem->tiles == REDIST_PUT, rank = state->schedule->context->rank;
    const struct redist__part *part = &state->schedule->side[!put].parts[rank];
    const struct redist__side *other = &state->schedule->side[put];
    int start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    char *array = put ? state->destination : (char *)(size_t)state->source;
    if (overlap(state, tile, part, start, count))
        copy_overlap(state, tile, part, start, count, array + other->parts[rank].offset,
                     other->stride);
}

static void copy_peer_tile(const struct state *state, const struct redist__tile *tile, int peer,
                           const int start[], const int count[]) {
    int put = state->problem->tiles == REDIST_PUT;
    const struct redist__packing *packing = &state->packing[!put];
    const struct redist__part *part = &packing->side->parts[peer];
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    redist__strides(state->schedule->ndims, part->count, state->schedule->item, packed);
    copy_overlap(state, tile, part, start, count, packing->buffer + packing->position[peer],
                 packed);
}

/* The pieces that a range of the cut axis touches, and how many indices of each. */
static int indices_in_piece(const struct redist__part *part, const struct pieces *pieces, int piece,
                            int start, int count) {
    int indices, first;
    redist_decompose(part->count[pieces->axis], pieces->count, piece, &indices, &first);
    first += part->start[pieces->axis];
    int begin = start > first ? start : first;
    int end = start + count < first + indices ? start + count : first + indices;
    return end > begin ? end - begin : 0;
}

static void put_peer(struct state *state, const struct redist__tile *tile, int peer) {
    const struct redist__part *part = &state->schedule->side[0].parts[peer];
    int start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    if (!overlap(state, tile, part, start, count))
        return;
    redist__enter(state->problem->watch, REDIST__PACK);
    copy_peer_tile(state, tile, peer, start, count);
    redist__enter(state->problem->watch, REDIST__FIRST_MESSAGE);
    struct pieces pieces = cut(state, part);
    size_t across = 1;
    for (int i = 0; i < state->schedule->ndims; i++)
        across *= i != pieces.axis ? (size_t)count[i] : 1;
    for (int piece = 0; piece < pieces.count; piece++) {
        int indices =
            indices_in_piece(part, &pieces, piece, start[pieces.axis], count[pieces.axis]);
        size_t *missing = &state->missing[message_of(state, peer, piece)];
        *missing -= (size_t)indices * across;
        if (indices != 0 && *missing == 0)
            send_piece(state, peer, &pieces, piece);
    }
}

static void get_peer(struct state *state, const struct redist__tile *tile, int peer) {
    const struct redist__part *part = &state->schedule->side[1].parts[peer];
    int start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    if (!overlap(state, tile, part, start, count))
        return;
    redist__enter(state->problem->watch, REDIST__FIRST_MESSAGE);
    struct pieces pieces = cut(state, part);
    for (int piece = 0; piece < pieces.count; piece++)
        if (indices_in_piece(part, &pieces, piece, start[pieces.axis], count[pieces.axis]) != 0)
            redist__messages_wait(&state->messages, message_of(state, peer, piece));
    redist__arrived(state->problem->watch);
    redist__enter(state->problem->watch, REDIST__UNPACK);
    if (!failed(state))
        copy_peer_tile(state, tile, peer, start, count);
}

static void move_tile(void *data, const struct redist__tile *tile) {
    struct state *state = data;
    const struct redist__context *context = state->schedule->context;
    redist__enter(state->problem->watch, REDIST__OWN_PART);
    if (!failed(state))
        copy_own_tile(state, tile);
    for (int i = 1; i < context->size && !failed(state); i++) {
        int peer = (context->rank + i) % context->size;
        (state->problem->tiles == REDIST_PUT ? put_peer : get_peer)(state, tile, peer);
    }
}

static void expect_all(struct state *state) {
    for (int peer = 0; peer < state->schedule->context->size; peer++) {
        const struct redist__part *part = &state->schedule->side[0].parts[peer];
        struct pieces pieces = cut(state, part);
        for (int piece = 0; piece < pieces.count; piece++) {
            size_t first;
            int count;
            piece_range(part, &pieces, piece, &first, &count);
            state->missing[peer * state->pieces + piece] = (size_t)count;
        }
    }
}

static void open_tiles(void *data, void *array) {
    struct state *state = data;
    int put = state->problem->tiles == REDIST_PUT;
    begin(state, REDIST_FORWARD, put ? NULL : array, put ? array : NULL);
    expect_all(state);
    post_receives(state);
    if (!put)
        pack_and_send(state);
}

/* Peers wait for every piece, also for those of a source that was not put as a whole. */
static void send_missing(struct state *state) {
    for (int peer = 0; peer < state->schedule->context->size; peer++) {
        struct pieces pieces = cut(state, &state->schedule->side[0].parts[peer]);
        if (peer == state->schedule->context->rank)
            continue;
        for (int piece = 0; piece < pieces.count; piece++)
            if (state->missing[message_of(state, peer, piece)] != 0)
                send_piece(state, peer, &pieces, piece);
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

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    const struct state *state = data;
    return redist__packings_bytes(state->packing);
}

static void destroy(void *data) {
    struct state *state = data;
    if (!redist__messages_free(&state->messages))
        redist__packings_free(state->packing);
    if (state->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&state->element);
    state->problem->space->event_destroy(state->mark);
    redist_release(state->missing);
    redist_release(state);
}

const struct redist__method redist__method_p2p = {
    .name = "p2p",
    .summary = "packed MPI_Isend and MPI_Irecv; each part is unpacked as it arrives",
    .applies = applies,
    .create = create,
    .start = start,
    .wait = wait,
    .open = open_tiles,
    .put = move_tile,
    .get = move_tile,
    .close = close_tiles,
    .workspace = workspace,
    .destroy = destroy,
};
