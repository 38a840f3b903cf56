/* SPDX-License-Identifier: BSD-3-Clause */
#include "panels.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Threads of a block: of two blocks one computes while the other one reads. Panels of strided lines are wide enough
 * for rows of 64 bytes; contiguous lines are better alone. */
enum { MOST_STRIDED = 512, MOST_ALONG = 128, LEAST_WIDTH = 4, MOST_WIDTH = 16, ELEMENT = 16 };

static const struct {
    unsigned first, rest, threads;
} kernels[FFTND__PANEL_KERNELS] = {
    {FFTND__PANEL_FIRST_0, FFTND__PANEL_REST_0, FFTND__PANEL_THREADS_0},
    {FFTND__PANEL_FIRST_1, FFTND__PANEL_REST_1, FFTND__PANEL_THREADS_1},
};

/* ---------------------------------------------------------------- radices */

struct factors {
    unsigned npasses, radix[FFTND__PANEL_PASSES];
    unsigned rows;
};

/* Threads that a line of n elements needs. */
static unsigned count_rows(const struct factors *factors, unsigned n) {
    unsigned rows = 0;
    for (unsigned i = 0; i < factors->npasses; i++) {
        unsigned radix = factors->radix[i], each = FFTND__PANEL_BUTTERFLIES(radix);
        unsigned needed = (n / radix + each - 1) / each;
        rows = needed > rows ? needed : rows;
    }
    return rows;
}

/* Fewer passes, then fewer threads. */
static int is_better(const struct factors *a, const struct factors *b) {
    if (b->npasses == 0 || a->npasses != b->npasses)
        return b->npasses == 0 || a->npasses < b->npasses;
    return a->rows < b->rows;
}

/* Tries all radices for what is left of n, the later ones not larger than those before. */
static void factorize(unsigned n, unsigned left, unsigned most, unsigned rest, struct factors *now,
                      struct factors *best) {
    if (left == 1) {
        now->rows = count_rows(now, n);
        if (is_better(now, best))
            *best = *now;
        return;
    }
    if (now->npasses == FFTND__PANEL_PASSES)
        return;
    for (unsigned radix = most; radix > 1; radix--)
        if (left % radix == 0) {
            now->radix[now->npasses++] = radix;
            factorize(n, left / radix, radix < rest ? radix : rest, rest, now, best);
            now->npasses--;
        }
}

/* ---------------------------------------------------------------- shapes */

/* The most lines, as a power of two, with which a block has no more than `most` threads. */
static unsigned choose_width(unsigned rows, unsigned most, unsigned least) {
    unsigned width = least;
    while (width < MOST_WIDTH && 2 * width * rows <= most)
        width *= 2;
    return width;
}

static void set_passes(struct fftnd__panels *panels, const struct factors *factors) {
    panels->npasses = factors->npasses;
    panels->rows = factors->rows;
    for (unsigned i = 0, done = 1; i < factors->npasses; i++) {
        unsigned radix = factors->radix[i];
        panels->passes[i].radix = radix;
        panels->passes[i].butterflies = panels->n / radix;
        panels->passes[i].done = done;
        panels->passes[i].step = panels->n / radix / done;
        done *= radix;
    }
}

static int set_memory(struct fftnd__panels *panels, size_t most) {
    int along = panels->along;
    panels->pitch = along ? 1 : panels->width;
    panels->apart = along ? panels->n + panels->n / 8 + 1 : 1;
    panels->shared_bytes =
        panels->npasses < 2 ? 0
                            : (size_t)ELEMENT * panels->width * (along ? panels->apart : panels->n);
    return panels->shared_bytes <= most;
}

static int set_kernel(struct fftnd__panels *panels, int kernel, size_t shared_bytes) {
    struct factors now = {0, {0}, 0}, best = {0, {0}, 0};
    factorize(panels->n, panels->n, kernels[kernel].first, kernels[kernel].rest, &now, &best);
    if (best.npasses == 0)
        return 0;
    panels->kernel = kernel;
    set_passes(panels, &best);
    panels->width = panels->along ? choose_width(best.rows, MOST_ALONG, 1)
                                  : choose_width(best.rows, MOST_STRIDED, LEAST_WIDTH);
    while (panels->width > 1 && panels->width * panels->rows > kernels[kernel].threads)
        panels->width /= 2;
    panels->lines = panels->width * (panels->is_double ? 1 : 2);
    return panels->width * panels->rows <= kernels[kernel].threads &&
           set_memory(panels, shared_bytes);
}

int fftnd__panels_shape(struct fftnd__panels *panels, long long n, int is_double, int along,
                        size_t shared_bytes) {
    struct fftnd__panels first = {.is_double = is_double, .along = along}, second;
    if (n < 2 || n > USHRT_MAX)
        return 0;
    first.n = (unsigned)n;
    second = first;
    int has_first = set_kernel(&first, 0, shared_bytes);
    int has_second = set_kernel(&second, 1, shared_bytes);
    *panels = has_first && (!has_second || first.npasses <= second.npasses) ? first : second;
    return has_first || has_second;
}

/* Pairs of floats are neighbours where both are read at once; else all first ones are, and all second ones. */
static void set_pairs(struct fftnd__panels *panels) {
    int is_even = panels->side.in == 1 && panels->side.out == 1 && panels->axis.in % 2 == 0 &&
                  panels->axis.out % 2 == 0;
    for (int i = 0; i < FFTND__PANEL_LOOPS; i++)
        is_even = is_even && panels->outer[i].in % 2 == 0 && panels->outer[i].out % 2 == 0;
    panels->adjacent = !panels->is_double && is_even;
    panels->second = panels->is_double ? 0 : is_even ? 1 : panels->width;
}

int fftnd__panels_repeat(struct fftnd__panels *panels, const struct fftnd__panel_loop *axis,
                         const struct fftnd__panel_loop *side, int nouter,
                         const struct fftnd__panel_loop outer[]) {
    static const struct fftnd__panel_loop once = {1, 0, 0};
    panels->axis = *axis;
    panels->side = *side;
    panels->panels = (side->n + panels->lines - 1) / panels->lines;
    unsigned long long npanels = panels->panels;
    for (int i = 0; i < FFTND__PANEL_LOOPS; i++) {
        panels->outer[i] = i < nouter ? outer[i] : once;
        if (__builtin_mul_overflow(npanels, panels->outer[i].n, &npanels))
            return 0;
    }
    panels->npanels = (unsigned)npanels;
    set_pairs(panels);
    return npanels <= INT_MAX;
}

/* ---------------------------------------------------------------- roots */

size_t fftnd__panels_roots_bytes(const struct fftnd__panels *panels) {
    return 2 * panels->n * (panels->is_double ? sizeof(double) : sizeof(float));
}

void fftnd__panels_roots(const struct fftnd__panels *panels, void *roots) {
    const double circle = 6.283185307179586476925;
    for (unsigned i = 0; i < panels->n; i++) {
        double angle = circle * i / panels->n, root[2] = {cos(angle), -sin(angle)};
        for (int part = 0; part < 2; part++)
            if (panels->is_double)
                ((double *)roots)[2 * i + (unsigned)part] = root[part];
            else
                ((float *)roots)[2 * i + (unsigned)part] = (float)root[part];
    }
}
