/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a transform, one after the other over whole arrays: plans and runs them. */
#include "pipeline.h"

/* ---------------------------------------------------------------- serial transforms */

static int is_in_place(const struct fftnd__step *step, const struct fftnd__transform *transform) {
    return step->hop.source == step->hop.destination ||
           (transform->options.in_place && step->hop.source <= FFTND__OUTPUT &&
            step->hop.destination <= FFTND__OUTPUT);
}

int fftnd__plan_whole(const struct fftnd__step *before, struct fftnd__step *step,
                      const struct fftnd__transform *transform, int direction,
                      void *const scratch[2]) {
    struct fftnd__serial_problem problem;
    fftnd__describe_serial(transform, before, step, direction, &before->local, &step->local,
                           &problem);
    problem.keep_input = before->real != step->real && step->hop.source == FFTND__INPUT &&
                         !transform->options.in_place && !transform->options.overwrite_input;
    problem.team = transform->team;
    return transform->library->create(&problem, scratch[0],
                                      scratch[is_in_place(step, transform) ? 0 : 1], &step->serial);
}

static struct fftnd__cut cut_of(const struct fftnd__step *step,
                                const struct fftnd__transform *transform) {
    return (struct fftnd__cut){transform->choice.tile_bytes, 1, 1,
                               !fftnd__is_streamed(transform, step)};
}

/* Tiles that leave threads idle are worse than the serial library's own threads. */
static int is_coarse(const struct fftnd__step *before, const struct fftnd__step *step,
                     const struct fftnd__transform *transform, int direction) {
    struct fftnd__tiling tiling;
    const struct fftnd__cut cut = cut_of(step, transform);
    fftnd__tiling_shape(&tiling, transform, before, step, direction, &cut);
    return fftnd__tiling_is_coarse(&tiling, transform);
}

static int plan_tiles(const struct fftnd__step *before, struct fftnd__step *step,
                      const struct fftnd__transform *transform, int direction) {
    const struct fftnd__cut cut = cut_of(step, transform);
    step->tiling = redist_calloc(1, sizeof *step->tiling);
    if (step->tiling == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a loop over tiles");
    return fftnd__tiling_create(step->tiling, transform, before, step, direction, &cut);
}

static int plan_chunks(const struct fftnd__step *before, struct fftnd__step *step,
                       const struct fftnd__transform *transform, int direction,
                       void *const scratch[2]) {
    step->chunks = redist_calloc(1, sizeof *step->chunks);
    if (step->chunks == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for chunks");
    return fftnd__chunks_create(step->chunks, transform, before, step, direction, scratch[0],
                                scratch[is_in_place(step, transform) ? 0 : 1]);
}

static int plan_serial(const struct fftnd__step *before, struct fftnd__step *step,
                       const struct fftnd__transform *transform, int direction,
                       void *const scratch[2]) {
    if (step->local.elements == 0 || before->local.elements == 0)
        return REDIST_OK;
    if (step[1].joined || before->pieced)
        return plan_chunks(before, step, transform, direction, scratch);
    if (step->truncates || (transform->offload != NULL && step->naxes > 0) ||
        (transform->choice.tiled && step->naxes > 0 &&
         !is_coarse(before, step, transform, direction)))
        return plan_tiles(before, step, transform, direction);
    return fftnd__plan_whole(before, step, transform, direction, scratch);
}

int fftnd__pipeline_plan_serial(struct fftnd__pipeline *pipeline,
                                const struct fftnd__transform *transform, void *const scratch[2]) {
    int code = REDIST_OK;
    for (int i = 1; i <= pipeline->nsteps && code == REDIST_OK; i++)
        if (pipeline->steps[i].hop.type != FFTND__EXCHANGE)
            code = plan_serial(&pipeline->steps[i - 1], &pipeline->steps[i], transform,
                               pipeline->direction, scratch);
    return code;
}

/* ---------------------------------------------------------------- exchanges */

static MPI_Datatype element_type(const struct fftnd__transform *transform, int real) {
    if (transform->precision == FFTND_DOUBLE)
        return real ? MPI_DOUBLE : MPI_C_DOUBLE_COMPLEX;
    return real ? MPI_FLOAT : MPI_C_FLOAT_COMPLEX;
}

static redist_options exchange_options(const struct fftnd__transform *transform,
                                       const struct fftnd__place *source,
                                       const struct fftnd__place *destination,
                                       enum redist_tiles tiles) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = transform->options.method;
    options.wisdom_file = transform->options.wisdom_file;
    options.verbose = transform->options.verbose;
    int measures = transform->options.effort != FFTND_ESTIMATE && transform->offload == NULL;
    options.effort = measures ? REDIST_MEASURE : REDIST_ESTIMATE;
    options.bind_a = source->later;
    options.bind_b = destination->later;
    options.skip_agreement = 1; /* fftnd_forward and fftnd_backward have asked all ranks */
    options.tiles = tiles;
    options.nontemporal_bytes = transform->choice.nontemporal_bytes;
    options.space = transform->library->space;
    options.stream = transform->options.stream;
    options.concurrent = transform->options.threads > 1;
    options.staging = transform->options.staging;
    options.phases = transform->options.phases;
    return options;
}

struct fftnd__place fftnd__place_of(const struct fftnd__transform *transform, int buffer,
                                    void *const work[2]) {
    if (buffer >= FFTND__WORK0)
        return (struct fftnd__place){work[buffer - FFTND__WORK0], REDIST_BIND_AT_PLAN};
    return (struct fftnd__place){NULL, transform->options.mapped_arrays
                                           ? REDIST_BIND_AT_EXECUTION_MAPPED
                                           : REDIST_BIND_AT_EXECUTION};
}

/* The box of an array with its batch. */
static redist_box batched_box(const struct fftnd__alignment *alignment,
                              const struct fftnd__transform *transform, int sizes[]) {
    const struct fftnd__batch *batch = &transform->batch;
    redist_box box = {0};
    for (int axis = 0; axis < transform->chain.ndims; axis++) {
        box.start[axis + batch->shift] = alignment->start[axis];
        box.count[axis + batch->shift] = alignment->count[axis];
        sizes[axis + batch->shift] = alignment->size[axis];
    }
    if (batch->axis >= 0)
        sizes[batch->axis] = box.count[batch->axis] = batch->count;
    return box;
}

static int plan_boxes(struct fftnd__step *step, const struct fftnd__step *before,
                      const struct fftnd__transform *transform, void *source, void *destination,
                      const redist_options *options) {
    int sizes[REDIST_MAX_NDIMS];
    redist_box box_a = batched_box(&before->alignment, transform, sizes);
    redist_box box_b = batched_box(&step->alignment, transform, sizes);
    return redist_plan_boxes(transform->comm, element_type(transform, step->real),
                             step->local.ndims, sizes, &box_a, source, &box_b, destination, options,
                             &step->exchange);
}

/* An exchange takes the axes as they lie in memory: extents in that order. */
static void list_extents(const struct fftnd__local *local, int extents[]) {
    for (int i = 0; i < local->ndims; i++)
        extents[i] = local->extent[local->order[i]];
}

/* The place of an axis in that order. */
static int find_place(const struct fftnd__local *local, int axis) {
    int place = 0;
    while (local->order[place] != axis)
        place++;
    return place;
}

int fftnd__plan_exchange(struct fftnd__step *step, const struct fftnd__step *before,
                         const struct fftnd__transform *transform, struct fftnd__place source,
                         struct fftnd__place destination, enum redist_tiles tiles) {
    redist_options options = exchange_options(transform, &source, &destination, tiles);
    if (tiles == REDIST_PUT && step->pieced) {
        options.partitions = transform->choice.pieces;
        options.partition_axis = find_place(&step->local, step[1].cut);
    }
    if (step->grid_dim < 0)
        return plan_boxes(step, before, transform, source.array, destination.array, &options);
    MPI_Comm subcomm;
    int code = redist_grid_subcomm(transform->grid, step->grid_dim, &subcomm);
    if (code != REDIST_OK)
        return code;
    int extents_a[REDIST_MAX_NDIMS], extents_b[REDIST_MAX_NDIMS];
    list_extents(&before->local, extents_a);
    list_extents(&step->local, extents_b);
    return redist_plan_exchange(
        subcomm, element_type(transform, step->real), step->local.ndims, extents_a, source.array,
        find_place(&before->local, step->axis_source), extents_b, destination.array,
        find_place(&step->local, step->axis_destination), &options, &step->exchange);
}

int fftnd__agree_on_exchange(const struct fftnd__transform *transform, int code) {
    int fatal = redist_agree(transform->comm, code != REDIST_ERR_METHOD ? code : REDIST_OK);
    return fatal == REDIST_OK ? redist_agree(transform->comm, code) : fatal;
}

/* By chunks, and in pieces, where the methods can, else over whole arrays. */
static int plan_exchange(struct fftnd__step *step, const struct fftnd__step *before,
                         const struct fftnd__transform *transform, void *const work[2]) {
    const struct fftnd__place source = fftnd__place_of(transform, step->hop.source, work);
    const struct fftnd__place destination = fftnd__place_of(transform, step->hop.destination, work);
    const struct fftnd__place later = {NULL, REDIST_BIND_AT_EXECUTION};
    while (step->joined) {
        int code = fftnd__plan_exchange(step, before, transform, later, destination, REDIST_PUT);
        code = fftnd__agree_on_exchange(transform, code);
        if (code != REDIST_ERR_METHOD)
            return code;
        redist_plan_free(&step->exchange);
        *(step->pieced ? &step->pieced : &step->joined) = 0;
    }
    int code = fftnd__plan_exchange(step, before, transform, source, destination, REDIST_WHOLE);
    return redist_agree(transform->comm, code);
}

int fftnd__pipeline_plan_exchanges(struct fftnd__pipeline *pipeline,
                                   const struct fftnd__transform *transform, void *const work[2]) {
    int code = REDIST_OK;
    for (int i = 1; i <= pipeline->nsteps && code == REDIST_OK; i++) {
        struct fftnd__step *step = &pipeline->steps[i];
        if (step->hop.type == FFTND__EXCHANGE)
            code = plan_exchange(step, &pipeline->steps[i - 1], transform, work);
    }
    return code;
}

void fftnd__pipeline_free_exchanges(struct fftnd__pipeline *pipeline) {
    for (int i = 1; i <= pipeline->nsteps; i++)
        redist_plan_free(&pipeline->steps[i].exchange);
}

/* ---------------------------------------------------------------- running */

size_t fftnd__pipeline_bytes(const struct fftnd__pipeline *pipeline,
                             const struct fftnd__transform *transform, int buffer) {
    size_t most = 0;
    for (int i = 1; i <= pipeline->nsteps; i++) {
        size_t bytes = fftnd__step_bytes(transform, &pipeline->steps[i]);
        if (pipeline->steps[i].hop.destination == buffer && bytes > most)
            most = bytes;
    }
    return most;
}

static int run_tiles(const struct fftnd__step *before, const struct fftnd__step *step,
                     const struct fftnd__transform *transform, void *source, void *destination,
                     double scale) {
    const struct fftnd__end load = fftnd__end_of(transform, before, source);
    const struct fftnd__end store = fftnd__end_of(transform, step, destination);
    double in_tiles = 0;
    return fftnd__tiling_run(step->tiling, &load, &store, transform->precision, scale, &in_tiles);
}

static int scale_array(const struct fftnd__step *step, const struct fftnd__transform *transform,
                       void *array, double scale) {
    if (scale == 1.0)
        return REDIST_OK;
    return transform->library->scale(array, fftnd__step_bytes(transform, step),
                                     transform->precision, scale, transform->options.stream);
}

int fftnd__run_whole(const struct fftnd__step *step, const struct fftnd__transform *transform,
                     void *source, void *destination, double scale) {
    const struct fftnd__serial *library = transform->library;
    int code = REDIST_OK;
    if (step->chunks != NULL)
        code = fftnd__chunks_run(step->chunks, transform, source, destination, NULL);
    else if (step->serial != NULL)
        code = library->execute(step->serial, source, destination);
    return code == REDIST_OK ? scale_array(step, transform, destination, scale) : code;
}

/* What is left of a transform that has begun. */
static int end_serial(const struct fftnd__step *step, const struct fftnd__transform *transform,
                      void *array, double scale) {
    int code = scale_array(step, transform, array, scale);
    return code == REDIST_OK ? fftnd__finish(transform) : code;
}

static int run_serial(const struct fftnd__step *step, const struct fftnd__transform *transform,
                      void *source, void *destination, double scale) {
    if (step->tiling != NULL)
        return run_tiles(step - 1, step, transform, source, destination, scale);
    int code = fftnd__run_whole(step, transform, source, destination, scale);
    return code == REDIST_OK ? fftnd__finish(transform) : code;
}

/* The chunks of a transform, which were begun already if they came in pieces, and then the pieces that come
 * of theirs. */
static int run_chunks(const struct fftnd__step *step, const struct fftnd__transform *transform,
                      void *const buffers[], redist_plan *exchange) {
    const struct fftnd__step *next = &step[2];
    void *source = buffers[step->hop.source], *destination = buffers[step->hop.destination];
    int code = REDIST_OK;
    if (step->chunks != NULL && step[-1].pieced)
        code = fftnd__chunks_put(step->chunks, transform, destination, exchange);
    else if (step->chunks != NULL)
        code = fftnd__chunks_run(step->chunks, transform, source, destination, exchange);
    if (code == REDIST_OK && step[1].pieced && next->chunks != NULL)
        code = fftnd__chunks_receive(next->chunks, transform, buffers[next->hop.source],
                                     buffers[next->hop.destination], exchange);
    return code;
}

/* One execution. */
struct run {
    const struct fftnd__pipeline *pipeline;
    const struct fftnd__transform *transform;
    void *const *buffers;
    struct fftnd__failure *failure;
    double serial_seconds;
};

static void note(struct run *run, int code) {
    fftnd__failure_note(run->failure, run->pipeline, code);
}

static int has_failed(const struct run *run) {
    return run->failure->code != REDIST_OK;
}

/* A transform and the exchange after it; if that is received in pieces, the next transform has begun on
 * return. What is opened is closed, so that peers go on. */
static void run_joined(struct run *run, const struct fftnd__step *step) {
    redist_plan *exchange = step[1].exchange;
    double begin = MPI_Wtime();
    note(run, redist_plan_put_begin(exchange, run->buffers[step[1].hop.destination]));
    if (!has_failed(run))
        note(run, run_chunks(step, run->transform, run->buffers, exchange));
    run->serial_seconds += MPI_Wtime() - begin;
    note(run, redist_plan_put_end(exchange));
}

static void run_alone(struct run *run, const struct fftnd__step *step, double scale) {
    void *source = run->buffers[step->hop.source];
    void *destination = run->buffers[step->hop.destination];
    double begin = MPI_Wtime();
    if (has_failed(run))
        return;
    note(run, step[-1].pieced ? end_serial(step, run->transform, destination, scale)
                              : run_serial(step, run->transform, source, destination, scale));
    run->serial_seconds += MPI_Wtime() - begin;
}

static void run_step(struct run *run, const struct fftnd__step *step, double scale) {
    if (step->joined) /* the step before has done it */
        return;
    if (step->hop.type == FFTND__EXCHANGE)
        note(run, redist_plan_execute_arrays(step->exchange, REDIST_FORWARD,
                                             run->buffers[step->hop.source],
                                             run->buffers[step->hop.destination]));
    else if (step[1].joined)
        run_joined(run, step);
    else
        run_alone(run, step, scale);
}

/* After a failure the device may still be at work on the arrays. */
static void drain(const struct fftnd__transform *transform) {
    if (fftnd__finish(transform) != REDIST_OK)
        (void)fftnd__finish(transform);
}

void fftnd__pipeline_run(const struct fftnd__pipeline *pipeline,
                         const struct fftnd__transform *transform, void *const buffers[],
                         double scale, double seconds[2], struct fftnd__failure *failure) {
    struct run run = {pipeline, transform, buffers, failure, 0};
    double begin = MPI_Wtime();
    int last = fftnd__last_serial(pipeline);
    note(&run, failure->code);
    for (int i = 1; i <= pipeline->nsteps; i++)
        run_step(&run, &pipeline->steps[i], i == last ? scale : 1.0);
    if (has_failed(&run))
        drain(transform);
    seconds[0] += run.serial_seconds;
    seconds[1] += MPI_Wtime() - begin - run.serial_seconds;
}

/* ---------------------------------------------------------------- scratch of the library */

typedef int visitor(const struct fftnd__serial *library, void *serial, void *data);

/* All serial plans of whole arrays. */
static int for_all_serial(const struct fftnd__pipeline *pipeline,
                          const struct fftnd__transform *transform, visitor *visit, void *data) {
    int code = REDIST_OK;
    for (int i = 1; i <= pipeline->nsteps && code == REDIST_OK; i++) {
        const struct fftnd__step *step = &pipeline->steps[i];
        if (step->serial != NULL)
            code = visit(transform->library, step->serial, data);
        for (int j = 0; j < 2 && step->chunks != NULL && code == REDIST_OK; j++)
            if (step->chunks->serial[j] != NULL)
                code = visit(transform->library, step->chunks->serial[j], data);
    }
    return code;
}

static int find_largest(const struct fftnd__serial *library, void *serial, void *data) {
    size_t bytes = library->area_bytes(serial), *most = data;
    *most = bytes > *most ? bytes : *most;
    return REDIST_OK;
}

size_t fftnd__pipeline_area(const struct fftnd__pipeline *pipeline,
                            const struct fftnd__transform *transform) {
    size_t most = 0;
    if (transform->library->area_bytes != NULL)
        (void)for_all_serial(pipeline, transform, find_largest, &most);
    return most;
}

static int set_area(const struct fftnd__serial *library, void *serial, void *area) {
    return library->set_area(serial, area);
}

int fftnd__pipeline_set_area(struct fftnd__pipeline *pipeline,
                             const struct fftnd__transform *transform, void *area) {
    if (transform->library->set_area == NULL)
        return REDIST_OK;
    return for_all_serial(pipeline, transform, set_area, area);
}

void fftnd__pipeline_free(struct fftnd__pipeline *pipeline,
                          const struct fftnd__transform *transform) {
    fftnd__pipeline_free_exchanges(pipeline);
    for (int i = 1; i <= pipeline->nsteps; i++) {
        struct fftnd__step *step = &pipeline->steps[i];
        if (step->serial != NULL)
            transform->library->destroy(step->serial);
        if (step->tiling != NULL)
            fftnd__tiling_free(step->tiling);
        if (step->chunks != NULL)
            fftnd__chunks_free(step->chunks, transform);
        redist_release(step->tiling);
        redist_release(step->chunks);
    }
    pipeline->nsteps = 0;
}
