/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages over arrays of the host in tiles of a device's memory. */
#include "stage_device.h"

/* On a device the first upload and the last download run beside nothing: there are so many tiles that these do not
 * count, but none smaller or larger than this. */
enum { MANY_TILES = 16, LEAST_BYTES = 8 << 20, MOST_BYTES = 128 << 20 };

/* Contiguous bytes of the host that keep the rate of the link to a device. */
enum { LONG_ROW = 32 << 10 };

/* Bytes of the smallest tile, all of whose rows are repeated until they are long. */
static size_t bytes_of_long_rows(const struct fftnd__cut *cut, size_t item) {
    size_t bytes = item, row = item;
    for (int i = cut->ndims - 1, in_row = 1; i >= 0; i--) {
        in_row = in_row && cut->whole[i];
        if (in_row)
            row *= (size_t)cut->after[i];
        if (cut->whole[i])
            bytes *= (size_t)cut->after[i];
    }
    return row < LONG_ROW ? bytes * (LONG_ROW / row) : bytes;
}

/* Of a tile, to begin with: enough for the link, and no more, so that there are many. */
static size_t wanted_bytes(const struct fftnd__cut *cut, const struct fftnd__transform *transform,
                           const struct fftnd__step *step) {
    size_t bytes = fftnd__step_bytes(transform, step) / MANY_TILES;
    size_t most = transform->offload->limit / 4;
    bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes > MOST_BYTES ? MOST_BYTES : bytes;
    size_t rows = bytes_of_long_rows(cut, fftnd__element_bytes(transform, step->real));
    bytes = bytes < rows ? rows : bytes;
    if (transform->options.tile_bytes != 0)
        bytes = transform->options.tile_bytes;
    return bytes < most ? bytes : most;
}

/* Tiles have no gaps. Real lines that are padded in the array are so in the tile: both are copied as they are, in
 * one run instead of one for each line. */
static void lay_out_tiles(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                          const struct fftnd__step *step) {
    int last = stage->cut.ndims - 1, changes = fftnd__previous(step)->real != step->real;
    int halved = transform->chain.halved + transform->batch.shift;
    struct fftnd__side *real = fftnd__previous(step)->real ? &stage->in : &stage->out;
    const struct fftnd__side *other = fftnd__previous(step)->real ? &stage->out : &stage->in;
    struct fftnd__piece first;
    fftnd__find_piece(&stage->cut, 0, &first);
    stage->in.bytes = fftnd__lay_out(last + 1, first.before, stage->in.item, 0,
                                     FFTND__OFFLOAD_ALIGNMENT, stage->in.stride);
    stage->out.bytes = fftnd__lay_out(last + 1, first.after, stage->out.item, 0,
                                      FFTND__OFFLOAD_ALIGNMENT, stage->out.stride);
    redist_index padded =
        (fftnd__previous(step)->real ? fftnd__previous(step) : step)->layout->local.extent[last];
    redist_index complex_count = (fftnd__previous(step)->real ? first.after : first.before)[last];
    if (transform->options.in_place && changes && halved == last && padded == 2 * complex_count) {
        for (int i = 0; i < last; i++)
            real->stride[i] = other->stride[i];
        real->bytes = other->bytes;
        real->padded = padded;
    }
    size_t larger = stage->in.bytes > stage->out.bytes ? stage->in.bytes : stage->out.bytes;
    stage->share = changes ? stage->in.bytes + stage->out.bytes : larger;
}

static int set_memory(struct fftnd__stage *stage, size_t needed) {
    size_t staging = stage->in.bytes > stage->out.bytes ? stage->in.bytes : stage->out.bytes;
    REDIST_TRY(fftnd__offload_reserve(stage->offload, needed,
                                      (size_t)stage->window * staging + FFTND__OFFLOAD_ALIGNMENT));
    stage->in.memory = fftnd__offload_align(stage->offload->memory);
    stage->out.memory = stage->in.memory + (stage->share - stage->out.bytes);
    return REDIST_OK;
}

/* What all tiles share: memory of a step with an operator, whose kernels run one after the other. */
static int plan_kernels(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                        const struct fftnd__step *step) {
    struct fftnd__offload *offload = stage->offload;
    if (step->applies) {
        const struct fftnd__applied_problem problem =
            fftnd__stage_applied_problem(stage, transform, step);
        return fftnd__applied_plan(stage->applied, &problem, fftnd__stage_shared(stage));
    }
    struct fftnd__kernel_problem problem = fftnd__stage_problem(stage, transform, step);
    problem.library = offload->library;
    problem.stream = offload->streams[FFTND__TRANSFORM];
    return fftnd__kernel_create(&stage->kernel, &problem);
}

static int place_tiles(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                       const struct fftnd__step *step, size_t *needed) {
    *needed = (size_t)stage->window * stage->share + FFTND__OFFLOAD_ALIGNMENT;
    if (!step->applies)
        return REDIST_OK;
    const struct fftnd__applied_problem problem =
        fftnd__stage_applied_problem(stage, transform, step);
    stage->kernel.library = stage->offload->library;
    REDIST_TRY(fftnd__applied_create(&problem, &stage->applied));
    *needed += stage->applied->places.bytes;
    return REDIST_OK;
}

/* Plans tiles of this size, unless they alone are too large for the device; *needed says of how much memory. */
static int try_tiles(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                     const struct fftnd__step *step, size_t *needed) {
    const struct fftnd__offload *offload = stage->offload;
    lay_out_tiles(stage, transform, step);
    if (stage->cut.n < stage->window)
        stage->window = (int)stage->cut.n;
    REDIST_TRY(place_tiles(stage, transform, step, needed));
    if (*needed > offload->limit)
        return REDIST_OK;
    REDIST_TRY(set_memory(stage, *needed));
    REDIST_TRY(plan_kernels(stage, transform, step));
    size_t area = fftnd__stage_area(stage);
    *needed +=
        (area + FFTND__OFFLOAD_ALIGNMENT - 1) / FFTND__OFFLOAD_ALIGNMENT * FFTND__OFFLOAD_ALIGNMENT;
    return *needed <= offload->limit ? set_memory(stage, *needed) : REDIST_OK;
}

static int refuse(const struct fftnd__offload *offload, size_t needed) {
    const char *what =
        offload->is_given ? "options->device_bytes" : "this rank's part of the device";
    return redist_fail_in("fftnd_plan_create", REDIST_ERR_ARGUMENT,
                          "%s = %zu is too small: the smallest tile of a transform needs %zu", what,
                          offload->limit, needed);
}

/* Smaller tiles, and at last fewer of them, until they fit. */
int fftnd__stage_plan_device(struct fftnd__stage *stage, const struct fftnd__program *program,
                             const struct fftnd__transform *transform,
                             const struct fftnd__step *step) {
    struct fftnd__tiling tiling = fftnd__stage_tiling(program, transform, step);
    int slots = FFTND__SLOTS;
    stage->offload = transform->offload;
    stage->pool = transform->pool;
    fftnd__cut_tiles(&stage->cut, transform, step, &tiling);
    tiling.bytes = wanted_bytes(&stage->cut, transform, step);
    for (;;) {
        size_t needed;
        stage->window = slots;
        fftnd__cut_tiles(&stage->cut, transform, step, &tiling);
        REDIST_TRY(try_tiles(stage, transform, step, &needed));
        if (needed <= stage->offload->limit)
            return REDIST_OK;
        if (!fftnd__is_smallest(&stage->cut))
            tiling.bytes /= 2;
        else if (--slots == 0)
            return refuse(stage->offload, needed);
        fftnd__stage_free_kernels(stage);
    }
}
