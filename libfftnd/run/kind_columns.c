/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of arrays whose physical side has some of their points: the serial library takes the others as zero, and
 * nothing is copied to tiles. */
#include "pieces.h"

static int is_suited(const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step;
    return step->truncates && fftnd__is_untiled(transform, step) && transform->pool == NULL &&
           !transform->space->asynchronous && !step->twiddles && !step->applies &&
           transform->chain.axes[step->axes[0]] == FFTND_AXIS_COMPLEX &&
           !fftnd__truncates_on(transform, step, FFTND_SPECTRAL);
}

/* Returns nonzero if the library of lines along the axis fills them. */
static int fills(const struct fftnd__kernel_problem *kernel) {
    const struct lines__problem lines = fftnd__kernel_lines(
        kernel, kernel->in, kernel->out, kernel->step->axes[0] + kernel->transform->batch.shift, 0);
    return lines__choose(&lines, kernel->in->memory, kernel->out->memory)->fills;
}

/* Plans the whole array, or tiles where it has no columns. */
static int plan(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    const struct fftnd__side in = stage->in, out = stage->out;
    struct fftnd__kernel_problem kernel = fftnd__stage_in_arrays(stage, problem);
    stage->in.truncation = stage->out.truncation = NULL;
    kernel.fills = 1;
    fftnd__cut_along(&stage->cut, -1, 1);
    if (fills(&kernel))
        return fftnd__kernel_create(&stage->kernels[0], &kernel);
    stage->in = in;
    stage->out = out;
    stage->kind = &fftnd__kind_tiles;
    return stage->kind->plan(stage, problem);
}

const struct fftnd__stage_kind fftnd__kind_columns = {.name = "fftnd columns filled in part",
                                                      .memory = FFTND__IN_ARRAYS,
                                                      .plans_on_arrays = 1,
                                                      .is_suited = is_suited,
                                                      .plan = plan};
