/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes over arrays of the host in tiles of a device's memory. */
#include "stage_device.h"

/* On a device the first upload and the last download run beside nothing: there are so many tiles that these do not
 * count, but none smaller or larger than this. */
enum { MANY_TILES = 16, LEAST_BYTES = 8 << 20, MOST_BYTES = 128 << 20 };

/* Contiguous bytes of the host that keep the rate of the link to a device. */
enum { LONG_ROW = 32 << 10 };

/* Bytes of the smallest tile, all of whose rows are repeated until they are long. */
static size_t bytes_of_long_rows(const struct fftnd__partition *partition, size_t item) {
    size_t bytes = item, row = item;
    for (int i = partition->ndims - 1, in_row = 1; i >= 0; i--) {
        in_row = in_row && partition->whole[i];
        if (in_row)
            row *= (size_t)partition->after[i];
        if (partition->whole[i])
            bytes *= (size_t)partition->after[i];
    }
    return row < LONG_ROW ? bytes * (LONG_ROW / row) : bytes;
}

/* Of a tile, to begin with: enough for the link, and no more, so that there are many. */
static size_t wanted_bytes(const struct fftnd__partition *partition,
                           const struct fftnd__transform *transform,
                           const struct fftnd__step *step) {
    size_t bytes = fftnd__step_bytes(transform, step) / MANY_TILES;
    size_t most = transform->offload->limit / 4;
    bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes > MOST_BYTES ? MOST_BYTES : bytes;
    size_t rows = bytes_of_long_rows(partition, fftnd__element_bytes(transform, step->real));
    bytes = bytes < rows ? rows : bytes;
    if (transform->options.tile_bytes != 0)
        bytes = transform->options.tile_bytes;
    return bytes < most ? bytes : most;
}

/* Tiles have no gaps. Real lines that are padded in the array are so in the tile: both are copied as they are, in
 * one run instead of one for each line. */
static void lay_out_tiles(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                          const struct fftnd__step *step) {
    int last = pass->partition.ndims - 1, changes = step[-1].real != step->real;
    int halved = transform->chain.halved + transform->batch.shift;
    struct fftnd__side *real = step[-1].real ? &pass->in : &pass->out;
    const struct fftnd__side *other = step[-1].real ? &pass->out : &pass->in;
    struct fftnd__piece first;
    fftnd__find_piece(&pass->partition, 0, &first);
    pass->in.bytes = fftnd__lay_out(last + 1, first.before, pass->in.item, 0,
                                    FFTND__OFFLOAD_ALIGNMENT, pass->in.stride);
    pass->out.bytes = fftnd__lay_out(last + 1, first.after, pass->out.item, 0,
                                     FFTND__OFFLOAD_ALIGNMENT, pass->out.stride);
    redist_index padded = (step[-1].real ? step - 1 : step)->layout->local.extent[last];
    redist_index complex_count = (step[-1].real ? first.after : first.before)[last];
    if (transform->options.in_place && changes && halved == last && padded == 2 * complex_count) {
        for (int i = 0; i < last; i++)
            real->stride[i] = other->stride[i];
        real->bytes = other->bytes;
        real->padded = padded;
    }
    size_t larger = pass->in.bytes > pass->out.bytes ? pass->in.bytes : pass->out.bytes;
    pass->share = changes ? pass->in.bytes + pass->out.bytes : larger;
}

static int set_memory(struct fftnd__pass *pass, size_t needed) {
    size_t staging = pass->in.bytes > pass->out.bytes ? pass->in.bytes : pass->out.bytes;
    REDIST_TRY(fftnd__offload_reserve(pass->offload, needed,
                                      (size_t)pass->window * staging + FFTND__OFFLOAD_ALIGNMENT));
    pass->in.memory = fftnd__offload_align(pass->offload->memory);
    pass->out.memory = pass->in.memory + (pass->share - pass->out.bytes);
    return REDIST_OK;
}

/* What all tiles share: memory of a step with an operator, whose kernels run one after the other. */
static int plan_kernels(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                        const struct fftnd__step *step) {
    struct fftnd__offload *offload = pass->offload;
    if (step->applies) {
        const struct fftnd__applied_problem problem =
            fftnd__pass_applied_problem(pass, transform, step);
        return fftnd__applied_plan(pass->applied, &problem, fftnd__pass_shared(pass));
    }
    struct fftnd__kernel_problem problem = fftnd__pass_problem(pass, transform, step);
    problem.library = offload->library;
    problem.stream = offload->streams[FFTND__TRANSFORM];
    return fftnd__kernel_create(&pass->kernel, &problem);
}

static int place_tiles(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                       const struct fftnd__step *step, size_t *needed) {
    *needed = (size_t)pass->window * pass->share + FFTND__OFFLOAD_ALIGNMENT;
    if (!step->applies)
        return REDIST_OK;
    const struct fftnd__applied_problem problem =
        fftnd__pass_applied_problem(pass, transform, step);
    pass->kernel.library = pass->offload->library;
    REDIST_TRY(fftnd__applied_create(&problem, &pass->applied));
    *needed += pass->applied->places.bytes;
    return REDIST_OK;
}

/* Plans tiles of this size, unless they alone are too large for the device; *needed says of how much memory. */
static int try_tiles(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                     const struct fftnd__step *step, size_t *needed) {
    const struct fftnd__offload *offload = pass->offload;
    lay_out_tiles(pass, transform, step);
    if (pass->partition.n < pass->window)
        pass->window = (int)pass->partition.n;
    REDIST_TRY(place_tiles(pass, transform, step, needed));
    if (*needed > offload->limit)
        return REDIST_OK;
    REDIST_TRY(set_memory(pass, *needed));
    REDIST_TRY(plan_kernels(pass, transform, step));
    size_t area = fftnd__pass_area(pass);
    *needed +=
        (area + FFTND__OFFLOAD_ALIGNMENT - 1) / FFTND__OFFLOAD_ALIGNMENT * FFTND__OFFLOAD_ALIGNMENT;
    return *needed <= offload->limit ? set_memory(pass, *needed) : REDIST_OK;
}

static int refuse(const struct fftnd__offload *offload, size_t needed) {
    const char *what =
        offload->is_given ? "options->device_bytes" : "this rank's part of the device";
    return redist_fail_in("fftnd_plan_create", REDIST_ERR_ARGUMENT,
                          "%s = %zu is too small: the smallest tile of a transform needs %zu", what,
                          offload->limit, needed);
}

/* Smaller tiles, and at last fewer of them, until they fit. */
int fftnd__pass_plan_device(struct fftnd__pass *pass, const struct fftnd__program *program,
                            const struct fftnd__transform *transform,
                            const struct fftnd__step *step) {
    struct fftnd__cut cut = fftnd__pass_cut(program, transform, step);
    int slots = FFTND__SLOTS;
    pass->offload = transform->offload;
    pass->pool = transform->pool;
    fftnd__cut_tiles(&pass->partition, transform, step, &cut);
    cut.bytes = wanted_bytes(&pass->partition, transform, step);
    for (;;) {
        size_t needed;
        pass->window = slots;
        fftnd__cut_tiles(&pass->partition, transform, step, &cut);
        REDIST_TRY(try_tiles(pass, transform, step, &needed));
        if (needed <= pass->offload->limit)
            return REDIST_OK;
        if (!fftnd__is_smallest(&pass->partition))
            cut.bytes /= 2;
        else if (--slots == 0)
            return refuse(pass->offload, needed);
        fftnd__pass_free_kernels(pass);
    }
}
