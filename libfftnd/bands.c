/* SPDX-License-Identifier: BSD-3-Clause */
/* Which modes of a tile the array has, and what becomes of the others. */
#include "bands.h"

#include <string.h>

/* ---------------------------------------------------------------- which they are */

static struct fftnd__band band_of(const struct fftnd__transform *transform, int axis) {
    const struct fftnd__chain *chain = &transform->chain;
    int kept = chain->kept[axis], halved = axis == chain->halved;
    int extent = fftnd__spectral_extent(chain, axis, kept);
    struct fftnd__band band = {.axis = axis + transform->batch.shift, .low = extent};
    band.modes = fftnd__spectral_extent(chain, axis, chain->points[axis]);
    if (transform->kind != FFTND_R2R && !halved) {
        band.high = kept / 2;
        band.low = kept - band.high;
    }
    if (transform->kind != FFTND_R2R && kept % 2 == 0)
        band.nyquist = halved ? FFTND__NYQUIST_MIRROR : FFTND__NYQUIST_PAIR;
    return band;
}

void fftnd__bands_of(struct fftnd__bands *bands, const struct fftnd__transform *transform,
                     const struct fftnd__step *step) {
    bands->n = 0;
    for (int i = 0; i < step->naxes; i++)
        if (transform->chain.kept[step->axes[i]] < transform->chain.points[step->axes[i]])
            bands->band[bands->n++] = band_of(transform, step->axes[i]);
}

void fftnd__bands_widen(const struct fftnd__bands *bands, int ndims, const int extent[],
                        int wide[]) {
    memmove(wide, extent, (size_t)ndims * sizeof *wide);
    for (int i = 0; i < bands->n; i++)
        wide[bands->band[i].axis] = bands->band[i].modes;
}

int fftnd__bands_piece(const struct fftnd__bands *bands, int which, int ndims, const int start[],
                       const int count[], const ptrdiff_t stride[], struct fftnd__piece *piece) {
    piece->offset = 0;
    memcpy(piece->start, start, (size_t)ndims * sizeof *start);
    memcpy(piece->count, count, (size_t)ndims * sizeof *count);
    for (int i = 0; i < bands->n; i++) {
        const struct fftnd__band *band = &bands->band[i];
        int is_high = which >> i & 1;
        piece->start[band->axis] = is_high ? band->low : 0;
        piece->count[band->axis] = is_high ? band->high : band->low;
        if (piece->count[band->axis] == 0)
            return 0;
        piece->offset += is_high ? (band->modes - band->high) * stride[band->axis] : 0;
    }
    return 1;
}

/* ---------------------------------------------------------------- lines of a tile */

/* Changes `n` elements, `stride` bytes apart; those at `partner` bytes from them belong to them. */
typedef void change_line(char *at, ptrdiff_t stride, int n, ptrdiff_t partner);

/* Every line along the last axis that has any length. */
static void change_lines(int ndims, const int count[], const ptrdiff_t stride[], char *at,
                         ptrdiff_t partner, change_line *change) {
    while (ndims > 1 && count[ndims - 1] == 1)
        ndims--;
    if (ndims == 1)
        change(at, stride[0], count[0], partner);
    for (int i = 0; ndims > 1 && i < count[0]; i++)
        change_lines(ndims - 1, count + 1, stride + 1, at + i * stride[0], partner, change);
}

/* All elements with an index of an axis in begin..end-1. */
static void change_range(const struct fftnd__block *block, int axis, int begin, int end,
                         ptrdiff_t partner, change_line *change) {
    int count[REDIST_MAX_NDIMS];
    memcpy(count, block->count, (size_t)block->ndims * sizeof *count);
    count[axis] = end - begin;
    change_lines(block->ndims, count, block->stride, block->memory + begin * block->stride[axis],
                 partner, change);
}

#define ELEMENTS(T)                                                                                \
    static void clear_##T(char *at, ptrdiff_t stride, int n, ptrdiff_t partner) {                  \
        (void)partner;                                                                             \
        for (int i = 0; i < n; i++, at += stride)                                                  \
            *(T *)(void *)at = 0;                                                                  \
    }                                                                                              \
    static void clear_complex_##T(char *at, ptrdiff_t stride, int n, ptrdiff_t partner) {          \
        (void)partner;                                                                             \
        for (int i = 0; i < n; i++, at += stride)                                                  \
            ((T *)(void *)at)[0] = ((T *)(void *)at)[1] = 0;                                       \
    }                                                                                              \
    static void add_##T(char *at, ptrdiff_t stride, int n, ptrdiff_t partner) {                    \
        for (int i = 0; i < n; i++, at += stride) {                                                \
            T *mode = (void *)at, *other = (void *)(at + partner);                                 \
            mode[0] += other[0];                                                                   \
            mode[1] += other[1];                                                                   \
        }                                                                                          \
    }                                                                                              \
    static void add_conjugate_##T(char *at, ptrdiff_t stride, int n, ptrdiff_t partner) {          \
        (void)partner;                                                                             \
        for (int i = 0; i < n; i++, at += stride) {                                                \
            T *mode = (void *)at;                                                                  \
            mode[0] *= 2;                                                                          \
            mode[1] = 0;                                                                           \
        }                                                                                          \
    }                                                                                              \
    static void share_##T(char *at, ptrdiff_t stride, int n, ptrdiff_t partner) {                  \
        for (int i = 0; i < n; i++, at += stride) {                                                \
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

/* Index in the tile of the mode half-way that the array has; bytes from there to the other one. */
static int half_way(const struct fftnd__band *band, const struct fftnd__block *block,
                    ptrdiff_t *partner) {
    int mirrored = band->nyquist == FFTND__NYQUIST_MIRROR;
    int index = mirrored ? band->low - 1 : band->modes - band->high;
    *partner = mirrored ? 0 : (band->high - index) * block->stride[band->axis];
    return index;
}

void fftnd__bands_join(const struct fftnd__bands *bands, enum fftnd__nyquist nyquist,
                       const struct fftnd__block *block) {
    const struct changes *change = &changes[block->precision];
    for (int i = 0; i < bands->n; i++) {
        const struct fftnd__band *band = &bands->band[i];
        ptrdiff_t partner;
        int index = half_way(band, block, &partner);
        if (band->nyquist == nyquist)
            change_range(block, band->axis, index, index + 1, partner,
                         partner != 0 ? change->add : change->add_conjugate);
    }
}

void fftnd__bands_spread(const struct fftnd__bands *bands, const struct fftnd__block *block) {
    const struct changes *change = &changes[block->precision];
    size_t real = fftnd__item_bytes(block->precision, 1);
    for (int i = 0; i < bands->n; i++) {
        const struct fftnd__band *band = &bands->band[i];
        change_range(block, band->axis, band->low, band->modes - band->high, 0,
                     block->item == real ? change->clear_real : change->clear_complex);
    }
    for (int i = 0; i < bands->n; i++) {
        const struct fftnd__band *band = &bands->band[i];
        ptrdiff_t partner;
        int index = half_way(band, block, &partner);
        if (band->nyquist != FFTND__NYQUIST_NONE)
            change_range(block, band->axis, index, index + 1, partner, change->share);
    }
}
