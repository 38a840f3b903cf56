/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole arrays: one piece, which the serial library transforms where it is, with all threads. */
#include "stage.h"

static int is_suited(const struct fftnd__stage_problem *problem) {
    (void)problem;
    return 1;
}

static int plan(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    struct fftnd__kernel_problem kernel = fftnd__stage_in_arrays(stage, problem);
    kernel.pool = problem->transform->pool;
    fftnd__cut_along(&stage->cut, -1, 1);
    return fftnd__kernel_create(&stage->kernels[0], &kernel);
}

const struct fftnd__stage_kind fftnd__kind_whole_array = {.name = "fftnd whole array",
                                                          .memory = FFTND__IN_ARRAYS,
                                                          .plans_on_arrays = 1,
                                                          .is_suited = is_suited,
                                                          .plan = plan};
