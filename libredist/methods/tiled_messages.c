/* SPDX-License-Identifier: BSD-3-Clause */
#include "tiled_messages.h"
#include "../copy/copy.h"
#include "messages.h"
#include "packing.h"

#include <string.h>

/* Streams; with own streams one more for each peer, by its distance. */
enum { OWN_STREAM, PACK_STREAM, UNPACK_STREAM, DOWNLOAD_STREAM, UPLOAD_STREAM, STREAMS };

/* An event of work in a stream, if any is pending. */
struct mark {
    void *event;
    enum { AWAITED, RECORDED, REACHED } state;
};

struct state {
    const struct redist__problem *problem;
    const struct redist__transfer *transfer;
    int direction; /* side[direction] is the source */
    int own_streams;
    struct redist__message_cuts cuts;
    struct redist__packing packing[2];
    MPI_Datatype element;
    struct redist__messages messages;
    size_t *missing;    /* elements of each message not put yet */
    size_t own_missing; /* of this rank's own part */
    void **filled;      /* events: on a device, each message is ready for MPI */
    int *awaited;       /* messages of each group not unpacked yet */
    struct mark *unpacked, own;
    void *event, *uploaded;
    char *arrays[2]; /* those that exist */
};

/* Whole arrays are put as one tile. */
static int is_put(const struct state *tiled) {
    return tiled->problem->tiles != REDIST_GET;
}

/* Returns the number of the source's side, or of the destination's. */
static int side_number(const struct state *tiled, int destination) {
    return destination ? !tiled->direction : tiled->direction;
}

static const struct redist__side *side_of(const struct state *tiled, int destination) {
    return &tiled->transfer->side[side_number(tiled, destination)];
}

/* ---------------------------------------------------------------- making */

static int create_events(struct state *tiled) {
    const struct redist__space *space = tiled->problem->space;
    REDIST_TRY(space->event_create(&tiled->event));
    REDIST_TRY(space->event_create(&tiled->uploaded));
    REDIST_TRY(space->event_create(&tiled->own.event));
    for (int i = 0; i < tiled->cuts.groups; i++)
        REDIST_TRY(space->event_create(&tiled->unpacked[i].event));
    for (int i = 0; space->asynchronous && i < tiled->messages.count; i++)
        REDIST_TRY(space->event_create(&tiled->filled[i]));
    return REDIST_OK;
}

/* Creates a side; the buffer has all parts of a side in tiles, and of messages that are no slabs of parts. In a format
 * it has room for the exact numbers, at the begin of which a message is. */
static int create_side(struct state *tiled, int side) {
    struct redist__problem problem = *tiled->problem;
    int in_tiles = problem.tiles != REDIST_WHOLE && side == !is_put(tiled);
    int packed = in_tiles || tiled->cuts.groups > 1 || redist__has_segments(&problem) ||
                 problem.format != NULL;
    problem.format = NULL;
    return redist__packing_create(&tiled->packing[side], &problem, side,
                                  packed ? REDIST__NONE_IN_ARRAY : REDIST__EACH_IN_ARRAY,
                                  problem.staged);
}

int redist__tiled_messages_create(const struct redist__problem *problem, int own_streams,
                                  size_t piece_bytes, void **result) {
    struct state *tiled = *result = redist_calloc(1, sizeof *tiled);
    if (tiled == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for messages in pieces");
    size_t nranks = (size_t)problem->transfer->nranks;
    tiled->problem = problem;
    tiled->transfer = problem->transfer;
    tiled->element = MPI_DATATYPE_NULL;
    tiled->own_streams = own_streams;
    REDIST_TRY(redist__message_cuts_create(&tiled->cuts, problem, piece_bytes));
    size_t n = nranks * (size_t)tiled->cuts.each;
    tiled->missing = redist_calloc(n, sizeof *tiled->missing);
    tiled->filled = redist_calloc(n, sizeof *tiled->filled);
    tiled->awaited = redist_calloc((size_t)tiled->cuts.groups, sizeof *tiled->awaited);
    tiled->unpacked = redist_calloc((size_t)tiled->cuts.groups, sizeof *tiled->unpacked);
    if (tiled->missing == NULL || tiled->filled == NULL || tiled->awaited == NULL ||
        tiled->unpacked == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %zu messages", n);
    REDIST_TRY(redist__messages_create(&tiled->messages, problem, (int)n));
    REDIST_TRY(create_events(tiled));
    REDIST_TRY(create_side(tiled, 0));
    REDIST_TRY(create_side(tiled, 1));
    return redist__element_type(problem, &tiled->element);
}

static int connect(void *data) {
    return redist__message_cuts_connect(&((struct state *)data)->cuts);
}

static size_t workspace(const void *data) {
    const struct state *tiled = data;
    return redist__packing_bytes(&tiled->packing[0]) + redist__packing_bytes(&tiled->packing[1]);
}

static void free_events(struct state *tiled) {
    const struct redist__space *space = tiled->problem->space;
    space->event_destroy(tiled->event);
    space->event_destroy(tiled->uploaded);
    space->event_destroy(tiled->own.event);
    for (int i = 0; tiled->unpacked != NULL && i < tiled->cuts.groups; i++)
        space->event_destroy(tiled->unpacked[i].event);
    for (int i = 0; tiled->filled != NULL && i < tiled->transfer->nranks * tiled->cuts.each; i++)
        space->event_destroy(tiled->filled[i]);
}

static void destroy(void *data) {
    struct state *tiled = data;
    int in_use = redist__messages_free(&tiled->messages);
    for (int side = 0; side < 2 && !in_use; side++)
        if (tiled->packing[side].space != NULL)
            redist__packing_free(&tiled->packing[side]);
    free_events(tiled);
    if (tiled->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&tiled->element);
    redist__message_cuts_free(&tiled->cuts);
    redist_release(tiled->missing);
    redist_release(tiled->filled);
    redist_release(tiled->awaited);
    redist_release(tiled->unpacked);
    redist_release(tiled);
}

/* ---------------------------------------------------------------- contents of a message */

static const struct redist__packing *packing_of(const struct state *tiled, int destination) {
    return &tiled->packing[side_number(tiled, destination)];
}

/* The array of a side, NULL = it exists in tiles only. */
static char *array_of(const struct state *tiled, int destination) {
    return tiled->arrays[side_number(tiled, destination)];
}

/* The i-th message for a peer, or from it, with its address in the buffer or the array; empty beyond the last one. */
static struct redist__message_box find_message(const struct state *tiled, int destination, int peer,
                                               int i) {
    struct redist__message_box box =
        redist__message_cut(&tiled->cuts, side_number(tiled, destination), peer, i);
    if (box.elements != 0)
        box.tile.data = redist__packing_message(packing_of(tiled, destination), peer,
                                                array_of(tiled, destination)) +
                        box.first * tiled->transfer->item;
    return box;
}

/* The elements of a message for MPI. */
static int count_on_wire(const struct state *tiled, int peer,
                         const struct redist__message_box *box) {
    const struct redist__problem *problem = tiled->problem;
    size_t bytes = redist__format_bytes(redist__format_to(problem, peer),
                                        box->elements * tiled->transfer->item);
    return (int)(redist__message_fill(problem, bytes) / redist__message_unit(problem));
}

/* The address of a message for MPI. */
static char *find_on_wire(const struct state *tiled, int destination, int peer,
                          const struct redist__message_box *box) {
    return redist__packing_on_wire(packing_of(tiled, destination), peer,
                                   array_of(tiled, destination)) +
           box->first * tiled->transfer->item;
}

/* Messages in the order in which they are packed: one piece for all peers, then the next one. */
static int message_of(const struct state *tiled, int peer, int i) {
    return i * tiled->transfer->nranks + redist__distance_of(tiled->transfer, peer);
}

/* ---------------------------------------------------------------- copies */

static int run_copy(const struct state *tiled, const struct redist__copy *copy, const char *from,
                    char *to, int stream) {
    const struct redist__space *space = tiled->problem->space;
    if (space->asynchronous)
        return space->copy(copy, from, to, REDIST__KERNEL, space->stream(stream));
    redist__copy_run(copy, from, to, 0);
    return REDIST_OK;
}

/* Copies the intersection of two tiles, from or to a format if there is one; returns its elements. */
static size_t copy_common(const struct state *tiled, const struct redist__tile *source,
                          const struct redist__tile *destination,
                          const struct redist__format *format, int widens, int stream) {
    struct redist__copy copy;
    const char *from;
    char *to;
    if (!redist__tile_copy(tiled->transfer, source, destination, &copy, &from, &to))
        return 0;
    copy.format = format;
    copy.widens = widens;
    redist__note(tiled->problem, run_copy(tiled, &copy, from, to, stream));
    return redist__copy_bytes(&copy) / tiled->transfer->item;
}

/* A rank's part in an array that exists, with the indices that it has in array `of`. */
static struct redist__tile part_in_array(const struct state *tiled, int destination, int rank,
                                         int of_destination) {
    const struct redist__side *there = side_of(tiled, destination);
    int of = side_number(tiled, of_destination);
    return redist__tile_of_part(tiled->transfer, of, rank,
                                array_of(tiled, destination) + there->parts[rank].offset,
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
    struct redist__message_box box = find_message(tiled, 1, peer, i);
    if (box.elements == 0)
        return;
    tiled->awaited[i % tiled->cuts.groups]++;
    redist__messages_receive(&tiled->messages, message_of(tiled, peer, i),
                             find_on_wire(tiled, 1, peer, &box), count_on_wire(tiled, peer, &box),
                             tiled->element, peer, tiled->problem->tag + i);
}

static int pack_stream(const struct state *tiled, int peer) {
    return tiled->own_streams ? STREAMS + redist__distance_of(tiled->transfer, peer) : PACK_STREAM;
}

/* Enqueues the download of a packed message, and the event after it. */
static int fill(const struct state *tiled, int peer, const struct redist__message_box *box,
                void *filled) {
    const struct redist__space *space = tiled->problem->space;
    size_t item = tiled->transfer->item;
    void *stream = space->stream(pack_stream(tiled, peer));
    REDIST_TRY(space->event_record(filled, stream));
    if (!redist__packing_is_staged(packing_of(tiled, 0), peer))
        return REDIST_OK;
    if (!tiled->own_streams) {
        stream = space->stream(DOWNLOAD_STREAM);
        REDIST_TRY(space->stream_follow(stream, filled));
    }
    REDIST_TRY(redist__packing_stage(packing_of(tiled, 0), peer, 0, box->first * item,
                                     box->elements * item, array_of(tiled, 0), stream));
    return space->event_record(filled, stream);
}

/* Narrows a message of tiles where it is packed; whole arrays are narrowed while they are packed. */
static void narrow(struct state *tiled, int peer, const struct redist__message_box *box) {
    struct redist__copy copy = {.run = box->elements * tiled->transfer->item,
                                .format = redist__format_to(tiled->problem, peer)};
    char *message = find_on_wire(tiled, 0, peer, box);
    if (copy.format == NULL || tiled->problem->tiles == REDIST_WHOLE ||
        redist__has_failed(tiled->problem))
        return;
    redist__enter(tiled->problem->timer, REDIST__PACK);
    redist__copy_format(&copy, message, message);
    redist__enter(tiled->problem->timer, REDIST__FIRST_MESSAGE);
}

/* Sends a message when it is packed, and downloaded for an MPI that takes no memory of a device. */
static void send(struct state *tiled, int peer, int i, const struct redist__message_box *box) {
    int message = message_of(tiled, peer, i);
    void *filled = tiled->filled[message];
    narrow(tiled, peer, box);
    if (filled != NULL)
        redist__attempt(tiled->problem, fill(tiled, peer, box, filled));
    redist__messages_send(&tiled->messages, message, filled, find_on_wire(tiled, 0, peer, box),
                          count_on_wire(tiled, peer, box), tiled->element, peer,
                          tiled->problem->tag + i);
}

/* Enqueues the upload of a message that has arrived, after which it is unpacked. */
static int upload(const struct state *tiled, int peer, const struct redist__message_box *box) {
    const struct redist__space *space = tiled->problem->space;
    void *stream = space->stream(UPLOAD_STREAM);
    size_t item = tiled->transfer->item;
    REDIST_TRY(redist__packing_stage(packing_of(tiled, 1), peer, 1, box->first * item,
                                     box->elements * item, array_of(tiled, 1), stream));
    REDIST_TRY(space->event_record(tiled->uploaded, stream));
    return space->stream_follow(space->stream(UNPACK_STREAM), tiled->uploaded);
}

static void unpack(struct state *tiled, int message) {
    int nranks = tiled->transfer->nranks, i = message / nranks, group = i % tiled->cuts.groups;
    int peer = redist__rank_at(tiled->transfer, message % nranks);
    const struct redist__message_box box = find_message(tiled, 1, peer, i);
    redist__arrived(tiled->problem->timer);
    redist__enter(tiled->problem->timer, REDIST__UNPACK);
    if (redist__packing_is_staged(packing_of(tiled, 1), peer))
        redist__attempt(tiled->problem, upload(tiled, peer, &box));
    if (!packing_of(tiled, 1)->in_array[peer] && !redist__has_failed(tiled->problem)) {
        const struct redist__tile part = part_in_array(tiled, 1, peer, 1);
        (void)copy_common(tiled, &box.tile, &part, redist__format_to(tiled->problem, peer), 1,
                          UNPACK_STREAM);
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

static void progress(void *data) {
    if (is_put(data))
        (void)advance(data);
}

static void arrived(void *data, int *partitions) {
    struct state *tiled = data;
    int groups = 0;
    (void)advance(tiled);
    if (tiled->own_missing == 0 && is_reached(tiled, &tiled->own))
        while (groups < tiled->cuts.groups && is_reached(tiled, &tiled->unpacked[groups]))
            groups++;
    *partitions = redist__first_partition(&tiled->cuts, groups);
}

/* ---------------------------------------------------------------- an execution */

/* Sends contiguous parts from the array, the others as soon as they are packed. */
static void send_all(struct state *tiled) {
    const struct redist__problem *problem = tiled->problem;
    for (int distance = 1; distance < tiled->transfer->nranks; distance++) {
        int peer = redist__rank_at(tiled->transfer, distance);
        redist__enter(problem->timer, REDIST__PACK);
        redist__attempt(problem,
                        redist__packing_pack(&tiled->packing[0], peer, 1, tiled->arrays[0], NULL));
        redist__enter(problem->timer, REDIST__FIRST_MESSAGE);
        for (int i = 0; i < tiled->cuts.each; i++) {
            const struct redist__message_box box = find_message(tiled, 0, peer, i);
            if (box.elements != 0)
                send(tiled, peer, i, &box);
        }
    }
}

static void begin_marks(struct state *tiled) {
    tiled->own.state = AWAITED;
    for (int group = 0; group < tiled->cuts.groups; group++)
        tiled->unpacked[group].state = tiled->awaited[group] == 0 ? REACHED : AWAITED;
}

/* Begins an execution between the arrays that exist. */
static void open(struct state *tiled) {
    const struct redist__problem *problem = tiled->problem;
    int nranks = tiled->transfer->nranks, each = tiled->cuts.each;
    redist__finish_array(problem, tiled->event, NULL, NULL);
    memset(tiled->awaited, 0, (size_t)tiled->cuts.groups * sizeof *tiled->awaited);
    for (int distance = 0; distance < nranks; distance++)
        for (int i = 0, peer = redist__rank_at(tiled->transfer, distance); i < each; i++) {
            size_t elements = redist__message_cut(&tiled->cuts, tiled->direction, peer, i).elements;
            tiled->missing[message_of(tiled, peer, i)] = distance == 0 ? 0 : elements;
        }
    for (int i = 0; i < each; i++)
        for (int distance = 1; distance < nranks; distance++)
            receive(tiled, redist__rank_at(tiled->transfer, -distance), i);
    begin_marks(tiled);
    tiled->own_missing = side_of(tiled, 0)->parts[tiled->transfer->rank].elements;
    if (tiled->own_missing == 0)
        tiled->own.state = REACHED;
}

static void open_tiles(void *data, void *array) {
    struct state *tiled = data;
    tiled->arrays[is_put(tiled)] = array;
    open(tiled);
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
    size_t elements =
        copy_common(tiled, side ? tile : &there, side ? &there : tile, NULL, 0, OWN_STREAM);
    tiled->own_missing -= elements;
    if (elements != 0 && tiled->own_missing == 0)
        record(tiled, &tiled->own, OWN_STREAM);
}

/* Packs what a tile has of a message; a message in the array is complete. Returns whether it is sent now. */
static int put_to(struct state *tiled, const struct redist__tile *tile, int peer, int i) {
    size_t *missing = &tiled->missing[message_of(tiled, peer, i)];
    if (*missing == 0)
        return 0;
    const struct redist__message_box box = find_message(tiled, 0, peer, i);
    redist__enter(tiled->problem->timer, REDIST__PACK);
    int is_whole = tiled->problem->tiles == REDIST_WHOLE;
    *missing -= packing_of(tiled, 0)->in_array[peer]
                    ? box.elements
                    : copy_common(tiled, tile, &box.tile,
                                  is_whole ? redist__format_to(tiled->problem, peer) : NULL, 0,
                                  pack_stream(tiled, peer));
    redist__enter(tiled->problem->timer, REDIST__FIRST_MESSAGE);
    if (*missing == 0)
        send(tiled, peer, i, &box);
    return *missing == 0;
}

/* Packs a tile piece by piece; those before it are sent and received meanwhile. Tiles of the host, which are many, let
 * MPI make progress when they complete a message. */
static void put_to_peers(struct state *tiled, const struct redist__tile *tile) {
    const struct redist__problem *problem = tiled->problem;
    for (int i = 0; i < tiled->cuts.each; i++) {
        int sends = problem->space->asynchronous || problem->tiles == REDIST_WHOLE;
        for (int k = 1; k < tiled->transfer->nranks && !redist__has_failed(problem); k++)
            sends |= put_to(tiled, tile, redist__rank_at(tiled->transfer, k), i);
        if (sends)
            (void)advance(tiled);
    }
}

static void get_from(struct state *tiled, const struct redist__tile *tile, int peer) {
    const struct redist__transfer *transfer = tiled->transfer;
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    for (int i = 0; i < tiled->cuts.each; i++) {
        const struct redist__message_box box = find_message(tiled, 1, peer, i);
        if (box.elements == 0 ||
            redist_intersect(transfer->ndims, tile->start, tile->count, box.tile.start,
                             box.tile.count, start, count) == 0)
            continue;
        redist__enter(tiled->problem->timer, REDIST__FIRST_MESSAGE);
        redist__messages_wait(&tiled->messages, message_of(tiled, peer, i));
        redist__arrived(tiled->problem->timer);
        redist__enter(tiled->problem->timer, REDIST__UNPACK);
        if (!redist__has_failed(tiled->problem))
            (void)copy_common(tiled, &box.tile, tile, NULL, 0, UNPACK_STREAM);
    }
}

static void get_from_peers(struct state *tiled, const struct redist__tile *tile) {
    for (int i = 1; i < tiled->transfer->nranks && !redist__has_failed(tiled->problem); i++)
        get_from(tiled, tile, redist__rank_at(tiled->transfer, i));
}

static void move_tile(void *data, const struct redist__tile *tile) {
    struct state *tiled = data;
    if (!redist__has_failed(tiled->problem))
        copy_own(tiled, tile);
    (is_put(tiled) ? put_to_peers : get_from_peers)(tiled, tile);
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *tiled = data;
    const struct redist__side *side = &tiled->transfer->side[direction];
    struct redist__tile whole = redist__tile_of_elements(tiled->transfer, source);
    tiled->direction = direction;
    tiled->arrays[direction] = (char *)(uintptr_t)source;
    tiled->arrays[!direction] = destination;
    memcpy(whole.count, side->extent, (size_t)tiled->transfer->ndims * sizeof *whole.count);
    memcpy(whole.stride, side->stride, (size_t)tiled->transfer->ndims * sizeof *whole.stride);
    open(tiled);
    move_tile(tiled, &whole);
}

/* Sends the remaining messages, which peers wait for, also if the source was not put as a whole. */
static void send_missing(struct state *tiled) {
    int each = tiled->cuts.each;
    for (int distance = 1; distance < tiled->transfer->nranks; distance++)
        for (int i = 0, peer = redist__rank_at(tiled->transfer, distance); i < each; i++)
            if (tiled->missing[message_of(tiled, peer, i)] != 0) {
                const struct redist__message_box box = find_message(tiled, 0, peer, i);
                send(tiled, peer, i, &box);
            }
}

/* Waits for all messages; those of tiles that were never fetched are not unpacked. */
static void wait(void *data) {
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

const struct redist__method redist__tiled_messages = {
    .connect = connect,
    .start = start,
    .wait = wait,
    .open = open_tiles,
    .put = move_tile,
    .get = move_tile,
    .progress = progress,
    .arrived = arrived,
    .close = wait,
    .workspace = workspace,
    .destroy = destroy,
};
