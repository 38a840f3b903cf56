/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles that the second-level cache holds, one for each thread: copied from an array, or out of an exchange, to memory
 * of their own, and on from there.
 */
#include "pieces.h"

/* Tiles that leave threads idle are worse than the serial library's own threads. */
static int is_coarse(const struct fftnd__stage_problem *problem) {
    redist_index numbers[3 * REDIST_MAX_NDIMS];
    struct fftnd__cut cut;
    const struct fftnd__tiling tiling = fftnd__stage_tiling(problem);
    fftnd__place_cut(&cut, REDIST_MAX_NDIMS, numbers);
    fftnd__cut_tiles(&cut, problem->transform, problem->step, &tiling);
    return cut.n < fftnd__pool_size(problem->transform->pool);
}

static int is_suited(const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step;
    int tiled = problem->program->fused ||
                (transform->configuration.tiled && !transform->space->asynchronous &&
                 step->naxes > 0 && !is_coarse(problem));
    return fftnd__needs_tiles(step) || (tiled && !fftnd__is_untiled(transform, step));
}

static int plan(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    struct fftnd__kernel_problem kernel = fftnd__stage_kernel(stage, problem);
    void *borrowed;
    char *memory = NULL;
    const struct fftnd__step *step = problem->step;
    int changes = fftnd__previous(step)->real != step->real;
    fftnd__lay_out_tiles(stage, problem,
                         (changes || step->twiddles) && step->direction == REDIST_BACKWARD, 0);
    int in_apart = !stage->in.in_array, apart = changes || !in_apart || stage->out.in_array;
    size_t in = stage->in.bytes, out = apart ? stage->out.bytes : 0;
    size_t piece_bytes = (in_apart ? in : 0) + (stage->out.in_array ? 0 : out);
    REDIST_TRY(fftnd__borrow_tile(stage, in + out, piece_bytes, &borrowed, &memory));
    stage->in.memory = memory;
    stage->out.memory = memory + (apart ? in : 0);
    stage->out.place = apart && in_apart ? in : 0;
    kernel.prefetches = stage->in.in_array;
    int code = fftnd__kernel_create(&stage->kernels[0], &kernel);
    redist_release(borrowed);
    return code;
}

const struct fftnd__stage_kind fftnd__kind_tiles = {.name = "fftnd tiles",
                                                    .memory = FFTND__IN_CACHES,
                                                    .is_suited = is_suited,
                                                    .plan = plan,
                                                    .open = fftnd__open_in_caches,
                                                    .load = fftnd__load_piece,
                                                    .end = fftnd__store_piece};
