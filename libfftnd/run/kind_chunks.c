/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of an array of a device: boxes that have all modes or points in scratch memory, where the array has some. */
#include "pieces.h"

/* Most bytes of the modes of a chunk, where the axes allow. */
enum { CHUNK_BYTES = 64 << 20 };

static int is_suited(const struct fftnd__stage_problem *problem) {
    return problem->transform->space->asynchronous && problem->step->truncates &&
           !problem->step->truncates_inside;
}

/* A side of which the array has all is where it is there, if its elements stay as they are; the other is in scratch
 * memory. */
static int plan(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step;
    int forward = step->direction == REDIST_FORWARD, ndims = step->layout->local.ndims;
    int ruins_source = !forward && fftnd__previous(step)->real != step->real;
    struct fftnd__side *spectral = forward ? &stage->out : &stage->in;
    const struct fftnd__kernel_problem kernel = fftnd__stage_kernel(stage, problem);
    redist_index wide[REDIST_MAX_NDIMS];
    struct fftnd__piece first;
    fftnd__set_extents(&stage->cut, transform, step);
    fftnd__widen((forward ? stage->in : stage->out).truncation, ndims, stage->cut.after, wide);
    fftnd__widen(spectral->truncation, ndims, wide, wide);
    size_t bytes = fftnd__lay_out(ndims, wide, spectral->item, 0, 1, spectral->stride);
    fftnd__cut_chunks(&stage->cut, transform, step, bytes, CHUNK_BYTES);
    fftnd__find_piece(&stage->cut, 0, &first);
    fftnd__lay_out_side(&stage->in, transform, fftnd__previous(step), first.before, !ruins_source);
    fftnd__lay_out_side(&stage->out, transform, step, first.after, 1);
    stage->out.place = stage->in.in_array || stage->out.in_array ? 0 : stage->in.bytes;
    stage->bytes =
        (stage->in.in_array ? 0 : stage->in.bytes) + (stage->out.in_array ? 0 : stage->out.bytes);
    stage->in.memory = problem->scratch[stage->in.in_array];
    stage->out.memory = (char *)problem->scratch[stage->out.in_array] + stage->out.place;
    return fftnd__kernel_create(&stage->kernels[0], &kernel);
}

const struct fftnd__stage_kind fftnd__kind_chunks = {.name = "fftnd chunks",
                                                     .memory = FFTND__IN_AREA,
                                                     .is_suited = is_suited,
                                                     .plan = plan,
                                                     .load = fftnd__load_piece,
                                                     .end = fftnd__store_piece};
