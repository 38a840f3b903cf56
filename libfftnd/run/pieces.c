/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One loop runs all stages: it begins a piece (load, kernel), and ends the one that is behind it by the window
 * (wait, store). In the caches each thread has a piece of its own, which it begins and ends at once. Segments of
 * arrays on a device are begun one ahead, so that the device is never idle while the one before is sent, most of them
 * in two streams by turns. Tiles on a device beside the host are as many as there are slots: while one is transformed,
 * the next ones come up and the one before goes down; the host only waits for tiles that are back.
 */
#include "pieces.h"
#include "../kernels/runs.h"

#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------- sources and sinks */

typedef int move_box(const struct fftnd__terminal *terminal, const struct fftnd__block *block,
                     const redist_index start[], const redist_index count[]);

/* An exchange takes the axes as they lie in memory. */
static int exchange_box(const struct fftnd__terminal *terminal, const struct fftnd__block *block,
                        const redist_index start[], const redist_index count[], int puts) {
    redist_index starts[REDIST_MAX_NDIMS], counts[REDIST_MAX_NDIMS];
    ptrdiff_t strides[REDIST_MAX_NDIMS];
    for (int i = 0; i < block->ndims; i++) {
        starts[i] = start[terminal->order[i]];
        counts[i] = count[terminal->order[i]];
        strides[i] = block->stride[terminal->order[i]];
    }
    if (!puts)
        return redist_plan_get(terminal->exchange, starts, counts, block->memory, strides);
    return (terminal->keeps ? redist_plan_put_rest : redist_plan_put)(
        terminal->exchange, starts, counts, block->memory, strides);
}

static int load_box(const struct fftnd__terminal *source, const struct fftnd__block *block,
                    const redist_index start[], const redist_index count[]) {
    if (source->exchange != NULL)
        return exchange_box(source, block, start, count, 0);
    const char *from = source->array + fftnd__offset(block->ndims, start, source->stride);
    if (source->space != REDIST_SPACE_HOST)
        return redist_copy_box_in(source->space, block->stream, block->ndims, count, block->item,
                                  from, source->stride, block->memory, block->stride);
    redist_copy_box(block->ndims, count, block->item, from, source->stride, block->memory,
                    block->stride, REDIST_COPY_LOAD);
    return REDIST_OK;
}

static int store_box(const struct fftnd__terminal *sink, const struct fftnd__block *block,
                     const redist_index start[], const redist_index count[]) {
    if (sink->exchange != NULL)
        return exchange_box(sink, block, start, count, 1);
    char *to = sink->array + fftnd__offset(block->ndims, start, sink->stride);
    if (sink->space != REDIST_SPACE_HOST)
        return redist_copy_box_in(sink->space, block->stream, block->ndims, count, block->item,
                                  block->memory, block->stride, to, sink->stride);
    redist_copy_box(block->ndims, count, block->item, block->memory, block->stride, to,
                    sink->stride, sink->nontemporal ? REDIST_COPY_NONTEMPORAL : REDIST_COPY_STORE);
    return REDIST_OK;
}

/* Between a piece and the box at `start`, `count` of its array: the parts that the array retains. */
static int move_parts(const struct fftnd__block *block, const struct fftnd__side *side,
                      const struct fftnd__terminal *terminal, const redist_index start[],
                      const redist_index count[], move_box *move) {
    const struct fftnd__truncation *truncation = fftnd__truncated(side);
    struct fftnd__retained_box part;
    if (truncation->n == 0)
        return move(terminal, block, start, count);
    for (int i = 0; i < 1 << truncation->n; i++)
        if (fftnd__find_retained(truncation, i, block->ndims, start, count, block->stride, &part)) {
            struct fftnd__block retained = *block;
            retained.memory += part.offset;
            REDIST_TRY(move(terminal, &retained, part.start, part.count));
        }
    return REDIST_OK;
}

/* Whether several threads may move pieces at once. */
static int is_concurrent(const struct fftnd__terminal *terminal) {
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    return terminal->exchange == NULL ||
           (redist_plan_get_info(terminal->exchange, &info) == REDIST_OK && info.concurrent);
}

/* Whether a slot's pieces are those of the second stream. */
static int is_second(const struct fftnd__stage *stage, int slot) {
    return stage->second != NULL && slot % 2 != 0;
}

/* Of the transforms; the host has none. */
static void *stream_of(const struct fftnd__execution *execution, int slot) {
    const struct fftnd__offload *offload = execution->stage->offload;
    return offload != NULL                     ? offload->streams[FFTND__TRANSFORM]
           : is_second(execution->stage, slot) ? execution->transform->second
                                               : execution->transform->options.stream;
}

/* The piece at `memory` of the box with these extents in its array. */
static struct fftnd__block block_of(const struct fftnd__execution *execution,
                                    const struct fftnd__side *side, const redist_index start[],
                                    const redist_index count[], char *memory, int slot) {
    struct fftnd__block block = {.precision = execution->transform->precision,
                                 .ndims = execution->stage->cut.ndims,
                                 .start = start,
                                 .stride = side->stride,
                                 .item = side->item,
                                 .memory = memory,
                                 .library = execution->stage->kernel.library,
                                 .stream = stream_of(execution, slot)};
    fftnd__widen(fftnd__truncated(side), block.ndims, count, block.count);
    return block;
}

/* ---------------------------------------------------------------- a device beside the host */

/* Its part of the array, with padding, at an address on the device or in staging memory. */
static struct fftnd__block device_block(const struct fftnd__execution *execution,
                                        const struct fftnd__side *side, const redist_index count[],
                                        char *memory) {
    struct fftnd__block block = block_of(execution, side, NULL, count, memory, 0);
    if (side->padded)
        block.count[block.ndims - 1] = side->padded;
    return block;
}

static int copy_box(const struct fftnd__execution *execution, enum fftnd__activity activity,
                    const struct fftnd__block *block, const void *source,
                    const ptrdiff_t source_stride[], void *destination,
                    const ptrdiff_t destination_stride[]) {
    const struct fftnd__offload *offload = execution->stage->offload;
    return redist_copy_box_in(offload->device->id, offload->streams[activity], block->ndims,
                              block->count, block->item, source, source_stride, destination,
                              destination_stride);
}

/* A piece in staging memory that threads move, each a part of it along an axis. */
struct move {
    const struct fftnd__terminal *terminal;
    const struct fftnd__block *block;
    const redist_index *start;
    int axis, parts;
    move_box *move;
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
    return part.count[move->axis] > 0 ? move->move(move->terminal, &part, start, part.count)
                                      : REDIST_OK;
}

static int move_by_threads(struct fftnd__execution *execution,
                           const struct fftnd__terminal *terminal, const struct fftnd__block *block,
                           const redist_index start[], move_box *function) {
    int axes[REDIST_MAX_NDIMS];
    struct fftnd__pool *pool = is_concurrent(terminal) ? execution->stage->pool : NULL;
    struct move move = {terminal, block, start, 0, fftnd__pool_size(pool), function};
    double begin = MPI_Wtime();
    for (int i = 0; i < block->ndims; i++)
        axes[i] = i;
    move.axis = fftnd__choose_axis(block->ndims, axes, block->count, move.parts);
    int code = fftnd__pool_run(pool, move_part, &move);
    execution->moving += MPI_Wtime() - begin;
    return code;
}

static char *staging_of(const struct fftnd__stage *stage, int slot) {
    size_t bytes = stage->in.bytes > stage->out.bytes ? stage->in.bytes : stage->out.bytes;
    return fftnd__offload_align(stage->offload->staging) + (size_t)slot * bytes;
}

static int upload(struct fftnd__execution *execution, const struct fftnd__piece *piece, int slot,
                  char *memory) {
    const struct fftnd__stage *stage = execution->stage;
    const struct fftnd__terminal *source = &execution->source;
    const struct fftnd__block block =
        device_block(execution, &stage->in, piece->before, staging_of(stage, slot));
    if (execution->loads_directly)
        return copy_box(execution, FFTND__UPLOAD, &block,
                        source->array + fftnd__offset(block.ndims, piece->start, source->stride),
                        source->stride, memory, block.stride);
    REDIST_TRY(move_by_threads(execution, source, &block, piece->start, load_box));
    return copy_box(execution, FFTND__UPLOAD, &block, block.memory, block.stride, memory,
                    block.stride);
}

static int download(const struct fftnd__execution *execution, const struct fftnd__piece *piece,
                    int slot, char *memory) {
    const struct fftnd__stage *stage = execution->stage;
    const struct fftnd__terminal *sink = &execution->sink;
    const struct fftnd__block block =
        device_block(execution, &stage->out, piece->after, staging_of(stage, slot));
    if (execution->stores_directly)
        return copy_box(execution, FFTND__DOWNLOAD, &block, memory, block.stride,
                        sink->array + fftnd__offset(block.ndims, piece->start, sink->stride),
                        sink->stride);
    return copy_box(execution, FFTND__DOWNLOAD, &block, memory, block.stride, block.memory,
                    block.stride);
}

/* Notes that an activity's stream has got all of a slot's work. */
static int record(const struct fftnd__offload *offload, int slot, enum fftnd__activity activity) {
    return offload->device->event_record(offload->events[slot][activity],
                                         offload->streams[activity]);
}

/* The next activity begins when this one is done. */
static int pass_on(const struct fftnd__offload *offload, int slot, enum fftnd__activity activity) {
    REDIST_TRY(record(offload, slot, activity));
    return offload->device->stream_follow(offload->streams[activity + 1],
                                          offload->events[slot][activity]);
}

/* Waits until a piece is back; its slot is free for another one then. */
static int bring_back(struct fftnd__execution *execution, const struct fftnd__piece *piece,
                      int slot) {
    const struct fftnd__stage *stage = execution->stage;
    REDIST_TRY(stage->offload->device->event_wait(stage->offload->events[slot][FFTND__DOWNLOAD]));
    if (execution->stores_directly)
        return REDIST_OK;
    const struct fftnd__block block =
        device_block(execution, &stage->out, piece->after, staging_of(stage, slot));
    return move_by_threads(execution, &execution->sink, &block, piece->start, store_box);
}

static int is_reached(const struct fftnd__stage *stage, const struct fftnd__terminal *terminal,
                      const redist_index extent[], size_t item) {
    return terminal->exchange == NULL &&
           fftnd__offload_reaches(stage->offload, terminal->array,
                                  fftnd__span(stage->cut.ndims, extent, terminal->stride, item));
}

/* Scratch of the serial library is behind the tiles. */
static int open_device(struct fftnd__execution *execution) {
    const struct fftnd__stage *stage = execution->stage;
    const struct fftnd__terminal *source = &execution->source, *sink = &execution->sink;
    execution->loads_directly = is_reached(stage, source, stage->cut.before, stage->in.item);
    execution->stores_directly = is_reached(stage, sink, stage->cut.after, stage->out.item);
    stage->offload->buffered |= (source->exchange == NULL && !execution->loads_directly) ||
                                (sink->exchange == NULL && !execution->stores_directly);
    size_t shared = stage->applied != NULL ? stage->applied->places.bytes : 0;
    return fftnd__stage_set_area(stage, fftnd__stage_shared(stage) + shared);
}

/* After a failure too nothing is under way any more. */
static int close_device(const struct fftnd__offload *offload, int code) {
    for (int i = 0; i < FFTND__ACTIVITIES; i++) {
        int now = offload->device->stream_wait(offload->streams[i]);
        code = code == REDIST_OK ? now : code;
    }
    return code;
}

/* ---------------------------------------------------------------- one piece */

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Where the kernel finds a piece, and where it leaves it. */
static char *memory_of(const struct fftnd__stage *stage, const struct fftnd__side *side,
                       const struct fftnd__terminal *terminal, const struct fftnd__piece *piece,
                       int slot) {
    if (side->in_array)
        return terminal->array + fftnd__offset(stage->cut.ndims, piece->start, terminal->stride);
    char *memory = side->memory;
    if (stage->offload != NULL) /* it may have grown since the stage was planned */
        memory = fftnd__offload_align(stage->offload->memory) +
                 (side == &stage->out ? stage->share - stage->out.bytes : 0);
    return memory + (size_t)slot * stage->share;
}

static struct fftnd__block block_before(const struct fftnd__execution *execution,
                                        const struct fftnd__piece *piece, int slot) {
    const struct fftnd__stage *stage = execution->stage;
    return block_of(execution, &stage->in, piece->start, piece->before,
                    memory_of(stage, &stage->in, &execution->source, piece, slot), slot);
}

static struct fftnd__block block_after(const struct fftnd__execution *execution,
                                       const struct fftnd__piece *piece, int slot) {
    const struct fftnd__stage *stage = execution->stage;
    return block_of(execution, &stage->out, piece->start, piece->after,
                    memory_of(stage, &stage->out, &execution->sink, piece, slot), slot);
}

/* Pieces may be other than partitions: a piece begins when the one with its last element is there. */
static int wait_for_partition(struct fftnd__execution *execution,
                              const struct fftnd__piece *piece) {
    if (execution->arriving == NULL)
        return REDIST_OK;
    int axis = execution->arrival_axis;
    int last = fftnd__locate(execution->stage->cut.before[axis],
                             execution->transform->configuration.partitions,
                             piece->start[axis] + piece->before[axis] - 1);
    if (execution->transform->options.asynchronous && execution->arrived <= last) {
        REDIST_TRY(redist_plan_put_wait(execution->arriving, last + 1));
        execution->arrived = last + 1;
    }
    while (execution->arrived <= last)
        REDIST_TRY(redist_plan_put_arrived(execution->arriving, &execution->arrived));
    return REDIST_OK;
}

static int load(struct fftnd__execution *execution, const struct fftnd__piece *piece, int slot,
                const struct fftnd__block *block) {
    const struct fftnd__stage *stage = execution->stage;
    if (stage->offload == NULL)
        return stage->in.in_array ? REDIST_OK
                                  : move_parts(block, &stage->in, &execution->source, piece->start,
                                               piece->before, load_box);
    REDIST_TRY(upload(execution, piece, slot, block->memory));
    return pass_on(stage->offload, slot, FFTND__UPLOAD);
}

/* The kernel, or that of a step with an operator. */
static int transform_piece(const struct fftnd__stage *stage, const struct fftnd__piece *piece,
                           int slot, const struct fftnd__block *in, const struct fftnd__block *out,
                           long double *factor) {
    const struct fftnd__truncation *before = fftnd__truncated(&stage->in),
                                   *after = fftnd__truncated(&stage->out);
    if (stage->applied == NULL)
        return fftnd__kernel_run(is_second(stage, slot) ? stage->second : &stage->kernel,
                                 piece->shorter, before, after, in, out, factor);
    char *memory = stage->offload != NULL
                       ? fftnd__stage_shared(stage)
                       : stage->in.memory - stage->applied->places.in + (size_t)slot * stage->share;
    return fftnd__applied_run(stage->applied, piece, memory, before, after, in, out);
}

/* What a piece with stores is when they begin: there is no kernel before them if they transform all axes. */
static struct fftnd__storing storing_of(const struct fftnd__stage *stage,
                                        const struct fftnd__piece *piece,
                                        const struct fftnd__block *in,
                                        const struct fftnd__block *out, const int order[]) {
    return (struct fftnd__storing){&stage->stores, piece->shorter,
                                   stage->kernel.nplans > 0 ? out->memory : in->memory, order};
}

/* A piece of an array, its axes as an exchange takes them. */
static redist_target place_of(const struct fftnd__terminal *sink, const struct fftnd__piece *piece,
                              const struct fftnd__block *out) {
    redist_target place = {.memory = out->memory};
    for (int i = 0; i < out->ndims; i++) {
        place.start[i] = piece->start[sink->order[i]];
        place.count[i] = piece->after[sink->order[i]];
        place.stride[i] = out->stride[sink->order[i]];
    }
    return place;
}

/* Where the exchange does not have its tiles stored, they go into the array before it, but for what stays here. */
static int store_here(const struct fftnd__execution *execution, const struct fftnd__piece *piece,
                      const struct fftnd__block *in, const struct fftnd__block *out) {
    const struct fftnd__terminal *sink = &execution->sink;
    const redist_target here = place_of(sink, piece, out);
    struct fftnd__storing storing = storing_of(execution->stage, piece, in, out, sink->order);
    redist_target own;
    int stays = 0;
    if (sink->keeps)
        REDIST_TRY(redist_plan_own_target(sink->exchange, here.start, here.count, &own, &stays));
    return fftnd__store_around(&storing, &here, stays ? &own : NULL, out->stream);
}

/* All pieces are whole along the axis that the exchange splits. */
static int store_there(const struct fftnd__execution *execution, const struct fftnd__piece *piece,
                       const struct fftnd__block *in, const struct fftnd__block *out) {
    const struct fftnd__terminal *sink = &execution->sink;
    const redist_target place = place_of(sink, piece, out);
    struct fftnd__storing storing = storing_of(execution->stage, piece, in, out, sink->order);
    return redist_plan_put_stored(sink->exchange, place.start, place.count, fftnd__store, &storing);
}

static int run_kernel(struct fftnd__execution *execution, const struct fftnd__piece *piece,
                      int slot, const struct fftnd__block *in, const struct fftnd__block *out) {
    const struct fftnd__stage *stage = execution->stage;
    if (stage->offload != NULL && stage->offload->bare)
        return REDIST_OK;
    long long begin = now();
    long double scale = execution->scale;
    int code = transform_piece(stage, piece, slot, in, out, &scale);
    if (code == REDIST_OK && stage->stores.library != NULL && !execution->stores)
        code = store_here(execution, piece, in, out);
    if (code == REDIST_OK && scale != 1.0)
        code = fftnd__scale_block(out, scale);
    atomic_fetch_add_explicit(&execution->nanoseconds, now() - begin, memory_order_relaxed);
    return code;
}

static int begin_piece(struct fftnd__execution *execution, long long number, int slot) {
    const struct fftnd__stage *stage = execution->stage;
    struct fftnd__offload *offload = stage->offload;
    struct fftnd__piece piece;
    fftnd__find_piece(&stage->cut, number, &piece);
    const struct fftnd__block in = block_before(execution, &piece, slot),
                              out = block_after(execution, &piece, slot);
    REDIST_TRY(wait_for_partition(execution, &piece));
    REDIST_TRY(load(execution, &piece, slot, &in));
    REDIST_TRY(run_kernel(execution, &piece, slot, &in, &out));
    if (stage->events != NULL && !execution->stores)
        REDIST_TRY(execution->transform->space->event_record(stage->events[number], out.stream));
    if (offload == NULL)
        return REDIST_OK;
    REDIST_TRY(pass_on(offload, slot, FFTND__TRANSFORM));
    REDIST_TRY(download(execution, &piece, slot, out.memory));
    return record(offload, slot, FFTND__DOWNLOAD);
}

/* Meanwhile the exchange goes on. */
static int wait_for_event(const struct fftnd__execution *execution, void *event) {
    for (int reached = 0;;) {
        REDIST_TRY(execution->transform->space->event_is_reached(event, &reached));
        if (reached)
            return REDIST_OK;
        REDIST_TRY(redist_plan_put_progress(execution->sink.exchange));
    }
}

static int end_piece(struct fftnd__execution *execution, long long number, int slot) {
    const struct fftnd__stage *stage = execution->stage;
    const struct fftnd__terminal *sink = &execution->sink;
    struct fftnd__piece piece;
    if (stage->out.in_array && sink->exchange == NULL)
        return REDIST_OK;
    fftnd__find_piece(&stage->cut, number, &piece);
    if (stage->offload != NULL)
        return bring_back(execution, &piece, slot);
    if (stage->events != NULL && !execution->stores)
        REDIST_TRY(wait_for_event(execution, stage->events[number]));
    const struct fftnd__block block = block_after(execution, &piece, slot);
    if (execution->stores) {
        const struct fftnd__block in = block_before(execution, &piece, slot);
        return store_there(execution, &piece, &in, &block);
    }
    return move_parts(&block, &stage->out, sink, piece.start, piece.after, store_box);
}

/* ---------------------------------------------------------------- one stage */

/* The loop. After a failure no thread takes any more pieces. */
static int take_pieces(void *data, int thread) {
    struct fftnd__execution *execution = data;
    const struct fftnd__stage *stage = execution->stage;
    long long n = stage->cut.n, behind = execution->stores ? 0 : stage->window - 1, number;
    int code = REDIST_OK;
    while (code == REDIST_OK && (number = atomic_fetch_add(&execution->next, 1)) < n + behind) {
        long long last = number - behind;
        if (number < n && execution->begins)
            code = begin_piece(execution, number, thread + (int)(number % stage->window));
        if (last >= 0 && execution->ends && code == REDIST_OK)
            code = end_piece(execution, last, thread + (int)(last % stage->window));
    }
    if (code != REDIST_OK)
        atomic_store(&execution->next, n + behind);
    return code;
}

static int run_on_device(struct fftnd__execution *execution, double *seconds) {
    double begin = MPI_Wtime();
    int code = open_device(execution);
    if (code == REDIST_OK)
        code = take_pieces(execution, 0);
    code = close_device(execution->stage->offload, code);
    *seconds += MPI_Wtime() - begin - execution->moving;
    return code;
}

/* One stream goes on when the other has come so far. */
static int follow(const struct fftnd__transform *transform, void *stream, void *other) {
    REDIST_TRY(transform->space->event_record(transform->forked, other));
    return transform->space->stream_follow(stream, transform->forked);
}

/* The second stream works on what is ready for the user's, which then waits for it, after a failure too. */
static int run_in_two_streams(struct fftnd__execution *execution) {
    const struct fftnd__transform *transform = execution->transform;
    int code = follow(transform, transform->second, transform->options.stream);
    if (code == REDIST_OK)
        code = take_pieces(execution, 0);
    int joined = follow(transform, transform->options.stream, transform->second);
    return code == REDIST_OK ? joined : code;
}

int fftnd__run_pieces(struct fftnd__execution *execution, double *seconds) {
    const struct fftnd__stage *stage = execution->stage;
    if (stage->offload != NULL)
        return run_on_device(execution, seconds);
    if (stage->second != NULL && execution->begins)
        return run_in_two_streams(execution);
    int shared =
        stage->cut.n > 1 && is_concurrent(&execution->source) && is_concurrent(&execution->sink);
    struct fftnd__pool *pool = shared ? stage->pool : NULL;
    int code = fftnd__pool_run(pool, take_pieces, execution);
    *seconds += 1e-9 * (double)execution->nanoseconds / fftnd__pool_size(pool);
    return code;
}
