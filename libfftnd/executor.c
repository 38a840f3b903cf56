/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One loop runs all passes: it begins a piece (load, kernel), and ends the one that is behind it by the window
 * (wait, store). In the caches each thread has a piece of its own, which it begins and ends at once. Segments of
 * arrays on a device are begun one ahead, so that the device is never idle while the one before is sent. Tiles on a
 * device beside the host are as many as there are slots: while one is transformed, the next ones come up and the one
 * before goes down; the host only waits for tiles that are back.
 */
#include "executor.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------- sources and sinks */

/* Where pieces come from or go to: an exchange that is open for them, else an array of this rank. */
struct end {
    redist_plan *exchange;
    const int *order; /* an exchange's: the axes as they lie in memory */
    char *array;
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes */
    int nontemporal;                    /* stores into the array bypass the caches */
};

/* A pass on its way: what the threads share. */
struct execution {
    const struct fftnd__pass *pass;
    const struct fftnd__transform *transform;
    struct end source, sink;
    double scale; /* of each piece */
    int begins, ends;
    redist_plan *arriving; /* pieces begin as these partitions arrive; NULL = all is there */
    int arrived;
    int loads_directly, stores_directly; /* a device reaches the array at that end */
    double moving;          /* seconds that the host spent with peers and in copies for a device */
    _Atomic long long next; /* the first piece that nobody has taken */
    _Atomic long long nanoseconds; /* spent in kernels, by all threads */
};

typedef int move_box(const struct end *end, const struct fftnd__block *block,
                     const redist_index start[], const redist_index count[]);

static int load_box(const struct end *source, const struct fftnd__block *block,
                    const redist_index start[], const redist_index count[]) {
    if (source->exchange != NULL)
        return redist_plan_get(source->exchange, start, count, block->memory, block->stride);
    redist_copy_box(block->ndims, count, block->item,
                    source->array + fftnd__offset(block->ndims, start, source->stride),
                    source->stride, block->memory, block->stride, 0);
    return REDIST_OK;
}

static int put_box(const struct end *sink, const struct fftnd__block *block,
                   const redist_index start[], const redist_index count[]) {
    redist_index starts[REDIST_MAX_NDIMS], counts[REDIST_MAX_NDIMS];
    ptrdiff_t strides[REDIST_MAX_NDIMS];
    for (int i = 0; i < block->ndims; i++) {
        starts[i] = start[sink->order[i]];
        counts[i] = count[sink->order[i]];
        strides[i] = block->stride[sink->order[i]];
    }
    return redist_plan_put(sink->exchange, starts, counts, block->memory, strides);
}

static int store_box(const struct end *sink, const struct fftnd__block *block,
                     const redist_index start[], const redist_index count[]) {
    if (sink->exchange != NULL)
        return put_box(sink, block, start, count);
    redist_copy_box(block->ndims, count, block->item, block->memory, block->stride,
                    sink->array + fftnd__offset(block->ndims, start, sink->stride), sink->stride,
                    sink->nontemporal);
    return REDIST_OK;
}

/* Between a piece and the box at `start`, `count` of its array: the parts that the array retains. */
static int move_parts(const struct fftnd__block *block, const struct fftnd__side *side,
                      const struct end *end, const redist_index start[], const redist_index count[],
                      move_box *move) {
    const struct fftnd__truncation *truncation = &side->truncation;
    struct fftnd__part part;
    int code = REDIST_OK;
    if (truncation->n == 0)
        return move(end, block, start, count);
    for (int i = 0; i < 1 << truncation->n && code == REDIST_OK; i++)
        if (fftnd__find_part(truncation, i, block->ndims, start, count, block->stride, &part)) {
            struct fftnd__block retained = *block;
            retained.memory += part.offset;
            code = move(end, &retained, part.start, part.count);
        }
    return code;
}

/* Whether several threads may move pieces at once. */
static int is_concurrent(const struct end *end) {
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    return end->exchange == NULL ||
           (redist_plan_get_info(end->exchange, &info) == REDIST_OK && info.concurrent);
}

/* The piece at `memory` of the box with these extents in its array. */
static struct fftnd__block block_of(const struct execution *execution,
                                    const struct fftnd__side *side, const redist_index count[],
                                    char *memory) {
    struct fftnd__block block = {.precision = execution->transform->precision,
                                 .ndims = execution->pass->partition.ndims,
                                 .stride = side->stride,
                                 .item = side->item,
                                 .memory = memory};
    fftnd__widen(&side->truncation, block.ndims, count, block.count);
    return block;
}

/* ---------------------------------------------------------------- a device beside the host */

/* Its part of the array, with padding, at an address on the device or in staging memory. */
static struct fftnd__block device_block(const struct execution *execution,
                                        const struct fftnd__side *side, const redist_index count[],
                                        char *memory) {
    struct fftnd__block block = block_of(execution, side, count, memory);
    if (side->padded)
        block.count[block.ndims - 1] = side->padded;
    return block;
}

static int copy_box(const struct execution *execution, enum fftnd__activity activity,
                    const struct fftnd__block *block, const void *source,
                    const ptrdiff_t source_stride[], void *destination,
                    const ptrdiff_t destination_stride[]) {
    const struct fftnd__offload *offload = execution->pass->offload;
    return redist_copy_box_in(offload->device->id, offload->streams[activity], block->ndims,
                              block->count, block->item, source, source_stride, destination,
                              destination_stride);
}

/* A piece in staging memory that threads move, each a part of it along an axis. */
struct move {
    const struct end *end;
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
    return part.count[move->axis] > 0 ? move->move(move->end, &part, start, part.count) : REDIST_OK;
}

static int move_by_threads(struct execution *execution, const struct end *end,
                           const struct fftnd__block *block, const redist_index start[],
                           move_box *function) {
    int axes[REDIST_MAX_NDIMS];
    struct fftnd__team *team = is_concurrent(end) ? execution->pass->team : NULL;
    struct move move = {end, block, start, 0, fftnd__team_size(team), function};
    double begin = MPI_Wtime();
    for (int i = 0; i < block->ndims; i++)
        axes[i] = i;
    move.axis = fftnd__choose_axis(block->ndims, axes, block->count, move.parts);
    int code = fftnd__team_run(team, move_part, &move);
    execution->moving += MPI_Wtime() - begin;
    return code;
}

static char *staging_of(const struct fftnd__pass *pass, int slot) {
    size_t bytes = pass->in.bytes > pass->out.bytes ? pass->in.bytes : pass->out.bytes;
    return fftnd__offload_align(pass->offload->staging) + (size_t)slot * bytes;
}

static int upload(struct execution *execution, const struct fftnd__piece *piece, int slot,
                  char *memory) {
    const struct fftnd__pass *pass = execution->pass;
    const struct end *source = &execution->source;
    const struct fftnd__block block =
        device_block(execution, &pass->in, piece->before, staging_of(pass, slot));
    if (execution->loads_directly)
        return copy_box(execution, FFTND__UPLOAD, &block,
                        source->array + fftnd__offset(block.ndims, piece->start, source->stride),
                        source->stride, memory, block.stride);
    int code = move_by_threads(execution, source, &block, piece->start, load_box);
    return code == REDIST_OK ? copy_box(execution, FFTND__UPLOAD, &block, block.memory,
                                        block.stride, memory, block.stride)
                             : code;
}

static int download(const struct execution *execution, const struct fftnd__piece *piece, int slot,
                    char *memory) {
    const struct fftnd__pass *pass = execution->pass;
    const struct end *sink = &execution->sink;
    const struct fftnd__block block =
        device_block(execution, &pass->out, piece->after, staging_of(pass, slot));
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
    int code = record(offload, slot, activity);
    return code == REDIST_OK ? offload->device->stream_follow(offload->streams[activity + 1],
                                                              offload->events[slot][activity])
                             : code;
}

/* Waits until a piece is back; its slot is free for another one then. */
static int bring_back(struct execution *execution, const struct fftnd__piece *piece, int slot) {
    const struct fftnd__pass *pass = execution->pass;
    int code = pass->offload->device->event_wait(pass->offload->events[slot][FFTND__DOWNLOAD]);
    if (code != REDIST_OK || execution->stores_directly)
        return code;
    const struct fftnd__block block =
        device_block(execution, &pass->out, piece->after, staging_of(pass, slot));
    return move_by_threads(execution, &execution->sink, &block, piece->start, store_box);
}

static int is_reached(const struct fftnd__pass *pass, const struct end *end,
                      const redist_index extent[], size_t item) {
    return end->exchange == NULL &&
           fftnd__offload_reaches(pass->offload, end->array,
                                  fftnd__span(pass->partition.ndims, extent, end->stride, item));
}

/* Scratch of the serial library is behind the tiles. */
static int open_device(struct execution *execution) {
    const struct fftnd__pass *pass = execution->pass;
    const struct end *source = &execution->source, *sink = &execution->sink;
    execution->loads_directly = is_reached(pass, source, pass->partition.before, pass->in.item);
    execution->stores_directly = is_reached(pass, sink, pass->partition.after, pass->out.item);
    pass->offload->buffered |= (source->exchange == NULL && !execution->loads_directly) ||
                               (sink->exchange == NULL && !execution->stores_directly);
    return fftnd__kernel_set_area(&pass->kernel, fftnd__offload_align(pass->offload->memory) +
                                                     (size_t)pass->window * pass->share);
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
static char *memory_of(const struct fftnd__pass *pass, const struct fftnd__side *side,
                       const struct end *end, const struct fftnd__piece *piece, int slot) {
    if (side->in_array)
        return end->array + fftnd__offset(pass->partition.ndims, piece->start, end->stride);
    char *memory = side->memory;
    if (pass->offload != NULL) /* it may have grown since the pass was planned */
        memory = fftnd__offload_align(pass->offload->memory) +
                 (side == &pass->out ? pass->share - pass->out.bytes : 0);
    return memory + (size_t)slot * pass->share;
}

static int wait_for_partition(struct execution *execution, long long number) {
    int code = REDIST_OK;
    while (execution->arriving != NULL && execution->arrived <= number && code == REDIST_OK)
        code = redist_plan_put_arrived(execution->arriving, &execution->arrived);
    return code;
}

static int load(struct execution *execution, const struct fftnd__piece *piece, int slot,
                const struct fftnd__block *block) {
    const struct fftnd__pass *pass = execution->pass;
    if (pass->offload == NULL)
        return pass->in.in_array ? REDIST_OK
                                 : move_parts(block, &pass->in, &execution->source, piece->start,
                                              piece->before, load_box);
    int code = upload(execution, piece, slot, block->memory);
    return code == REDIST_OK ? pass_on(pass->offload, slot, FFTND__UPLOAD) : code;
}

static int run_kernel(struct execution *execution, const struct fftnd__piece *piece,
                      const struct fftnd__block *in, const struct fftnd__block *out) {
    const struct fftnd__pass *pass = execution->pass;
    const struct fftnd__kernel *kernel = &pass->kernel;
    void *stream = pass->offload != NULL ? pass->offload->streams[FFTND__TRANSFORM] : NULL;
    if (pass->offload != NULL && pass->offload->bare)
        return REDIST_OK;
    long long begin = now();
    int code = fftnd__kernel_run(kernel, piece->shorter, &pass->in.truncation,
                                 &pass->out.truncation, in, out);
    if (code == REDIST_OK && execution->scale != 1.0)
        code = kernel->library->scale(out->memory,
                                      fftnd__span(out->ndims, out->count, out->stride, out->item),
                                      out->precision, execution->scale, stream);
    atomic_fetch_add_explicit(&execution->nanoseconds, now() - begin, memory_order_relaxed);
    return code;
}

static int begin_piece(struct execution *execution, long long number, int slot) {
    const struct fftnd__pass *pass = execution->pass;
    struct fftnd__offload *offload = pass->offload;
    struct fftnd__piece piece;
    fftnd__find_piece(&pass->partition, number, &piece);
    const struct fftnd__block in = block_of(
                                  execution, &pass->in, piece.before,
                                  memory_of(pass, &pass->in, &execution->source, &piece, slot)),
                              out = block_of(
                                  execution, &pass->out, piece.after,
                                  memory_of(pass, &pass->out, &execution->sink, &piece, slot));
    int code = wait_for_partition(execution, number);
    if (code == REDIST_OK)
        code = load(execution, &piece, slot, &in);
    if (code == REDIST_OK)
        code = run_kernel(execution, &piece, &in, &out);
    if (code == REDIST_OK && pass->events != NULL)
        code = execution->transform->space->event_record(pass->events[number],
                                                         execution->transform->options.stream);
    if (code != REDIST_OK || offload == NULL)
        return code;
    code = pass_on(offload, slot, FFTND__TRANSFORM);
    if (code == REDIST_OK)
        code = download(execution, &piece, slot, out.memory);
    return code == REDIST_OK ? record(offload, slot, FFTND__DOWNLOAD) : code;
}

/* Meanwhile the exchange goes on. */
static int wait_for_event(const struct execution *execution, void *event) {
    int reached = 0, code = REDIST_OK;
    while (!reached && code == REDIST_OK) {
        code = execution->transform->space->event_is_reached(event, &reached);
        if (code == REDIST_OK && !reached)
            code = redist_plan_put_progress(execution->sink.exchange);
    }
    return code;
}

static int end_piece(struct execution *execution, long long number, int slot) {
    const struct fftnd__pass *pass = execution->pass;
    const struct end *sink = &execution->sink;
    struct fftnd__piece piece;
    if (pass->out.in_array && sink->exchange == NULL)
        return REDIST_OK;
    fftnd__find_piece(&pass->partition, number, &piece);
    if (pass->offload != NULL)
        return bring_back(execution, &piece, slot);
    int code = pass->events != NULL ? wait_for_event(execution, pass->events[number]) : REDIST_OK;
    const struct fftnd__block block = block_of(execution, &pass->out, piece.after,
                                               memory_of(pass, &pass->out, sink, &piece, slot));
    return code == REDIST_OK
               ? move_parts(&block, &pass->out, sink, piece.start, piece.after, store_box)
               : code;
}

/* ---------------------------------------------------------------- one pass */

/* The loop. After a failure nobody takes any more pieces. */
static int take_pieces(void *data, int thread) {
    struct execution *execution = data;
    const struct fftnd__pass *pass = execution->pass;
    long long n = pass->partition.n, behind = pass->window - 1, number;
    int code = REDIST_OK;
    while (code == REDIST_OK && (number = atomic_fetch_add(&execution->next, 1)) < n + behind) {
        long long last = number - behind;
        if (number < n && execution->begins)
            code = begin_piece(execution, number, thread + (int)(number % pass->window));
        if (last >= 0 && execution->ends && code == REDIST_OK)
            code = end_piece(execution, last, thread + (int)(last % pass->window));
    }
    if (code != REDIST_OK)
        atomic_store(&execution->next, n + behind);
    return code;
}

static int run_on_device(struct execution *execution, double *seconds) {
    double begin = MPI_Wtime();
    int code = open_device(execution);
    if (code == REDIST_OK)
        code = take_pieces(execution, 0);
    code = close_device(execution->pass->offload, code);
    *seconds += MPI_Wtime() - begin - execution->moving;
    return code;
}

/* Seconds are those of kernels, the mean of the threads. */
static int run_pieces(struct execution *execution, double *seconds) {
    const struct fftnd__pass *pass = execution->pass;
    if (pass->offload != NULL)
        return run_on_device(execution, seconds);
    int shared = pass->partition.n > 1 && is_concurrent(&execution->source) &&
                 is_concurrent(&execution->sink);
    struct fftnd__team *team = shared ? pass->team : NULL;
    int code = fftnd__team_run(team, take_pieces, execution);
    *seconds += 1e-9 * (double)execution->nanoseconds / fftnd__team_size(team);
    return code;
}

/* ---------------------------------------------------------------- all steps */

/* One execution of a program. */
struct run {
    const struct fftnd__program *program;
    const struct fftnd__transform *transform;
    void *const *buffers;
    struct fftnd__failure *failure;
    double serial_seconds;
};

/* Keeps the code, with this thread's message, if it is the first one, and breaks the exchanges. */
static void note(struct run *run, int code) {
    struct fftnd__failure *failure = run->failure;
    if (code == REDIST_OK)
        return;
    if (failure->code == REDIST_OK) {
        failure->code = code;
        strncpy(failure->message, redist_error_message(), sizeof failure->message - 1);
    }
    for (int i = 1; i <= run->program->nsteps; i++)
        if (run->program->steps[i].exchange != NULL)
            redist_plan_break(run->program->steps[i].exchange, code);
}

int fftnd__failure_report(const struct fftnd__failure *failure) {
    if (failure->code != REDIST_OK)
        redist_set_message(failure->message);
    return failure->code;
}

static int has_failed(const struct run *run) {
    return run->failure->code != REDIST_OK;
}

/* The array after a step. */
static void *array_of(const struct run *run, const struct fftnd__step *step) {
    return step->buffer != FFTND__NOWHERE ? run->buffers[step->buffer] : NULL;
}

static struct end end_of(const struct run *run, const struct fftnd__step *step) {
    struct end end = {.array = array_of(run, step),
                      .order = step->local.order,
                      .nontemporal = fftnd__is_nontemporal(run->transform, step)};
    fftnd__byte_strides(run->transform, step, end.stride);
    return end;
}

static redist_plan *pulled_before(const struct fftnd__step *step) {
    return step[-1].fused_with == FFTND__PULLED ? step[-1].exchange : NULL;
}

static redist_plan *pushed_after(const struct fftnd__step *step) {
    return step[1].fused_with == FFTND__PUSHED ? step[1].exchange : NULL;
}

/* What was loaded from where a piece is stored is still in the caches. */
static struct execution execution_of(const struct run *run, const struct fftnd__step *step) {
    struct execution execution = {.pass = step->pass,
                                  .transform = run->transform,
                                  .source = end_of(run, step - 1),
                                  .sink = end_of(run, step),
                                  .scale = 1.0,
                                  .begins = 1,
                                  .ends = 1};
    execution.source.exchange = pulled_before(step);
    execution.sink.exchange = pushed_after(step);
    if (step->pass->offload == NULL && execution.source.exchange == NULL &&
        execution.sink.exchange == NULL && execution.source.array == execution.sink.array)
        execution.sink.nontemporal = 0;
    return execution;
}

/* Waits for all that has begun in the user's stream. */
static int finish(const struct fftnd__transform *transform) {
    int code = transform->space->event_record(transform->event, transform->options.stream);
    return code == REDIST_OK ? transform->space->event_wait(transform->event) : code;
}

/* A transform from array to array is scaled as a whole. */
static int finish_array(const struct run *run, const struct fftnd__step *step, double scale) {
    const struct fftnd__transform *transform = run->transform;
    int code = REDIST_OK;
    if (scale != 1.0)
        code = transform->library->scale(array_of(run, step), fftnd__step_bytes(transform, step),
                                         transform->precision, scale, transform->options.stream);
    return code == REDIST_OK ? finish(transform) : code;
}

/* The pieces of a step, which were begun already if they arrived by partitions. */
static int run_step(const struct run *run, const struct fftnd__step *step, double scale,
                    double *seconds) {
    struct execution execution = execution_of(run, step);
    const struct fftnd__pass *pass = step->pass;
    int on_arrays = pass->in.in_array && pass->out.in_array;
    execution.begins = !step[-1].by_partitions;
    execution.scale = on_arrays ? 1.0 : scale;
    double begin = MPI_Wtime();
    int code = run_pieces(&execution, seconds);
    if (!on_arrays || execution.sink.exchange != NULL || code != REDIST_OK)
        return code;
    code = finish_array(run, step, scale);
    *seconds = MPI_Wtime() - begin;
    return code;
}

/* Begins each piece of the next transform as soon as its partition has arrived. */
static int receive(const struct run *run, const struct fftnd__step *step, redist_plan *exchange) {
    struct execution execution = execution_of(run, step);
    double seconds = 0;
    execution.ends = 0;
    execution.arriving = exchange;
    return run_pieces(&execution, &seconds);
}

static void open_exchanges(struct run *run, const struct fftnd__step *step) {
    redist_plan *pulled = pulled_before(step), *pushed = pushed_after(step);
    int get = REDIST_OK, put = REDIST_OK;
    if (pulled != NULL)
        get = redist_plan_get_begin(pulled, array_of(run, step - 2));
    if (pushed != NULL)
        put = redist_plan_put_begin(pushed, array_of(run, step + 1));
    note(run, get != REDIST_OK ? get : put);
}

static void close_exchanges(struct run *run, const struct fftnd__step *step) {
    redist_plan *pulled = pulled_before(step), *pushed = pushed_after(step);
    int get = REDIST_OK, put = REDIST_OK;
    if (pulled != NULL)
        get = redist_plan_get_end(pulled);
    if (pushed != NULL)
        put = redist_plan_put_end(pushed);
    note(run, get != REDIST_OK ? get : put);
}

/* A transform with the exchanges that it does; if one is received by partitions, the next transform has begun on
 * return. What is opened is closed, so that peers go on. */
static void run_serial(struct run *run, const struct fftnd__step *step, double scale) {
    double begin = MPI_Wtime(), in_kernels = 0;
    open_exchanges(run, step);
    if (!has_failed(run) && step->pass != NULL)
        note(run, run_step(run, step, scale, &in_kernels));
    if (!has_failed(run) && step[1].by_partitions && step[2].pass != NULL)
        note(run, receive(run, step + 2, step[1].exchange));
    run->serial_seconds += run->program->fused ? in_kernels : MPI_Wtime() - begin;
    close_exchanges(run, step);
}

static void run_exchange(struct run *run, const struct fftnd__step *step) {
    note(run, redist_plan_execute_arrays(step->exchange, REDIST_FORWARD, array_of(run, step - 1),
                                         array_of(run, step)));
}

/* After a failure the device may still be at work on the arrays. */
static void drain(const struct fftnd__transform *transform) {
    if (finish(transform) != REDIST_OK)
        (void)finish(transform);
}

void fftnd__execute(const struct fftnd__program *program, const struct fftnd__transform *transform,
                    void *const buffers[], double scale, double seconds[2],
                    struct fftnd__failure *failure) {
    struct run run = {program, transform, buffers, failure, 0};
    double begin = MPI_Wtime();
    int last = fftnd__last_serial(program);
    note(&run, failure->code);
    for (int i = 1; i <= program->nsteps; i++) {
        const struct fftnd__step *step = &program->steps[i];
        if (step->type != FFTND__EXCHANGE)
            run_serial(&run, step, i == last ? scale : 1.0);
        else if (step->fused_with == FFTND__UNFUSED)
            run_exchange(&run, step);
    }
    if (has_failed(&run))
        drain(transform);
    seconds[0] += run.serial_seconds;
    seconds[1] += MPI_Wtime() - begin - run.serial_seconds;
}
