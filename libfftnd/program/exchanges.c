/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchanges of a program. */
#include "program.h"

MPI_Datatype fftnd__element_type(const struct fftnd__transform *transform, int real) {
    const MPI_Datatype types[][2] = {
        [FFTND_DOUBLE] = {MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE},
        [FFTND_FLOAT] = {MPI_C_FLOAT_COMPLEX, MPI_FLOAT},
        [FFTND_LONG_DOUBLE] = {MPI_C_LONG_DOUBLE_COMPLEX, MPI_LONG_DOUBLE}};
    return types[transform->precision][real];
}

/* Binds an array of an exchange: work arrays when the plan is made, as peers have to know them, the user's at each
 * execution. */
static void *bind(const struct fftnd__transform *transform, int buffer, void *const work[2],
                  enum redist_binding *binding) {
    *binding = buffer >= FFTND__WORK0              ? REDIST_BIND_AT_PLAN
               : transform->settings.mapped_arrays ? REDIST_BIND_AT_EXECUTION_MAPPED
                                                   : REDIST_BIND_AT_EXECUTION;
    return buffer >= FFTND__WORK0 ? work[buffer - FFTND__WORK0] : NULL;
}

static redist_options exchange_options(const struct fftnd__transform *transform) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    int measures =
        transform->settings.effort != FFTND_ESTIMATE && !transform->workplace->copies_tiles;
    options.method = transform->settings.method;
    options.wisdom_file = transform->settings.wisdom_file;
    options.verbose = transform->settings.verbose;
    options.effort = measures ? REDIST_MEASURE : REDIST_ESTIMATE;
    options.tune_seconds = transform->settings.plan_seconds / 4;
    options.skip_agreement = 1; /* fftnd_forward and fftnd_backward have agreed */
    options.nontemporal_bytes = transform->configuration.nontemporal_bytes;
    options.space = transform->library->space;
    options.stream = transform->settings.stream;
    options.concurrent = transform->settings.threads > 1;
    options.staging = transform->settings.staging;
    options.phases = transform->settings.phases;
    options.asynchronous = transform->settings.asynchronous;
    options.wait_seconds = transform->settings.wait_seconds;
    options.wire = transform->settings.wire;
    options.wire_scope =
        (enum redist_wire_scope)((int)transform->settings.wire_scope | REDIST_WIRE_KEPT);
    return options;
}

/* Returns the box of the array after a step, in memory order, and in `sizes` the array of its exchange: along an axis
 * on which boxes do not differ, each is the whole. */
static redist_box box_of(const struct fftnd__transform *transform, const struct fftnd__step *step,
                         const int differs[], redist_index sizes[]) {
    redist_box box = REDIST_BOX_DEFAULT;
    ptrdiff_t offset = step->layout->local.offset;
    for (int i = 0; i < step->layout->local.ndims; i++) {
        int axis = step->layout->local.order[i];
        box.count[i] = sizes[i] = fftnd__count_of(transform, step, axis);
        box.extent[i] = step->layout->local.extent[axis];
        if (offset > 0) { /* in a box that is not empty */
            box.offset[i] = offset / step->layout->local.stride[axis];
            offset %= step->layout->local.stride[axis];
        }
        if (differs[axis]) {
            box.start[i] = step->layout->alignment.start[axis - transform->batch.shift];
            sizes[i] = step->layout->alignment.size[axis - transform->batch.shift];
        }
    }
    return box;
}

/* Finds the axes along which ranks of an exchange may have different elements, also if this rank's box is empty. */
static void find_differing(const struct fftnd__transform *transform, const struct fftnd__step *step,
                           int differs[]) {
    for (int axis = 0; axis < step->layout->local.ndims; axis++)
        differs[axis] =
            axis != transform->batch.axis &&
            (step->grid_dim < 0 || axis == step->axis_source || axis == step->axis_destination);
}

/* Returns the ghosts of an array of the user, in memory order. */
static redist_halo halo_of(const struct fftnd__transform *transform,
                           const struct fftnd__step *array) {
    const redist_halo *ghosts = &transform->room->ghosts;
    redist_halo halo = REDIST_HALO_DEFAULT;
    halo.corners = ghosts->corners;
    for (int i = 0; i < array->layout->local.ndims; i++) {
        int at = array->layout->local.order[i], axis = at - transform->batch.shift;
        if (at == transform->batch.axis)
            continue;
        halo.low[i] = ghosts->low[axis];
        halo.high[i] = ghosts->high[axis];
        halo.periodic[i] = ghosts->periodic[axis];
    }
    return halo;
}

/* Plans an exchange between boxes, which may also fill the ghosts around those that it ends in, or add those around the
 * boxes that it begins in: then it is the way back of one that would fill them. */
static int plan_boxes(MPI_Comm comm, struct fftnd__step *step,
                      const struct fftnd__transform *transform, void *const arrays[2],
                      const redist_options *options) {
    const MPI_Datatype type = fftnd__element_type(transform, step->real);
    int adds = step->adds_ghosts, ndims = step->layout->local.ndims, differs[REDIST_MAX_NDIMS];
    redist_index sizes[REDIST_MAX_NDIMS];
    find_differing(transform, step, differs);
    const redist_box boxes[2] = {box_of(transform, fftnd__previous(step), differs, sizes),
                                 box_of(transform, step, differs, sizes)};
    if (!step->fills_ghosts && !adds)
        return redist_plan_boxes(comm, type, ndims, sizes, &boxes[0], arrays[0], &boxes[1],
                                 arrays[1], options, &step->exchange);
    const redist_halo halo = halo_of(transform, adds ? fftnd__previous(step) : step);
    redist_options own = *options;
    own.overlap = adds ? REDIST_OVERLAP_ADD : REDIST_OVERLAP_READ;
    own.bind_a = adds ? options->bind_b : options->bind_a;
    own.bind_b = adds ? options->bind_a : options->bind_b;
    return redist_plan_boxes_around(comm, type, ndims, sizes, &boxes[adds], arrays[adds],
                                    &boxes[!adds], arrays[!adds], &halo, &own, &step->exchange);
}

/* Plans the exchange of the ghosts alone in an array. Collective. */
static int plan_ghosts(const struct fftnd__transform *transform, const struct fftnd__step *array,
                       enum redist_overlap overlap, void *const work[2], redist_plan **plan) {
    const redist_halo halo = halo_of(transform, array);
    redist_options options = exchange_options(transform);
    redist_index sizes[REDIST_MAX_NDIMS];
    int differs[REDIST_MAX_NDIMS];
    void *memory = bind(transform, array->buffer, work, &options.bind_a);
    options.overlap = overlap;
    for (int axis = 0; axis < array->layout->local.ndims; axis++)
        differs[axis] = axis != transform->batch.axis;
    redist_box box = box_of(transform, array, differs, sizes);
    return redist_plan_halo(transform->comm, fftnd__element_type(transform, array->real),
                            array->layout->local.ndims, sizes, &box, memory, &halo, &options, plan);
}

/* Plans the exchanges of ghosts alone at both ends of a program, unless another one adds or fills them. Collective. */
static int plan_ends(struct fftnd__program *program, const struct fftnd__transform *transform,
                     void *const work[2]) {
    const struct fftnd__room *room = transform->room;
    struct fftnd__step *input = fftnd__accumulated(program),
                       *last = &program->steps[program->nsteps];
    if (room == NULL)
        return REDIST_OK;
    if (room->accumulates && program->direction == FFTND_PHYSICAL &&
        !fftnd__next(input)->adds_ghosts)
        REDIST_TRY(plan_ghosts(transform, input, REDIST_OVERLAP_ADD, work, &input->exchange));
    return room->fills && program->ends == FFTND_PHYSICAL && !last->fills_ghosts
               ? plan_ghosts(transform, last, REDIST_OVERLAP_READ, work,
                             &fftnd__next(last)->exchange)
               : REDIST_OK;
}

/* Lists the extents in memory order, as an exchange takes them. */
static void list_extents(const struct fftnd__local *local, redist_index extents[]) {
    for (int i = 0; i < local->ndims; i++)
        extents[i] = local->extent[local->order[i]];
}

static int is_padded(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    for (int axis = 0; axis < step->layout->local.ndims; axis++)
        if (step->layout->local.extent[axis] != fftnd__count_of(transform, step, axis))
            return 1;
    return 0;
}

/* Returns nonzero for balanced blocks of arrays without padding. */
static int is_regular(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return transform->chain.balanced && !is_padded(transform, fftnd__previous(step)) &&
           !is_padded(transform, step);
}

/* Arrays that arrive in partitions leave in the same pieces. */
int fftnd__segments_of(const struct fftnd__transform *transform, const struct fftnd__step *step,
                       int *axis) {
    int arrives = fftnd__previous(step)->by_partitions;
    *axis = arrives ? step->arrival_axis : step->segment_axis;
    return arrives ? transform->configuration.partitions : transform->configuration.segments;
}

/* Returns the slowest axis along which the tiles of a transform follow each other, the same on all ranks; -1 = none. */
static int find_slowest(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    const redist_index *sizes = step->layout->alignment.size;
    for (int axis = 0; axis < step->layout->local.ndims; axis++) {
        int is_batch = axis == transform->batch.axis, chain_axis = axis - transform->batch.shift;
        if (is_batch ? fftnd__count_of(transform, step, axis) > 1
                     : sizes[chain_axis] > 1 && !fftnd__is_transformed(step, chain_axis))
            return axis;
    }
    return -1;
}

/* Messages of a pushed exchange are cut as the pieces that are put follow each other: those of tiles, of any number,
 * along their slowest axis. */
static void set_segments(const struct fftnd__program *program,
                         const struct fftnd__transform *transform, const struct fftnd__step *step,
                         redist_options *options) {
    const struct fftnd__step *before = fftnd__previous(step);
    int axis = -1, n = 2;
    if (program->fused)
        axis = find_slowest(transform, before);
    else
        n = fftnd__segments_of(transform, before, &axis);
    options->segments = axis >= 0 ? n : 1;
    options->segment_axis = axis >= 0 ? fftnd__place_of(before->layout->local.order, axis) : 0;
}

/* Finds the communicator of an exchange. */
static int find_comm(const struct fftnd__transform *transform, const struct fftnd__step *step,
                     MPI_Comm *comm) {
    *comm = transform->comm;
    return step->grid_dim >= 0 ? redist_grid_subcomm(transform->grid, step->grid_dim, comm)
                               : REDIST_OK;
}

/* Returns nonzero if this rank has no part in an exchange, which is one of the chain's ranks. */
static int is_outside(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return transform->chain.is_outside && step->grid_dim >= 0;
}

/* Collective on the ranks of the exchange. */
static int plan_exchange(const struct fftnd__program *program, struct fftnd__step *step,
                         const struct fftnd__transform *transform, void *const work[2]) {
    static const enum redist_tiles tiles[] = {[FFTND__UNFUSED] = REDIST_WHOLE,
                                              [FFTND__PUSHED] = REDIST_PUT,
                                              [FFTND__PULLED] = REDIST_GET};
    const struct fftnd__local *before = &fftnd__previous(step)->layout->local,
                              *after = &step->layout->local;
    redist_options options = exchange_options(transform);
    void *arrays[2] = {bind(transform, fftnd__previous(step)->buffer, work, &options.bind_a),
                       bind(transform, step->buffer, work, &options.bind_b)};
    if (step->fused_with != FFTND__UNFUSED && !program->fused) {
        options.bind_a = REDIST_BIND_AT_EXECUTION;
        arrays[0] = NULL;
    }
    options.tiles = tiles[step->fused_with];
    if (step->fused_with == FFTND__PUSHED)
        set_segments(program, transform, step, &options);
    if (step->by_partitions) {
        options.partitions = transform->configuration.partitions;
        options.partition_axis = fftnd__place_of(after->order, fftnd__next(step)->arrival_axis);
    }
    MPI_Comm comm;
    if (is_outside(transform, step))
        return REDIST_OK;
    REDIST_TRY(find_comm(transform, step, &comm));
    if (step->grid_dim < 0 || !is_regular(transform, step))
        return plan_boxes(comm, step, transform, arrays, &options);
    redist_index extents_a[REDIST_MAX_NDIMS], extents_b[REDIST_MAX_NDIMS];
    list_extents(before, extents_a);
    list_extents(after, extents_b);
    return redist_plan_exchange(
        comm, fftnd__element_type(transform, step->real), after->ndims, extents_a, arrays[0],
        fftnd__place_of(before->order, step->axis_source), extents_b, arrays[1],
        fftnd__place_of(after->order, step->axis_destination), &options, &step->exchange);
}

/* Agrees on an exchange that each subgroup has planned. A method that does not apply to one subgroup does not hide a
 * failure of another. Collective. */
static int agree_on_exchange(const struct fftnd__transform *transform, int code) {
    int common = 0, heard = redist_all_common(transform->comm, code == REDIST_OK, &common);
    if (heard != REDIST_OK || common)
        return code != REDIST_OK ? code : heard;
    REDIST_TRY(redist_agree(transform->comm, code != REDIST_ERR_METHOD ? code : REDIST_OK));
    return redist_agree(transform->comm, code);
}

/* Partitions must not cost a method its direct stores, which gain more. */
static int check_stores(const struct fftnd__step *step) {
    if (!step->by_partitions || step->direct_stores != FFTND__DIRECT_ALL ||
        step->exchange == NULL || redist_plan_has_direct_stores(step->exchange))
        return REDIST_OK;
    return redist_fail_in("libfftnd", REDIST_ERR_METHOD,
                          "the method has no direct stores with partitions");
}

/* Segments that take turns need a method that says when they are sent. */
static int check_turns(const struct fftnd__step *step) {
    return fftnd__previous(step)->takes_turns && step->exchange != NULL
               ? redist_plan_reuse_tiles(step->exchange)
               : REDIST_OK;
}

/* Returns nonzero if another exchange can do the ghosts of this one: filled in a stream they have no array that peers
 * know. */
static int may_do_without_ghosts(const struct fftnd__step *step,
                                 const struct fftnd__transform *transform) {
    return step->adds_ghosts || (step->fills_ghosts && !transform->settings.asynchronous);
}

/* Plans an exchange in segments and by partitions if the methods can, else over whole arrays. */
static int plan_step(const struct fftnd__program *program, struct fftnd__step *step,
                     const struct fftnd__transform *transform, void *const work[2]) {
    for (;;) {
        int code = plan_exchange(program, step, transform, work);
        code = code == REDIST_OK ? check_stores(step) : code;
        code = agree_on_exchange(transform, code == REDIST_OK ? check_turns(step) : code);
        if (code == REDIST_ERR_METHOD && may_do_without_ghosts(step, transform)) {
            redist_plan_free(&step->exchange);
            step->fills_ghosts = step->adds_ghosts = 0;
            continue;
        }
        if (code != REDIST_ERR_METHOD || program->fused || step->fused_with == FFTND__UNFUSED ||
            fftnd__previous(step)->takes_turns)
            return code;
        redist_plan_free(&step->exchange);
        if (step->by_partitions)
            step->by_partitions = 0;
        else {
            step->fused_with = FFTND__UNFUSED;
            step->direct_stores = FFTND__DIRECT_NONE;
        }
    }
}

/* Returns nonzero for an exchange of all ranks, unless it goes by tiles. */
static int moves_whole_boxes(const struct fftnd__step *step) {
    return step->type == FFTND__EXCHANGE && step->grid_dim < 0 &&
           step->fused_with == FFTND__UNFUSED;
}

/* Has the exchange that begins in the physical side add its ghosts, and the one that ends there fill them. */
static void find_ghosts(struct fftnd__program *program, const struct fftnd__transform *transform) {
    const struct fftnd__room *room = transform->room;
    if (program->nsteps == 0)
        return;
    struct fftnd__step *first = fftnd__next(fftnd__accumulated(program)),
                       *last = &program->steps[program->nsteps];
    first->adds_ghosts = room != NULL && room->accumulates &&
                         program->direction == FFTND_PHYSICAL && moves_whole_boxes(first);
    last->fills_ghosts =
        room != NULL && room->fills && program->ends == FFTND_PHYSICAL && moves_whole_boxes(last);
}

int fftnd__plan_exchanges(struct fftnd__program *program, const struct fftnd__transform *transform,
                          void *const work[2]) {
    find_ghosts(program, transform);
    for (int i = 1; i <= program->nsteps; i++)
        if (program->steps[i].type == FFTND__EXCHANGE)
            REDIST_TRY(plan_step(program, &program->steps[i], transform, work));
    return program->steps != NULL ? plan_ends(program, transform, work) : REDIST_OK;
}

static int check_exchange(const struct fftnd__transform *transform,
                          const struct fftnd__step *step) {
    MPI_Comm comm;
    if (is_outside(transform, step))
        return REDIST_OK;
    REDIST_TRY(find_comm(transform, step, &comm));
    return redist_check_asynchronous(comm, transform->space->id);
}

int fftnd__check_exchanges(const struct fftnd__program *program,
                           const struct fftnd__transform *transform) {
    for (int i = 1; i <= program->nsteps && transform->settings.asynchronous; i++)
        if (program->steps[i].type >= FFTND__EXCHANGE)
            REDIST_TRY(agree_on_exchange(transform, check_exchange(transform, &program->steps[i])));
    return REDIST_OK;
}

void fftnd__free_exchanges(struct fftnd__program *program) {
    for (int i = fftnd__end_of_exchanges(program) - 1; i >= 0; i--)
        redist_plan_free(&program->steps[i].exchange);
}
