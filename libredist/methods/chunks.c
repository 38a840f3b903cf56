/* SPDX-License-Identifier: BSD-3-Clause */
#include "chunks.h"
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

struct redist__chunks {
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

static int is_put(const struct redist__chunks *chunks) {
    return chunks->problem->tiles == REDIST_PUT;
}

static int each(const struct redist__chunks *chunks) {
    return chunks->segments * chunks->groups;
}

/* ---------------------------------------------------------------- making */

static int create_events(struct redist__chunks *chunks) {
    const struct redist__space *space = chunks->problem->space;
    REDIST_TRY(space->event_create(&chunks->event));
    REDIST_TRY(space->event_create(&chunks->own.event));
    for (int i = 0; i < chunks->groups; i++)
        REDIST_TRY(space->event_create(&chunks->unpacked[i].event));
    for (int i = 0; space->asynchronous && i < chunks->messages.count; i++)
        REDIST_TRY(space->event_create(&chunks->packed[i]));
    return REDIST_OK;
}

/* Creates a side, with all parts in the buffer if the side exists in tiles, or if messages are not slabs of the
 * parts. */
static int create_side(struct redist__chunks *chunks, int side) {
    const struct redist__problem *problem = chunks->problem;
    int packed = problem->staged || chunks->groups > 1 || side == !is_put(chunks);
    return redist__packing_create(&chunks->packing[side], problem, side,
                                  packed ? REDIST__NONE_IN_ARRAY : REDIST__EACH_IN_ARRAY,
                                  problem->staged);
}

int redist__chunks_create(const struct redist__problem *problem, struct redist__chunks **result) {
    struct redist__chunks *chunks = *result = redist_calloc(1, sizeof *chunks);
    if (chunks == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for messages in tiles");
    size_t nranks = (size_t)problem->transfer->nranks;
    int partitions = problem->tiles == REDIST_PUT ? problem->partitions : 1;
    chunks->problem = problem;
    chunks->transfer = problem->transfer;
    chunks->element = MPI_DATATYPE_NULL;
    chunks->groups = partitions < MOST_MESSAGES ? partitions : MOST_MESSAGES;
    chunks->segments = MOST_MESSAGES / chunks->groups;
    if (chunks->segments > MOST_SEGMENTS)
        chunks->segments = MOST_SEGMENTS;
    size_t n = nranks * (size_t)each(chunks);
    chunks->remotes = redist_calloc(nranks, sizeof *chunks->remotes);
    chunks->missing = redist_calloc(n, sizeof *chunks->missing);
    chunks->packed = redist_calloc(n, sizeof *chunks->packed);
    chunks->awaited = redist_calloc((size_t)chunks->groups, sizeof *chunks->awaited);
    chunks->unpacked = redist_calloc((size_t)chunks->groups, sizeof *chunks->unpacked);
    if (chunks->remotes == NULL || chunks->missing == NULL || chunks->packed == NULL ||
        chunks->awaited == NULL || chunks->unpacked == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %zu messages", n);
    REDIST_TRY(redist__messages_create(&chunks->messages, problem, (int)n));
    REDIST_TRY(create_events(chunks));
    REDIST_TRY(create_side(chunks, 0));
    REDIST_TRY(create_side(chunks, 1));
    return redist__element_type(problem->transfer, &chunks->element);
}

/* Exchanges the receivers' partitions, by which senders cut their parts. */
int redist__chunks_connect(struct redist__chunks *chunks) {
    const struct redist__problem *problem = chunks->problem;
    int nranks = chunks->transfer->nranks;
    if (chunks->groups == 1)
        return REDIST_OK;
    struct redist__remotes *own = redist_calloc((size_t)nranks, sizeof *own);
    int code = redist__agree_memory(problem->context->comm, own, "to connect the ranks");
    for (int peer = 0; peer < nranks && code == REDIST_OK; peer++)
        for (int side = 0; side < 2; side++)
            own[peer].of[side] = redist__remote_describe(problem, side, peer);
    if (code == REDIST_OK)
        code = redist__remotes_exchange(problem, own, chunks->remotes);
    redist_release(own);
    return code;
}

size_t redist__chunks_bytes(const struct redist__chunks *chunks) {
    return chunks->packing[0].buffer_bytes + chunks->packing[1].buffer_bytes;
}

static void free_events(struct redist__chunks *chunks) {
    const struct redist__space *space = chunks->problem->space;
    space->event_destroy(chunks->event);
    space->event_destroy(chunks->own.event);
    for (int i = 0; chunks->unpacked != NULL && i < chunks->groups; i++)
        space->event_destroy(chunks->unpacked[i].event);
    for (int i = 0; chunks->packed != NULL && i < chunks->transfer->nranks * each(chunks); i++)
        space->event_destroy(chunks->packed[i]);
}

void redist__chunks_free(struct redist__chunks *chunks) {
    if (chunks == NULL)
        return;
    int in_use = redist__messages_free(&chunks->messages);
    for (int side = 0; side < 2 && !in_use; side++)
        if (chunks->packing[side].space != NULL)
            redist__packing_free(&chunks->packing[side]);
    free_events(chunks);
    if (chunks->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&chunks->element);
    redist_release(chunks->remotes);
    redist_release(chunks->missing);
    redist_release(chunks->packed);
    redist_release(chunks->awaited);
    redist_release(chunks->unpacked);
    redist_release(chunks);
}

/* ---------------------------------------------------------------- contents of a message */

/* A box of a part: its place among the elements of the packed part, and as a tile of the packed message. */
struct chunk {
    size_t first, elements;
    struct redist__tile tile;
};

/* Cuts an axis to `count` indices from `start` on, relative to the chunk. */
static void cut(struct chunk *chunk, int axis, redist_index start, redist_index count) {
    size_t across = chunk->elements / (size_t)chunk->tile.count[axis];
    chunk->first += across * (size_t)start;
    chunk->elements = across * (size_t)count;
    chunk->tile.start[axis] += start;
    chunk->tile.count[axis] = count;
}

/* The first axis with more than one element. */
static int axis_of(const struct redist__chunks *chunks, const struct redist__tile *tile) {
    int axis = 0;
    while (axis < chunks->transfer->ndims - 1 && tile->count[axis] == 1)
        axis++;
    return axis;
}

static int first_partition(const struct redist__chunks *chunks, int group) {
    return (int)((long long)group * chunks->problem->partitions / chunks->groups);
}

/* Cuts to a group of the receiver's partitions. */
static void cut_group(const struct redist__chunks *chunks, int side, int peer, int group,
                      struct chunk *chunk) {
    const struct redist__problem *problem = chunks->problem;
    const struct redist__remote remote =
        side == 1 ? redist__remote_describe(problem, 1, peer) : chunks->remotes[peer].of[1];
    int axis = problem->partition_axis;
    const struct redist__part *part = &chunks->transfer->side[side].parts[peer];
    redist_index begin = remote.start + chunk->tile.start[axis] - part->start[axis];
    redist_index n = chunk->tile.count[axis], low, high, count;
    redist_decompose(remote.extent, problem->partitions, first_partition(chunks, group), &count,
                     &low);
    redist_decompose(remote.extent, problem->partitions, first_partition(chunks, group + 1) - 1,
                     &count, &high);
    low = low > begin ? low - begin : 0;
    high = high + count - begin < n ? high + count - begin : n;
    cut(chunk, axis, low < n ? low : n, high > low ? high - low : 0);
}

/* The i-th message for a peer, or from it; empty beyond the last one. */
static struct chunk chunk_of(const struct redist__chunks *chunks, int side, int peer, int i) {
    const struct redist__transfer *transfer = chunks->transfer;
    static const ptrdiff_t none[REDIST_MAX_NDIMS];
    struct chunk chunk = {.elements = transfer->side[side].parts[peer].elements,
                          .tile = redist__tile_of_part(transfer, side, peer, NULL, none)};
    if (chunk.elements == 0)
        return chunk;
    int axis = axis_of(chunks, &chunk.tile), segment = i / chunks->groups;
    redist_index n = chunk.tile.count[axis], count = 0, start = 0;
    int segments = n < chunks->segments ? (int)n : chunks->segments;
    if (segment < segments)
        redist_decompose(n, segments, segment, &count, &start);
    cut(&chunk, axis, start, count);
    if (chunks->groups > 1 && chunk.elements != 0)
        cut_group(chunks, side, peer, i % chunks->groups, &chunk);
    redist__strides(transfer->ndims, chunk.tile.count, transfer->item, chunk.tile.stride);
    return chunk;
}

/* The same with the address of the message, in the buffer or the array. */
static struct chunk find_chunk(const struct redist__chunks *chunks, int side, int peer, int i) {
    struct chunk chunk = chunk_of(chunks, side, peer, i);
    if (chunk.elements != 0)
        chunk.tile.data = redist__packing_message(&chunks->packing[side], peer, chunks->array) +
                          chunk.first * chunks->transfer->item;
    return chunk;
}

static int message_of(const struct redist__chunks *chunks, int peer, int i) {
    return peer * each(chunks) + i;
}

/* ---------------------------------------------------------------- copies */

static int run_copy(const struct redist__chunks *chunks, const struct redist__copy *copy,
                    const char *from, char *to, int stream) {
    const struct redist__space *space = chunks->problem->space;
    int over_link = chunks->problem->staged && stream != OWN_STREAM;
    if (space->asynchronous)
        return space->copy(copy, from, to, over_link ? REDIST__LINK : REDIST__KERNEL,
                           space->stream(stream));
    redist__copy_run(copy, from, to, 0);
    return REDIST_OK;
}

/* Copies the intersection of two tiles; returns its elements. */
static size_t copy_common(const struct redist__chunks *chunks, const struct redist__tile *source,
                          const struct redist__tile *destination, int stream) {
    struct redist__copy copy;
    const char *from;
    char *to;
    if (!redist__tile_copy(chunks->transfer, source, destination, &copy, &from, &to))
        return 0;
    redist__note(chunks->problem, run_copy(chunks, &copy, from, to, stream));
    return redist__copy_bytes(&copy) / chunks->transfer->item;
}

/* A rank's part of the array that exists. */
static struct redist__tile part_in_array(const struct redist__chunks *chunks, int side, int rank,
                                         int of) {
    const struct redist__side *there = &chunks->transfer->side[side];
    return redist__tile_of_part(chunks->transfer, of, rank,
                                chunks->array + there->parts[rank].offset, there->stride);
}

/* Records an event after the work enqueued in a stream. */
static void record(const struct redist__chunks *chunks, struct mark *mark, int stream) {
    const struct redist__space *space = chunks->problem->space;
    redist__note(chunks->problem, space->event_record(mark->event, space->stream(stream)));
    mark->state = RECORDED;
}

static int is_reached(const struct redist__chunks *chunks, struct mark *mark) {
    int reached = 0;
    if (mark->state != RECORDED)
        return mark->state == REACHED;
    redist__note(chunks->problem, chunks->problem->space->event_is_reached(mark->event, &reached));
    mark->state = reached ? REACHED : RECORDED;
    return reached;
}

/* ---------------------------------------------------------------- messages */

static void receive(struct redist__chunks *chunks, int peer, int i) {
    struct chunk chunk = find_chunk(chunks, 1, peer, i);
    if (chunk.elements == 0)
        return;
    chunks->awaited[i % chunks->groups]++;
    redist__messages_receive(&chunks->messages, message_of(chunks, peer, i), chunk.tile.data,
                             (int)chunk.elements, chunks->element, peer, chunks->problem->tag + i);
}

static void send(struct redist__chunks *chunks, int peer, int i, const struct chunk *chunk) {
    const struct redist__space *space = chunks->problem->space;
    int message = message_of(chunks, peer, i);
    void *packed = chunks->packed[message];
    if (packed != NULL && is_put(chunks))
        redist__attempt(chunks->problem, space->event_record(packed, space->stream(PACK_STREAM)));
    redist__messages_send(&chunks->messages, message, is_put(chunks) ? packed : NULL,
                          chunk->tile.data, (int)chunk->elements, chunks->element, peer,
                          chunks->problem->tag + i);
}

static void unpack(struct redist__chunks *chunks, int message) {
    int peer = message / each(chunks), i = message % each(chunks), group = i % chunks->groups;
    redist__arrived(chunks->problem->timer);
    redist__enter(chunks->problem->timer, REDIST__UNPACK);
    if (!chunks->packing[1].in_array[peer] && !redist__has_failed(chunks->problem)) {
        const struct chunk chunk = find_chunk(chunks, 1, peer, i);
        const struct redist__tile part = part_in_array(chunks, 1, peer, 1);
        (void)copy_common(chunks, &chunk.tile, &part, UNPACK_STREAM);
    }
    if (--chunks->awaited[group] == 0)
        record(chunks, &chunks->unpacked[group], UNPACK_STREAM);
    redist__enter(chunks->problem->timer, REDIST__FIRST_MESSAGE);
}

/* Advances the messages; nonzero while any are pending. */
static int advance(struct redist__chunks *chunks) {
    int left = 1;
    for (int message = 0; message >= 0 && !chunks->messages.lost;) {
        message = redist__messages_test(&chunks->messages, &left);
        if (message >= 0)
            unpack(chunks, message);
    }
    return left && !chunks->messages.lost;
}

void redist__chunks_progress(struct redist__chunks *chunks) {
    if (is_put(chunks))
        (void)advance(chunks);
}

void redist__chunks_arrived(struct redist__chunks *chunks, int *partitions) {
    int groups = 0;
    (void)advance(chunks);
    if (chunks->own_missing == 0 && is_reached(chunks, &chunks->own))
        while (groups < chunks->groups && is_reached(chunks, &chunks->unpacked[groups]))
            groups++;
    *partitions = first_partition(chunks, groups);
}

/* ---------------------------------------------------------------- an execution */

/* Sends contiguous parts from the array, the others as soon as they are packed. */
static void send_all(struct redist__chunks *chunks) {
    const struct redist__problem *problem = chunks->problem;
    for (int distance = 1; distance < chunks->transfer->nranks; distance++) {
        int peer = redist__rank_at(chunks->transfer, distance);
        redist__enter(problem->timer, REDIST__PACK);
        redist__attempt(problem,
                        redist__packing_pack(&chunks->packing[0], peer, 1, chunks->array, 0));
        redist__enter(problem->timer, REDIST__FIRST_MESSAGE);
        for (int i = 0; i < each(chunks); i++) {
            const struct chunk chunk = find_chunk(chunks, 0, peer, i);
            if (chunk.elements != 0)
                send(chunks, peer, i, &chunk);
        }
    }
}

static void begin_marks(struct redist__chunks *chunks) {
    chunks->own.state = AWAITED;
    for (int group = 0; group < chunks->groups; group++)
        chunks->unpacked[group].state = chunks->awaited[group] == 0 ? REACHED : AWAITED;
}

void redist__chunks_open(struct redist__chunks *chunks, void *array) {
    const struct redist__problem *problem = chunks->problem;
    int nranks = chunks->transfer->nranks;
    chunks->array = array;
    redist__finish(problem, chunks->event, problem->stream);
    memset(chunks->awaited, 0, (size_t)chunks->groups * sizeof *chunks->awaited);
    for (int peer = 0; peer < nranks; peer++)
        for (int i = 0; i < each(chunks); i++)
            chunks->missing[message_of(chunks, peer, i)] =
                peer == chunks->transfer->rank ? 0 : chunk_of(chunks, 0, peer, i).elements;
    for (int distance = 1; distance < nranks; distance++)
        for (int i = 0; i < each(chunks); i++)
            receive(chunks, redist__rank_at(chunks->transfer, -distance), i);
    begin_marks(chunks);
    chunks->own_missing = chunks->transfer->side[0].parts[chunks->transfer->rank].elements;
    if (chunks->own_missing == 0)
        chunks->own.state = REACHED;
    if (!is_put(chunks))
        send_all(chunks);
}

/* Copies this rank's own part between the tile and the array that exists, if any. */
static void copy_own(struct redist__chunks *chunks, const struct redist__tile *tile) {
    int side = is_put(chunks), rank = chunks->transfer->rank;
    if (chunks->own_missing == 0)
        return;
    const struct redist__tile there = part_in_array(chunks, side, rank, !side);
    redist__enter(chunks->problem->timer, REDIST__OWN_PART);
    size_t elements = copy_common(chunks, side ? tile : &there, side ? &there : tile, OWN_STREAM);
    chunks->own_missing -= elements;
    if (elements != 0 && chunks->own_missing == 0)
        record(chunks, &chunks->own, OWN_STREAM);
}

static void put_to(struct redist__chunks *chunks, const struct redist__tile *tile, int peer) {
    for (int i = 0; i < each(chunks); i++) {
        size_t *missing = &chunks->missing[message_of(chunks, peer, i)];
        if (*missing == 0)
            continue;
        const struct chunk chunk = find_chunk(chunks, 0, peer, i);
        redist__enter(chunks->problem->timer, REDIST__PACK);
        *missing -= copy_common(chunks, tile, &chunk.tile, PACK_STREAM);
        redist__enter(chunks->problem->timer, REDIST__FIRST_MESSAGE);
        if (*missing == 0)
            send(chunks, peer, i, &chunk);
    }
}

static void get_from(struct redist__chunks *chunks, const struct redist__tile *tile, int peer) {
    const struct redist__transfer *transfer = chunks->transfer;
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    for (int i = 0; i < each(chunks); i++) {
        const struct chunk chunk = find_chunk(chunks, 1, peer, i);
        if (chunk.elements == 0 ||
            redist__intersect(transfer->ndims, tile->start, tile->count, chunk.tile.start,
                              chunk.tile.count, start, count) == 0)
            continue;
        redist__enter(chunks->problem->timer, REDIST__FIRST_MESSAGE);
        redist__messages_wait(&chunks->messages, message_of(chunks, peer, i));
        redist__arrived(chunks->problem->timer);
        redist__enter(chunks->problem->timer, REDIST__UNPACK);
        if (!redist__has_failed(chunks->problem))
            (void)copy_common(chunks, &chunk.tile, tile, UNPACK_STREAM);
    }
}

void redist__chunks_tile(struct redist__chunks *chunks, const struct redist__tile *tile) {
    const struct redist__problem *problem = chunks->problem;
    if (!redist__has_failed(problem))
        copy_own(chunks, tile);
    for (int i = 1; i < chunks->transfer->nranks && !redist__has_failed(problem); i++)
        (is_put(chunks) ? put_to : get_from)(chunks, tile, redist__rank_at(chunks->transfer, i));
    if (problem->space->asynchronous)
        redist__chunks_progress(chunks);
}

/* Sends the remaining messages, which peers wait for, also if the source was not put as a whole. */
static void send_missing(struct redist__chunks *chunks) {
    for (int distance = 1; distance < chunks->transfer->nranks; distance++)
        for (int i = 0, peer = redist__rank_at(chunks->transfer, distance); i < each(chunks); i++)
            if (chunks->missing[message_of(chunks, peer, i)] != 0) {
                const struct chunk chunk = find_chunk(chunks, 0, peer, i);
                send(chunks, peer, i, &chunk);
            }
}

/* Waits for all messages; those of tiles that were never fetched are not unpacked. */
void redist__chunks_close(struct redist__chunks *chunks) {
    const struct redist__problem *problem = chunks->problem;
    const struct redist__space *space = problem->space;
    if (is_put(chunks)) {
        send_missing(chunks);
        for (unsigned poll = 0; advance(chunks); poll++)
            redist__messages_pause(&chunks->messages, poll);
    }
    redist__enter(problem->timer, REDIST__COMMUNICATE);
    redist__messages_end(&chunks->messages);
    redist__enter(problem->timer, REDIST__UNPACK);
    for (int stream = 0; stream < STREAMS; stream++)
        redist__finish(problem, chunks->event, space->stream(stream));
    if (redist__has_failed(problem))
        space->drain();
}
