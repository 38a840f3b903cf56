/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage.h"

struct fftnd__tiling fftnd__stage_tiling(const struct fftnd__program *program,
                                         const struct fftnd__transform *transform,
                                         const struct fftnd__step *step) {
    int fused = program->fused;
    return (struct fftnd__tiling){transform->configuration.tile_bytes,
                                  !fused || fftnd__previous(step)->fused_with != FFTND__PULLED,
                                  !fused || fftnd__next(step)->fused_with != FFTND__PUSHED,
                                  !fftnd__is_nontemporal(transform, step)};
}

struct fftnd__kernel_problem fftnd__stage_problem(const struct fftnd__stage *stage,
                                                  const struct fftnd__transform *transform,
                                                  const struct fftnd__step *step) {
    return (struct fftnd__kernel_problem){.transform = transform,
                                          .step = step,
                                          .direction = step->direction,
                                          .cut = &stage->cut,
                                          .in = &stage->in,
                                          .out = &stage->out,
                                          .library = transform->library,
                                          .stream = transform->options.stream};
}

struct fftnd__applied_problem fftnd__stage_applied_problem(const struct fftnd__stage *stage,
                                                           const struct fftnd__transform *transform,
                                                           const struct fftnd__step *step) {
    const struct fftnd__offload *offload = stage->offload;
    const struct lines__library *library = offload != NULL ? offload->library : transform->library;
    int chunks = transform->space->asynchronous;
    return (struct fftnd__applied_problem){
        .transform = transform,
        .step = step,
        .cut = &stage->cut,
        .in = &stage->in,
        .out = &stage->out,
        .library = library,
        .stream = offload != NULL ? offload->streams[FFTND__TRANSFORM] : transform->options.stream,
        .trip_axis = fftnd__round_trip_axis(transform, step, library),
        .on_device = chunks || offload != NULL,
        .outside = {offload != NULL || (chunks && stage->in.in_array),
                    offload != NULL || (chunks && stage->out.in_array)}};
}

char *fftnd__stage_shared(const struct fftnd__stage *stage) {
    return fftnd__offload_align(stage->offload->memory) + (size_t)stage->window * stage->share;
}

void fftnd__stage_free_kernels(struct fftnd__stage *stage) {
    fftnd__direct_stores_free(&stage->stores);
    if (stage->kernel.library != NULL)
        fftnd__kernel_free(&stage->kernel);
    if (stage->second != NULL)
        fftnd__kernel_free(stage->second);
    redist_release(stage->second);
    stage->second = NULL;
    fftnd__applied_free(stage->applied);
    stage->applied = NULL;
}
