/* SPDX-License-Identifier: BSD-3-Clause */
#include "executor.h"
#include "../kernels/runs.h"
#include "pieces.h"

/* One execution of a program. */
struct run {
    const struct fftnd__program *program;
    const struct fftnd__transform *transform;
    void *const *buffers;
    const struct fftnd__step *scaled; /* the step whose results are multiplied with `scale` */
    long double scale;
    struct fftnd__failure *failure;
    double serial_seconds;
};

/* Keeps the code, with this thread's message, if it is the first one, and breaks the exchanges. */
static void note(struct run *run, int code) {
    fftnd__failure_note(run->failure, code);
    if (code == REDIST_OK)
        return;
    for (int i = 1; i <= run->program->nsteps; i++)
        if (run->program->steps[i].exchange != NULL)
            redist_plan_break(run->program->steps[i].exchange, code);
}

void fftnd__query(const struct fftnd__program *program, struct fftnd__failure *failure) {
    struct run run = {.program = program, .failure = failure};
    for (int i = 1; i <= program->nsteps; i++)
        if (program->steps[i].exchange != NULL)
            note(&run, redist_plan_query(program->steps[i].exchange));
}

static int has_failed(const struct run *run) {
    return run->failure->code != REDIST_OK;
}

/* The array after a step. */
static void *array_of(const struct run *run, const struct fftnd__step *step) {
    return step->buffer != FFTND__NOWHERE ? run->buffers[step->buffer] : NULL;
}

static struct fftnd__terminal terminal_of(const struct run *run, const struct fftnd__step *step) {
    struct fftnd__terminal terminal = {.array = array_of(run, step),
                                       .order = step->layout->local.order,
                                       .space = run->transform->space->id,
                                       .nontemporal = fftnd__is_nontemporal(run->transform, step)};
    fftnd__byte_strides(run->transform, step, terminal.stride);
    return terminal;
}

static redist_plan *pulled_before(const struct fftnd__step *step) {
    return fftnd__previous(step)->fused_with == FFTND__PULLED ? fftnd__previous(step)->exchange
                                                              : NULL;
}

static redist_plan *pushed_after(const struct fftnd__step *step) {
    return fftnd__next(step)->fused_with == FFTND__PUSHED ? fftnd__next(step)->exchange : NULL;
}

static int is_in_stream(const struct run *run, const struct fftnd__step *step) {
    return step->stage->offload == NULL && run->transform->space->asynchronous;
}

/* An array in which transforms work is scaled as a whole. */
static int is_scaled_whole(const struct run *run, const struct fftnd__step *step) {
    const struct fftnd__stage *stage = step->stage;
    return stage->out.in_array && (stage->in.in_array || is_in_stream(run, step));
}

/* Or behind the exchange, if its segments are pushed before the last one is done: by all ranks, also those that had
 * nothing to transform. */
static int is_scaled_behind(const struct run *run, const struct fftnd__step *step) {
    return step == run->scaled && pushed_after(step) != NULL && !run->program->fused &&
           run->transform->offload == NULL;
}

static long double scale_of(const struct run *run, const struct fftnd__step *step) {
    return step == run->scaled ? run->scale : 1;
}

/* What of its results the last transform stores where the exchange behind it would: that is not open yet where pieces
 * begin as they arrive. */
static void set_stores(const struct fftnd__step *step, struct fftnd__execution *execution) {
    redist_plan *exchange = execution->sink.exchange;
    int stored = step->stage->stores.library != NULL && exchange != NULL
                     ? fftnd__next(step)->direct_stores
                     : FFTND__DIRECT_NONE;
    execution->stores = stored == FFTND__DIRECT_ALL && redist_plan_stores(exchange);
    execution->sink.keeps = stored == FFTND__DIRECT_LOCAL &&
                            !fftnd__previous(step)->by_partitions && redist_plan_keeps(exchange);
}

/* What was loaded from where a piece is stored is still in the caches. */
static struct fftnd__execution execution_of(const struct run *run, const struct fftnd__step *step) {
    struct fftnd__execution execution = {
        .stage = step->stage,
        .transform = run->transform,
        .source = terminal_of(run, fftnd__previous(step)),
        .sink = terminal_of(run, step),
        .scale =
            is_scaled_whole(run, step) || is_scaled_behind(run, step) ? 1 : scale_of(run, step),
        .begins = 1,
        .ends = 1};
    execution.source.exchange = pulled_before(step);
    execution.sink.exchange = pushed_after(step);
    set_stores(step, &execution);
    if (step->stage->offload == NULL && execution.source.exchange == NULL &&
        execution.sink.exchange == NULL && execution.source.array == execution.sink.array)
        execution.sink.nontemporal = 0;
    return execution;
}

/* Waits for all that has begun in the user's stream. */
static int finish(const struct fftnd__transform *transform) {
    int code = transform->space->event_record(transform->event, transform->options.stream);
    return code == REDIST_OK ? transform->space->event_wait(transform->event) : code;
}

/* An array that transforms write is scaled as a whole, and what is in a stream is waited for. */
static int finish_array(const struct run *run, const struct fftnd__step *step, long double scale) {
    const struct fftnd__transform *transform = run->transform;
    int code = REDIST_OK;
    if (scale != 1.0) {
        ptrdiff_t stride[REDIST_MAX_NDIMS];
        const struct fftnd__block block =
            fftnd__block_of_array(transform, step, array_of(run, step), stride);
        code = fftnd__scale_block(&block, scale);
    }
    return code == REDIST_OK && !transform->options.asynchronous ? finish(transform) : code;
}

/* The pieces of a step, which were begun already if they arrived by partitions. */
static int run_step(const struct run *run, const struct fftnd__step *step, double *seconds) {
    struct fftnd__execution execution = execution_of(run, step);
    int whole = is_scaled_whole(run, step);
    execution.begins = !fftnd__previous(step)->by_partitions;
    double begin = MPI_Wtime();
    int code = fftnd__run_pieces(&execution, seconds);
    if (code != REDIST_OK || pushed_after(step) != NULL || !(whole || is_in_stream(run, step)))
        return code;
    code = finish_array(run, step, whole ? scale_of(run, step) : 1);
    *seconds = MPI_Wtime() - begin;
    return code;
}

/* Begins each piece of the next transform as soon as its partition has arrived. */
static int receive(const struct run *run, const struct fftnd__step *step, redist_plan *exchange) {
    struct fftnd__execution execution = execution_of(run, step);
    double seconds = 0;
    execution.ends = 0;
    execution.arriving = exchange;
    execution.arrival_axis = step->arrival_axis;
    return fftnd__run_pieces(&execution, &seconds);
}

/* Opens those that the transform of a step does, or closes them. */
static void switch_exchanges(struct run *run, const struct fftnd__step *step, int opens) {
    redist_plan *pulled = pulled_before(step), *pushed = pushed_after(step);
    int get = REDIST_OK, put = REDIST_OK;
    if (pulled != NULL)
        get = opens ? redist_plan_get_begin(pulled, array_of(run, step - 2))
                    : redist_plan_get_end(pulled);
    if (pushed != NULL)
        put = opens ? redist_plan_put_begin(pushed, array_of(run, fftnd__next(step)))
                    : redist_plan_put_end(pushed);
    note(run, get != REDIST_OK ? get : put);
}

/* A transform with the exchanges that it does; if one is received by partitions, the next transform has begun on
 * return. What is opened is closed, so that peers go on. */
static void run_serial(struct run *run, const struct fftnd__step *step) {
    double begin = MPI_Wtime(), in_kernels = 0;
    switch_exchanges(run, step, 1);
    if (!has_failed(run) && step->stage != NULL)
        note(run, run_step(run, step, &in_kernels));
    if (!has_failed(run) && fftnd__next(step)->by_partitions && fftnd__next(step)[1].stage != NULL)
        note(run, receive(run, step + 2, fftnd__next(step)->exchange));
    run->serial_seconds += run->program->fused ? in_kernels : MPI_Wtime() - begin;
    switch_exchanges(run, step, 0);
    if (!has_failed(run) && is_scaled_behind(run, step))
        note(run, finish_array(run, fftnd__next(step), run->scale));
}

static void run_exchange(struct run *run, const struct fftnd__step *step) {
    note(run,
         redist_plan_execute_arrays(step->exchange, REDIST_FORWARD,
                                    array_of(run, fftnd__previous(step)), array_of(run, step)));
}

/* For profilers. */
static const char *name_of(const struct fftnd__step *step) {
    if (step->type == FFTND__EXCHANGE)
        return "fftnd exchange";
    return fftnd__next(step)->fused_with == FFTND__PUSHED ? "fftnd transform and exchange"
                                                          : "fftnd transform";
}

/* After a failure the device may still be at work on the arrays, but not with what is captured. */
static void drain(const struct fftnd__transform *transform) {
    const redist__space *space = transform->space;
    if (space->find_capture != NULL &&
        space->find_capture(transform->options.stream) != REDIST_NOT_CAPTURED)
        return;
    if (finish(transform) != REDIST_OK)
        (void)finish(transform);
}

void fftnd__execute(const struct fftnd__program *program, const struct fftnd__transform *transform,
                    void *const buffers[], long double scale, double seconds[2],
                    struct fftnd__failure *failure) {
    const struct fftnd__step *last = &program->steps[fftnd__last_serial(program)];
    struct run run = {program, transform, buffers, last, scale, failure, 0};
    double begin = MPI_Wtime();
    note(&run, failure->code);
    for (int i = 1; i <= program->nsteps; i++) {
        const struct fftnd__step *step = &program->steps[i];
        redist_range_begin(name_of(step));
        if (step->type != FFTND__EXCHANGE)
            run_serial(&run, step);
        else if (step->fused_with == FFTND__UNFUSED)
            run_exchange(&run, step);
        redist_range_end();
    }
    if (has_failed(&run))
        drain(transform);
    seconds[0] += run.serial_seconds;
    seconds[1] += MPI_Wtime() - begin - run.serial_seconds;
}
