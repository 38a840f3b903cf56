/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchanges.h"

static MPI_Datatype element_type(const struct fftnd__transform *transform, int real) {
    if (transform->precision == FFTND_DOUBLE)
        return real ? MPI_DOUBLE : MPI_C_DOUBLE_COMPLEX;
    return real ? MPI_FLOAT : MPI_C_FLOAT_COMPLEX;
}

/* An array of an exchange. */
struct array {
    void *data;
    enum redist_binding binding;
};

/* Peers have to know work arrays when the plan is made; the user's come with each execution. */
static struct array array_of(const struct fftnd__transform *transform, int buffer,
                             void *const work[2]) {
    if (buffer >= FFTND__WORK0)
        return (struct array){work[buffer - FFTND__WORK0], REDIST_BIND_AT_PLAN};
    return (struct array){NULL, transform->options.mapped_arrays ? REDIST_BIND_AT_EXECUTION_MAPPED
                                                                 : REDIST_BIND_AT_EXECUTION};
}

static redist_options exchange_options(const struct fftnd__transform *transform) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    int measures = transform->options.effort != FFTND_ESTIMATE && transform->offload == NULL;
    options.method = transform->options.method;
    options.wisdom_file = transform->options.wisdom_file;
    options.verbose = transform->options.verbose;
    options.effort = measures ? REDIST_MEASURE : REDIST_ESTIMATE;
    options.tune_seconds = transform->options.plan_seconds / 4;
    options.skip_agreement = 1; /* fftnd_forward and fftnd_backward have asked all ranks */
    options.nontemporal_bytes = transform->configuration.nontemporal_bytes;
    options.space = transform->library->space;
    options.stream = transform->options.stream;
    options.concurrent = transform->options.threads > 1;
    options.staging = transform->options.staging;
    options.phases = transform->options.phases;
    options.asynchronous = transform->options.asynchronous;
    options.wait_seconds = transform->options.wait_seconds;
    return options;
}

/* Of an array axis, without padding. */
static redist_index count_of(const struct fftnd__transform *transform,
                             const struct fftnd__step *step, int axis) {
    return axis == transform->batch.axis ? transform->batch.count
                                         : step->alignment.count[axis - transform->batch.shift];
}

/* The box of the array after a step among those that take part in its exchange, its axes as they lie in memory:
 * along an axis on which these do not differ all of them have the whole. */
static redist_box box_of(const struct fftnd__transform *transform, const struct fftnd__step *step,
                         const int differs[], redist_index sizes[]) {
    redist_box box = REDIST_BOX_DEFAULT;
    for (int i = 0; i < step->local.ndims; i++) {
        int axis = step->local.order[i];
        box.count[i] = sizes[i] = count_of(transform, step, axis);
        box.extent[i] = step->local.extent[axis];
        if (differs[axis]) {
            box.start[i] = step->alignment.start[axis - transform->batch.shift];
            sizes[i] = step->alignment.size[axis - transform->batch.shift];
        }
    }
    return box;
}

/* The axes along which those who take part have different elements; an empty box of one of them is no reason for
 * empty sizes. */
static void find_differing(const struct fftnd__transform *transform, const struct fftnd__step *step,
                           int differs[]) {
    for (int axis = 0; axis < step->local.ndims; axis++)
        differs[axis] =
            axis != transform->batch.axis &&
            (step->grid_dim < 0 || axis == step->axis_source || axis == step->axis_destination);
}

static int plan_boxes(MPI_Comm comm, struct fftnd__step *step,
                      const struct fftnd__transform *transform, void *source, void *destination,
                      const redist_options *options) {
    redist_index sizes[REDIST_MAX_NDIMS];
    int differs[REDIST_MAX_NDIMS];
    find_differing(transform, step, differs);
    redist_box box_a = box_of(transform, step - 1, differs, sizes);
    redist_box box_b = box_of(transform, step, differs, sizes);
    return redist_plan_boxes(comm, element_type(transform, step->real), step->local.ndims, sizes,
                             &box_a, source, &box_b, destination, options, &step->exchange);
}

/* An exchange takes the axes as they lie in memory: extents in that order. */
static void list_extents(const struct fftnd__local *local, redist_index extents[]) {
    for (int i = 0; i < local->ndims; i++)
        extents[i] = local->extent[local->order[i]];
}

/* The position of an axis in that order. */
static int find_position(const struct fftnd__local *local, int axis) {
    int position = 0;
    while (local->order[position] != axis)
        position++;
    return position;
}

static int is_padded(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    for (int axis = 0; axis < step->local.ndims; axis++)
        if (step->local.extent[axis] != count_of(transform, step, axis))
            return 1;
    return 0;
}

/* Balanced blocks of arrays that are not padded. */
static int is_regular(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return transform->chain.balanced && !is_padded(transform, step - 1) &&
           !is_padded(transform, step);
}

/* Collective on the ranks that take part in it. */
static int plan_exchange(struct fftnd__step *step, const struct fftnd__transform *transform,
                         const struct array *source, const struct array *destination) {
    static const enum redist_tiles tiles[] = {[FFTND__UNFUSED] = REDIST_WHOLE,
                                              [FFTND__PUSHED] = REDIST_PUT,
                                              [FFTND__PULLED] = REDIST_GET};
    const struct fftnd__local *before = &step[-1].local, *after = &step->local;
    redist_options options = exchange_options(transform);
    options.bind_a = source->binding;
    options.bind_b = destination->binding;
    options.tiles = tiles[step->fused_with];
    if (step->by_partitions) {
        options.partitions = transform->configuration.partitions;
        options.partition_axis = find_position(after, step[1].cut);
    }
    if (step->grid_dim < 0)
        return plan_boxes(transform->comm, step, transform, source->data, destination->data,
                          &options);
    MPI_Comm subcomm;
    int code = redist_grid_subcomm(transform->grid, step->grid_dim, &subcomm);
    if (code != REDIST_OK)
        return code;
    if (!is_regular(transform, step))
        return plan_boxes(subcomm, step, transform, source->data, destination->data, &options);
    redist_index extents_a[REDIST_MAX_NDIMS], extents_b[REDIST_MAX_NDIMS];
    list_extents(before, extents_a);
    list_extents(after, extents_b);
    return redist_plan_exchange(
        subcomm, element_type(transform, step->real), after->ndims, extents_a, source->data,
        find_position(before, step->axis_source), extents_b, destination->data,
        find_position(after, step->axis_destination), &options, &step->exchange);
}

/* Subgroups plan an exchange by themselves; the ranks of all of them agree before the next step. A method
 * that does not apply to one subgroup does not hide a failure of another. Collective. */
static int agree_on_exchange(const struct fftnd__transform *transform, int code) {
    int fatal = redist_agree(transform->comm, code != REDIST_ERR_METHOD ? code : REDIST_OK);
    return fatal == REDIST_OK ? redist_agree(transform->comm, code) : fatal;
}

/* In segments, and by partitions, where the methods can, else over whole arrays. */
static int plan_step(const struct fftnd__program *program, struct fftnd__step *step,
                     const struct fftnd__transform *transform, void *const work[2]) {
    const struct array destination = array_of(transform, step->buffer, work);
    for (;;) {
        struct array source = array_of(transform, step[-1].buffer, work);
        if (step->fused_with != FFTND__UNFUSED && !program->fused)
            source = (struct array){NULL, REDIST_BIND_AT_EXECUTION};
        int code = plan_exchange(step, transform, &source, &destination);
        code = agree_on_exchange(transform, code);
        if (code != REDIST_ERR_METHOD || program->fused || step->fused_with == FFTND__UNFUSED)
            return code;
        redist_plan_free(&step->exchange);
        if (step->by_partitions)
            step->by_partitions = 0;
        else
            step->fused_with = FFTND__UNFUSED;
    }
}

int fftnd__plan_exchanges(struct fftnd__program *program, const struct fftnd__transform *transform,
                          void *const work[2]) {
    int code = REDIST_OK;
    for (int i = 1; i <= program->nsteps && code == REDIST_OK; i++)
        if (program->steps[i].type == FFTND__EXCHANGE)
            code = plan_step(program, &program->steps[i], transform, work);
    return code;
}

void fftnd__free_exchanges(struct fftnd__program *program) {
    for (int i = 1; i <= program->nsteps; i++)
        redist_plan_free(&program->steps[i].exchange);
}
