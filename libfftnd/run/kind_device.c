/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles of a device beside the host: three slots, each with a tile that goes up, is transformed there, and comes down,
 * while the host waits only for tiles that are back. An array that the device does not reach goes through staging
 * memory, which threads fill and empty.
 */
#include "pieces.h"

#include <string.h>

/* Number of tiles, and bytes of each. The first upload and the last download run beside nothing: among many tiles they
 * cost little. */
enum { MANY_TILES = 16, LEAST_BYTES = 8 << 20, MOST_BYTES = 128 << 20 };

/* Contiguous bytes of the host that keep the rate of the link to a device. */
enum { LONG_ROW = 32 << 10 };

/* Bytes of the smallest tile, all of whose rows are repeated until they are long. */
static size_t bytes_of_long_rows(const struct fftnd__cut *cut, size_t item) {
    size_t bytes = item, row = item;
    for (int i = cut->ndims - 1, in_row = 1; i >= 0; i--) {
        in_row = in_row && cut->whole[i];
        if (in_row)
            row *= (size_t)cut->after[i];
        if (cut->whole[i])
            bytes *= (size_t)cut->after[i];
    }
    return row < LONG_ROW ? bytes * (LONG_ROW / row) : bytes;
}

/* Bytes of a tile to begin with: enough for the link, and no more, so that there are many. */
static size_t wanted_bytes(const struct fftnd__cut *cut, const struct fftnd__transform *transform,
                           const struct fftnd__step *step) {
    size_t bytes = fftnd__step_bytes(transform, step) / MANY_TILES;
    size_t most = transform->offload->limit / 4;
    bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes > MOST_BYTES ? MOST_BYTES : bytes;
    size_t rows = bytes_of_long_rows(cut, fftnd__element_bytes(transform, step->real));
    bytes = bytes < rows ? rows : bytes;
    if (transform->settings.tile_bytes != 0)
        bytes = transform->settings.tile_bytes;
    return bytes < most ? bytes : most;
}

/* Staging memory of a slot. */
static size_t staging_bytes(const struct fftnd__stage *stage) {
    return stage->in.bytes > stage->out.bytes ? stage->in.bytes : stage->out.bytes;
}

/* Lays out a side of a tile, which has all modes and points. */
static void lay_out(struct fftnd__side *side, int ndims, const redist_index box[]) {
    redist_index count[REDIST_MAX_NDIMS];
    fftnd__widen(side->truncation, ndims, box, count);
    side->bytes =
        fftnd__lay_out(ndims, count, side->item, 0, FFTND__DEVICE_ALIGNMENT, side->stride);
}

/* Tiles have no gaps. Real lines that are padded in the array are so in the tile: both are copied as they are, in
 * one run instead of one for each line. */
static void lay_out_tiles(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                          const struct fftnd__step *step) {
    int last = stage->cut.ndims - 1, changes = fftnd__previous(step)->real != step->real;
    int halved = transform->chain.halved + transform->batch.shift;
    struct fftnd__side *real = fftnd__previous(step)->real ? &stage->in : &stage->out;
    const struct fftnd__side *other = fftnd__previous(step)->real ? &stage->out : &stage->in;
    struct fftnd__piece first;
    fftnd__find_piece(&stage->cut, 0, &first);
    lay_out(&stage->in, last + 1, first.before);
    lay_out(&stage->out, last + 1, first.after);
    redist_index padded =
        (fftnd__previous(step)->real ? fftnd__previous(step) : step)->layout->local.extent[last];
    int begins =
        fftnd__previous(step)->layout->local.offset == 0 && step->layout->local.offset == 0;
    redist_index complex_count = (fftnd__previous(step)->real ? first.after : first.before)[last];
    if (transform->settings.in_place && changes && begins && halved == last &&
        stage->truncation == NULL && padded == 2 * complex_count) {
        for (int i = 0; i < last; i++)
            real->stride[i] = other->stride[i];
        real->bytes = other->bytes;
        real->padded = padded;
    }
    stage->piece_bytes = changes ? stage->in.bytes + stage->out.bytes : staging_bytes(stage);
}

/* Behind the tiles: memory of an operator, which all of them share. */
static char *shared_by_slots(const struct fftnd__stage *stage,
                             const struct fftnd__offload *offload) {
    return fftnd__align(offload->memory, FFTND__DEVICE_ALIGNMENT) +
           (size_t)stage->window * stage->piece_bytes;
}

static int set_memory(struct fftnd__stage *stage, struct fftnd__offload *offload) {
    REDIST_TRY(fftnd__offload_reserve(offload, stage->bytes,
                                      (size_t)stage->window * staging_bytes(stage) +
                                          FFTND__DEVICE_ALIGNMENT));
    stage->out.place = stage->piece_bytes - stage->out.bytes;
    stage->in.memory = fftnd__align(offload->memory, FFTND__DEVICE_ALIGNMENT);
    stage->out.memory = stage->in.memory + stage->out.place;
    return REDIST_OK;
}

/* Plans tiles of this size, unless they alone are too large for the device; stage->bytes says of how much memory. The
 * memory of an operator is shared by all tiles, since kernels run one after the other. */
static int try_tiles(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    struct fftnd__offload *offload = problem->transform->offload;
    struct fftnd__kernel_problem kernel = fftnd__stage_kernel(stage, problem);
    kernel.on_device = kernel.outside[0] = kernel.outside[1] = 1;
    lay_out_tiles(stage, problem->transform, problem->step);
    if (stage->cut.n < stage->window)
        stage->window = (int)stage->cut.n;
    stage->bytes = (size_t)stage->window * stage->piece_bytes + FFTND__DEVICE_ALIGNMENT;
    if (problem->step->applies) {
        REDIST_TRY(fftnd__applied_create(&kernel, &stage->applied));
        stage->bytes += stage->applied->places.bytes;
    }
    if (stage->bytes > offload->limit)
        return REDIST_OK;
    REDIST_TRY(set_memory(stage, offload));
    REDIST_TRY(stage->applied != NULL
                   ? fftnd__applied_plan(stage->applied, &kernel, shared_by_slots(stage, offload))
                   : fftnd__kernel_create(&stage->kernels[0], &kernel));
    stage->bytes += fftnd__stage_area(stage);
    return stage->bytes <= offload->limit ? set_memory(stage, offload) : REDIST_OK;
}

static int refuse(const struct fftnd__offload *offload, size_t needed) {
    const char *what =
        offload->is_given ? "options->device_bytes" : "this rank's part of the device";
    return redist_fail_in("fftnd_plan_create", REDIST_ERR_ARGUMENT,
                          "%s = %zu is too small: the smallest tile of a transform needs %zu", what,
                          offload->limit, needed);
}

/* Takes smaller tiles, and at last fewer of them, until they fit. */
static int plan(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__offload *offload = transform->offload;
    struct fftnd__tiling tiling = fftnd__stage_tiling(problem);
    int slots = FFTND__SLOTS;
    tiling.on_device = 1;
    stage->library = offload->library;
    stage->streams[0] = offload->streams[FFTND__TRANSFORM];
    fftnd__cut_tiles(&stage->cut, transform, problem->step, &tiling);
    tiling.bytes = wanted_bytes(&stage->cut, transform, problem->step);
    for (;;) {
        stage->window = slots;
        fftnd__cut_tiles(&stage->cut, transform, problem->step, &tiling);
        REDIST_TRY(try_tiles(stage, problem));
        if (stage->bytes <= offload->limit)
            return REDIST_OK;
        if (!fftnd__is_smallest(&stage->cut))
            tiling.bytes /= 2;
        else if (--slots == 0)
            return refuse(offload, stage->bytes);
        fftnd__free_kernels(stage);
    }
}

/* ---------------------------------------------------------------- a run */

/* Work on a part of a tile that its array has: in staging memory, and on the device. */
typedef int part_work(struct fftnd__execution *execution, const struct fftnd__block *staged,
                      char *memory);

/* Does that for all parts of a side of a tile, with padding. */
static int visit_parts(struct fftnd__execution *execution, const struct fftnd__flight *flight,
                       int is_after, part_work *work) {
    const struct fftnd__stage *stage = execution->step->stage;
    const struct fftnd__block *tile = is_after ? &flight->out : &flight->in;
    const redist_index *count = is_after ? flight->piece.after : flight->piece.before,
                       padded = is_after ? stage->out.padded : stage->in.padded;
    char *staging = fftnd__align(execution->transform->offload->staging, FFTND__DEVICE_ALIGNMENT) +
                    (size_t)flight->slot * staging_bytes(stage);
    struct fftnd__retained_box part;
    for (int i = 0; i < fftnd__count_retained(tile->truncation); i++) {
        if (!fftnd__find_retained(tile->truncation, i, tile->ndims, flight->piece.start, count,
                                  tile->stride, &part))
            continue;
        struct fftnd__block block = *tile;
        block.memory = staging + part.offset;
        block.start = part.start;
        memcpy(block.count, part.count, sizeof block.count);
        if (padded)
            block.count[block.ndims - 1] = padded;
        REDIST_TRY(work(execution, &block, tile->memory + part.offset));
    }
    return REDIST_OK;
}

/* A tile in staging memory that threads move, each a part of it along an axis. */
struct move {
    const struct fftnd__terminal *terminal;
    const struct fftnd__block *block;
    const redist_index *start;
    int axis, parts, is_store;
};

static int move_part(void *data, int thread) {
    const struct move *move = data;
    struct fftnd__block part = *move->block;
    redist_index start[REDIST_MAX_NDIMS], first;
    memcpy(start, move->start, (size_t)part.ndims * sizeof *start);
    fftnd__divide(move->block->count[move->axis], move->parts, thread, &first,
                  &part.count[move->axis]);
    start[move->axis] += first;
    part.memory += (ptrdiff_t)first * part.stride[move->axis];
    return part.count[move->axis] > 0
               ? fftnd__move_box(move->terminal, &part, start, part.count, move->is_store)
               : REDIST_OK;
}

static int move_by_threads(struct fftnd__execution *execution,
                           const struct fftnd__terminal *terminal, const struct fftnd__block *block,
                           int is_store) {
    int axes[REDIST_MAX_NDIMS];
    struct fftnd__pool *pool = fftnd__is_concurrent(terminal) ? execution->transform->pool : NULL;
    struct move move = {terminal, block, block->start, 0, fftnd__pool_size(pool), is_store};
    double begin = MPI_Wtime();
    for (int i = 0; i < block->ndims; i++)
        axes[i] = i;
    move.axis = fftnd__choose_axis(block->ndims, axes, block->count, move.parts);
    int code = fftnd__pool_run(pool, move_part, &move);
    execution->moving += MPI_Wtime() - begin;
    return code;
}

/* Notes that an activity's stream has got all of a slot's work. */
static int record(const struct fftnd__offload *offload, int slot, enum fftnd__activity activity) {
    return offload->device->event_record(offload->events[slot][activity],
                                         offload->streams[activity]);
}

/* The next activity begins when this one is done. */
static int hand_over(const struct fftnd__offload *offload, int slot,
                     enum fftnd__activity activity) {
    REDIST_TRY(record(offload, slot, activity));
    return offload->device->stream_follow(offload->streams[activity + 1],
                                          offload->events[slot][activity]);
}

static int upload_part(struct fftnd__execution *execution, const struct fftnd__block *block,
                       char *memory) {
    const struct fftnd__offload *offload = execution->transform->offload;
    const struct fftnd__terminal *source = &execution->source;
    const char *from = block->memory;
    if (source->is_reached)
        from = source->array + fftnd__offset(block->ndims, block->start, source->stride);
    else
        REDIST_TRY(move_by_threads(execution, source, block, 0));
    return redist_copy_box_in(offload->device->id, offload->streams[FFTND__UPLOAD], block->ndims,
                              block->count, block->item, from,
                              source->is_reached ? source->stride : block->stride, memory,
                              block->stride);
}

static int upload(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    REDIST_TRY(visit_parts(execution, flight, 0, upload_part));
    return hand_over(execution->transform->offload, flight->slot, FFTND__UPLOAD);
}

static int download_part(struct fftnd__execution *execution, const struct fftnd__block *block,
                         char *memory) {
    const struct fftnd__offload *offload = execution->transform->offload;
    const struct fftnd__terminal *sink = &execution->sink;
    char *to = block->memory;
    if (sink->is_reached)
        to = sink->array + fftnd__offset(block->ndims, block->start, sink->stride);
    return redist_copy_box_in(offload->device->id, offload->streams[FFTND__DOWNLOAD], block->ndims,
                              block->count, block->item, memory, block->stride, to,
                              sink->is_reached ? sink->stride : block->stride);
}

static int download(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    const struct fftnd__offload *offload = execution->transform->offload;
    REDIST_TRY(hand_over(offload, flight->slot, FFTND__TRANSFORM));
    REDIST_TRY(visit_parts(execution, flight, 1, download_part));
    return record(offload, flight->slot, FFTND__DOWNLOAD);
}

static int store_part(struct fftnd__execution *execution, const struct fftnd__block *block,
                      char *memory) {
    (void)memory;
    return move_by_threads(execution, &execution->sink, block, 1);
}

/* Waits until a tile is back; its slot is free for another one then. */
static int bring_back(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    const struct fftnd__offload *offload = execution->transform->offload;
    REDIST_TRY(offload->device->event_wait(offload->events[flight->slot][FFTND__DOWNLOAD]));
    return execution->sink.is_reached ? REDIST_OK : visit_parts(execution, flight, 1, store_part);
}

static int is_reached(const struct fftnd__execution *execution,
                      const struct fftnd__terminal *terminal, const redist_index extent[],
                      size_t item) {
    struct fftnd__offload *offload = execution->transform->offload;
    int ndims = execution->step->stage->cut.ndims;
    int reached = terminal->exchange == NULL &&
                  fftnd__offload_reaches(offload, terminal->array,
                                         fftnd__span(ndims, extent, terminal->stride, item));
    offload->buffered |= terminal->exchange == NULL && !reached;
    return reached;
}

/* Memory of the device may have grown since the stage was planned. Scratch of the serial library is behind that of an
 * operator. */
static int open_run(struct fftnd__execution *execution) {
    const struct fftnd__stage *stage = execution->step->stage;
    const struct fftnd__offload *offload = execution->transform->offload;
    size_t bytes = stage->applied != NULL ? stage->applied->places.bytes : 0;
    execution->opened = MPI_Wtime();
    execution->memory = fftnd__align(offload->memory, FFTND__DEVICE_ALIGNMENT);
    execution->shared = shared_by_slots(stage, offload);
    execution->moves_only = offload->bare;
    execution->source.is_reached =
        is_reached(execution, &execution->source, stage->cut.before, stage->in.item);
    execution->sink.is_reached =
        is_reached(execution, &execution->sink, stage->cut.after, stage->out.item);
    return fftnd__stage_set_area(stage, execution->shared + bytes);
}

/* Waits for all streams, after a failure too. The time in which the host moved nothing is that of transforms. */
static int close_run(struct fftnd__execution *execution, int code) {
    const struct fftnd__offload *offload = execution->transform->offload;
    for (int i = 0; i < FFTND__ACTIVITIES; i++) {
        int now = offload->device->stream_wait(offload->streams[i]);
        code = code == REDIST_OK ? now : code;
    }
    execution->nanoseconds =
        (long long)(1e9 * (MPI_Wtime() - execution->opened - execution->moving));
    return code;
}

static int is_suited(const struct fftnd__stage_problem *problem) {
    return problem->transform->offload != NULL && problem->step->naxes > 0;
}

const struct fftnd__stage_kind fftnd__kind_device_tiles = {.name = "fftnd tiles of a device",
                                                           .memory = FFTND__ELSEWHERE,
                                                           .is_suited = is_suited,
                                                           .plan = plan,
                                                           .open = open_run,
                                                           .close = close_run,
                                                           .load = upload,
                                                           .pass_on = download,
                                                           .end = bring_back};
