/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program: its stages, piece by piece, and its exchanges. */
#include "pieces.h"

/* One execution of a program. */
struct run {
    const struct fftnd__program *program;
    const struct fftnd__transform *transform;
    void *const *buffers;
    const struct fftnd__step *scaled; /* the step whose results are multiplied by program->scale */
    struct fftnd__failure *failure;
    double serial_seconds;
};

/* Keeps the code, with this thread's message, if it is the first one, and breaks the exchanges. */
static void note(struct run *run, int code) {
    fftnd__failure_note(run->failure, code);
    if (code == REDIST_OK)
        return;
    for (int i = 0; i < fftnd__end_of_exchanges(run->program); i++)
        if (run->program->steps[i].exchange != NULL)
            redist_plan_break(run->program->steps[i].exchange, code);
}

void fftnd__query(const struct fftnd__program *program, struct fftnd__failure *failure) {
    struct run run = {.program = program, .failure = failure};
    for (int i = 0; i < fftnd__end_of_exchanges(program); i++)
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

/* Returns this rank's first element of the array after a step. */
static char *elements_of(const struct run *run, const struct fftnd__step *step) {
    return fftnd__elements_of(run->transform, step, array_of(run, step));
}

static struct fftnd__terminal terminal_of(const struct run *run, const struct fftnd__step *step) {
    struct fftnd__terminal terminal = {.array = elements_of(run, step),
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

/* Scaling is left to the exchange's end where segments are pushed before the last one is done: on all ranks, also those
 * that had nothing to transform. */
static int is_scaled_behind(const struct run *run, const struct fftnd__step *step) {
    return step == run->scaled && pushed_after(step) != NULL && !run->program->fused;
}

static struct fftnd__execution execution_of(const struct run *run, const struct fftnd__step *step) {
    int scales = step == run->scaled && !is_scaled_behind(run, step);
    struct fftnd__execution execution = {.transform = run->transform,
                                         .step = step,
                                         .source = terminal_of(run, fftnd__previous(step)),
                                         .sink = terminal_of(run, step),
                                         .scale = scales ? run->program->scale : 1,
                                         .begins = 1,
                                         .ends = 1};
    execution.source.exchange = pulled_before(step);
    execution.sink.exchange = pushed_after(step);
    return execution;
}

/* Opens the exchange behind a step. Where its pieces have begun by partitions, they go on while peers write to the next
 * array, unless that is the one that they read. */
static int open_pushed(const struct run *run, const struct fftnd__step *step, redist_plan *pushed) {
    void *source = array_of(run, fftnd__previous(step)), *next = array_of(run, fftnd__next(step));
    return fftnd__previous(step)->by_partitions && step->stage != NULL && next != source
               ? redist_plan_put_begin_behind(pushed, next, run->transform->begun)
               : redist_plan_put_begin(pushed, next);
}

/* Opens the exchanges that the transform of a step does, or closes them. */
static void switch_exchanges(struct run *run, const struct fftnd__step *step, int opens) {
    redist_plan *pulled = pulled_before(step), *pushed = pushed_after(step);
    int get = REDIST_OK, put = REDIST_OK;
    if (pulled != NULL)
        get = opens ? redist_plan_get_begin(pulled, array_of(run, step - 2))
                    : redist_plan_get_end(pulled);
    if (pushed != NULL)
        put = opens ? open_pushed(run, step, pushed) : redist_plan_put_end(pushed);
    note(run, get != REDIST_OK ? get : put);
}

/* Begins each piece of the transform behind an exchange as soon as its partition has arrived. */
static void begin_by_partitions(struct run *run, const struct fftnd__step *exchange) {
    const struct fftnd__step *step = fftnd__next(exchange);
    if (has_failed(run) || !exchange->by_partitions || step->stage == NULL)
        return;
    struct fftnd__execution execution = execution_of(run, step);
    execution.ends = 0;
    execution.arriving = exchange->exchange;
    if (run->transform->begun != NULL)
        note(run, run->transform->space->event_record(run->transform->begun,
                                                      run->transform->settings.stream));
    if (!has_failed(run))
        note(run, fftnd__run_stage(&execution));
}

/* A transform with the exchanges that it does. What is opened is closed, so that peers go on. */
static void transform_axes(struct run *run, const struct fftnd__step *step) {
    double begin = MPI_Wtime(), in_kernels = 0;
    switch_exchanges(run, step, 1);
    if (!has_failed(run) && step->stage != NULL) {
        struct fftnd__execution execution = execution_of(run, step);
        execution.begins = !fftnd__previous(step)->by_partitions;
        note(run, fftnd__run_stage(&execution));
        in_kernels = execution.seconds;
    }
    begin_by_partitions(run, fftnd__next(step));
    run->serial_seconds += run->program->fused ? in_kernels : MPI_Wtime() - begin;
    switch_exchanges(run, step, 0);
    if (!has_failed(run) && is_scaled_behind(run, step))
        note(run, fftnd__finish_array(run->transform, fftnd__next(step),
                                      elements_of(run, fftnd__next(step)), run->program->scale));
}

/* An exchange of whole arrays, unless a transform beside it does it, or this rank has no part in it. */
static void exchange_axes(struct run *run, const struct fftnd__step *step) {
    if (step->fused_with != FFTND__UNFUSED || step->exchange == NULL)
        return;
    void *before = array_of(run, fftnd__previous(step)), *after = array_of(run, step);
    note(run, step->adds_ghosts
                  ? redist_plan_execute_arrays(step->exchange, REDIST_BACKWARD, after, before)
                  : redist_plan_execute_arrays(step->exchange, REDIST_FORWARD, before, after));
}

/* The exchange of the ghosts alone in an array; NULL = there is none. */
static void exchange_ghosts(struct run *run, redist_plan *exchange, int direction, void *array) {
    if (exchange != NULL)
        note(run, redist_plan_execute_arrays(exchange, direction, array, array));
}

/* A copy of all bytes of the input, in which ghosts are added then. */
static void copy_input(struct run *run, const struct fftnd__step *step) {
    static const ptrdiff_t stride[1] = {1};
    const redist_index bytes[1] = {(redist_index)fftnd__step_bytes(run->transform, step)};
    if (!has_failed(run) && bytes[0] != 0)
        note(run, redist_copy_box_in(run->transform->space->id, run->transform->settings.stream, 1,
                                     bytes, 1, array_of(run, fftnd__previous(step)), stride,
                                     array_of(run, step), stride));
    exchange_ghosts(run, step->exchange, REDIST_ACCUMULATE, array_of(run, step));
}

/* For profilers. */
static const char *name_of(const struct fftnd__step *step) {
    if (step->type == FFTND__EXCHANGE)
        return "fftnd exchange";
    if (step->type == FFTND__COPIES_INPUT)
        return "fftnd copy";
    return fftnd__next(step)->fused_with == FFTND__PUSHED ? "fftnd transform and exchange"
                                                          : "fftnd transform";
}

/* After a failure the device may still be at work on the arrays, but not with what is captured. */
static void drain(const struct fftnd__transform *transform) {
    const redist__space *space = transform->space;
    if (space->find_capture != NULL &&
        space->find_capture(transform->settings.stream) != REDIST_NOT_CAPTURED)
        return;
    if (fftnd__finish(transform) != REDIST_OK)
        (void)fftnd__finish(transform);
}

/* The chain of Dalcin, Mortensen and Keyes, sections 3.3 to 3.6. With slabs the axes that are whole are transformed; an
 * exchange makes whole the one that was split; that is transformed. With pencils and grids of more dimensions the same
 * happens again for each dimension of the grid. */
void fftnd__execute(const struct fftnd__program *program, const struct fftnd__transform *transform,
                    void *const buffers[], double seconds[2], struct fftnd__failure *failure) {
    const struct fftnd__step *first = &program->steps[1], *last = &program->steps[program->nsteps];
    const struct fftnd__step *scaled = &program->steps[fftnd__last_serial(program)];
    struct run run = {program, transform, buffers, scaled, failure, 0};
    double begin = MPI_Wtime();
    note(&run, failure->code);
    exchange_ghosts(&run, first[-1].exchange, REDIST_ACCUMULATE, buffers[FFTND__INPUT]);
    for (const struct fftnd__step *step = first; step <= last; step = fftnd__next(step)) {
        redist_range_begin(name_of(step));
        if (step->type == FFTND__EXCHANGE)
            exchange_axes(&run, step);
        else if (step->type == FFTND__COPIES_INPUT)
            copy_input(&run, step);
        else
            transform_axes(&run, step);
        redist_range_end();
    }
    exchange_ghosts(&run, fftnd__next(last)->exchange, REDIST_FILL, buffers[FFTND__OUTPUT]);
    if (has_failed(&run))
        drain(transform);
    seconds[0] += run.serial_seconds;
    seconds[1] += MPI_Wtime() - begin - run.serial_seconds;
}
