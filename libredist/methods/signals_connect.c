/* SPDX-License-Identifier: BSD-3-Clause */
/* Method signals, how a plan is connected: ranks exchange their boxes and memory, map the peers' arrays and flags, and
 * prepare copies and a table for the device. */
#include "../sync/notice.h"
#include "packing.h"
#include "signals.h"

int redist__signals_pulls(const struct redist__problem *problem, int direction) {
    return redist__peers_side(problem, direction) == direction;
}

/* Returns the number of directions in which a plan is executed. */
static int directions_of(const struct redist__signalled *state) {
    return state->problem->transfer->one_way ? 1 : 2;
}

/* ---------------------------------------------------------------- data exchanged by ranks */

/* Memory of a rank. */
struct place {
    struct redist__memory_handle block, arrays[2];
};

static struct place describe_place(const struct redist__signalled *state) {
    const struct redist__problem *problem = state->problem;
    struct place mine = {.block = problem->space->export_memory(state->block, state->bytes)};
    for (int side = 0; side < 2; side++)
        if (problem->bound[side] && problem->transfer->side[side].bytes != 0)
            mine.arrays[side] = problem->space->export_memory(problem->arrays[side],
                                                              problem->transfer->side[side].bytes);
    return mine;
}

/* Places the boxes that arrive in a direction in the buffer, which begins behind the block on all ranks alike. Returns
 * the end of the last one. */
static size_t place_in_buffer(struct redist__signalled *state, int direction) {
    const struct redist__transfer *transfer = state->problem->transfer;
    const struct redist__part *parts = transfer->side[!direction].parts;
    size_t unit = REDIST__STAGE_ALIGNMENT, end = (state->block_bytes + unit - 1) / unit * unit;
    for (int box = 0; box < redist__box_count(state->problem); box++) {
        struct redist__remote *place = &state->buffered[box].of[!direction];
        const struct redist__part *part =
            redist__part_at(&parts[box % transfer->nranks], box / transfer->nranks);
        if (part == NULL || part->elements == 0)
            continue;
        place->offset = end;
        end += redist__stage_part(transfer, part, place->stride);
    }
    return end;
}

/* Finds the bytes of the block and the buffer, which both directions use. */
static void size_block(struct redist__signalled *state) {
    state->bytes = state->block_bytes;
    for (int direction = 0; state->buffered != NULL && direction < directions_of(state);
         direction++) {
        size_t end = place_in_buffer(state, direction);
        state->bytes = end > state->bytes ? end : state->bytes;
    }
}

static struct redist__remote find_buffered(void *data, int side, int peer, int position) {
    const struct redist__signalled *state = data;
    return state->buffered[position * state->problem->transfer->nranks + peer].of[side];
}

static int tell_all(struct redist__signalled *state, struct place places[]) {
    const struct redist__problem *problem = state->problem;
    MPI_Comm comm = problem->context->comm;
    const struct place mine = describe_place(state);
    REDIST_TRY(redist__check_devices(problem, "signals"));
    REDIST_TRY(redist_agree(comm, redist_all_gather(comm, &mine, sizeof mine, places)));
    return redist__remotes_exchange(problem, state->buffered != NULL ? find_buffered : NULL, state,
                                    state->remotes);
}

/* ---------------------------------------------------------------- mappings and tables */

static int map(const struct redist__signalled *state, const struct redist__memory_handle *handle,
               int peer, char **address) {
    *address = state->problem->space->map(handle, state->problem->mappings);
    if (*address != NULL)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD, "memory of rank %d of the plan cannot be mapped here",
                        peer);
}

/* Prepares the copy of a box of this rank's list for a peer. */
static int prepare_copy(struct redist__signalled *state, int direction, int box,
                        const struct place *place) {
    const struct redist__transfer *transfer = state->problem->transfer;
    int own = !redist__peers_side(state->problem, direction), peer = box % transfer->nranks;
    int is_read = own != direction;
    const struct redist__side *near = &transfer->side[own];
    const struct redist__part *part = redist__part_at(&near->parts[peer], box / transfer->nranks);
    const struct redist__remote *far = &state->remotes[box].of[!own];
    struct redist__signal_path *path = &state->paths[direction];
    int is_buffered = state->buffered != NULL;
    char *base = is_buffered ? state->block : state->problem->arrays[!own];
    if (part == NULL || part->elements == 0)
        return REDIST_OK;
    if (peer != transfer->rank)
        REDIST_TRY(map(state, is_buffered ? &place->block : &place->arrays[!own], peer, &base));
    redist__copy_prepare(&path->copies[box], transfer->ndims, part->count, transfer->item,
                         is_read ? far->stride : near->stride,
                         is_read ? near->stride : far->stride);
    path->copies[box].adds = is_buffered ? NULL : redist__part_added_to(transfer, !direction, part);
    path->offsets[box] = part->offset;
    path->far[box] = base + far->offset;
    return REDIST_OK;
}

/* Returns whether a box has no element in common with the last `count` ones before it. */
static int is_beside(const struct redist__transfer *transfer,
                     const struct redist__part *const parts[], int index, int count) {
    for (int i = index - count; i < index; i++)
        if (redist__parts_meet(transfer, parts[i], parts[index]))
            return 0;
    return 1;
}

/* Lists the boxes that replace elements, or those that are added, each in the order of ranks. Boxes that are added side
 * by side are a wave. */
static void list_reads(const struct redist__transfer *transfer, struct redist__signal_path *path,
                       int direction, int adds, const struct redist__part *parts[]) {
    struct redist__batch *reads = &path->reads;
    int longest = transfer->longest, wave = 0;
    for (int i = 0; i < transfer->nranks * longest; i++) {
        int peer = i / longest, box = i % longest * transfer->nranks + peer, n = reads->count;
        if (path->copies[box].run == 0 || (path->copies[box].adds != NULL) != adds)
            continue;
        parts[n] = redist__part_at(&transfer->side[!direction].parts[peer], i % longest);
        reads->copies[n] = path->copies[box];
        reads->sources[n] = path->far[box];
        reads->destinations[n] = (char *)(uintptr_t)path->offsets[box];
        reads->copies[n].beside = wave > 0 && is_beside(transfer, parts, n, wave);
        wave = reads->copies[n].beside ? wave + 1 : 1;
        reads->count++;
    }
}

static int prepare_reads(const struct redist__signalled *state, struct redist__signal_path *path,
                         int direction) {
    int boxes = redist__box_count(state->problem);
    const struct redist__part **parts = redist_calloc((size_t)boxes, sizeof *parts);
    int code = redist__batch_create(&path->reads, state->problem->space, boxes);
    path->reads.count = 0;
    if (parts == NULL && code == REDIST_OK)
        code = redist__fail(REDIST_ERR_MEMORY, "no memory to order %d boxes", boxes);
    for (int adds = 0; adds < 2 && code == REDIST_OK; adds++)
        list_reads(state->problem->transfer, path, direction, adds, parts);
    for (int i = 0; i < path->reads.count; i++)
        path->offsets[i] = (uintptr_t)path->reads.destinations[i];
    redist_release((void *)parts);
    return code;
}

/* Prepares the copies out of the buffer. */
static int prepare_unpacks(struct redist__signalled *state, int direction) {
    const struct redist__transfer *transfer = state->problem->transfer;
    const struct redist__side *side = &transfer->side[!direction];
    struct redist__signal_path *path = &state->unpacks[direction];
    for (int box = 0; box < redist__box_count(state->problem); box++) {
        const struct redist__remote *place = &state->buffered[box].of[!direction];
        const struct redist__part *part =
            redist__part_at(&side->parts[box % transfer->nranks], box / transfer->nranks);
        if (part == NULL || part->elements == 0)
            continue;
        redist__copy_prepare(&path->copies[box], transfer->ndims, part->count, transfer->item,
                             place->stride, side->stride);
        path->copies[box].adds = redist__part_added_to(transfer, !direction, part);
        path->offsets[box] = part->offset;
        path->far[box] = (char *)state->block + place->offset;
    }
    return prepare_reads(state, path, direction);
}

static int prepare_path(struct redist__signalled *state, int direction,
                        const struct place places[]) {
    int size = state->problem->context->size, boxes = redist__box_count(state->problem);
    struct redist__signal_path *path = &state->paths[direction];
    if (!redist__peers_know(state->problem, direction) || direction >= directions_of(state))
        return REDIST_OK;
    for (int box = 0; box < boxes; box++)
        REDIST_TRY(prepare_copy(state, direction, box, &places[box % size]));
    if (redist__signals_pulls(state->problem, direction))
        return prepare_reads(state, path, direction);
    if (state->buffered != NULL)
        REDIST_TRY(prepare_unpacks(state, direction));
    if (!state->by_kernel || state->problem->tiles != REDIST_WHOLE)
        return REDIST_OK;
    return state->signalling->boxes_create(size, boxes, path->copies, path->offsets, path->far,
                                           &path->boxes);
}

/* Copies the plan's table for the device behind the flags of this rank. */
static int upload(const struct redist__signalled *state, const char *table, size_t bytes,
                  char *behind) {
    const struct redist__space *space = state->problem->space;
    const struct redist__copy copy = {.run = bytes};
    REDIST_TRY(space->copy(&copy, table, behind, REDIST__LINK, state->copy_stream));
    return space->stream_wait(state->copy_stream);
}

static unsigned char find_partner(const struct redist__transfer *transfer, int direction,
                                  int peer) {
    int sends = transfer->side[direction].parts[peer].elements != 0,
        receives = transfer->side[!direction].parts[peer].elements != 0;
    if (peer == transfer->rank)
        return 0;
    return (unsigned char)((sends ? REDIST__SENDS : 0) | (receives ? REDIST__RECEIVES : 0));
}

/* Makes a table of the blocks and partners of all ranks for the device; those of the first ranks are also in the
 * signals, the arguments of each call. */
static int make_table(struct redist__signalled *state, const struct place places[], char *table) {
    const struct redist__transfer *transfer = state->problem->transfer;
    struct redist__signals *signals = &state->signals;
    struct redist__signal_block **blocks = (void *)table;
    unsigned char *partners = (unsigned char *)(blocks + transfer->nranks);
    for (int peer = 0; peer < transfer->nranks; peer++) {
        int is_near = peer < REDIST__FIRST_RANKS;
        char *block = state->block;
        if (peer != transfer->rank)
            REDIST_TRY(map(state, &places[peer].block, peer, &block));
        blocks[peer] = (void *)block;
        if (is_near)
            signals->near[peer] = blocks[peer];
        for (int direction = 0; direction < 2; direction++) {
            unsigned char partner = find_partner(transfer, direction, peer);
            partners[direction * transfer->nranks + peer] = partner;
            if (is_near)
                signals->near_partners[direction][peer] = partner;
        }
    }
    return REDIST_OK;
}

/* Converts to nanoseconds, at most a century. */
static uint64_t patience_of(double seconds) {
    const double most = 3e9;
    return (uint64_t)(1e9 * (seconds < most ? seconds : most));
}

static int prepare_signals(struct redist__signalled *state, const struct place places[]) {
    const struct redist__problem *problem = state->problem;
    size_t size = (size_t)problem->context->size, bytes = size * (sizeof(void *) + 2);
    char *behind = (char *)state->block + state->block_bytes - bytes;
    unsigned char *partners = (unsigned char *)behind + size * sizeof(void *);
    struct redist__signal_block *own = state->block;
    char *table = redist_calloc(1, bytes);
    if (table == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the signals of %zu ranks", size);
    state->signals = (struct redist__signals){
        .own = own,
        .blocks = (void *)behind,
        .partners = {partners, partners + size},
        .broken = problem->word != NULL ? problem->word : &own->broken,
        .mark = 1 + (uint64_t)redist__plan_rank(problem, problem->context->rank),
        .gone = state->signals.gone,
        .status = (uint64_t *)(void *)state->status,
        .patience = patience_of(problem->wait_seconds),
        .rank = problem->context->rank,
        .size = problem->context->size};
    int code = make_table(state, places, table);
    if (code == REDIST_OK)
        code = upload(state, table, bytes, behind);
    redist_release(table);
    return code;
}

static int prepare(struct redist__signalled *state, const struct place places[]) {
    REDIST_TRY(prepare_signals(state, places));
    REDIST_TRY(prepare_path(state, REDIST_FORWARD, places));
    return prepare_path(state, REDIST_BACKWARD, places);
}

/* Takes the notice of lost peers; not for a single rank. */
static int take_notice(struct redist__signalled *state) {
    const struct redist__problem *problem = state->problem;
    const _Atomic uint64_t *gone = NULL;
    if (problem->context->size == 1)
        return REDIST_OK;
    state->has_notice = 1;
    int code = redist__notice_take(problem->context, problem->space, &gone);
    state->signals.gone = (const uint64_t *)(const void *)gone;
    return code;
}

/* Exchanges the places; the flags are clear on all ranks before any signals. */
static int connect_places(struct redist__signalled *state, struct place places[]) {
    const struct redist__problem *problem = state->problem;
    MPI_Comm comm = problem->context->comm;
    REDIST_TRY(take_notice(state));
    size_block(state);
    REDIST_TRY(problem->space->create(problem->context, state->bytes, &state->block));
    REDIST_TRY(redist_agree(comm, problem->space->clear(state->block, state->block_bytes)));
    REDIST_TRY(tell_all(state, places));
    return redist_agree(comm, prepare(state, places));
}

int redist__signals_connect(void *data) {
    struct redist__signalled *state = data;
    const struct redist__context *context = state->problem->context;
    size_t size = (size_t)context->size;
    struct place *places = redist_calloc(size, sizeof *places);
    int code = redist__agree_memory(context->comm, places, "to connect the ranks");
    if (code == REDIST_OK)
        code = connect_places(state, places);
    redist_release(places);
    return code;
}
