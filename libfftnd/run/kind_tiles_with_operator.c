/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles in the caches with an operator, and a few columns with one, where they are in the array. All fields of a tile
 * are there at once.
 */
#include "pieces.h"

/* ---------------------------------------------------------------- tiles */

static int are_tiles_suited(const struct fftnd__stage_problem *problem) {
    return problem->step->applies;
}

/* The sides are laid out, and in arrays to plan on if the operator works there. */
static int plan_operator(struct fftnd__stage *stage, const struct fftnd__kernel_problem *applied) {
    void *borrowed;
    char *memory = NULL;
    REDIST_TRY(fftnd__applied_create(applied, &stage->applied));
    size_t bytes = stage->applied->places.bytes;
    REDIST_TRY(fftnd__borrow_tile(stage, bytes, bytes, &borrowed, &memory));
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
    const struct fftnd__kernel_problem kernel = fftnd__stage_kernel(stage, problem);
    fftnd__lay_out_tiles(stage, problem, problem->step->direction == REDIST_BACKWARD, 1);
    return plan_operator(stage, &kernel);
}

const struct fftnd__stage_kind fftnd__kind_tiles_with_operator = {
    .name = "fftnd tiles with an operator",
    .memory = FFTND__IN_CACHES,
    .is_suited = are_tiles_suited,
    .plan = plan_tiles,
    .open = fftnd__open_in_caches,
    .load = fftnd__load_piece,
    .end = fftnd__store_piece};

/* ---------------------------------------------------------------- columns */

/* An operator on one field between transforms of an untiled axis, whose columns gain: all three work on a few columns
 * where these lie, which the second-level cache holds meanwhile. */
static int are_columns_suited(const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step, *before = fftnd__previous(step);
    const struct fftnd__operator *op = transform->applied;
    const struct lines__problem lines = {.precision = transform->precision,
                                         .effort = transform->settings.effort,
                                         .general = transform->library};
    return step->applies && fftnd__is_untiled(transform, step) && before->buffer != FFTND__INPUT &&
           !step->real && !before->real && !fftnd__truncates(transform, step) &&
           op->type->in_place && op->inputs == 1 && op->outputs == 1 && !fftnd__takes_boxes(op) &&
           transform->pool == NULL &&
           lines__columns_gain(&lines, transform->chain.points[step->axes[0]], 1);
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

const struct fftnd__stage_kind fftnd__kind_columns_with_operator = {
    .name = "fftnd columns with an operator",
    .memory = FFTND__IN_CACHES,
    .plans_on_arrays = 1,
    .is_suited = are_columns_suited,
    .plan = plan_columns};
