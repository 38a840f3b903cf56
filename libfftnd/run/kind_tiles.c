/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles that the second-level cache holds, one for each thread: copied from an array, or out of an exchange, to memory
 * of their own, and on from there. With an operator it may be a few columns instead, where they are in the array.
 */
#include "pieces.h"

/* ---------------------------------------------------------------- which */

/* Tiles that leave threads idle are worse than the serial library's own threads. */
static int is_coarse(const struct fftnd__stage_problem *problem) {
    redist_index numbers[3 * REDIST_MAX_NDIMS];
    struct fftnd__cut cut;
    const struct fftnd__tiling tiling = fftnd__stage_tiling(problem);
    fftnd__place_cut(&cut, REDIST_MAX_NDIMS, numbers);
    fftnd__cut_tiles(&cut, problem->transform, problem->step, &tiling);
    return cut.n < fftnd__pool_size(problem->transform->pool);
}

/* A transform of a single axis between arrays of this rank, which may be done by itself. */
static int is_untiled(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return transform->configuration.untiled && step->naxes == 1 && !step->ruins_source &&
           fftnd__previous(step)->fused_with != FFTND__PULLED &&
           fftnd__next(step)->fused_with != FFTND__PUSHED;
}

static int are_tiles_suited(const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step;
    int tiled = problem->program->fused ||
                (transform->configuration.tiled && !transform->space->asynchronous &&
                 step->naxes > 0 && !is_coarse(problem));
    return fftnd__needs_tiles(step) || (tiled && !is_untiled(transform, step));
}

/* An operator on one field between transforms of such an axis, whose columns gain: all three work on a few columns
 * where these lie, which the second-level cache holds meanwhile. */
static int are_columns_suited(const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step, *before = fftnd__previous(step);
    const struct fftnd__operator *op = transform->applied;
    const struct lines__problem lines = {.precision = transform->precision,
                                         .effort = transform->options.effort,
                                         .general = transform->library};
    struct fftnd__truncation truncation;
    fftnd__truncation_of(&truncation, transform, step);
    return step->applies && is_untiled(transform, step) && before->buffer != FFTND__INPUT &&
           !step->real && !before->real && truncation.n == 0 && op->type->in_place &&
           op->inputs == 1 && op->outputs == 1 && !fftnd__takes_boxes(op) &&
           transform->pool == NULL &&
           lines__columns_gain(&lines, transform->chain.points[step->axes[0]], 1);
}

/* ---------------------------------------------------------------- memory */

static void lay_out(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step, *before = fftnd__previous(step);
    const struct fftnd__tiling tiling = fftnd__stage_tiling(problem);
    int ruins_source = (before->real != step->real || step->twiddles || step->applies) &&
                       step->direction == REDIST_BACKWARD;
    struct fftnd__piece first;
    fftnd__cut_tiles(&stage->cut, transform, step, &tiling);
    fftnd__find_piece(&stage->cut, 0, &first);
    fftnd__lay_out_side(&stage->in, transform, before, first.before,
                        tiling.local_load && !ruins_source);
    fftnd__lay_out_side(&stage->out, transform, step, first.after,
                        tiling.local_store && !fftnd__is_nontemporal(transform, step) &&
                            (step->applies || !stage->in.in_array));
    stage->pool = transform->pool;
}

/* Memory to plan in, of one tile. Those that run share theirs with other stages: each has so many bytes for each
 * thread. */
static int borrow(struct fftnd__stage *stage, size_t bytes, size_t piece_bytes, void **borrowed,
                  char **memory) {
    *borrowed = redist_calloc(bytes + FFTND__ALIGNMENT, 1);
    if (*borrowed == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for tiles of %zu bytes",
                              bytes);
    stage->piece_bytes = piece_bytes;
    stage->bytes = piece_bytes * (size_t)fftnd__pool_size(stage->pool) + FFTND__ALIGNMENT;
    *memory = fftnd__align(*borrowed, FFTND__ALIGNMENT);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- plans */

/* The sides are laid out, and in arrays to plan on if the operator works there. */
static int plan_operator(struct fftnd__stage *stage, const struct fftnd__kernel_problem *applied) {
    void *borrowed;
    char *memory = NULL;
    REDIST_TRY(fftnd__applied_create(applied, &stage->applied));
    size_t bytes = stage->applied->places.bytes;
    REDIST_TRY(borrow(stage, bytes, bytes, &borrowed, &memory));
    if (!applied->in_place) {
        stage->in.place = stage->applied->places.in;
        stage->out.place = stage->applied->places.out;
        stage->in.memory = memory + stage->in.place;
        stage->out.memory = memory + stage->out.place;
    }
    int code = fftnd__applied_plan(stage->applied, applied, memory);
    redist_release(borrowed);
    return code;
}

static int plan_tiles(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    struct fftnd__kernel_problem kernel = fftnd__stage_kernel(stage, problem);
    void *borrowed;
    char *memory = NULL;
    lay_out(stage, problem);
    if (problem->step->applies)
        return plan_operator(stage, &kernel);
    int in_apart = !stage->in.in_array;
    int apart = fftnd__previous(problem->step)->real != problem->step->real || !in_apart ||
                stage->out.in_array;
    size_t in = stage->in.bytes, out = apart ? stage->out.bytes : 0;
    size_t piece_bytes = (in_apart ? in : 0) + (stage->out.in_array ? 0 : out);
    REDIST_TRY(borrow(stage, in + out, piece_bytes, &borrowed, &memory));
    stage->in.memory = memory;
    stage->out.memory = memory + (apart ? in : 0);
    stage->out.place = apart && in_apart ? in : 0;
    kernel.prefetches = stage->in.in_array;
    int code = fftnd__kernel_create(&stage->kernels[0], &kernel);
    redist_release(borrowed);
    return code;
}

/* Plans pieces of as many columns as are read and written at once. Only rows of the operator have memory of their
 * own. */
static int plan_columns(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    struct fftnd__kernel_problem applied = fftnd__stage_kernel(stage, problem);
    struct fftnd__tiling tiling = fftnd__stage_tiling(problem);
    redist_index points = transform->chain.points[problem->step->axes[0]];
    applied.in_place = 1;
    tiling.bytes = (size_t)points * LINES__AT_ONCE_BYTES;
    (void)fftnd__stage_in_arrays(stage, problem);
    fftnd__cut_tiles(&stage->cut, transform, problem->step, &tiling);
    return plan_operator(stage, &applied);
}

/* Stores through the caches where a tile returns to the array that it came from: its place is still in them. */
static int open_run(struct fftnd__execution *execution) {
    if (execution->source.exchange == NULL && execution->sink.exchange == NULL &&
        execution->source.array == execution->sink.array)
        execution->sink.nontemporal = 0;
    return REDIST_OK;
}

const struct fftnd__stage_kind fftnd__kind_tiles = {.name = "fftnd tiles",
                                                    .memory = FFTND__IN_CACHES,
                                                    .is_suited = are_tiles_suited,
                                                    .plan = plan_tiles,
                                                    .open = open_run,
                                                    .load = fftnd__load_piece,
                                                    .end = fftnd__store_piece};

const struct fftnd__stage_kind fftnd__kind_columns_with_operator = {
    .name = "fftnd columns with an operator",
    .memory = FFTND__IN_CACHES,
    .plans_on_arrays = 1,
    .is_suited = are_columns_suited,
    .plan = plan_columns};
