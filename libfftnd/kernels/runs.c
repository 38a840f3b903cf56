/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs.h"

/* Sorts the axes of several elements, the largest stride first. */
static void sort_axes(const struct fftnd__block *block, struct fftnd__runs *runs) {
    for (int i = 0; i < block->ndims; i++) {
        int at = runs->n;
        if (block->count[i] <= 1)
            continue;
        for (; at > 0 && runs->stride[at - 1] < block->stride[i]; at--) {
            runs->count[at] = runs->count[at - 1];
            runs->stride[at] = runs->stride[at - 1];
        }
        runs->count[at] = block->count[i];
        runs->stride[at] = block->stride[i];
        runs->n++;
    }
}

struct fftnd__runs fftnd__find_runs(const struct fftnd__block *block) {
    struct fftnd__runs runs = {.bytes = block->item};
    for (int i = 0; i < block->ndims; i++)
        if (block->count[i] == 0)
            return (struct fftnd__runs){.bytes = 0};
    sort_axes(block, &runs);
    while (runs.n > 0 && runs.stride[runs.n - 1] == (ptrdiff_t)runs.bytes)
        runs.bytes *= (size_t)runs.count[--runs.n];
    return runs;
}

static int visit_loop(const struct fftnd__runs *runs, int loop, ptrdiff_t offset,
                      fftnd__visit_run *visit, void *data) {
    if (loop == runs->n)
        return visit(data, offset, runs->bytes);
    for (redist_index i = 0; i < runs->count[loop]; i++)
        REDIST_TRY(
            visit_loop(runs, loop + 1, offset + (ptrdiff_t)i * runs->stride[loop], visit, data));
    return REDIST_OK;
}

int fftnd__visit_runs(const struct fftnd__runs *runs, fftnd__visit_run *visit, void *data) {
    return runs->bytes != 0 ? visit_loop(runs, 0, 0, visit, data) : REDIST_OK;
}

struct fftnd__block fftnd__block_of_array(const struct fftnd__transform *transform,
                                          const struct fftnd__step *step, void *memory,
                                          ptrdiff_t stride[REDIST_MAX_NDIMS]) {
    struct fftnd__block block = {.precision = transform->precision,
                                 .ndims = step->layout->local.ndims,
                                 .stride = stride,
                                 .item = fftnd__element_bytes(transform, step->real),
                                 .memory = memory,
                                 .library = transform->library,
                                 .stream = transform->settings.stream};
    fftnd__byte_strides(transform, step, stride);
    for (int i = 0; i < block.ndims; i++)
        block.count[i] = fftnd__count_of(transform, step, i);
    return block;
}

/* ---------------------------------------------------------------- scaling */

struct scaling {
    const struct fftnd__block *block;
    long double factor;
};

static int scale_run(void *data, ptrdiff_t offset, size_t bytes) {
    const struct scaling *scaling = data;
    const struct fftnd__block *block = scaling->block;
    return block->library->scale(block->memory + offset, bytes, block->precision, scaling->factor,
                                 block->stream);
}

/* Scales a box by one kernel of a device: a kernel for each run would take longer. */
static int scale_at_once(const struct fftnd__block *block, const struct fftnd__runs *runs,
                         long double factor) {
    size_t number = lines__item_bytes(block->precision, 1);
    struct lines__modes modes = {.change = LINES__MULTIPLY,
                                 .number_bytes = number,
                                 .numbers = 1,
                                 .ndims = runs->n + 1,
                                 .memory = block->memory,
                                 .factor = (double)factor};
    for (int i = 0; i < runs->n; i++) {
        modes.count[i] = runs->count[i];
        modes.stride[i] = runs->stride[i];
    }
    modes.count[runs->n] = (redist_index)(runs->bytes / number);
    modes.stride[runs->n] = (ptrdiff_t)number;
    return block->library->change(&modes, block->stream);
}

/* Returns the elements of a block up to those of its array: points behind these may not have been written. */
static struct fftnd__block written_of(const struct fftnd__block *block) {
    struct fftnd__block written = *block;
    for (int i = 0; block->truncation != NULL && i < block->truncation->n; i++) {
        const struct lines__retained *at = &block->truncation->axes[i];
        if (at->high == 0 && at->low < written.count[at->axis])
            written.count[at->axis] = at->low;
    }
    return written;
}

int fftnd__scale_block(const struct fftnd__block *all, long double factor) {
    if (factor == 1.0L)
        return REDIST_OK;
    const struct fftnd__block block = written_of(all);
    const struct fftnd__runs runs = fftnd__find_runs(&block);
    struct scaling scaling = {&block, factor};
    if (runs.n > 0 && runs.n < REDIST_MAX_NDIMS && block.library->change != NULL)
        return scale_at_once(&block, &runs, factor);
    return fftnd__visit_runs(&runs, scale_run, &scaling);
}
