/* SPDX-License-Identifier: BSD-3-Clause */
#include "cut.h"

#include <string.h>

/* Strides of a multiple of 1 KiB use every 16th of the 64 or more sets of first-level caches, whose 8 or more ways are
 * too few for a line of 128 elements. */
enum { CACHE_LINE = 64, CONFLICT = 1024 };

/* ---------------------------------------------------------------- memory */

void fftnd__place_cut(struct fftnd__cut *cut, int ndims, redist_index numbers[]) {
    cut->before = numbers;
    cut->after = numbers + ndims;
    cut->count = numbers + 2 * ndims;
}

void fftnd__copy_cut(struct fftnd__cut *to, const struct fftnd__cut *from) {
    const struct fftnd__cut own = *to;
    size_t bytes = (size_t)from->ndims * sizeof *to->count;
    *to = *from;
    to->before = memcpy(own.before, from->before, bytes);
    to->after = memcpy(own.after, from->after, bytes);
    to->count = memcpy(own.count, from->count, bytes);
}

/* ---------------------------------------------------------------- cutting */

void fftnd__divide(redist_index extent, int n, int i, redist_index *start, redist_index *count) {
    redist_index few = extent / n, longer = extent % n;
    *count = few + (i < longer);
    *start = i * few + (i < longer ? i : longer);
}

int fftnd__locate(redist_index extent, int n, redist_index at) {
    redist_index few = extent / n, longer = extent % n, in_longer = longer * (few + 1);
    return (int)(at < in_longer ? at / (few + 1) : longer + (at - in_longer) / few);
}

int fftnd__choose_axis(int naxes, const int axes[], const redist_index extents[], int n) {
    int best = -1;
    for (int i = 0; i < naxes; i++) {
        int axis = axes[i];
        if (extents[axis] >= n)
            return axis;
        if (extents[axis] > (best >= 0 ? extents[best] : 0))
            best = axis;
    }
    return best;
}

/* Returns how many of `n` elements fit, cut evenly, and if many in whole cache lines: a line of two pieces is moved for
 * both. */
static redist_index fit_evenly(redist_index n, size_t fit, size_t item) {
    redist_index line = item < CACHE_LINE ? (redist_index)(CACHE_LINE / item) : 1;
    redist_index most = fit < 1 ? 1 : fit > (size_t)n ? n : (redist_index)fit;
    if (most < line || most == n)
        line = 1;
    most -= most % line;
    redist_index pieces = (n + most - 1) / most, even = (n + pieces - 1) / pieces;
    return (even + line - 1) / line * line;
}

/* Number of pieces along an axis. */
static redist_index count_along(const struct fftnd__cut *cut, int axis) {
    redist_index count = cut->count[axis];
    redist_index longer = axis == cut->uneven ? cut->longer : 0;
    return cut->whole[axis] || count == 0 ? 1 : (cut->after[axis] - longer + count - 1) / count;
}

static void count_pieces(struct fftnd__cut *cut) {
    cut->n = 1;
    for (int i = 0; i < cut->ndims; i++)
        cut->n *= count_along(cut, i);
}

void fftnd__cut_to_fit(struct fftnd__cut *cut, size_t item, size_t smallest, size_t bytes) {
    int is_full = 1;
    cut->uneven = -1;
    cut->longer = 0;
    for (int i = cut->ndims - 1; i >= 0; i--) {
        redist_index n = cut->after[i];
        cut->count[i] = n;
        if (cut->whole[i] || n <= 1)
            continue;
        cut->count[i] = is_full ? fit_evenly(n, bytes / smallest, item) : 1;
        is_full = is_full && cut->count[i] == n;
        if (cut->count[i] < n && cut->count[i] > 1)
            cut->uneven = i;
        smallest *= (size_t)cut->count[i];
    }
    count_pieces(cut);
}

void fftnd__cut_along(struct fftnd__cut *cut, int axis, int n) {
    for (int i = 0; i < cut->ndims; i++) {
        cut->whole[i] = i != axis;
        cut->count[i] = cut->after[i];
    }
    cut->uneven = axis;
    if (axis >= 0) {
        redist_index extent = cut->after[axis];
        redist_index pieces = extent < n ? extent : n;
        cut->count[axis] = extent / pieces;
        cut->longer = extent % pieces;
    }
    count_pieces(cut);
}

void fftnd__merge_axes(struct fftnd__cut *cut, const ptrdiff_t before[], const ptrdiff_t after[]) {
    for (int i = cut->ndims - 1; i > 0; i--)
        if (!cut->whole[i] && !cut->whole[i - 1]) {
            int inner = i;
            while (inner + 1 < cut->ndims && !cut->whole[inner + 1])
                inner++;
            redist_index extent = cut->after[inner], merged;
            if (__builtin_mul_overflow(extent, cut->after[i - 1], &merged) ||
                before[i - 1] != before[inner] * extent || after[i - 1] != after[inner] * extent)
                return;
            cut->before[inner] = cut->after[inner] = merged;
            cut->before[i - 1] = cut->after[i - 1] = 1;
        }
}

/* ---------------------------------------------------------------- pieces */

void fftnd__find_piece(const struct fftnd__cut *cut, long long number, struct fftnd__piece *piece) {
    piece->shorter = 0;
    for (int i = cut->ndims - 1; i >= 0; i--) {
        piece->start[i] = 0;
        piece->before[i] = cut->before[i];
        piece->after[i] = cut->after[i];
        if (cut->whole[i])
            continue;
        redist_index n = count_along(cut, i), at = (redist_index)(number % n);
        redist_index longer = i == cut->uneven ? cut->longer : 0;
        redist_index first = cut->count[i] + (longer > 0);
        redist_index count = cut->count[i] + (at < longer);
        piece->start[i] = at * cut->count[i] + (at < longer ? at : longer);
        redist_index rest = cut->after[i] - piece->start[i];
        piece->before[i] = piece->after[i] = rest < count ? rest : count;
        piece->shorter |= piece->after[i] < first;
        number /= n;
    }
}

int fftnd__count_lengths(const struct fftnd__cut *cut) {
    struct fftnd__piece last;
    fftnd__find_piece(cut, cut->n - 1, &last);
    return 1 + last.shorter;
}

int fftnd__is_smallest(const struct fftnd__cut *cut) {
    for (int i = 0; i < cut->ndims; i++)
        if (!cut->whole[i] && cut->count[i] > 1)
            return 0;
    return 1;
}

/* ---------------------------------------------------------------- memory */

long long fftnd__run_bytes(const struct fftnd__cut *cut, const redist_index array[],
                           const redist_index box[], const redist_index extent[], size_t item) {
    long long run = (long long)item;
    for (int i = cut->ndims - 1; i >= 0; i--) {
        redist_index count = cut->whole[i] ? array[i] : cut->count[i];
        count = count < box[i] ? count : box[i];
        run *= count > 0 ? count : 1;
        if (count != extent[i])
            break;
    }
    return run;
}

size_t fftnd__lay_out(int ndims, const redist_index count[], size_t item, int pads,
                      size_t alignment, ptrdiff_t stride[]) {
    size_t next = item;
    for (int i = ndims - 1; i >= 0; i--) {
        if (pads && count[i] > 1 && next > CACHE_LINE && next % CONFLICT == 0)
            next += CACHE_LINE;
        stride[i] = (ptrdiff_t)next;
        next *= (size_t)count[i];
    }
    return fftnd__round_up(next, alignment);
}

int fftnd__lies_alike(int ndims, const redist_index count[], const ptrdiff_t a[],
                      const ptrdiff_t b[]) {
    for (int i = 0; i < ndims; i++)
        if (count[i] > 1 && a[i] != b[i])
            return 0;
    return 1;
}

size_t fftnd__span(int ndims, const redist_index count[], const ptrdiff_t stride[], size_t item) {
    size_t bytes = item;
    for (int i = 0; i < ndims; i++)
        bytes += (size_t)(count[i] - 1) * (size_t)stride[i];
    return bytes;
}

ptrdiff_t fftnd__offset(int ndims, const redist_index start[], const ptrdiff_t stride[]) {
    ptrdiff_t offset = 0;
    for (int i = 0; i < ndims; i++)
        offset += (ptrdiff_t)start[i] * stride[i];
    return offset;
}
