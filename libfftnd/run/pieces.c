/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One loop runs all stages: it begins a piece (load, kernel), and ends the one that is behind it by the window
 * (wait, store). In the caches each thread has a piece of its own, which it begins and ends at once. Segments of
 * arrays on a device are begun one ahead, so that the device is never idle while the one before is sent, most of them
 * in two streams by turns. Tiles on a device beside the host are as many as there are slots.
 */
#include "pieces.h"
#include "../../liblines/clock.h"
#include "../kernels/runs.h"

/* ---------------------------------------------------------------- sources and sinks */

/* An exchange takes the axes as they lie in memory. */
static int exchange_box(const struct fftnd__terminal *terminal, const struct fftnd__block *block,
                        const redist_index start[], const redist_index count[], int is_store) {
    redist_index starts[REDIST_MAX_NDIMS], counts[REDIST_MAX_NDIMS];
    ptrdiff_t strides[REDIST_MAX_NDIMS];
    for (int i = 0; i < block->ndims; i++) {
        starts[i] = start[terminal->order[i]];
        counts[i] = count[terminal->order[i]];
        strides[i] = block->stride[terminal->order[i]];
    }
    if (!is_store)
        return redist_plan_get(terminal->exchange, starts, counts, block->memory, strides);
    return (terminal->direct_stores == FFTND__DIRECT_LOCAL
                ? redist_plan_put_rest
                : redist_plan_put)(terminal->exchange, starts, counts, block->memory, strides);
}

int fftnd__move_box(const struct fftnd__terminal *terminal, const struct fftnd__block *block,
                    const redist_index start[], const redist_index count[], int is_store) {
    if (terminal->exchange != NULL)
        return exchange_box(terminal, block, start, count, is_store);
    char *array = terminal->array + fftnd__offset(block->ndims, start, terminal->stride);
    char *from = is_store ? block->memory : array, *to = is_store ? array : block->memory;
    const ptrdiff_t *from_stride = is_store ? block->stride : terminal->stride,
                    *to_stride = is_store ? terminal->stride : block->stride;
    if (terminal->space != REDIST_SPACE_HOST)
        return redist_copy_box_in(terminal->space, block->stream, block->ndims, count, block->item,
                                  from, from_stride, to, to_stride);
    redist_copy_box(block->ndims, count, block->item, from, from_stride, to, to_stride,
                    !is_store               ? REDIST_COPY_LOAD
                    : terminal->nontemporal ? REDIST_COPY_NONTEMPORAL
                                            : REDIST_COPY_STORE);
    return REDIST_OK;
}

/* Between a piece and the box at `start`, `count` of its array: the parts that the array retains. */
static int move_parts(const struct fftnd__block *block, const struct fftnd__terminal *terminal,
                      const redist_index start[], const redist_index count[], int is_store) {
    struct fftnd__retained_box part;
    for (int i = 0; i < fftnd__count_retained(block->truncation); i++)
        if (fftnd__find_retained(block->truncation, i, block->ndims, start, count, block->stride,
                                 &part)) {
            struct fftnd__block retained = *block;
            retained.memory += part.offset;
            REDIST_TRY(fftnd__move_box(terminal, &retained, part.start, part.count, is_store));
        }
    return REDIST_OK;
}

int fftnd__is_concurrent(const struct fftnd__terminal *terminal) {
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    return terminal->exchange == NULL ||
           (redist_plan_get_info(terminal->exchange, &info) == REDIST_OK && info.concurrent);
}

int fftnd__load_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    return execution->step->stage->in.in_array
               ? REDIST_OK
               : move_parts(&flight->in, &execution->source, flight->piece.start,
                            flight->piece.before, 0);
}

int fftnd__store_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    const struct fftnd__terminal *sink = &execution->sink;
    return execution->step->stage->out.in_array && sink->exchange == NULL
               ? REDIST_OK
               : move_parts(&flight->out, sink, flight->piece.start, flight->piece.after, 1);
}

int fftnd__open_in_caches(struct fftnd__execution *execution) {
    if (execution->source.exchange == NULL && execution->sink.exchange == NULL &&
        execution->source.array == execution->sink.array)
        execution->sink.nontemporal = 0;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- one piece */

/* Begin of the memory of a piece, if it has its own. */
static char *memory_of(const struct fftnd__execution *execution,
                       const struct fftnd__flight *flight) {
    return execution->memory + (size_t)flight->slot * execution->step->stage->piece_bytes;
}

/* Returns the address of a piece in an array. */
static char *place_in(const struct fftnd__execution *execution, const struct fftnd__flight *flight,
                      const struct fftnd__side *side, const struct fftnd__terminal *terminal) {
    const struct fftnd__stage *stage = execution->step->stage;
    return side->turns > 0
               ? terminal->array + (size_t)(flight->number % side->turns) * stage->piece_bytes
               : terminal->array +
                     fftnd__offset(stage->cut.ndims, flight->piece.start, terminal->stride);
}

/* A side of a piece, which is the box with these extents in its array. */
static struct fftnd__block block_of(const struct fftnd__execution *execution,
                                    const struct fftnd__flight *flight,
                                    const struct fftnd__side *side,
                                    const struct fftnd__terminal *terminal,
                                    const redist_index count[]) {
    const struct fftnd__stage *stage = execution->step->stage;
    const redist_index *start = flight->piece.start;
    int ndims = stage->cut.ndims;
    struct fftnd__block block = {.precision = execution->transform->precision,
                                 .ndims = ndims,
                                 .start = start,
                                 .stride = side->stride,
                                 .item = side->item,
                                 .memory = side->in_array
                                               ? place_in(execution, flight, side, terminal)
                                               : memory_of(execution, flight) + side->place,
                                 .truncation = side->truncation,
                                 .library = stage->library,
                                 .stream = stage->streams[flight->slot % stage->nstreams]};
    fftnd__widen(side->truncation, ndims, count, block.count);
    return block;
}

static void find_piece(const struct fftnd__execution *execution, long long number, int slot,
                       struct fftnd__flight *flight) {
    const struct fftnd__stage *stage = execution->step->stage;
    flight->number = number;
    flight->slot = slot;
    fftnd__find_piece(&stage->cut, number, &flight->piece);
    flight->in = block_of(execution, flight, &stage->in, &execution->source, flight->piece.before);
    flight->out = block_of(execution, flight, &stage->out, &execution->sink, flight->piece.after);
}

/* Waits for the partition with the last element of a piece; pieces and partitions may differ. */
static int wait_for_partition(struct fftnd__execution *execution,
                              const struct fftnd__piece *piece) {
    if (execution->arriving == NULL)
        return REDIST_OK;
    int axis = execution->step->arrival_axis;
    int last = fftnd__locate(execution->step->stage->cut.before[axis],
                             execution->transform->configuration.partitions,
                             piece->start[axis] + piece->before[axis] - 1);
    if (execution->transform->settings.asynchronous && execution->arrived <= last) {
        REDIST_TRY(redist_plan_put_wait(execution->arriving, last + 1));
        execution->arrived = last + 1;
    }
    while (execution->arrived <= last)
        REDIST_TRY(redist_plan_put_arrived(execution->arriving, &execution->arrived));
    return REDIST_OK;
}

/* Has a piece where the kernel takes it from. */
static int begin_piece(struct fftnd__execution *execution, struct fftnd__flight *flight) {
    const struct fftnd__stage_kind *kind = execution->step->stage->kind;
    REDIST_TRY(wait_for_partition(execution, &flight->piece));
    if (kind->load != NULL)
        REDIST_TRY(kind->load(execution, flight));
    flight->begin = lines__clock();
    return REDIST_OK;
}

/* Scales a piece, and notes how long that took. */
static int pass_on(struct fftnd__execution *execution, struct fftnd__flight *flight) {
    const struct fftnd__stage_kind *kind = execution->step->stage->kind;
    if (!execution->moves_only)
        REDIST_TRY(fftnd__scale_block(&flight->out, execution->scale));
    atomic_fetch_add_explicit(&execution->nanoseconds,
                              (long long)(1e9 * (lines__clock() - flight->begin)),
                              memory_order_relaxed);
    return kind->pass_on != NULL ? kind->pass_on(execution, flight) : REDIST_OK;
}

static int run_kernel(const struct fftnd__execution *execution, struct fftnd__flight *flight) {
    const struct fftnd__stage *stage = execution->step->stage;
    if (stage->applied != NULL)
        return fftnd__applied_run(stage->applied, &flight->piece,
                                  execution->shared != NULL ? execution->shared
                                                            : memory_of(execution, flight),
                                  &flight->in, &flight->out);
    return fftnd__kernel_run(&stage->kernels[flight->slot % stage->nstreams], flight->piece.shorter,
                             &flight->in, &flight->out);
}

/* ---------------------------------------------------------------- one stage */

static int takes_turns(const struct fftnd__execution *execution) {
    return execution->step->stage->out.turns > 0 && execution->sink.exchange != NULL;
}

/* Ends the pieces before a new one, and waits until its memory may be written. */
static int make_room(struct fftnd__execution *execution, long long number,
                     const struct fftnd__flight flights[]) {
    const struct fftnd__stage *stage = execution->step->stage;
    if (!takes_turns(execution) || number < stage->out.turns)
        return REDIST_OK;
    for (; execution->ended < number; execution->ended++)
        REDIST_TRY(stage->kind->end(execution, &flights[execution->ended % stage->window]));
    const struct fftnd__flight next = {.number = number};
    return redist_plan_put_release(execution->sink.exchange,
                                   place_in(execution, &next, &stage->out, &execution->sink));
}

/* Ends the piece that is behind, unless it made room. */
static int end_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    const struct fftnd__stage_kind *kind = execution->step->stage->kind;
    if (kind->end == NULL || (takes_turns(execution) && flight->number < execution->ended))
        return REDIST_OK;
    if (takes_turns(execution))
        execution->ended++;
    return kind->end(execution, flight);
}

/* The loop. After a failure no thread takes any more pieces. */
static int take_pieces(void *data, int thread) {
    struct fftnd__execution *execution = data;
    const struct fftnd__stage *stage = execution->step->stage;
    struct fftnd__flight flights[FFTND__SLOTS];
    int window = stage->window, behind = execution->behind, code = REDIST_OK;
    long long n = stage->cut.n, number;
    while (code == REDIST_OK && (number = atomic_fetch_add(&execution->next, 1)) < n + behind) {
        struct fftnd__flight *begun = &flights[number % window],
                             *last = &flights[(number + window - behind) % window];
        if (number < n && execution->begins)
            code = make_room(execution, number, flights);
        if (number < n)
            find_piece(execution, number, thread + (int)(number % window), begun);
        if (code == REDIST_OK && number < n && execution->begins) {
            code = begin_piece(execution, begun);
            if (code == REDIST_OK && !execution->moves_only)
                code = run_kernel(execution, begun);
            if (code == REDIST_OK)
                code = pass_on(execution, begun);
        }
        if (code == REDIST_OK && number >= behind && execution->ends)
            code = end_piece(execution, last);
    }
    if (code != REDIST_OK)
        atomic_store(&execution->next, n + behind);
    return code;
}

/* Threads that share out the pieces; NULL = one takes them all. */
static struct fftnd__pool *pool_for(const struct fftnd__execution *execution) {
    const struct fftnd__stage *stage = execution->step->stage;
    return stage->pool != NULL && stage->cut.n > 1 && fftnd__is_concurrent(&execution->source) &&
                   fftnd__is_concurrent(&execution->sink)
               ? stage->pool
               : NULL;
}

int fftnd__finish(const struct fftnd__transform *transform) {
    int code = transform->space->event_record(transform->event, transform->settings.stream);
    return code == REDIST_OK ? transform->space->event_wait(transform->event) : code;
}

int fftnd__finish_array(const struct fftnd__transform *transform, const struct fftnd__step *step,
                        void *array, long double scale) {
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    const struct fftnd__block block = fftnd__block_of_array(transform, step, array, stride);
    REDIST_TRY(fftnd__scale_block(&block, scale));
    return transform->settings.asynchronous ? REDIST_OK : fftnd__finish(transform);
}

/* An array in which transforms work is scaled as a whole when all pieces are done. */
int fftnd__run_stage(struct fftnd__execution *execution) {
    const struct fftnd__transform *transform = execution->transform;
    const struct fftnd__stage *stage = execution->step->stage;
    const struct fftnd__stage_kind *kind = stage->kind;
    int in_stream = transform->space->asynchronous;
    int whole = stage->out.in_array && (stage->in.in_array || in_stream);
    struct fftnd__pool *pool = pool_for(execution);
    const long double scale = execution->scale;
    double begin = MPI_Wtime();
    execution->scale = whole ? 1 : scale;
    execution->memory = stage->memory;
    execution->behind = stage->window - 1;
    redist_range_begin(kind->name);
    int code = kind->open != NULL ? kind->open(execution) : REDIST_OK;
    if (code == REDIST_OK)
        code = pool != NULL ? fftnd__pool_run(pool, take_pieces, execution)
                            : take_pieces(execution, 0);
    if (kind->close != NULL)
        code = kind->close(execution, code);
    redist_range_end();
    execution->seconds = 1e-9 * (double)execution->nanoseconds / fftnd__pool_size(pool);
    if (code != REDIST_OK || !execution->ends || execution->sink.exchange != NULL ||
        !(whole || in_stream))
        return code;
    code =
        fftnd__finish_array(transform, execution->step, execution->sink.array, whole ? scale : 1);
    execution->seconds = MPI_Wtime() - begin;
    return code;
}

/* ---------------------------------------------------------------- pieces that are sent when they are done */

static int create_events(struct fftnd__stage *stage, const redist__space *space) {
    stage->events = redist_calloc((size_t)stage->cut.n, sizeof *stage->events);
    if (stage->events == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for %lld events",
                              stage->cut.n);
    for (long long i = 0; i < stage->cut.n; i++)
        REDIST_TRY(space->event_create(&stage->events[i]));
    return REDIST_OK;
}

int fftnd__plan_sending(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    if (transform->settings.asynchronous)
        return REDIST_OK;
    stage->window = 2;
    return fftnd__next(problem->step)->fused_with == FFTND__PUSHED && transform->space->asynchronous
               ? create_events(stage, transform->space)
               : REDIST_OK;
}

int fftnd__note_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    void *const *events = execution->step->stage->events;
    return events != NULL ? execution->transform->space->event_record(events[flight->number],
                                                                      flight->out.stream)
                          : REDIST_OK;
}

/* A method that takes no segments has the exchange of the whole array behind them. */
int fftnd__send_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    void *const *events = execution->step->stage->events;
    redist_plan *exchange = execution->sink.exchange;
    for (int reached = events == NULL || exchange == NULL; !reached;) {
        REDIST_TRY(execution->transform->space->event_is_reached(events[flight->number], &reached));
        if (!reached)
            REDIST_TRY(redist_plan_put_progress(exchange));
    }
    return fftnd__store_piece(execution, flight);
}
