/* SPDX-License-Identifier: BSD-3-Clause */
/* Which modes of a piece the array retains, and what becomes of the others. */
#include "truncation.h"

#include <string.h>

/* ---------------------------------------------------------------- which they are */

static struct fftnd__retained retained_of(const struct fftnd__transform *transform, int axis) {
    const struct fftnd__chain *chain = &transform->chain;
    redist_index kept = chain->modes[axis], extent = fftnd__spectral_extent(chain, axis, kept);
    int halved = axis == chain->halved;
    struct fftnd__retained retained = {.axis = axis + transform->batch.shift, .low = extent};
    retained.modes = fftnd__spectral_extent(chain, axis, chain->points[axis]);
    if (transform->kind != FFTND_R2R && !halved) {
        retained.high = kept / 2;
        retained.low = kept - retained.high;
    }
    if (transform->kind != FFTND_R2R && kept % 2 == 0)
        retained.nyquist = halved ? FFTND__NYQUIST_MIRROR : FFTND__NYQUIST_PAIR;
    return retained;
}

void fftnd__truncation_of(struct fftnd__truncation *truncation,
                          const struct fftnd__transform *transform,
                          const struct fftnd__step *step) {
    truncation->n = 0;
    for (int i = 0; i < step->naxes; i++)
        if (transform->chain.modes[step->axes[i]] < transform->chain.points[step->axes[i]])
            truncation->axes[truncation->n++] = retained_of(transform, step->axes[i]);
}

void fftnd__widen(const struct fftnd__truncation *truncation, int ndims,
                  const redist_index extent[], redist_index wide[]) {
    memmove(wide, extent, (size_t)ndims * sizeof *wide);
    for (int i = 0; i < truncation->n; i++)
        wide[truncation->axes[i].axis] = truncation->axes[i].modes;
}

int fftnd__find_part(const struct fftnd__truncation *truncation, int which, int ndims,
                     const redist_index start[], const redist_index count[],
                     const ptrdiff_t stride[], struct fftnd__part *part) {
    part->offset = 0;
    memcpy(part->start, start, (size_t)ndims * sizeof *start);
    memcpy(part->count, count, (size_t)ndims * sizeof *count);
    for (int i = 0; i < truncation->n; i++) {
        const struct fftnd__retained *at = &truncation->axes[i];
        int is_high = which >> i & 1;
        part->start[at->axis] = is_high ? at->low : 0;
        part->count[at->axis] = is_high ? at->high : at->low;
        if (part->count[at->axis] == 0)
            return 0;
        part->offset += is_high ? (ptrdiff_t)(at->modes - at->high) * stride[at->axis] : 0;
    }
    return 1;
}

/* ---------------------------------------------------------------- lines of a piece */

/* Changes `n` elements, `stride` bytes apart; those at `partner` bytes from them belong to them. */
typedef void change_line(char *at, ptrdiff_t stride, redist_index n, ptrdiff_t partner);

/* Every line along the last axis that has any length. */
static void change_lines(int ndims, const redist_index count[], const ptrdiff_t stride[], char *at,
                         ptrdiff_t partner, change_line *change) {
    while (ndims > 1 && count[ndims - 1] == 1)
        ndims--;
    if (ndims == 1)
        change(at, stride[0], count[0], partner);
    for (redist_index i = 0; ndims > 1 && i < count[0]; i++)
        change_lines(ndims - 1, count + 1, stride + 1, at + (ptrdiff_t)i * stride[0], partner,
                     change);
}

/* All elements with an index of an axis in begin..end-1. */
static void change_range(const struct fftnd__block *block, int axis, redist_index begin,
                         redist_index end, ptrdiff_t partner, change_line *change) {
    redist_index count[REDIST_MAX_NDIMS];
    memcpy(count, block->count, (size_t)block->ndims * sizeof *count);
    count[axis] = end - begin;
    change_lines(block->ndims, count, block->stride,
                 block->memory + (ptrdiff_t)begin * block->stride[axis], partner, change);
}

#define ELEMENTS(T)                                                                                \
    static void clear_##T(char *at, ptrdiff_t stride, redist_index n, ptrdiff_t partner) {         \
        (void)partner;                                                                             \
        for (redist_index i = 0; i < n; i++, at += stride)                                         \
            *(T *)(void *)at = 0;                                                                  \
    }                                                                                              \
    static void clear_complex_##T(char *at, ptrdiff_t stride, redist_index n, ptrdiff_t partner) { \
        (void)partner;                                                                             \
        for (redist_index i = 0; i < n; i++, at += stride)                                         \
            ((T *)(void *)at)[0] = ((T *)(void *)at)[1] = 0;                                       \
    }                                                                                              \
    static void add_##T(char *at, ptrdiff_t stride, redist_index n, ptrdiff_t partner) {           \
        for (redist_index i = 0; i < n; i++, at += stride) {                                       \
            T *mode = (void *)at, *other = (void *)(at + partner);                                 \
            mode[0] += other[0];                                                                   \
            mode[1] += other[1];                                                                   \
        }                                                                                          \
    }                                                                                              \
    static void add_conjugate_##T(char *at, ptrdiff_t stride, redist_index n, ptrdiff_t partner) { \
        (void)partner;                                                                             \
        for (redist_index i = 0; i < n; i++, at += stride) {                                       \
            T *mode = (void *)at;                                                                  \
            mode[0] *= 2;                                                                          \
            mode[1] = 0;                                                                           \
        }                                                                                          \
    }                                                                                              \
    static void share_##T(char *at, ptrdiff_t stride, redist_index n, ptrdiff_t partner) {         \
        for (redist_index i = 0; i < n; i++, at += stride) {                                       \
            T *mode = (void *)at, *other = (void *)(at + partner);                                 \
            other[0] = mode[0] /= 2;                                                               \
            other[1] = mode[1] /= 2;                                                               \
        }                                                                                          \
    }
ELEMENTS(double)
ELEMENTS(float)

struct changes {
    change_line *clear_real, *clear_complex, *add, *add_conjugate, *share;
};

static const struct changes changes[] = {
    [FFTND_DOUBLE] = {clear_double, clear_complex_double, add_double, add_conjugate_double,
                      share_double},
    [FFTND_FLOAT] = {clear_float, clear_complex_float, add_float, add_conjugate_float,
                     share_float}};

/* ---------------------------------------------------------------- modes half-way */

/* Index in the piece of the mode half-way that the array has; bytes from there to the other one. */
static redist_index half_way(const struct fftnd__retained *at, const struct fftnd__block *block,
                             ptrdiff_t *partner) {
    int mirrored = at->nyquist == FFTND__NYQUIST_MIRROR;
    redist_index index = mirrored ? at->low - 1 : at->modes - at->high;
    *partner = mirrored ? 0 : (ptrdiff_t)(at->high - index) * block->stride[at->axis];
    return index;
}

void fftnd__add_half_way(const struct fftnd__truncation *truncation, enum fftnd__nyquist nyquist,
                         const struct fftnd__block *block) {
    const struct changes *change = &changes[block->precision];
    for (int i = 0; i < truncation->n; i++) {
        const struct fftnd__retained *at = &truncation->axes[i];
        ptrdiff_t partner;
        redist_index index = half_way(at, block, &partner);
        if (at->nyquist == nyquist)
            change_range(block, at->axis, index, index + 1, partner,
                         partner != 0 ? change->add : change->add_conjugate);
    }
}

void fftnd__pad_modes(const struct fftnd__truncation *truncation,
                      const struct fftnd__block *block) {
    const struct changes *change = &changes[block->precision];
    size_t real = fftnd__item_bytes(block->precision, 1);
    for (int i = 0; i < truncation->n; i++) {
        const struct fftnd__retained *at = &truncation->axes[i];
        change_range(block, at->axis, at->low, at->modes - at->high, 0,
                     block->item == real ? change->clear_real : change->clear_complex);
    }
    for (int i = 0; i < truncation->n; i++) {
        const struct fftnd__retained *at = &truncation->axes[i];
        ptrdiff_t partner;
        redist_index index = half_way(at, block, &partner);
        if (at->nyquist != FFTND__NYQUIST_NONE)
            change_range(block, at->axis, index, index + 1, partner, change->share);
    }
}
