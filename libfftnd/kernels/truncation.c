/* SPDX-License-Identifier: BSD-3-Clause */
/* Retained boxes of a piece, padding, and modes half-way. */
#include "truncation.h"
#include "../program/program.h"

#include <string.h>

/* ---------------------------------------------------------------- retained modes and filled points */

static enum lines__nyquist find_nyquist(const struct fftnd__transform *transform, int axis) {
    if (axis == transform->chain.halved)
        return LINES__NYQUIST_MIRROR;
    return fftnd__is_r2r(transform, axis)
               ? fftnd__r2r_kinds[transform->r2r[REDIST_FORWARD][axis]].nyquist
               : LINES__NYQUIST_PAIR;
}

static struct lines__retained retained_of(const struct fftnd__transform *transform, int axis) {
    const struct fftnd__chain *chain = &transform->chain;
    enum lines__nyquist nyquist = find_nyquist(transform, axis);
    redist_index kept = chain->modes[axis];
    redist_index high = nyquist == LINES__NYQUIST_PAIR    ? kept / 2
                        : nyquist == LINES__NYQUIST_ALONE ? (kept - 1) / 2
                                                          : 0; /* from the end of the axis */
    return (struct lines__retained){.axis = axis + transform->batch.shift,
                                    .modes =
                                        fftnd__spectral_extent(chain, axis, chain->points[axis]),
                                    .low = fftnd__spectral_extent(chain, axis, kept) - high,
                                    .high = high,
                                    .nyquist = kept % 2 == 0 ? nyquist : LINES__NYQUIST_NONE};
}

static struct lines__retained filled_of(const struct fftnd__transform *transform, int axis) {
    return (struct lines__retained){.axis = axis + transform->batch.shift,
                                    .modes = transform->chain.points[axis],
                                    .low = transform->chain.filled[axis]};
}

void fftnd__truncation_of(struct fftnd__truncation *truncation,
                          const struct fftnd__transform *transform, const struct fftnd__step *step,
                          enum fftnd_side side) {
    truncation->n = 0;
    for (int i = 0; i < step->naxes; i++)
        if (fftnd__is_truncated(&transform->chain, step->axes[i], side))
            truncation->axes[truncation->n++] =
                (side == FFTND_PHYSICAL ? filled_of : retained_of)(transform, step->axes[i]);
}

void fftnd__retain(const struct fftnd__transform *transform, struct lines__problem *problem,
                   const struct fftnd__step *step) {
    const struct fftnd__chain *chain = &transform->chain;
    for (int i = 0; i < step->naxes; i++) {
        int axis = step->axes[i];
        if (step->truncates_inside & 1 << FFTND_SPECTRAL &&
            fftnd__is_truncated(chain, axis, FFTND_SPECTRAL))
            problem->retained[i] = retained_of(transform, axis);
        if (step->truncates_inside & 1 << FFTND_PHYSICAL &&
            fftnd__is_truncated(chain, axis, FFTND_PHYSICAL))
            problem->filled[i] = chain->filled[axis];
    }
}

static int count_axes(const struct fftnd__truncation *truncation) {
    return truncation != NULL ? truncation->n : 0;
}

void fftnd__widen(const struct fftnd__truncation *truncation, int ndims,
                  const redist_index extent[], redist_index wide[]) {
    memmove(wide, extent, (size_t)ndims * sizeof *wide);
    for (int i = 0; i < count_axes(truncation); i++)
        wide[truncation->axes[i].axis] = truncation->axes[i].modes;
}

int fftnd__count_retained(const struct fftnd__truncation *truncation) {
    return 1 << count_axes(truncation);
}

int fftnd__find_retained(const struct fftnd__truncation *truncation, int which, int ndims,
                         const redist_index start[], const redist_index count[],
                         const ptrdiff_t stride[], struct fftnd__retained_box *box) {
    box->offset = 0;
    memcpy(box->start, start, (size_t)ndims * sizeof *start);
    memcpy(box->count, count, (size_t)ndims * sizeof *count);
    for (int i = 0; i < count_axes(truncation); i++) {
        const struct lines__retained *at = &truncation->axes[i];
        int is_high = which >> i & 1;
        box->start[at->axis] = is_high ? at->low : 0;
        box->count[at->axis] = is_high ? at->high : at->low;
        if (box->count[at->axis] == 0)
            return 0;
        box->offset += is_high ? (ptrdiff_t)(at->modes - at->high) * stride[at->axis] : 0;
    }
    return 1;
}

/* ---------------------------------------------------------------- ranges of a piece */

/* Changes all elements whose index along an axis is in begin..end - 1. */
static int change_range(const struct fftnd__block *block, int axis, redist_index begin,
                        redist_index end, ptrdiff_t partner, enum lines__change change) {
    size_t number = lines__item_bytes(block->precision, 1);
    struct lines__modes modes = {.change = change,
                                 .number_bytes = number,
                                 .numbers = fftnd__numbers(block),
                                 .ndims = block->ndims,
                                 .memory = block->memory + (ptrdiff_t)begin * block->stride[axis],
                                 .partner = partner};
    memcpy(modes.count, block->count, (size_t)block->ndims * sizeof *modes.count);
    memcpy(modes.stride, block->stride, (size_t)block->ndims * sizeof *modes.stride);
    memcpy(modes.partner_stride, block->stride, (size_t)block->ndims * sizeof *modes.stride);
    modes.count[axis] = end - begin;
    if (block->library != NULL && block->library->change != NULL)
        return block->library->change(&modes, block->stream);
    lines__change_modes(&modes);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- modes half-way */

/* Returns the index in the piece of the retained mode half-way. *partner is the bytes to the dropped one, or 0. */
static redist_index half_way(const struct lines__retained *at, const struct fftnd__block *block,
                             ptrdiff_t *partner) {
    int paired = at->nyquist == LINES__NYQUIST_PAIR;
    redist_index index = paired ? at->modes - at->high : at->low - 1;
    *partner = paired ? (ptrdiff_t)(at->high - index) * block->stride[at->axis] : 0;
    return index;
}

int fftnd__add_half_way(enum lines__nyquist nyquist, const struct fftnd__block *block) {
    int code = REDIST_OK;
    for (int i = 0; i < count_axes(block->truncation) && code == REDIST_OK; i++) {
        const struct lines__retained *at = &block->truncation->axes[i];
        ptrdiff_t partner;
        redist_index index = half_way(at, block, &partner);
        if (at->nyquist == nyquist)
            code =
                change_range(block, at->axis, index, index + 1, partner,
                             nyquist == LINES__NYQUIST_MIRROR ? LINES__ADD_CONJUGATE : LINES__ADD);
    }
    return code;
}

int fftnd__pad(const struct fftnd__block *block) {
    int n = count_axes(block->truncation), code = REDIST_OK;
    for (int i = 0; i < n && code == REDIST_OK; i++) {
        const struct lines__retained *at = &block->truncation->axes[i];
        code = change_range(block, at->axis, at->low, at->modes - at->high, 0, LINES__CLEAR);
    }
    for (int i = 0; i < n && code == REDIST_OK; i++) {
        const struct lines__retained *at = &block->truncation->axes[i];
        ptrdiff_t partner;
        redist_index index = half_way(at, block, &partner);
        if (at->nyquist != LINES__NYQUIST_NONE)
            code = change_range(block, at->axis, index, index + 1, partner, LINES__SPLIT);
    }
    return code;
}
