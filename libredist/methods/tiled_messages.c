/* SPDX-License-Identifier: BSD-3-Clause */
#include "tiled_messages.h"
#include "../copy/copy.h"
#include "messages.h"
#include "packing.h"
#include "tiles.h"

#include <string.h>

/* Limits of the messages for one peer, each with its own tag. */
enum { MOST_SEGMENTS = 8, MOST_MESSAGES = REDIST__MESSAGE_TAGS };

enum { OWN_STREAM, PACK_STREAM, UNPACK_STREAM, STREAMS };

/* An event of work in a stream, if any is pending. */
struct mark {
    void *event;
    enum { AWAITED, RECORDED, REACHED } state;
};

struct state {
    const struct redist__problem *problem;
    const struct redist__transfer *transfer;
    int segments, groups; /* messages for each peer: at most segments * groups */
    struct redist__packing packing[2];
    struct redist__remotes *remotes; /* with groups: the peers' boxes */
    MPI_Datatype element;
    struct redist__messages messages;
    size_t *missing;    /* elements of each message not put yet */
    size_t own_missing; /* of this rank's own part */
    void **packed;      /* on a device, of each message */
    int *awaited;       /* messages of each group not unpacked yet */
    struct mark *unpacked, own;
    void *event;
    char *array; /* the one that exists */
};

static int is_put(const struct state *tiled) {
    return tiled->problem->tiles == REDIST_PUT;
}

static int each(const struct state *tiled) {
    return tiled->segments * tiled->groups;
}

/* ---------------------------------------------------------------- making */

static int create_events(struct state *tiled) {
    const struct redist__space *space = tiled->problem->space;
    REDIST_TRY(space->event_create(&tiled->event));
    REDIST_TRY(space->event_create(&tiled->own.event));
    for (int i = 0; i < tiled->groups; i++)
        REDIST_TRY(space->event_create(&tiled->unpacked[i].event));
    for (int i = 0; space->asynchronous && i < tiled->messages.count; i++)
        REDIST_TRY(space->event_create(&tiled->packed[i]));
    return REDIST_OK;
}

/* Creates a side; the buffer has all parts of a side in tiles, and of messages that are no slabs of parts. */
static int create_side(struct state *tiled, int side) {
    const struct redist__problem *problem = tiled->problem;
    int packed = problem->staged || tiled->groups > 1 || side == !is_put(tiled);
    return redist__packing_create(&tiled->packing[side], problem, side,
                                  packed ? REDIST__NONE_IN_ARRAY : REDIST__EACH_IN_ARRAY,
                                  problem->staged);
}

int redist__tiled_messages_create(const struct redist__problem *problem, void **result) {
    struct state *tiled = *result = redist_calloc(1, sizeof *tiled);
    if (tiled == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for messages in tiles");
    size_t nranks = (size_t)problem->transfer->nranks;
    int partitions = problem->tiles == REDIST_PUT ? problem->partitions : 1;
    tiled->problem = problem;
    tiled->transfer = problem->transfer;
    tiled->element = MPI_DATATYPE_NULL;
    tiled->groups = partitions < MOST_MESSAGES ? partitions : MOST_MESSAGES;
    tiled->segments = MOST_MESSAGES / tiled->groups;
    if (tiled->segments > MOST_SEGMENTS)
        tiled->segments = MOST_SEGMENTS;
    size_t n = nranks * (size_t)each(tiled);
    tiled->remotes = redist_calloc(nranks, sizeof *tiled->remotes);
    tiled->missing = redist_calloc(n, sizeof *tiled->missing);
    tiled->packed = redist_calloc(n, sizeof *tiled->packed);
    tiled->awaited = redist_calloc((size_t)tiled->groups, sizeof *tiled->awaited);
    tiled->unpacked = redist_calloc((size_t)tiled->groups, sizeof *tiled->unpacked);
    if (tiled->remotes == NULL || tiled->missing == NULL || tiled->packed == NULL ||
        tiled->awaited == NULL || tiled->unpacked == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %zu messages", n);
    REDIST_TRY(redist__messages_create(&tiled->messages, problem, (int)n));
    REDIST_TRY(create_events(tiled));
    REDIST_TRY(create_side(tiled, 0));
    REDIST_TRY(create_side(tiled, 1));
    return redist__element_type(problem->transfer, &tiled->element);
}

/* Exchanges the receivers' partitions, by which senders cut their parts. */
int redist__tiled_messages_connect(void *data) {
    struct state *tiled = data;
    const struct redist__problem *problem = tiled->problem;
    int nranks = tiled->transfer->nranks;
    if (tiled->groups == 1)
        return REDIST_OK;
    struct redist__remotes *own = redist_calloc((size_t)nranks, sizeof *own);
    int code = redist__agree_memory(problem->context->comm, own, "to connect the ranks");
    for (int peer = 0; peer < nranks && code == REDIST_OK; peer++)
        for (int side = 0; side < 2; side++)
            own[peer].of[side] =
                redist__remote_describe(problem, side, &problem->transfer->side[side].parts[peer]);
    if (code == REDIST_OK)
        code = redist__remotes_exchange(problem, own, tiled->remotes);
    redist_release(own);
    return code;
}

size_t redist__tiled_messages_bytes(const void *data) {
    const struct state *tiled = data;
    return tiled->packing[0].buffer_bytes + tiled->packing[1].buffer_bytes;
}

static void free_events(struct state *tiled) {
    const struct redist__space *space = tiled->problem->space;
    space->event_destroy(tiled->event);
    space->event_destroy(tiled->own.event);
    for (int i = 0; tiled->unpacked != NULL && i < tiled->groups; i++)
        space->event_destroy(tiled->unpacked[i].event);
    for (int i = 0; tiled->packed != NULL && i < tiled->transfer->nranks * each(tiled); i++)
        space->event_destroy(tiled->packed[i]);
}

void redist__tiled_messages_free(void *data) {
    struct state *tiled = data;
    int in_use = redist__messages_free(&tiled->messages);
    for (int side = 0; side < 2 && !in_use; side++)
        if (tiled->packing[side].space != NULL)
            redist__packing_free(&tiled->packing[side]);
    free_events(tiled);
    if (tiled->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&tiled->element);
    redist_release(tiled->remotes);
    redist_release(tiled->missing);
    redist_release(tiled->packed);
    redist_release(tiled->awaited);
    redist_release(tiled->unpacked);
    redist_release(tiled);
}

/* ---------------------------------------------------------------- contents of a message */

/* A box of a part: its place among the elements of the packed part, and as a tile of the packed message. */
struct message_box {
    size_t first, elements;
    struct redist__tile tile;
};

/* Cuts an axis to `count` indices from `start` on, relative to the box. */
static void cut(struct message_box *box, int axis, redist_index start, redist_index count) {
    size_t across = box->elements / (size_t)box->tile.count[axis];
    box->first += across * (size_t)start;
    box->elements = across * (size_t)count;
    box->tile.start[axis] += start;
    box->tile.count[axis] = count;
}

/* The first axis with more than one element. */
static int axis_of(const struct state *tiled, const struct redist__tile *tile) {
    int axis = 0;
    while (axis < tiled->transfer->ndims - 1 && tile->count[axis] == 1)
        axis++;
    return axis;
}

static int first_partition(const struct state *tiled, int group) {
    return (int)((long long)group * tiled->problem->partitions / tiled->groups);
}

/* Cuts to a group of the receiver's partitions. */
static void cut_group(const struct state *tiled, int side, int peer, int group,
                      struct message_box *box) {
    const struct redist__problem *problem = tiled->problem;
    const struct redist__remote remote =
        side == 1 ? redist__remote_describe(problem, 1, &tiled->transfer->side[1].parts[peer])
                  : tiled->remotes[peer].of[1];
    int axis = problem->partition_axis;
    const struct redist__part *part = &tiled->transfer->side[side].parts[peer];
    redist_index begin = remote.start + box->tile.start[axis] - part->start[axis];
    redist_index n = box->tile.count[axis], low, high, count;
    redist_decompose(remote.extent, problem->partitions, first_partition(tiled, group), &count,
                     &low);
    redist_decompose(remote.extent, problem->partitions, first_partition(tiled, group + 1) - 1,
                     &count, &high);
    low = low > begin ? low - begin : 0;
    high = high + count - begin < n ? high + count - begin : n;
    cut(box, axis, low < n ? low : n, high > low ? high - low : 0);
}

/* The i-th message for a peer, or from it; empty beyond the last one. */
static struct message_box box_of_message(const struct state *tiled, int side, int peer, int i) {
    const struct redist__transfer *transfer = tiled->transfer;
    static const ptrdiff_t none[REDIST_MAX_NDIMS];
    struct message_box box = {.elements = transfer->side[side].parts[peer].elements,
                              .tile = redist__tile_of_part(transfer, side, peer, NULL, none)};
    if (box.elements == 0)
        return box;
    int axis = axis_of(tiled, &box.tile), segment = i / tiled->groups;
    redist_index n = box.tile.count[axis], count = 0, start = 0;
    int segments = n < tiled->segments ? (int)n : tiled->segments;
    if (segment < segments)
        redist_decompose(n, segments, segment, &count, &start);
    cut(&box, axis, start, count);
    if (tiled->groups > 1 && box.elements != 0)
        cut_group(tiled, side, peer, i % tiled->groups, &box);
    redist__strides(transfer->ndims, box.tile.count, transfer->item, box.tile.stride);
    return box;
}

/* The same with the address of the message, in the buffer or the array. */
static struct message_box find_message(const struct state *tiled, int side, int peer, int i) {
    struct message_box box = box_of_message(tiled, side, peer, i);
    if (box.elements != 0)
        box.tile.data = redist__packing_message(&tiled->packing[side], peer, tiled->array) +
                        box.first * tiled->transfer->item;
    return box;
}

static int message_of(const struct state *tiled, int peer, int i) {
    return peer * each(tiled) + i;
}

/* ---------------------------------------------------------------- copies */

static int run_copy(const struct state *tiled, const struct redist__copy *copy, const char *from,
                    char *to, int stream) {
    const struct redist__space *space = tiled->problem->space;
    int over_link = tiled->problem->staged && stream != OWN_STREAM;
    if (space->asynchronous)
        return space->copy(copy, from, to, over_link ? REDIST__LINK : REDIST__KERNEL,
                           space->stream(stream));
    redist__copy_run(copy, from, to, 0);
    return REDIST_OK;
}

/* Copies the intersection of two tiles; returns its elements. */
static size_t copy_common(const struct state *tiled, const struct redist__tile *source,
                          const struct redist__tile *destination, int stream) {
    struct redist__copy copy;
    const char *from;
    char *to;
    if (!redist__tile_copy(tiled->transfer, source, destination, &copy, &from, &to))
        return 0;
    redist__note(tiled->problem, run_copy(tiled, &copy, from, to, stream));
    return redist__copy_bytes(&copy) / tiled->transfer->item;
}

/* A rank's part of the array that exists. */
static struct redist__tile part_in_array(const struct state *tiled, int side, int rank, int of) {
    const struct redist__side *there = &tiled->transfer->side[side];
    return redist__tile_of_part(tiled->transfer, of, rank, tiled->array + there->parts[rank].offset,
                                there->stride);
}

/* Records an event after the work enqueued in a stream. */
static void record(const struct state *tiled, struct mark *mark, int stream) {
    const struct redist__space *space = tiled->problem->space;
    redist__note(tiled->problem, space->event_record(mark->event, space->stream(stream)));
    mark->state = RECORDED;
}

static int is_reached(const struct state *tiled, struct mark *mark) {
    int reached = 0;
    if (mark->state != RECORDED)
        return mark->state == REACHED;
    redist__note(tiled->problem, tiled->problem->space->event_is_reached(mark->event, &reached));
    mark->state = reached ? REACHED : RECORDED;
    return reached;
}

/* ---------------------------------------------------------------- messages */

static void receive(struct state *tiled, int peer, int i) {
    struct message_box box = find_message(tiled, 1, peer, i);
    if (box.elements == 0)
        return;
    tiled->awaited[i % tiled->groups]++;
    redist__messages_receive(&tiled->messages, message_of(tiled, peer, i), box.tile.data,
                             (int)box.elements, tiled->element, peer, tiled->problem->tag + i);
}

static void send(struct state *tiled, int peer, int i, const struct message_box *box) {
    const struct redist__space *space = tiled->problem->space;
    int message = message_of(tiled, peer, i);
    void *packed = tiled->packed[message];
    if (packed != NULL && is_put(tiled))
        redist__attempt(tiled->problem, space->event_record(packed, space->stream(PACK_STREAM)));
    redist__messages_send(&tiled->messages, message, is_put(tiled) ? packed : NULL, box->tile.data,
                          (int)box->elements, tiled->element, peer, tiled->problem->tag + i);
}

static void unpack(struct state *tiled, int message) {
    int peer = message / each(tiled), i = message % each(tiled), group = i % tiled->groups;
    redist__arrived(tiled->problem->timer);
    redist__enter(tiled->problem->timer, REDIST__UNPACK);
    if (!tiled->packing[1].in_array[peer] && !redist__has_failed(tiled->problem)) {
        const struct message_box box = find_message(tiled, 1, peer, i);
        const struct redist__tile part = part_in_array(tiled, 1, peer, 1);
        (void)copy_common(tiled, &box.tile, &part, UNPACK_STREAM);
    }
    if (--tiled->awaited[group] == 0)
        record(tiled, &tiled->unpacked[group], UNPACK_STREAM);
    redist__enter(tiled->problem->timer, REDIST__FIRST_MESSAGE);
}

/* Advances the messages; nonzero while any are pending. */
static int advance(struct state *tiled) {
    int left = 1;
    for (int message = 0; message >= 0 && !tiled->messages.lost;) {
        message = redist__messages_test(&tiled->messages, &left);
        if (message >= 0)
            unpack(tiled, message);
    }
    return left && !tiled->messages.lost;
}

void redist__tiled_messages_progress(void *data) {
    if (is_put(data))
        (void)advance(data);
}

void redist__tiled_messages_arrived(void *data, int *partitions) {
    struct state *tiled = data;
    int groups = 0;
    (void)advance(tiled);
    if (tiled->own_missing == 0 && is_reached(tiled, &tiled->own))
        while (groups < tiled->groups && is_reached(tiled, &tiled->unpacked[groups]))
            groups++;
    *partitions = first_partition(tiled, groups);
}

/* ---------------------------------------------------------------- an execution */

/* Sends contiguous parts from the array, the others as soon as they are packed. */
static void send_all(struct state *tiled) {
    const struct redist__problem *problem = tiled->problem;
    for (int distance = 1; distance < tiled->transfer->nranks; distance++) {
        int peer = redist__rank_at(tiled->transfer, distance);
        redist__enter(problem->timer, REDIST__PACK);
        redist__attempt(problem, redist__packing_pack(&tiled->packing[0], peer, 1, tiled->array,
                                                      problem->space->stream(0)));
        redist__enter(problem->timer, REDIST__FIRST_MESSAGE);
        for (int i = 0; i < each(tiled); i++) {
            const struct message_box box = find_message(tiled, 0, peer, i);
            if (box.elements != 0)
                send(tiled, peer, i, &box);
        }
    }
}

static void begin_marks(struct state *tiled) {
    tiled->own.state = AWAITED;
    for (int group = 0; group < tiled->groups; group++)
        tiled->unpacked[group].state = tiled->awaited[group] == 0 ? REACHED : AWAITED;
}

void redist__tiled_messages_open(void *data, void *array) {
    struct state *tiled = data;
    const struct redist__problem *problem = tiled->problem;
    int nranks = tiled->transfer->nranks;
    tiled->array = array;
    redist__finish(problem, tiled->event, problem->stream);
    memset(tiled->awaited, 0, (size_t)tiled->groups * sizeof *tiled->awaited);
    for (int peer = 0; peer < nranks; peer++)
        for (int i = 0; i < each(tiled); i++)
            tiled->missing[message_of(tiled, peer, i)] =
                peer == tiled->transfer->rank ? 0 : box_of_message(tiled, 0, peer, i).elements;
    for (int distance = 1; distance < nranks; distance++)
        for (int i = 0; i < each(tiled); i++)
            receive(tiled, redist__rank_at(tiled->transfer, -distance), i);
    begin_marks(tiled);
    tiled->own_missing = tiled->transfer->side[0].parts[tiled->transfer->rank].elements;
    if (tiled->own_missing == 0)
        tiled->own.state = REACHED;
    if (!is_put(tiled))
        send_all(tiled);
}

/* Copies this rank's own part between the tile and the array that exists, if any. */
static void copy_own(struct state *tiled, const struct redist__tile *tile) {
    int side = is_put(tiled), rank = tiled->transfer->rank;
    if (tiled->own_missing == 0)
        return;
    const struct redist__tile there = part_in_array(tiled, side, rank, !side);
    redist__enter(tiled->problem->timer, REDIST__OWN_PART);
    size_t elements = copy_common(tiled, side ? tile : &there, side ? &there : tile, OWN_STREAM);
    tiled->own_missing -= elements;
    if (elements != 0 && tiled->own_missing == 0)
        record(tiled, &tiled->own, OWN_STREAM);
}

static void put_to(struct state *tiled, const struct redist__tile *tile, int peer) {
    for (int i = 0; i < each(tiled); i++) {
        size_t *missing = &tiled->missing[message_of(tiled, peer, i)];
        if (*missing == 0)
            continue;
        const struct message_box box = find_message(tiled, 0, peer, i);
        redist__enter(tiled->problem->timer, REDIST__PACK);
        *missing -= copy_common(tiled, tile, &box.tile, PACK_STREAM);
        redist__enter(tiled->problem->timer, REDIST__FIRST_MESSAGE);
        if (*missing == 0)
            send(tiled, peer, i, &box);
    }
}

static void get_from(struct state *tiled, const struct redist__tile *tile, int peer) {
    const struct redist__transfer *transfer = tiled->transfer;
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    for (int i = 0; i < each(tiled); i++) {
        const struct message_box box = find_message(tiled, 1, peer, i);
        if (box.elements == 0 ||
            redist__intersect(transfer->ndims, tile->start, tile->count, box.tile.start,
                              box.tile.count, start, count) == 0)
            continue;
        redist__enter(tiled->problem->timer, REDIST__FIRST_MESSAGE);
        redist__messages_wait(&tiled->messages, message_of(tiled, peer, i));
        redist__arrived(tiled->problem->timer);
        redist__enter(tiled->problem->timer, REDIST__UNPACK);
        if (!redist__has_failed(tiled->problem))
            (void)copy_common(tiled, &box.tile, tile, UNPACK_STREAM);
    }
}

void redist__tiled_messages_tile(void *data, const struct redist__tile *tile) {
    struct state *tiled = data;
    const struct redist__problem *problem = tiled->problem;
    if (!redist__has_failed(problem))
        copy_own(tiled, tile);
    for (int i = 1; i < tiled->transfer->nranks && !redist__has_failed(problem); i++)
        (is_put(tiled) ? put_to : get_from)(tiled, tile, redist__rank_at(tiled->transfer, i));
    if (problem->space->asynchronous)
        redist__tiled_messages_progress(data);
}

/* Sends the remaining messages, which peers wait for, also if the source was not put as a whole. */
static void send_missing(struct state *tiled) {
    for (int distance = 1; distance < tiled->transfer->nranks; distance++)
        for (int i = 0, peer = redist__rank_at(tiled->transfer, distance); i < each(tiled); i++)
            if (tiled->missing[message_of(tiled, peer, i)] != 0) {
                const struct message_box box = find_message(tiled, 0, peer, i);
                send(tiled, peer, i, &box);
            }
}

/* Waits for all messages; those of tiles that were never fetched are not unpacked. */
void redist__tiled_messages_close(void *data) {
    struct state *tiled = data;
    const struct redist__problem *problem = tiled->problem;
    const struct redist__space *space = problem->space;
    if (is_put(tiled)) {
        send_missing(tiled);
        for (unsigned poll = 0; advance(tiled); poll++)
            redist__messages_pause(&tiled->messages, poll);
    }
    redist__enter(problem->timer, REDIST__COMMUNICATE);
    redist__messages_end(&tiled->messages);
    redist__enter(problem->timer, REDIST__UNPACK);
    for (int stream = 0; stream < STREAMS; stream++)
        redist__finish(problem, tiled->event, space->stream(stream));
    if (redist__has_failed(problem))
        space->drain();
}
