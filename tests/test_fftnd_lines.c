/* SPDX-License-Identifier: BSD-3-Clause */
/* What decides on a device how lines are transformed, without one: the passes of panels, and what is kept of rates. */
#include <complex.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../libfftnd/backends/panels.h"
#include "../libfftnd/backends/rates.h"
#include "harness.h"
#include "random.h"

enum { SHARED_BYTES = 227 << 10, MOST = 2048 };

/* ---------------------------------------------------------------- panels */

static int has_small_factors(int n) {
    for (int prime = 2; prime <= 13; prime++)
        while (n % prime == 0)
            n /= prime;
    return n == 1;
}

/* What the compiled kernels have: another radix would do nothing. */
static int has_radix(const struct fftnd__panels *panels, unsigned pass) {
    const unsigned radix = panels->passes[pass].radix,
                   rest = panels->kernel == 0 ? FFTND__PANEL_REST_0 : FFTND__PANEL_REST_1;
    if (pass == 0)
        return panels->kernel == 0 ? radix >= FFTND__PANEL_LEAST_0 && radix <= FFTND__PANEL_FIRST_0
                                   : radix >= FFTND__PANEL_LEAST_1 && radix <= FFTND__PANEL_FIRST_1;
    return radix >= (pass + 1 < panels->npasses ? FFTND__PANEL_MIDDLE : 1U) && radix <= rest;
}

/* Every element of a line has a thread in every pass. */
static void check_shape(const struct fftnd__panels *panels, int length) {
    const unsigned n = (unsigned)length / (panels->is_real ? 2 : 1), step = panels->is_real ? 2 : 1;
    unsigned done = 1;
    for (unsigned i = 0; i < panels->npasses; i++) {
        const unsigned radix = panels->passes[i].radix;
        check_all(has_radix(panels, i), "radix %u of %u", radix, n);
        check_all(panels->passes[i].butterflies * radix == n && panels->passes[i].done.n == done &&
                      panels->passes[i].step * done * radix == n * step,
                  "pass %u of %u", i, n);
        check_all(panels->rows * FFTND__PANEL_BUTTERFLIES(panels->kernel, radix) >=
                      panels->passes[i].butterflies,
                  "%u rows for radix %u of %u", panels->rows, radix, n);
        done *= radix;
    }
    check_all(done == n && panels->npasses >= 2, "the radices of %u make %u", n, done);
    check_all(panels->width >= 1 &&
                  panels->rows * panels->width <=
                      (panels->kernel == 0 ? FFTND__PANEL_THREADS_0 : FFTND__PANEL_THREADS_1),
              "%u x %u threads for %u", panels->rows, panels->width, n);
    check_all(panels->shared_bytes <= SHARED_BYTES, "%zu bytes for %u", panels->shared_bytes, n);
}

/* Lengths up to 1200 all have panels; a guess there is, if there is any. */
static void check_shapes(int n, int is_double, int layout) {
    const int is_real = layout == FFTND__REAL, small = has_small_factors(n),
              usual = n <= 1200 && n / (is_real ? 2 : 1) >= FFTND__PANEL_SHORTEST;
    struct fftnd__panels panels;
    int found = 0;
    for (int i = FFTND__PANEL_VARIANTS - 1; i >= FFTND__PANEL_GUESS; i--) {
        if (!fftnd__panels_shape(&panels, i, n, is_double, layout, (size_t)SHARED_BYTES))
            continue;
        check_shape(&panels, n);
        found = i == FFTND__PANEL_GUESS ? 2 : 1;
    }
    check_all(!found || (small && !(is_real && n % 2)), "panels for %d", n);
    check_all(found != 1, "no guess for %d", n);
    check_all(found || !small || !usual || (is_real && n % 2), "no panels for %d", n);
}

START_TEST(shapes) {
    for (int n = 2; n <= USHRT_MAX; n++)
        for (int kind = 0; kind < 2 * FFTND__LAYOUTS && (n <= MOST || has_small_factors(n)); kind++)
            check_shapes(n, kind % 2, kind / 2);
}
END_TEST

static unsigned divide(unsigned i, const struct fftnd__panel_divisor *by) {
    return (unsigned)((unsigned long long)i * by->factor >> by->shift);
}

/* Of the largest numbers too; a loop of panels has all divisors from 1. */
START_TEST(divisors) {
    struct fftnd__panels panels;
    check_all(fftnd__panels_shape(&panels, FFTND__PANEL_GUESS, 60, 1, 0, (size_t)SHARED_BYTES),
              "60");
    for (int i = 0; i < 3000; i++) {
        const unsigned n = i < 1000 ? (unsigned)i + 1 : (unsigned)random_between(1, INT_MAX);
        const struct fftnd__panel_loop axis = {60, 1, 1}, side = {1, 60, 60}, outer = {n, 1, 1};
        check_all(fftnd__panels_repeat(&panels, &axis, &side, 1, &outer), "%u", n);
        const unsigned most = INT_MAX / n * n, numbers[] = {0,
                                                            n - 1,
                                                            n,
                                                            most - 1,
                                                            most,
                                                            INT_MAX,
                                                            (unsigned)random_between(0, INT_MAX)};
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++)
            check_all(divide(numbers[j], &panels.counts[0]) == numbers[j] / n, "%u / %u",
                      numbers[j], n);
    }
}
END_TEST

START_TEST(what_does_not_fit) {
    struct fftnd__panels panels;
    const long long lengths[] = {0, 1, 17, 97, 2 * 17, 1 << 15, 1 << 20, (1LL << 32) + 2};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        check_all(!fftnd__panels_shape(&panels, FFTND__PANEL_GUESS, lengths[i], 1, 0,
                                       (size_t)SHARED_BYTES),
                  "panels for %lld", lengths[i]);
    check_all(!fftnd__panels_shape(&panels, FFTND__PANEL_GUESS, 1000, 1, 0, 1000),
              "1000 in 1000 bytes");
    check_all(fftnd__panels_shape(&panels, FFTND__PANEL_GUESS, 1000, 1, 0, (size_t)SHARED_BYTES),
              "1000");
    const struct fftnd__panel_loop axis = {1000, 1 << 30, 1 << 30}, side = {1 << 30, 1, 1},
                                   outer = {1 << 10, 1, 1};
    check_all(fftnd__panels_repeat(&panels, &axis, &side, 0, NULL), "2^30 lines");
    check_all(!fftnd__panels_repeat(&panels, &axis, &side, 1, &outer), "2^40 lines");
}
END_TEST

/* Where an element is in shared memory between two passes, of the first line. */
static unsigned place_of(const struct fftnd__panels *panels, unsigned pass, unsigned i) {
    const unsigned done = panels->passes[pass].done.n;
    return i / done * panels->passes[pass].group + i % done * panels->pitch;
}

/* What the kernels do with a line, one butterfly after the other; roots of unity instead of butterflies. The first pass
 * reads the line in order, the last one writes it so. */
static void do_pass(const struct fftnd__panels *panels, unsigned pass, const double complex *roots,
                    const double complex *from, double complex *to) {
    const unsigned radix = panels->passes[pass].radix, apart = panels->passes[pass].butterflies,
                   done = panels->passes[pass].done.n, step = panels->passes[pass].step;
    const int is_last = pass + 1 == panels->npasses;
    for (unsigned butterfly = 0; butterfly < apart; butterfly++) {
        const unsigned low = butterfly % done, out = (butterfly - low) * radix + low;
        for (unsigned k = 0; k < radix; k++) {
            double complex sum = 0;
            for (unsigned i = 0; i < radix; i++)
                sum += from[pass == 0 ? butterfly + i * apart
                                      : place_of(panels, pass, butterfly) +
                                            i * panels->passes[pass].apart] *
                       roots[low * i * step] * roots[(size_t)i * k % radix * apart];
            to[is_last ? out + k * done
                       : place_of(panels, pass + 1, out) + k * done * panels->pitch] = sum;
        }
    }
}

static double error_of(const double complex *line, const double complex *result,
                       const double complex *roots, unsigned n) {
    double worst = 0;
    for (unsigned k = 0; k < n; k += n / 16 + 1) {
        double complex sum = 0;
        for (unsigned i = 0; i < n; i++)
            sum += line[i] * roots[(size_t)i * k % n];
        worst = fmax(worst, cabs(sum - result[k]));
    }
    return worst;
}

START_TEST(passes_transform) {
    static double complex line[MOST], result[SHARED_BYTES / 16], next[SHARED_BYTES / 16],
        roots[MOST];
    for (int i = 0; i < harness_cases(60); i++) {
        struct fftnd__panels panels;
        const int n = random_between(FFTND__PANEL_SHORTEST, MOST);
        if (!fftnd__panels_shape(&panels, random_between(-1, FFTND__PANEL_VARIANTS - 1), n, 1,
                                 random_between(0, 1), (size_t)SHARED_BYTES))
            continue;
        fftnd__panels_roots(&panels, roots);
        for (int j = 0; j < n; j++)
            line[j] = result[j] =
                (double)random_between(-99, 99) + I * (double)random_between(-99, 99);
        for (unsigned pass = 0; pass < panels.npasses; pass++) {
            do_pass(&panels, pass, roots, result, next);
            memcpy(result, next, sizeof result);
        }
        const double error = error_of(line, result, roots, (unsigned)n);
        check_all(error < 1e-12 * 100 * n, "%d is off by %g", n, error);
    }
}
END_TEST

START_TEST(roots) {
    struct fftnd__panels panels;
    static float floats[2 * MOST];
    static double doubles[2 * MOST];
    check_all(fftnd__panels_shape(&panels, FFTND__PANEL_GUESS, 12, 0, 0, (size_t)SHARED_BYTES),
              "12");
    check_all(fftnd__panels_roots_bytes(&panels) == 24 * sizeof(float), "bytes of floats");
    fftnd__panels_roots(&panels, floats);
    check_all(fftnd__panels_shape(&panels, FFTND__PANEL_GUESS, 12, 1, 0, (size_t)SHARED_BYTES),
              "12");
    check_all(fftnd__panels_roots_bytes(&panels) == 24 * sizeof(double), "bytes of doubles");
    fftnd__panels_roots(&panels, doubles);
    check_all(doubles[0] == 1 && fabs(doubles[6]) < 1e-15 && doubles[7] == -1, "a quarter");
    for (int i = 0; i < 24; i++)
        check_all(floats[i] == (float)doubles[i], "root %d", i);
}
END_TEST

/* Pairs of floats are read at once only where all of them are aligned. */
START_TEST(pairs) {
    struct fftnd__panels panels;
    const struct fftnd__panel_loop side = {9, 1, 1}, even = {60, 10, 10}, odd = {60, 9, 10},
                                   outer = {3, 601, 600};
    check_all(fftnd__panels_shape(&panels, FFTND__PANEL_GUESS, 60, 0, 0, (size_t)SHARED_BYTES),
              "60");
    check_all(fftnd__panels_repeat(&panels, &even, &side, 0, NULL) && panels.adjacent, "even");
    check_all(fftnd__panels_repeat(&panels, &odd, &side, 0, NULL) && !panels.adjacent, "odd");
    check_all(fftnd__panels_repeat(&panels, &even, &side, 1, &outer) && !panels.adjacent, "outer");
    check_all(panels.npanels == 3, "%u panels", panels.npanels);
}
END_TEST

/* ---------------------------------------------------------------- rates */

static int are_same(const struct fftnd__rates *a, const struct fftnd__rates *b) {
    return a->n == b->n && a->is_double == b->is_double &&
           memcmp(a->cufft, b->cufft, sizeof a->cufft) == 0 &&
           memcmp(a->panels, b->panels, sizeof a->panels) == 0 &&
           memcmp(a->variant, b->variant, sizeof a->variant) == 0;
}

START_TEST(text) {
    const struct fftnd__rates rates = {.n = 600,
                                       .is_double = 1,
                                       .cufft = {8.125, 1.5, 0.25},
                                       .panels = {1.25, 0, 3},
                                       .variant = {2, FFTND__PANEL_GUESS, 5}};
    struct fftnd__rates found = {.n = 600, .is_double = 1};
    char line[200];
    fftnd__rates_print(&rates, "A_100", sizeof line, line);
    check_all(fftnd__rates_scan(line, "A_100", &found), "%s", line);
    check_all(are_same(&rates, &found), "%s", line);
    static const char *const first = "cufft 1 panels 2 like 3 cufft 1 panels 2 like 3 ",
                             *const damaged[] = {"",
                                                 "on A_100",
                                                 "cufft 1 panels 2 like 3",
                                                 "cufft 1 panels 2 on A_100",
                                                 "cufft 1 panels -2 like 3 on A_100",
                                                 "cufft 1 panels nan like 3 on A_100",
                                                 "cufft 1 panels 2 like 6 on A_100",
                                                 "cufft 1 panels 2 like 3 on A_1000",
                                                 "cufft 1 panels 2 like 3 on "};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        (void)snprintf(line, sizeof line, "%s%s", first, damaged[i]);
        check_all(!fftnd__rates_scan(line, "A_100", &found), "\"%s\" is taken", line);
    }
    check_all(are_same(&rates, &found), "damage changed the rates");
}
END_TEST

/* More than there is room for: what does not fit is forgotten, and nothing else. */
START_TEST(kept) {
    for (int i = 0; i < 600; i++) {
        struct fftnd__rates rates = {.n = 100 + i / 2, .is_double = i % 2, .cufft = {i, 1}};
        check_all(!fftnd__rates_find(3, &rates), "%d is known", i);
        fftnd__rates_keep(3, &rates);
        rates.cufft[1] = 2;
        fftnd__rates_keep(3, &rates);
    }
    for (int i = 0; i < 600; i++) {
        struct fftnd__rates rates = {.n = 100 + i / 2, .is_double = i % 2};
        const int found = fftnd__rates_find(3, &rates);
        check_all(found ? rates.cufft[0] == i && rates.cufft[1] == 2 : i >= 512, "%d: %g", i,
                  rates.cufft[0]);
        check_all(!fftnd__rates_find(2, &rates), "another device");
    }
}
END_TEST

/* The order of the axes counts. */
START_TEST(groups) {
    for (int i = 0; i < 600; i++) {
        struct fftnd__group_rate rate = {{1 + i % 7, 2, 3 + i}, i % 2, i % 3 == 0, i};
        check_all(!fftnd__rates_find_group(1, &rate), "%d is known", i);
        fftnd__rates_keep_group(1, &rate);
        rate.cufft = -1;
        check_all(fftnd__rates_find_group(1, &rate) ? rate.cufft == i : i >= 512, "%d", i);
        rate.is_real = !rate.is_real;
        check_all(!fftnd__rates_find_group(1, &rate), "%d is real and complex", i);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        shapes, what_does_not_fit, divisors, passes_transform, roots, pairs, text, kept, groups,
        NULL};
    return harness_run(argc, argv, "test_fftnd_lines", tests);
}
