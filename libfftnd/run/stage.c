/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage.h"

#include <string.h>

struct fftnd__tiling fftnd__stage_tiling(const struct fftnd__stage_problem *problem) {
    const struct fftnd__step *step = problem->step;
    int fused = problem->program->fused;
    return (struct fftnd__tiling){
        .bytes = problem->transform->configuration.tile_bytes,
        .local_load = !fused || fftnd__previous(step)->fused_with != FFTND__PULLED,
        .local_store = !fused || fftnd__next(step)->fused_with != FFTND__PUSHED};
}

struct fftnd__kernel_problem fftnd__stage_kernel(const struct fftnd__stage *stage,
                                                 const struct fftnd__stage_problem *problem) {
    const struct fftnd__step *step = problem->step;
    return (struct fftnd__kernel_problem){
        .transform = problem->transform,
        .step = step,
        .direction = step->direction,
        .cut = &stage->cut,
        .in = &stage->in,
        .out = &stage->out,
        .library = stage->library,
        .stream = stage->streams[0],
        .trip_axis =
            step->applies ? fftnd__round_trip_axis(problem->transform, step, stage->library) : -1};
}

void fftnd__lay_out_side(struct fftnd__side *side, const struct fftnd__transform *transform,
                         const struct fftnd__step *array, const redist_index box[],
                         int may_be_in_array) {
    int ndims = array->layout->local.ndims, in_caches = !transform->space->asynchronous;
    size_t alignment = in_caches ? FFTND__ALIGNMENT : FFTND__DEVICE_ALIGNMENT;
    redist_index count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    fftnd__widen(side->truncation, ndims, box, count);
    fftnd__byte_strides(transform, array, stride);
    side->bytes = fftnd__lay_out(ndims, count, side->item, 0, alignment, side->stride);
    side->in_array = may_be_in_array && side->truncation == NULL &&
                     (!in_caches || fftnd__lies_alike(ndims, count, side->stride, stride));
    if (side->in_array)
        memcpy(side->stride, stride, (size_t)ndims * sizeof *stride);
    else if (in_caches)
        side->bytes = fftnd__lay_out(ndims, count, side->item, 1, alignment, side->stride);
}

int fftnd__is_untiled(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return transform->configuration.untiled && step->naxes == 1 && !step->ruins_source &&
           fftnd__previous(step)->fused_with != FFTND__PULLED &&
           fftnd__next(step)->fused_with != FFTND__PUSHED;
}

void fftnd__lay_out_tiles(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem,
                          int ruins_source, int may_both_be_in_arrays) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step, *before = fftnd__previous(step);
    const struct fftnd__tiling tiling = fftnd__stage_tiling(problem);
    struct fftnd__piece first;
    fftnd__cut_tiles(&stage->cut, transform, step, &tiling);
    fftnd__find_piece(&stage->cut, 0, &first);
    fftnd__lay_out_side(&stage->in, transform, before, first.before,
                        tiling.local_load && !ruins_source);
    fftnd__lay_out_side(&stage->out, transform, step, first.after,
                        tiling.local_store && !fftnd__is_nontemporal(transform, step) &&
                            (may_both_be_in_arrays || !stage->in.in_array));
    stage->pool = transform->pool;
}

int fftnd__borrow_tile(struct fftnd__stage *stage, size_t bytes, size_t piece_bytes,
                       void **borrowed, char **memory) {
    *borrowed = redist_malloc(bytes + FFTND__ALIGNMENT);
    if (*borrowed == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for tiles of %zu bytes",
                              bytes);
    stage->piece_bytes = piece_bytes;
    stage->bytes = piece_bytes * (size_t)fftnd__pool_size(stage->pool) + FFTND__ALIGNMENT;
    *memory = fftnd__align(*borrowed, FFTND__ALIGNMENT);
    return REDIST_OK;
}

static int same_array(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return fftnd__previous(step)->buffer == step->buffer ||
           (transform->settings.in_place && fftnd__previous(step)->buffer <= FFTND__OUTPUT &&
            step->buffer <= FFTND__OUTPUT);
}

struct fftnd__kernel_problem fftnd__stage_in_arrays(struct fftnd__stage *stage,
                                                    const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step, *before = fftnd__previous(step);
    struct fftnd__kernel_problem kernel = fftnd__stage_kernel(stage, problem);
    int may_ruin = before->buffer != FFTND__INPUT || transform->settings.in_place ||
                   transform->settings.overwrite_input;
    fftnd__set_extents(&stage->cut, transform, step);
    fftnd__byte_strides(transform, before, stage->in.stride);
    fftnd__byte_strides(transform, step, stage->out.stride);
    stage->in.in_array = stage->out.in_array = 1;
    stage->in.memory = problem->scratch[0];
    stage->out.memory = problem->scratch[same_array(transform, step) ? 0 : 1];
    kernel.keep_input = before->real != step->real && !may_ruin;
    kernel.may_ruin = may_ruin;
    return kernel;
}

void fftnd__free_kernels(struct fftnd__stage *stage) {
    fftnd__direct_stores_free(&stage->direct_stores);
    for (int i = 0; i < stage->nstreams; i++)
        fftnd__kernel_free(&stage->kernels[i]);
    fftnd__applied_free(stage->applied);
    stage->applied = NULL;
}

/* Bytes for one stream. */
static size_t area_of_stream(const struct fftnd__stage *stage) {
    size_t kernel = fftnd__kernel_area(&stage->kernels[0]);
    size_t applied = fftnd__applied_area(stage->applied);
    return fftnd__round_up(kernel > applied ? kernel : applied, FFTND__DEVICE_ALIGNMENT);
}

size_t fftnd__stage_area(const struct fftnd__stage *stage) {
    return (size_t)stage->nstreams * area_of_stream(stage);
}

int fftnd__stage_set_area(const struct fftnd__stage *stage, char *area) {
    for (int i = 0; i < stage->nstreams; i++)
        REDIST_TRY(fftnd__kernel_set_area(&stage->kernels[i],
                                          fftnd__behind(area, (size_t)i * area_of_stream(stage))));
    return fftnd__applied_set_area(stage->applied, area);
}
