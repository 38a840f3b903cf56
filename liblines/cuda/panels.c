/* SPDX-License-Identifier: BSD-3-Clause */
#include "panels.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>

/* Threads of a block, so that two blocks fit: one computes while the other one reads. Panels of strided lines are wide
 * enough for rows of 64 bytes; contiguous lines are better alone. */
enum { MOST_STRIDED = 512, MOST_ALONG = 128, LEAST_WIDTH = 4, MOST_WIDTH = 16, ELEMENT = 16 };

static const struct {
    unsigned least, first, rest, pairs, threads;
} kernels[LINES__PANEL_KERNELS] = {
    {LINES__PANEL_LEAST_0, LINES__PANEL_FIRST_0, LINES__PANEL_REST_0, LINES__PANEL_PAIRS_0,
     LINES__PANEL_THREADS_0},
    {LINES__PANEL_LEAST_1, LINES__PANEL_FIRST_1, LINES__PANEL_REST_1, LINES__PANEL_PAIRS_1,
     LINES__PANEL_THREADS_1},
};

/* ---------------------------------------------------------------- radices */

struct factors {
    unsigned npasses, radix[LINES__PANEL_PASSES];
    unsigned rows;
};

/* Threads of a radix pass over a line of n elements. */
static unsigned rows_of_pass(int kernel, unsigned n, unsigned radix) {
    unsigned each = LINES__PANEL_BUTTERFLIES(kernel, radix);
    return (n / radix + each - 1) / each;
}

static unsigned larger(unsigned a, unsigned b) {
    return a > b ? a : b;
}

static unsigned count_rows(const struct factors *factors, int kernel, unsigned n) {
    unsigned rows = 0;
    for (unsigned i = 0; i < factors->npasses; i++)
        rows = larger(rows, rows_of_pass(kernel, n, factors->radix[i]));
    return rows;
}

/* Prefers fewer radix passes, then fewer threads. */
static int is_better(const struct factors *a, const struct factors *b) {
    if (b->npasses == 0 || a->npasses != b->npasses)
        return b->npasses == 0 || a->npasses < b->npasses;
    return a->rows < b->rows;
}

/* The smallest radix of the next radix pass. */
static unsigned least_radix(const struct factors *now, unsigned left, int kernel) {
    unsigned least = now->npasses == 0 ? kernels[kernel].least : LINES__PANEL_MIDDLE;
    return now->npasses > 0 && left < least ? left : least;
}

/* Tries all radices for what is left of n, none larger than the one before it. */
static void factorize(unsigned n, unsigned left, unsigned most, int kernel, struct factors *now,
                      struct factors *best) {
    if (left == 1 && now->npasses > 1) {
        now->rows = count_rows(now, kernel, n);
        if (is_better(now, best))
            *best = *now;
        return;
    }
    if (now->npasses == LINES__PANEL_PASSES)
        return;
    const unsigned rest = kernels[kernel].rest;
    for (unsigned radix = most, least = least_radix(now, left, kernel); radix >= least; radix--)
        if (left % radix == 0) {
            now->radix[now->npasses++] = radix;
            factorize(n, left / radix, radix < rest ? radix : rest, kernel, now, best);
            now->npasses--;
        }
}

/* ---------------------------------------------------------------- shapes */

/* Rounds the factor up, which is exact: below 2^31 its error adds less than 1 / n to the quotient. */
struct lines__panel_divisor lines__panel_divide_by(unsigned n) {
    unsigned bits = 0;
    while ((1ULL << bits) < n)
        bits++;
    const unsigned long long one = 1ULL << (31 + bits);
    return (struct lines__panel_divisor){n, n == 0 ? 0 : (unsigned)((one + n - 1) / n), 31 + bits};
}

/* The most lines, a power of two, with which a block has at most `most` threads. */
static unsigned choose_width(unsigned rows, unsigned most, unsigned least) {
    unsigned width = least;
    while (width < MOST_WIDTH && 2 * width * rows <= most)
        width *= 2;
    return width;
}

static void set_passes(struct lines__panels *panels, const struct factors *factors) {
    panels->npasses = factors->npasses;
    panels->rows = factors->rows;
    for (unsigned i = 0, done = 1; i < factors->npasses; i++) {
        unsigned radix = factors->radix[i];
        panels->passes[i].radix = radix;
        panels->passes[i].butterflies = panels->n / radix;
        panels->passes[i].done = lines__panel_divide_by(done);
        panels->passes[i].step = panels->n / radix / done * (panels->is_real ? 2 : 1);
        done *= radix;
    }
}

/* Lays out shared memory: threads of narrow panels write groups at once that begin an odd number of elements apart.
 * Real lines are in order there before the first radix pass or behind the last one. */
static int set_memory(struct lines__panels *panels, size_t most) {
    unsigned pitch = panels->along ? 1 : panels->width, line = panels->is_real ? panels->n : 0;
    panels->passes[0].group = pitch;
    panels->passes[0].apart = panels->passes[0].butterflies * pitch;
    for (unsigned i = 1; i < panels->npasses; i++) {
        unsigned done = panels->passes[i].done.n, groups = panels->n / done;
        unsigned group = done + (pitch % 8 != 0 && done % 2 == 0);
        panels->passes[i].group = group * pitch;
        panels->passes[i].apart = panels->passes[i].butterflies / done * group * pitch;
        line = groups * group > line ? groups * group : line;
    }
    panels->pitch = pitch;
    panels->next = panels->along ? line | 1 : 1;
    panels->shared_bytes = (size_t)ELEMENT * panels->width * (panels->along ? line | 1 : line);
    panels->threads = lines__panel_divide_by(panels->along ? panels->rows : panels->width);
    return panels->shared_bytes <= most;
}

/* Nonzero if some radix pass can be the last one with its butterflies in pairs, which is set then, with enough threads
 * for them: they take longer than what is between. Lines of two radix passes are as fast without
 * (docs/performance-notebook.md, "Real lines"). */
static int make_pairs(struct factors *factors, int kernel, unsigned n) {
    unsigned last = factors->npasses - 1, *radix = factors->radix;
    for (unsigned i = last; i > 0 && last > 1; i--)
        if (radix[i] <= kernels[kernel].pairs && n / radix[i] % 2 == 0) {
            unsigned pairs = radix[i];
            radix[i] = radix[last];
            radix[last] = pairs;
            factors->rows = larger(factors->rows, rows_of_pass(kernel, n, 2 * pairs));
            return 1;
        }
    return 0;
}

/* `width` 0 = a guess. */
static int set_kernel(struct lines__panels *panels, int kernel, unsigned width,
                      size_t shared_bytes) {
    struct factors now = {0, {0}, 0}, best = {0, {0}, 0};
    const unsigned most = kernels[kernel].threads;
    factorize(panels->n, panels->n, kernels[kernel].first, kernel, &now, &best);
    if (best.npasses == 0)
        return 0;
    panels->kernel = kernel;
    panels->has_pairs = panels->is_real && make_pairs(&best, kernel, panels->n);
    set_passes(panels, &best);
    panels->width = width > 0       ? width
                    : panels->along ? choose_width(best.rows, MOST_ALONG, 1)
                                    : choose_width(best.rows, MOST_STRIDED, LEAST_WIDTH);
    while (width == 0 && panels->width > 1 && panels->width * panels->rows > most)
        panels->width /= 2;
    panels->each = panels->is_double ? 1 : 2;
    panels->lines = panels->width * panels->each;
    return panels->width * panels->rows <= most && set_memory(panels, shared_bytes);
}

int lines__panels_direct(struct lines__panels *panels, int backward, size_t shared_bytes) {
    struct factors turned = {panels->npasses, {0}, panels->rows};
    panels->backward = backward;
    if (!backward || !panels->has_pairs)
        return 1;
    for (unsigned i = 0; i < turned.npasses; i++)
        turned.radix[(i + 1) % turned.npasses] = panels->passes[i].radix;
    set_passes(panels, &turned);
    return set_memory(panels, shared_bytes);
}

static int set_guess(struct lines__panels *panels, size_t shared_bytes) {
    struct lines__panels first = *panels, second = *panels;
    int has_first = set_kernel(&first, 0, 0, shared_bytes);
    int has_second = set_kernel(&second, 1, 0, shared_bytes);
    *panels = has_first && (!has_second || first.npasses <= second.npasses) ? first : second;
    return has_first || has_second;
}

int lines__panels_shape(struct lines__panels *panels, int variant, long long n, int is_double,
                        int layout, size_t shared_bytes) {
    int is_real = layout == LINES__REAL, along = layout != LINES__STRIDED;
    if (n > USHRT_MAX || (is_real && n % 2 != 0))
        return 0;
    unsigned length = (unsigned)n / (is_real ? 2 : 1);
    *panels = (struct lines__panels){.is_double = is_double,
                                     .is_real = is_real,
                                     .along = along,
                                     .n = length,
                                     .filled = length,
                                     .scale = 1};
    if (n < 0 || length < LINES__PANEL_SHORTEST)
        return 0;
    if (variant == LINES__PANEL_GUESS)
        return set_guess(panels, shared_bytes);
    unsigned width = (along ? 1U : (unsigned)LEAST_WIDTH) << variant % LINES__PANEL_WIDTHS;
    return set_kernel(panels, variant / LINES__PANEL_WIDTHS, width, shared_bytes);
}

int lines__panels_shape_r2r(struct lines__panels *panels, int variant, int r2r, long long n,
                            int is_double, int layout, size_t shared_bytes) {
    if (n > USHRT_MAX || !lines__panels_shape(panels, variant, lines__r2r_points(r2r, n), is_double,
                                              layout, shared_bytes))
        return 0;
    panels->r2r = lines__r2r_describe(r2r, (unsigned)n);
    panels->each *= panels->r2r.folds ? 1 : 2;
    panels->lines = panels->width * panels->each;
    return 1;
}

static int are_whole(const struct lines__panel_loop *loop, int each) {
    return loop->in % each == 0 && loop->out % each == 0;
}

/* Chooses the lines of a thread: neighbours where they are read in one access, else lines that are `width` apart. */
static void set_pairs(struct lines__panels *panels) {
    int each = (int)panels->each, is_one = each == 1 || panels->r2r.folds,
        fits = panels->side.in == 1 && panels->side.out == 1 && are_whole(&panels->axis, each);
    for (int i = 0; i < LINES__PANEL_LOOPS; i++)
        fits = fits && are_whole(&panels->outer[i], each);
    panels->adjacent = !is_one && fits;
    panels->second = each == 1 ? 0 : panels->adjacent ? 1 : panels->width;
}

int lines__panels_repeat(struct lines__panels *panels, const struct lines__panel_loop *axis,
                         const struct lines__panel_loop *side, int nouter,
                         const struct lines__panel_loop outer[]) {
    static const struct lines__panel_loop once = {1, 0, 0};
    panels->axis = *axis;
    panels->side = *side;
    panels->panels = lines__panel_divide_by((side->n + panels->lines - 1) / panels->lines);
    unsigned long long npanels = panels->panels.n;
    for (int i = 0; i < LINES__PANEL_LOOPS; i++) {
        panels->outer[i] = i < nouter ? outer[i] : once;
        panels->counts[i] = lines__panel_divide_by(panels->outer[i].n);
        if (__builtin_mul_overflow(npanels, panels->outer[i].n, &npanels))
            return 0;
    }
    panels->npanels = (unsigned)npanels;
    set_pairs(panels);
    return npanels <= INT_MAX;
}

/* ---------------------------------------------------------------- direct stores */

/* Nonzero if two complex floats can be written at each address in one access. */
static int is_target_adjacent(const struct lines__panel_target *target) {
    int is_even =
        target->side == 1 && target->axis % 2 == 0 && (uintptr_t)target->base % ELEMENT == 0;
    for (int i = 0; i < LINES__PANEL_LOOPS; i++)
        is_even = is_even && target->outer[i] % 2 == 0;
    return is_even;
}

int lines__panels_are_adjacent(const struct lines__panels *panels,
                               const struct lines__panel_targets *targets) {
    const struct lines__panel_target *target = targets->target;
    while (target->end < lines__panels_end(panels) && is_target_adjacent(target))
        target++;
    return !panels->is_double && is_target_adjacent(target);
}

/* ---------------------------------------------------------------- roots */

static unsigned count_roots(const struct lines__panels *panels) {
    return panels->n * (panels->is_real ? 2 : 1);
}

size_t lines__panels_roots_bytes(const struct lines__panels *panels) {
    size_t count = count_roots(panels) + (panels->r2r.n > 0 ? panels->n : 0);
    return 2 * count * (panels->is_double ? sizeof(double) : sizeof(float));
}

static void set_root(const struct lines__panels *panels, void *roots, unsigned at,
                     const double root[2]) {
    for (unsigned part = 0; part < 2; part++)
        if (panels->is_double)
            ((double *)roots)[2 * at + part] = root[part];
        else
            ((float *)roots)[2 * at + part] = (float)root[part];
}

void lines__panels_roots(const struct lines__panels *panels, void *roots) {
    const double circle = 6.283185307179586476925;
    unsigned n = count_roots(panels);
    double root[2];
    for (unsigned i = 0; i < n; i++) {
        double angle = circle * i / n;
        root[0] = cos(angle);
        root[1] = -sin(angle);
        set_root(panels, roots, i, root);
    }
    for (unsigned i = 0; panels->r2r.n > 0 && i < panels->n; i++) {
        lines__r2r_factor(&panels->r2r, i, root);
        set_root(panels, roots, n + i, root);
    }
}
