/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts of the arrays around a serial step into tiles or segments. */
#include "stage.h"

#include "../kernels/truncation.h"
#include "../operators/operator.h"
#include "../program/program.h"

#include <stdint.h>
#include <string.h>

enum { MOST_CHUNKS = 1 << 16 };

/* With a few tiles for each thread all threads are busy to the end; smaller tiles than this cost more than that. */
enum { TILES_OF_THREAD = 4, LEAST_SHARED_BYTES = 16 << 10 };

/* Of an operator's fields each has a tile of the usual size, as long as so many are in the cache together. */
enum { MOST_FIELD_TILES = 4 };

int fftnd__is_nontemporal(const struct fftnd__transform *transform,
                          const struct fftnd__step *step) {
    return fftnd__step_bytes(transform, step) > transform->configuration.nontemporal_bytes;
}

/* Tiles of an operator's step: one for each field that is there at once. */
static size_t count_tiles(const struct fftnd__step *step, const struct fftnd__tiling *tiling) {
    int before = fftnd__previous(step)->fields;
    int fields = step->fields != before ? step->fields + before : step->fields;
    if (!step->applies || tiling->on_device)
        return 1;
    return (size_t)(fields < MOST_FIELD_TILES ? fields : MOST_FIELD_TILES);
}

/* How large tiles may be: with several threads, such that there are some for each. */
static size_t most_bytes(const struct fftnd__transform *transform, const struct fftnd__step *step,
                         const struct fftnd__tiling *tiling) {
    size_t threads = tiling->on_device ? 1 : (size_t)fftnd__pool_size(transform->pool);
    size_t fair = fftnd__step_bytes(transform, step) / (threads * TILES_OF_THREAD);
    size_t tiles = count_tiles(step, tiling);
    size_t bytes = tiling->bytes <= SIZE_MAX / tiles ? tiles * tiling->bytes : SIZE_MAX;
    fair = fair < LEAST_SHARED_BYTES ? LEAST_SHARED_BYTES : fair;
    return threads > 1 && fair < bytes ? fair : bytes;
}

/* Rows of an operator end where merged axes do; boxes, and a device, need the axes themselves. */
static int may_merge(const struct fftnd__transform *transform, const struct fftnd__step *step,
                     const struct fftnd__tiling *tiling) {
    return tiling->local_load && tiling->local_store && !step->twiddles &&
           (!step->applies || (!tiling->on_device && !fftnd__takes_boxes(transform->applied)));
}

static int is_whole(const struct fftnd__transform *transform, const struct fftnd__step *step,
                    int axis) {
    return axis == transform->batch.axis
               ? step->applies
               : fftnd__is_transformed(step, axis - transform->batch.shift);
}

void fftnd__set_extents(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                        const struct fftnd__step *step) {
    cut->ndims = step->layout->local.ndims;
    for (int i = 0; i < cut->ndims; i++) {
        cut->before[i] = fftnd__count_of(transform, fftnd__previous(step), i);
        cut->after[i] = fftnd__count_of(transform, step, i);
    }
}

/* Finds the extents of the array after a step in pieces; an operator has the other side between its transforms. */
static void find_wide(const struct fftnd__cut *cut, const struct fftnd__transform *transform,
                      const struct fftnd__step *step, redist_index wide[]) {
    memcpy(wide, cut->after, (size_t)cut->ndims * sizeof *wide);
    for (int side = FFTND_SPECTRAL; side >= FFTND_PHYSICAL; side--) {
        struct fftnd__truncation truncation;
        fftnd__truncation_of(&truncation, transform, step, (enum fftnd_side)side);
        if (side != step->direction || step->applies)
            fftnd__widen(&truncation, cut->ndims, wide, wide);
    }
}

void fftnd__cut_tiles(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                      const struct fftnd__step *step, const struct fftnd__tiling *tiling) {
    const struct fftnd__step *before = fftnd__previous(step);
    int is_real = step->real && before->real && !step->applies;
    size_t item = fftnd__element_bytes(transform, is_real), smallest = item;
    redist_index wide[REDIST_MAX_NDIMS];
    fftnd__set_extents(cut, transform, step);
    for (int i = 0; i < cut->ndims; i++)
        cut->whole[i] = is_whole(transform, step, i);
    find_wide(cut, transform, step, wide);
    for (int i = 0; i < cut->ndims; i++)
        if (cut->whole[i])
            smallest *= (size_t)(wide[i] > 0 ? wide[i] : 1);
    if (step->fields != before->fields) /* an operator has all of them at once */
        smallest += smallest / (size_t)step->fields * (size_t)before->fields;
    if (may_merge(transform, step, tiling))
        fftnd__merge_axes(cut, before->layout->local.stride, step->layout->local.stride);
    fftnd__cut_to_fit(cut, item, smallest, most_bytes(transform, step, tiling));
}

/* Whether all elements of an array stay aligned to complex numbers when a segment is cut off. */
static int keeps_alignment(const struct fftnd__transform *transform, const struct fftnd__step *step,
                           int axis) {
    size_t bytes =
        fftnd__element_bytes(transform, step->real) * (size_t)step->layout->local.stride[axis];
    return bytes % fftnd__element_bytes(transform, 0) == 0;
}

void fftnd__list_cuttable(const struct fftnd__transform *transform, const struct fftnd__step *step,
                          redist_index extents[]) {
    for (int axis = 0; axis < step->layout->local.ndims; axis++) {
        int may_cut = !is_whole(transform, step, axis) &&
                      keeps_alignment(transform, fftnd__previous(step), axis) &&
                      keeps_alignment(transform, step, axis);
        extents[axis] = may_cut ? step->layout->local.extent[axis] : 0;
    }
}

/* Cuts arrays that arrive in partitions as these are, those that leave in segments as all ranks can. */
static int axis_of(const struct fftnd__transform *transform, const struct fftnd__step *step,
                   int n) {
    redist_index extents[REDIST_MAX_NDIMS];
    if (fftnd__previous(step)->by_partitions)
        return step->arrival_axis;
    if (fftnd__next(step)->fused_with == FFTND__PUSHED)
        return step->segment_axis;
    fftnd__list_cuttable(transform, step, extents);
    return fftnd__choose_axis(step->layout->local.ndims, step->layout->local.order, extents, n);
}

void fftnd__cut_segments(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                         const struct fftnd__step *step) {
    int axis, n = fftnd__segments_of(transform, step, &axis);
    fftnd__cut_along(cut, axis, n);
}

void fftnd__cut_chunks(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                       const struct fftnd__step *step, size_t bytes, size_t most) {
    most = transform->settings.tile_bytes != 0 ? transform->settings.tile_bytes : most;
    size_t wanted = (bytes + most - 1) / most;
    int n = wanted < MOST_CHUNKS ? (int)wanted : MOST_CHUNKS;
    fftnd__cut_along(cut, n > 1 ? axis_of(transform, step, n) : -1, n);
}
