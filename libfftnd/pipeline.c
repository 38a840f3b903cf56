/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a transform: serial transforms and exchanges, listed, planned and run. */
#include "pipeline.h"

#include <string.h>

/* ---------------------------------------------------------------- arrays between steps */

size_t fftnd__element_bytes(const struct fftnd__transform *transform, int real) {
    size_t bytes = transform->precision == FFTND_DOUBLE ? sizeof(double) : sizeof(float);
    return real ? bytes : 2 * bytes;
}

size_t fftnd__step_bytes(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return step->local.elements * fftnd__element_bytes(transform, step->real);
}

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

/* The real side of an in-place transform is padded to the bytes of the complex side. */
static void set_array(const struct fftnd__transform *transform, struct fftnd__step *step,
                      const struct fftnd__alignment *alignment, int real) {
    int padded = real && transform->kind == FFTND_R2C && transform->options.in_place;
    step->alignment = alignment;
    step->real = real;
    step->local = fftnd__local_of(alignment, transform->chain.ndims, &transform->batch,
                                  padded ? transform->chain.halved : -1);
}

/* ---------------------------------------------------------------- listing steps */

static struct fftnd__step *add_step(struct fftnd__pipeline *pipeline, enum fftnd__step_type type) {
    struct fftnd__step *step = &pipeline->steps[++pipeline->nsteps];
    step->hop = (struct fftnd__hop){.type = type};
    return step;
}

static int has_halved(const struct fftnd__transform *transform, const struct fftnd__stage *stage) {
    return transform->chain.halved >= 0 && stage->axes[stage->naxes - 1] == transform->chain.halved;
}

/* Over axes `first`..`last` - 1 of a stage. */
static void add_serial(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform,
                       const struct fftnd__stage *stage, int first, int last) {
    int backward = pipeline->direction == REDIST_BACKWARD;
    int changes = has_halved(transform, stage) && last == stage->naxes;
    int real = transform->kind == FFTND_R2R || (changes && backward);
    struct fftnd__step *step =
        add_step(pipeline, changes ? FFTND__CHANGES_LAYOUT : FFTND__KEEPS_LAYOUT);
    step->naxes = last - first;
    memcpy(step->axes, stage->axes + first, (size_t)step->naxes * sizeof *step->axes);
    step->hop.ruins_source = changes && backward && step->naxes > 1;
    set_array(transform, step, real && changes ? &transform->chain.physical : &stage->spectral,
              real);
}

/* Leaves the array as it is, but elsewhere. */
static void add_copy(struct fftnd__pipeline *pipeline) {
    const struct fftnd__step *before = &pipeline->steps[pipeline->nsteps];
    struct fftnd__step *step = add_step(pipeline, FFTND__KEEPS_LAYOUT);
    step->alignment = before->alignment;
    step->real = before->real;
    step->local = before->local;
}

/* How a stage with the halved axis is cut when the arrays at hand leave no other way. */
enum cut { WHOLE, HALVED_APART, WITH_COPY };

static void add_stage(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform,
                      const struct fftnd__stage *stage, enum cut cut) {
    int backward = pipeline->direction == REDIST_BACKWARD, others = stage->naxes - 1;
    if (cut == WHOLE || !has_halved(transform, stage)) {
        add_serial(pipeline, transform, stage, 0, stage->naxes);
        return;
    }
    if (cut == WITH_COPY && backward)
        add_copy(pipeline);
    if (others > 0 && backward)
        add_serial(pipeline, transform, stage, 0, others);
    add_serial(pipeline, transform, stage, others, stage->naxes);
    if (others > 0 && !backward)
        add_serial(pipeline, transform, stage, 0, others);
    if (cut == WITH_COPY && !backward)
        add_copy(pipeline);
}

static void add_exchange(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform,
                         const struct fftnd__stage *before, const struct fftnd__stage *after) {
    int backward = pipeline->direction == REDIST_BACKWARD, shift = transform->batch.shift;
    struct fftnd__step *step = add_step(pipeline, FFTND__EXCHANGE);
    step->grid_dim = after->grid_dim;
    step->axis_source = shift + (backward ? after->axis_after : after->axis_before);
    step->axis_destination = shift + (backward ? after->axis_before : after->axis_after);
    set_array(transform, step, backward ? &before->spectral : &after->spectral,
              transform->kind == FFTND_R2R);
}

/* Between the end of the chain and the alignment of its beginning, in one exchange of all ranks. */
static void add_return(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform) {
    const struct fftnd__chain *chain = &transform->chain;
    int last = pipeline->direction == REDIST_BACKWARD ? chain->nstages - 1 : 0;
    if (transform->options.alignment != FFTND_ALIGN_INPUT || chain->nstages == 1)
        return;
    struct fftnd__step *step = add_step(pipeline, FFTND__EXCHANGE);
    step->grid_dim = -1;
    set_array(transform, step, &chain->stages[last].spectral, transform->kind == FFTND_R2R);
}

static const struct fftnd__alignment *spectral_side(const struct fftnd__transform *transform) {
    const struct fftnd__chain *chain = &transform->chain;
    int stage = transform->options.alignment == FFTND_ALIGN_INPUT ? 0 : chain->nstages - 1;
    return &chain->stages[stage].spectral;
}

static void list_steps(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform,
                       enum cut cut) {
    const struct fftnd__chain *chain = &transform->chain;
    int backward = pipeline->direction == REDIST_BACKWARD;
    pipeline->nsteps = 0;
    memset(pipeline->steps, 0, sizeof pipeline->steps);
    set_array(transform, &pipeline->steps[0],
              backward ? spectral_side(transform) : &chain->physical,
              transform->kind == FFTND_R2R || (transform->kind == FFTND_R2C && !backward));
    if (backward)
        add_return(pipeline, transform);
    for (int i = 0; i < chain->nstages; i++) {
        int stage = backward ? chain->nstages - 1 - i : i;
        if (i > 0) {
            int late = backward ? stage + 1 : stage;
            add_exchange(pipeline, transform, &chain->stages[late - 1], &chain->stages[late]);
        }
        add_stage(pipeline, transform, &chain->stages[stage], cut);
    }
    if (!backward)
        add_return(pipeline, transform);
}

/* The last steps that all may run in place may do so in the output. */
static int find_route(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform) {
    struct fftnd__hop hops[FFTND__MOST_HOPS];
    struct fftnd__rules rules = {transform->options.in_place, transform->options.overwrite_input};
    int reaches = 1;
    for (int i = pipeline->nsteps; i >= 1; i--) {
        pipeline->steps[i].hop.reaches_output = reaches;
        reaches = reaches && pipeline->steps[i].hop.type == FFTND__KEEPS_LAYOUT;
    }
    for (int i = 0; i < pipeline->nsteps; i++)
        hops[i] = pipeline->steps[i + 1].hop;
    int found = fftnd__route(pipeline->nsteps, hops, &rules);
    for (int i = 0; i < pipeline->nsteps && found; i++)
        pipeline->steps[i + 1].hop = hops[i];
    return found;
}

static int check_bytes(const struct fftnd__pipeline *pipeline) {
    for (int i = 0; i <= pipeline->nsteps; i++)
        if (pipeline->steps[i].local.elements > FFTND__MOST_ELEMENTS)
            return redist_fail_in("fftnd_plan_create", REDIST_ERR_LIMIT,
                                  "this rank's part of sizes and options->batch has more than %zu "
                                  "elements",
                                  FFTND__MOST_ELEMENTS);
    return REDIST_OK;
}

int fftnd__pipeline_list(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform,
                         int direction) {
    *pipeline = (struct fftnd__pipeline){.direction = direction};
    list_steps(pipeline, transform, WHOLE);
    return check_bytes(pipeline);
}

int fftnd__pipeline_build(struct fftnd__pipeline *pipeline,
                          const struct fftnd__transform *transform, int direction) {
    *pipeline = (struct fftnd__pipeline){.direction = direction};
    for (enum cut cut = WHOLE; cut <= WITH_COPY; cut++) {
        list_steps(pipeline, transform, cut);
        if (find_route(pipeline, transform))
            return check_bytes(pipeline);
    }
    return redist_fail_in("libfftnd", REDIST_ERR_ARGUMENT, "no way through the given arrays");
}

/* ---------------------------------------------------------------- serial transforms */

static int is_axis_of(const struct fftnd__step *step, int axis) {
    for (int i = 0; i < step->naxes; i++)
        if (step->axes[i] == axis)
            return 1;
    return 0;
}

void fftnd__describe_serial(const struct fftnd__transform *transform,
                            const struct fftnd__step *before, const struct fftnd__step *step,
                            int direction, const struct fftnd__local *in,
                            const struct fftnd__local *out, struct fftnd__serial_problem *problem) {
    int changes = before->real != step->real, shift = transform->batch.shift;
    *problem = (struct fftnd__serial_problem){.precision = transform->precision,
                                              .direction = direction,
                                              .effort = transform->options.effort};
    problem->kind = changes ? FFTND_R2C : step->real ? FFTND_R2R : FFTND_C2C;
    for (int i = 0; i < step->naxes; i++) {
        int axis = step->axes[i], at = axis + shift;
        int whole = changes && axis == transform->chain.halved
                        ? transform->chain.physical.count[axis]
                        : step->alignment->count[axis];
        problem->r2r[problem->naxes] = transform->r2r[direction][axis];
        problem->axes[problem->naxes++] =
            (struct fftnd__loop){whole, in->stride[at], out->stride[at]};
    }
    for (int at = 0; at < step->local.ndims; at++)
        if (at == transform->batch.axis || !is_axis_of(step, at - shift))
            problem->loops[problem->nloops++] =
                (struct fftnd__loop){out->extent[at], in->stride[at], out->stride[at]};
}

static int plan_serial(const struct fftnd__step *before, struct fftnd__step *step,
                       const struct fftnd__transform *transform, int direction,
                       void *const scratch[2]) {
    if (step->local.elements == 0 || before->local.elements == 0)
        return REDIST_OK;
    struct fftnd__serial_problem problem;
    fftnd__describe_serial(transform, before, step, direction, &before->local, &step->local,
                           &problem);
    problem.keep_input = before->real != step->real && step->hop.source == FFTND__INPUT &&
                         !transform->options.in_place && !transform->options.overwrite_input;
    int in_place = step->hop.source == step->hop.destination ||
                   (transform->options.in_place && step->hop.source <= FFTND__OUTPUT &&
                    step->hop.destination <= FFTND__OUTPUT);
    return transform->library->create(&problem, scratch[0], scratch[in_place ? 0 : 1],
                                      &step->serial);
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
    options.effort = transform->options.effort == FFTND_ESTIMATE ? REDIST_ESTIMATE : REDIST_MEASURE;
    options.later_a = source->later;
    options.later_b = destination->later;
    options.trusted = 1; /* fftnd_forward and fftnd_backward have asked all ranks */
    options.tiles = tiles;
    return options;
}

static struct fftnd__place place_of(int buffer, void *const work[2]) {
    int is_work = buffer >= FFTND__WORK0;
    return (struct fftnd__place){is_work ? work[buffer - FFTND__WORK0] : NULL, !is_work};
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
    redist_box box_a = batched_box(before->alignment, transform, sizes);
    redist_box box_b = batched_box(step->alignment, transform, sizes);
    return redist_plan_boxes(transform->comm, element_type(transform, step->real),
                             step->local.ndims, sizes, &box_a, source, &box_b, destination, options,
                             &step->exchange);
}

int fftnd__plan_exchange(struct fftnd__step *step, const struct fftnd__step *before,
                         const struct fftnd__transform *transform, struct fftnd__place source,
                         struct fftnd__place destination, enum redist_tiles tiles) {
    redist_options options = exchange_options(transform, &source, &destination, tiles);
    if (step->grid_dim < 0)
        return plan_boxes(step, before, transform, source.array, destination.array, &options);
    MPI_Comm subcomm;
    int code = redist_grid_subcomm(transform->grid, step->grid_dim, &subcomm);
    if (code != REDIST_OK)
        return code;
    return redist_plan_exchange(subcomm, element_type(transform, step->real), step->local.ndims,
                                before->local.extent, source.array, step->axis_source,
                                step->local.extent, destination.array, step->axis_destination,
                                &options, &step->exchange);
}

/* Subgroups plan by themselves; the ranks of all of them agree before the next step. */
int fftnd__pipeline_plan_exchanges(struct fftnd__pipeline *pipeline,
                                   const struct fftnd__transform *transform, void *const work[2]) {
    int code = REDIST_OK;
    for (int i = 1; i <= pipeline->nsteps && code == REDIST_OK; i++) {
        struct fftnd__step *step = &pipeline->steps[i];
        if (step->hop.type != FFTND__EXCHANGE)
            continue;
        code = fftnd__plan_exchange(step, &pipeline->steps[i - 1], transform,
                                    place_of(step->hop.source, work),
                                    place_of(step->hop.destination, work), REDIST_WHOLE);
        code = redist_agree(transform->comm, code);
    }
    return code;
}

void fftnd__pipeline_free_exchanges(struct fftnd__pipeline *pipeline) {
    for (int i = 1; i <= pipeline->nsteps; i++)
        redist_plan_free(&pipeline->steps[i].exchange);
}

/* ---------------------------------------------------------------- running */

void fftnd__scale(void *array, size_t bytes, enum fftnd_precision precision, double factor) {
    if (precision == FFTND_DOUBLE) {
        double *values = array;
        for (size_t i = 0; i < bytes / sizeof *values; i++)
            values[i] *= factor;
    } else {
        float *values = array, single = (float)factor;
        for (size_t i = 0; i < bytes / sizeof *values; i++)
            values[i] *= single;
    }
}

int fftnd__pipeline_run(const struct fftnd__pipeline *pipeline,
                        const struct fftnd__transform *transform, void *const buffers[],
                        double seconds[2]) {
    int code = REDIST_OK;
    double begin = MPI_Wtime();
    for (int i = 1; i <= pipeline->nsteps && code == REDIST_OK; i++) {
        const struct fftnd__step *step = &pipeline->steps[i];
        void *source = buffers[step->hop.source], *destination = buffers[step->hop.destination];
        int exchange = step->hop.type == FFTND__EXCHANGE;
        if (exchange)
            code = redist_plan_execute_arrays(step->exchange, REDIST_FORWARD, source, destination);
        else if (step->serial != NULL)
            code = transform->library->execute(step->serial, source, destination);
        double end = MPI_Wtime();
        seconds[exchange] += end - begin;
        begin = end;
    }
    return code;
}

void fftnd__pipeline_free(struct fftnd__pipeline *pipeline,
                          const struct fftnd__transform *transform) {
    fftnd__pipeline_free_exchanges(pipeline);
    for (int i = 1; i <= pipeline->nsteps; i++)
        if (pipeline->steps[i].serial != NULL)
            transform->library->destroy(pipeline->steps[i].serial);
    pipeline->nsteps = 0;
}
