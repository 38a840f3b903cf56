/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage.h"

struct fftnd__cut fftnd__pass_cut(const struct fftnd__program *program,
                                  const struct fftnd__transform *transform,
                                  const struct fftnd__step *step) {
    int fused = program->fused;
    return (struct fftnd__cut){
        transform->configuration.tile_bytes, !fused || step[-1].fused_with != FFTND__PULLED,
        !fused || step[1].fused_with != FFTND__PUSHED, !fftnd__is_nontemporal(transform, step)};
}

struct fftnd__kernel_problem fftnd__pass_problem(const struct fftnd__pass *pass,
                                                 const struct fftnd__transform *transform,
                                                 const struct fftnd__step *step) {
    return (struct fftnd__kernel_problem){.transform = transform,
                                          .step = step,
                                          .direction = step->direction,
                                          .partition = &pass->partition,
                                          .in = &pass->in,
                                          .out = &pass->out,
                                          .library = transform->library,
                                          .stream = transform->options.stream};
}

struct fftnd__applied_problem fftnd__pass_applied_problem(const struct fftnd__pass *pass,
                                                          const struct fftnd__transform *transform,
                                                          const struct fftnd__step *step) {
    const struct fftnd__offload *offload = pass->offload;
    const struct lines__library *library = offload != NULL ? offload->library : transform->library;
    int chunks = transform->space->asynchronous;
    return (struct fftnd__applied_problem){
        .transform = transform,
        .step = step,
        .partition = &pass->partition,
        .in = &pass->in,
        .out = &pass->out,
        .library = library,
        .stream = offload != NULL ? offload->streams[FFTND__TRANSFORM] : transform->options.stream,
        .trip_axis = fftnd__round_trip_axis(transform, step, library),
        .on_device = chunks || offload != NULL,
        .outside = {offload != NULL || (chunks && pass->in.in_array),
                    offload != NULL || (chunks && pass->out.in_array)}};
}

char *fftnd__pass_shared(const struct fftnd__pass *pass) {
    return fftnd__offload_align(pass->offload->memory) + (size_t)pass->window * pass->share;
}

void fftnd__pass_free_kernels(struct fftnd__pass *pass) {
    fftnd__stores_free(&pass->stores);
    if (pass->kernel.library != NULL)
        fftnd__kernel_free(&pass->kernel);
    if (pass->second != NULL)
        fftnd__kernel_free(pass->second);
    redist_release(pass->second);
    pass->second = NULL;
    fftnd__applied_free(pass->applied);
    pass->applied = NULL;
}
