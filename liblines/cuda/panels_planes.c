/* SPDX-License-Identifier: BSD-3-Clause */
#include "panels_planes.h"

#include <limits.h>
#include <string.h>

/* Neighbours of SIDE_BY_SIDE fill half an access to memory. With at most GUESSED_BYTES two blocks fit a multiprocessor,
 * of which one computes while the other one reads. */
enum { LEAST_RADIX = 4, GOOD_RADIX = 8, ROW_BYTES = 64, GUESSED_BYTES = 112 << 10 };

/* Rates two radices, low is good: small ones leave registers for more threads, and the second one is how many
 * neighbouring threads read neighbours. */
static unsigned rate(unsigned first, unsigned second) {
    unsigned most = first > second ? first : second;
    return 4 * most + (second < GOOD_RADIX ? 2 : second > GOOD_RADIX);
}

/* Nonzero if the kernel has a radix. */
static int is_radix(unsigned radix) {
    return radix >= LEAST_RADIX && radix <= LINES__PANEL_MOST_RADIX && radix != 11 && radix != 13;
}

/* Chooses two radices, the second one a multiple of `unit`. */
static int factorize(unsigned n, unsigned unit, struct lines__panel_divisor radix[2]) {
    unsigned best = UINT_MAX;
    for (unsigned second = LEAST_RADIX; second <= LINES__PANEL_MOST_RADIX; second++) {
        unsigned first = n / second;
        if (n % second == 0 && second % unit == 0 && is_radix(first) && is_radix(second) &&
            rate(first, second) < best) {
            best = rate(first, second);
            radix[0] = lines__panel_divide_by(first);
            radix[1] = lines__panel_divide_by(second);
        }
    }
    return best < UINT_MAX;
}

/* Lays out shared memory, so that neighbouring threads are never at the same place modulo 128 bytes. */
static int set_cluster(struct lines__planes *planes, unsigned log_cluster, const long long n[2],
                       size_t shared_bytes) {
    const size_t item = planes->is_double ? 16 : 8;
    if (!factorize((unsigned)n[0], 1U << log_cluster, planes->radix[0]) ||
        !factorize((unsigned)n[1], 1, planes->radix[1]))
        return 0;
    planes->log_cluster = log_cluster;
    planes->per_block = lines__panel_divide_by(planes->radix[0][1].n >> log_cluster);
    planes->group = planes->radix[1][1].n | 1;
    planes->pitch = planes->radix[1][0].n * planes->group;
    planes->shared_bytes = item * planes->wide.n * planes->pitch * ((unsigned)n[0] >> log_cluster);
    return planes->shared_bytes <= shared_bytes;
}

int lines__planes_shape(struct lines__planes *planes, int variant, const long long n[2],
                        int is_double, int kind, size_t shared_bytes) {
    const long long most = LINES__PANEL_MOST_RADIX * LINES__PANEL_MOST_RADIX;
    *planes = (struct lines__planes){.is_double = is_double, .scale = 1};
    planes->wide = lines__panel_divide_by(kind == LINES__PLANES_CONTIGUOUS ? 1
                                          : is_double                      ? ROW_BYTES / 16
                                                                           : ROW_BYTES / 8);
    if (n[0] > most || n[1] > most)
        return 0;
    if (variant != LINES__PANEL_GUESS)
        return set_cluster(planes, (unsigned)variant, n, shared_bytes);
    for (unsigned i = 0; i < LINES__PLANES_VARIANTS; i++)
        if (set_cluster(planes, i, n, GUESSED_BYTES < shared_bytes ? GUESSED_BYTES : shared_bytes))
            return 1;
    return set_cluster(planes, LINES__PLANES_VARIANTS - 1, n, shared_bytes);
}

/* Takes the least sum of radices, the first one of equal ones. */
int lines__planes_shape_lines(struct lines__planes *planes, int variant, long long n, int is_double,
                              size_t shared_bytes) {
    const long long most = LINES__PANEL_MOST_RADIX * LINES__PANEL_MOST_RADIX;
    unsigned best = UINT_MAX;
    for (long long rows = LEAST_RADIX * LEAST_RADIX; rows <= most; rows++) {
        struct lines__planes now;
        if (n % rows != 0 ||
            !lines__planes_shape(&now, variant, (const long long[2]){rows, n / rows}, is_double,
                                 LINES__PLANES_SIDE_BY_SIDE, shared_bytes))
            continue;
        unsigned sum =
            now.radix[0][0].n + now.radix[0][1].n + now.radix[1][0].n + now.radix[1][1].n;
        if (sum < best) {
            best = sum;
            *planes = now;
            planes->is_line = 1;
        }
    }
    return best < UINT_MAX;
}

/* Cuts a line: its elements follow each other along columns, its modes along rows. */
static void cut_line(struct lines__planes *planes, const struct lines__panel_loop *line) {
    unsigned rows = planes->radix[0][0].n * planes->radix[0][1].n,
             columns = planes->radix[1][0].n * planes->radix[1][1].n;
    planes->axis[0] = (struct lines__panel_loop){rows, line->in, columns * line->out};
    planes->axis[1] = (struct lines__panel_loop){columns, rows * line->in, line->out};
}

int lines__planes_repeat(struct lines__planes *planes, const struct lines__panel_loop axis[2],
                         const struct lines__panel_loop *side, int nouter,
                         const struct lines__panel_loop outer[]) {
    static const struct lines__panel_loop once = {1, 0, 0};
    if (planes->is_line)
        cut_line(planes, &axis[1]);
    else
        memcpy(planes->axis, axis, sizeof planes->axis);
    planes->side = *side;
    planes->sides = lines__panel_divide_by((side->n + planes->wide.n - 1) / planes->wide.n);
    unsigned long long nplanes = planes->sides.n;
    for (int i = 0; i < LINES__PANEL_LOOPS; i++) {
        planes->outer[i] = i < nouter ? outer[i] : once;
        planes->counts[i] = lines__panel_divide_by(planes->outer[i].n);
        if (__builtin_mul_overflow(nplanes, planes->outer[i].n, &nplanes))
            return 0;
    }
    planes->nplanes = (unsigned)nplanes;
    return nplanes <= (unsigned)INT_MAX >> planes->log_cluster;
}

/* Roots of axis or line i, 0 = none. */
static unsigned count_roots(const struct lines__planes *planes, int i) {
    return i < 2 ? planes->axis[i].n : planes->is_line ? planes->axis[0].n * planes->axis[1].n : 0;
}

size_t lines__planes_roots_bytes(const struct lines__planes *planes) {
    size_t count = 0;
    for (int i = 0; i < 3; i++)
        count += count_roots(planes, i);
    return count * (planes->is_double ? 16 : 8);
}

void lines__planes_roots(const struct lines__planes *planes, void *roots) {
    char *at = roots;
    for (int i = 0; i < 3; i++) {
        struct lines__panels lines = {.is_double = planes->is_double, .n = count_roots(planes, i)};
        lines__panels_roots(&lines, at);
        at += lines__panels_roots_bytes(&lines);
    }
}
