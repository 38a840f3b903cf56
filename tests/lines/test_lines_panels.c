/* SPDX-License-Identifier: BSD-3-Clause */
/* Panels of lines on a device, checked without one: shapes, radix passes, targets. */
#include <complex.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define LINES__PANEL_INLINE static inline
#include "../../liblines/cuda/panels_targets.h"
#include "../../liblines/r2r_lines.h"
#include "../harness.h"
#include "../r2r_factor.h"
#include "../random.h"

enum { SHARED_BYTES = 227 << 10, MOST = 2048 };

/* ---------------------------------------------------------------- panels */

static int has_small_factors(int n) {
    for (int prime = 2; prime <= 13; prime++)
        while (n % prime == 0)
            n /= prime;
    return n == 1;
}

/* Radices of the compiled kernels: another one would do nothing. */
static int has_radix(const struct lines__panels *panels, unsigned pass) {
    const unsigned radix = panels->passes[pass].radix,
                   rest = panels->kernel == 0 ? LINES__PANEL_REST_0 : LINES__PANEL_REST_1,
                   first = panels->kernel == 0 ? LINES__PANEL_FIRST_0 : LINES__PANEL_FIRST_1,
                   pairs = panels->kernel == 0 ? LINES__PANEL_PAIRS_0 : LINES__PANEL_PAIRS_1;
    if (panels->has_pairs && pass == (panels->backward ? 0 : panels->npasses - 1))
        return radix <= pairs && panels->passes[pass].butterflies % 2 == 0;
    if (panels->is_real && pass > 0 && pass + 1 < panels->npasses)
        return radix <= first;
    if (pass == 0)
        return panels->kernel == 0 ? radix >= LINES__PANEL_LEAST_0 && radix <= LINES__PANEL_FIRST_0
                                   : radix >= LINES__PANEL_LEAST_1 && radix <= LINES__PANEL_FIRST_1;
    return radix >= (pass + 1 < panels->npasses ? LINES__PANEL_MIDDLE : 1U) && radix <= rest;
}

/* Checks that every element of a line has a thread in every radix pass. */
static void check_shape(const struct lines__panels *panels, int length) {
    const unsigned n = (unsigned)length / (panels->is_real ? 2 : 1), step = panels->is_real ? 2 : 1;
    unsigned done = 1;
    for (unsigned i = 0; i < panels->npasses; i++) {
        const unsigned radix = panels->passes[i].radix;
        check_all(has_radix(panels, i), "radix %u of %u", radix, n);
        check_all(panels->passes[i].butterflies * radix == n && panels->passes[i].done.n == done &&
                      panels->passes[i].step * done * radix == n * step,
                  "pass %u of %u", i, n);
        check_all(panels->rows * LINES__PANEL_BUTTERFLIES(panels->kernel, radix) >=
                      panels->passes[i].butterflies,
                  "%u rows for radix %u of %u", panels->rows, radix, n);
        done *= radix;
    }
    check_all(done == n && panels->npasses >= 2, "the radices of %u make %u", n, done);
    check_all(panels->width >= 1 &&
                  panels->rows * panels->width <=
                      (panels->kernel == 0 ? LINES__PANEL_THREADS_0 : LINES__PANEL_THREADS_1),
              "%u x %u threads for %u", panels->rows, panels->width, n);
    check_all(panels->shared_bytes <= SHARED_BYTES, "%zu bytes for %u", panels->shared_bytes, n);
}

/* Checks all variants of a length: all lengths up to 1200 have panels, and a guess exists if any variant does. */
static void check_shapes(int n, int is_double, int layout) {
    const int is_real = layout == LINES__REAL, small = has_small_factors(n),
              usual = n <= 1200 && n / (is_real ? 2 : 1) >= LINES__PANEL_SHORTEST;
    struct lines__panels panels;
    int found = 0;
    for (int i = LINES__PANEL_VARIANTS - 1; i >= LINES__PANEL_GUESS; i--) {
        if (!lines__panels_shape(&panels, i, n, is_double, layout, (size_t)SHARED_BYTES))
            continue;
        check_shape(&panels, n);
        found = i == LINES__PANEL_GUESS ? 2 : 1;
    }
    check_all(!found || (small && !(is_real && n % 2)), "panels for %d", n);
    check_all(found != 1, "no guess for %d", n);
    check_all(found || !small || !usual || (is_real && n % 2), "no panels for %d", n);
}

START_TEST(shapes) {
    for (int n = 2; n <= USHRT_MAX; n++)
        for (int kind = 0; kind < 2 * LINES__LAYOUTS && (n <= MOST || has_small_factors(n)); kind++)
            check_shapes(n, kind % 2, kind / 2);
}
END_TEST

static unsigned divide(unsigned i, const struct lines__panel_divisor *by) {
    return (unsigned)((unsigned long long)i * by->factor >> by->shift);
}

/* Divisions are exact for the largest numbers too; a loop of panels has all divisors from 1. */
START_TEST(divisors) {
    struct lines__panels panels;
    check_all(lines__panels_shape(&panels, LINES__PANEL_GUESS, 60, 1, 0, (size_t)SHARED_BYTES),
              "60");
    for (int i = 0; i < 3000; i++) {
        const unsigned n = i < 1000 ? (unsigned)i + 1 : (unsigned)random_between(1, INT_MAX);
        const struct lines__panel_loop axis = {60, 1, 1}, side = {1, 60, 60}, outer = {n, 1, 1};
        check_all(lines__panels_repeat(&panels, &axis, &side, 1, &outer), "%u", n);
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
    struct lines__panels panels;
    const long long lengths[] = {0, 1, 17, 97, 2 * 17, 1 << 15, 1 << 20, (1LL << 32) + 2};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        check_all(!lines__panels_shape(&panels, LINES__PANEL_GUESS, lengths[i], 1, 0,
                                       (size_t)SHARED_BYTES),
                  "panels for %lld", lengths[i]);
    check_all(!lines__panels_shape(&panels, LINES__PANEL_GUESS, 1000, 1, 0, 1000),
              "1000 in 1000 bytes");
    check_all(lines__panels_shape(&panels, LINES__PANEL_GUESS, 1000, 1, 0, (size_t)SHARED_BYTES),
              "1000");
    const struct lines__panel_loop axis = {1000, 1 << 30, 1 << 30}, side = {1 << 30, 1, 1},
                                   outer = {1 << 10, 1, 1};
    check_all(lines__panels_repeat(&panels, &axis, &side, 0, NULL), "2^30 lines");
    check_all(!lines__panels_repeat(&panels, &axis, &side, 1, &outer), "2^40 lines");
}
END_TEST

/* Place of an element of the first line in shared memory between two radix passes. */
static unsigned place_of(const struct lines__panels *panels, unsigned pass, unsigned i) {
    const unsigned done = panels->passes[pass].done.n;
    return i / done * panels->passes[pass].group + i % done * panels->pitch;
}

/* Does a radix pass of a line as kernels do, one butterfly after the other, by sums of roots. The first one reads the
 * line in order, the last one writes it so. */
static void do_pass(const struct lines__panels *panels, unsigned pass, const double complex *roots,
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
                       roots[low * i * step] *
                       roots[(size_t)i * k % radix * apart * (panels->is_real ? 2 : 1)];
            to[is_last ? out + k * done
                       : place_of(panels, pass + 1, out) + k * done * panels->pitch] = sum;
        }
    }
}

static double error_of(const double complex *line, const double complex *result,
                       const double complex *roots, const struct lines__panels *panels) {
    const unsigned n = panels->n, step = panels->is_real ? 2 : 1;
    double worst = 0;
    for (unsigned k = 0; k < n; k += n / 16 + 1) {
        double complex sum = 0;
        for (unsigned i = 0; i < n; i++)
            sum += line[i] * roots[(size_t)i * k % n * step];
        worst = fmax(worst, cabs(sum - result[k]));
    }
    return worst;
}

static void transform_points(const struct lines__panels *panels, const double complex *roots,
                             double complex *points) {
    static double complex now[SHARED_BYTES / 16], next[SHARED_BYTES / 16];
    memcpy(now, points, panels->n * sizeof *points);
    for (unsigned pass = 0; pass < panels->npasses; pass++) {
        do_pass(panels, pass, roots, now, next);
        memcpy(now, next, sizeof now);
    }
    memcpy(points, now, panels->n * sizeof *points);
}

/* Real lines are transformed as complex ones, backward with their radix passes in another order. */
START_TEST(passes_transform) {
    static double complex line[MOST], result[MOST], roots[MOST];
    for (int i = 0; i < harness_cases(60); i++) {
        struct lines__panels panels;
        const int n = random_between(LINES__PANEL_SHORTEST, MOST),
                  variant = random_between(-1, LINES__PANEL_VARIANTS - 1),
                  layout = random_between(0, LINES__REAL);
        if (!lines__panels_shape(&panels, variant, layout == LINES__REAL ? n / 4 * 4 : n, 1, layout,
                                 (size_t)SHARED_BYTES) ||
            !lines__panels_direct(&panels, random_chance(50), (size_t)SHARED_BYTES))
            continue;
        check_shape(&panels, layout == LINES__REAL ? n / 4 * 4 : n);
        lines__panels_roots(&panels, roots);
        for (unsigned j = 0; j < panels.n; j++)
            line[j] = result[j] =
                (double)random_between(-99, 99) + I * (double)random_between(-99, 99);
        transform_points(&panels, roots, result);
        const double error = error_of(line, result, roots, &panels);
        check_all(error < 1e-12 * 100 * n, "%d is off by %g", n, error);
    }
}
END_TEST

/* Lengths with pairs of butterflies, of each kernel. */
START_TEST(pairs_of_butterflies) {
    static const struct {
        int n, kernel, radix;
    } known[] = {{512, 0, 4}, {600, 0, 0}, {600, 1, 5}, {640, 0, 4},
                 {720, 1, 3}, {750, 0, 0}, {960, 1, 2}, {1000, 1, 5}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        for (int backward = 0; backward < 2; backward++) {
            struct lines__panels panels;
            check_all(lines__panels_shape(&panels, known[i].kernel * LINES__PANEL_WIDTHS,
                                          known[i].n, 1, LINES__REAL, (size_t)SHARED_BYTES) &&
                          lines__panels_direct(&panels, backward, (size_t)SHARED_BYTES),
                      "no panels for %d", known[i].n);
            const unsigned radix = panels.passes[backward ? 0 : panels.npasses - 1].radix;
            check_all((known[i].radix == 0) == !panels.has_pairs &&
                          (!panels.has_pairs || radix == (unsigned)known[i].radix),
                      "%d: radix %u, pairs %d", known[i].n, radix, panels.has_pairs);
            check_all(!panels.has_pairs ||
                          panels.rows * LINES__PANEL_BUTTERFLIES(panels.kernel, 2 * radix) >=
                              panels.n / radix / 2,
                      "%d: %u rows", known[i].n, panels.rows);
        }
}
END_TEST

/* ---------------------------------------------------------------- real to real */

/* Changes two points at one end of the transform. */
static void change(const struct lines__panel_r2r *r2r, int step, const double complex *factors,
                   unsigned i, unsigned j, double complex *points) {
    const int is_before = step == LINES__BEFORE, combines = r2r->combines & step;
    const double complex x = points[i], y = points[j],
                         partner[2] = {conj(factors[is_before ? j : i]),
                                       conj(factors[is_before ? i : j])};
    if (!(r2r->changes & step))
        return;
    points[i] = factors[i] * x + (combines ? partner[0] * y : 0);
    points[j] = factors[j] * y + (combines ? partner[1] * x : 0);
}

static void change_all(const struct lines__panels *panels, const struct lines__panel_map *map,
                       int step, const double complex *factors, double complex *points) {
    for (unsigned i = 0; 2 * i <= map->sum; i++)
        change(&panels->r2r, step, factors, i, lines__r2r_partner(map, panels->n, i), points);
}

/* A number of a line; zero where the input has none. */
static double read_number(const struct lines__panel_r2r *r2r, const double *line, unsigned number) {
    return number < r2r->count[0] || r2r->in.is_halved ? line[number] : 0;
}

/* Reads two lines as the kernel does, or the one line that folds. */
static void read_lines(const struct lines__panels *panels, double lines[2][2 * MOST],
                       double complex *points) {
    const struct lines__panel_r2r *r2r = &panels->r2r;
    for (unsigned i = 0; 2 * i <= r2r->in.sum; i++)
        for (int second = 0; second < 2; second++) {
            const unsigned j = lines__r2r_partner(&r2r->in, panels->n, i),
                           element = lines__r2r_element(&r2r->in, i, second && i != j);
            const unsigned number = r2r->in.is_halved ? 2 * element + (second && i != j) : element;
            const double one = read_number(r2r, lines[0], number),
                         other = r2r->folds ? read_number(r2r, lines[0], r2r->n - 1 - element)
                                            : read_number(r2r, lines[1], number);
            points[second ? j : i] =
                (one + I * other) * (r2r->in.negates && second && i != j ? -1 : 1);
        }
}

/* A mode of one point is real. */
static void write_modes(unsigned mode, double complex first, double complex second,
                        double lines[2][2 * MOST]) {
    lines[0][2 * mode] = creal(first);
    lines[0][2 * mode + 1] = creal(second);
    lines[1][2 * mode] = cimag(first);
    lines[1][2 * mode + 1] = cimag(second);
}

/* Writes a number of a line, unless the output has none. Returns whether it is written. */
static unsigned write_number(const struct lines__panel_r2r *r2r, double *line, unsigned element,
                             double number) {
    if (element >= r2r->count[1])
        return 0;
    line[element] = number;
    return 1;
}

/* Returns how many numbers of a line are written. */
static unsigned write_lines(const struct lines__panels *panels, const double complex *points,
                            double lines[2][2 * MOST]) {
    const struct lines__panel_r2r *r2r = &panels->r2r;
    unsigned count = 0;
    for (unsigned i = 0; 2 * i <= r2r->out.sum; i++)
        for (int second = 0; second < 2; second++) {
            const unsigned j = lines__r2r_partner(&r2r->out, panels->n, i);
            if (r2r->out.is_halved && !second) {
                write_modes(i, points[i], i == j ? 0 : points[j], lines);
                count += i == j ? 1 : 2;
            }
            if (r2r->out.is_halved)
                continue;
            const unsigned element = lines__r2r_element(&r2r->out, i, second);
            const double sign = r2r->out.negates && second ? -1 : 1;
            if (second && i == j)
                continue;
            const double complex z = sign * points[second ? j : i];
            const double other = r2r->conjugates ? -cimag(z) : cimag(z);
            count += write_number(r2r, lines[0], element, creal(z));
            if (r2r->folds)
                count += write_number(r2r, lines[0], r2r->n - 1 - element, other);
            else
                (void)write_number(r2r, lines[1], element, other);
        }
    return count;
}

/* The element of a halfcomplex line that number i of a halved one is; -1: the imaginary part of a real mode. */
static int find_halfcomplex(int n, int i) {
    const int mode = i / 2;
    return i % 2 == 0 ? mode : mode == 0 || 2 * mode == n ? -1 : n - mode;
}

static double factor_of(int r2r, int n, int j, int k) {
    const int halved = find_halfcomplex(n, r2r == LINES__HALVED ? k : j);
    if (r2r == LINES__HALVED)
        return halved < 0 ? 0 : r2r_factor(FFTND_R2HC, n, j, halved);
    if (r2r == LINES__UNHALVED)
        return halved < 0 ? 0 : r2r_factor(FFTND_HC2R, n, halved, k);
    return r2r_factor((enum fftnd_r2r)r2r, n, j, k);
}

/* Numbers of a line on one side: of a halved one two for each mode. */
static int count_numbers(const struct lines__panel_map *map, int n) {
    return map->is_halved ? 2 * (n / 2 + 1) : n;
}

static double r2r_error(const struct lines__panel_r2r *r2r, double in[2][2 * MOST],
                        double out[2][2 * MOST]) {
    const int n = (int)r2r->n;
    double worst = 0;
    for (int line = 0; line < (r2r->folds ? 1 : 2); line++)
        for (int k = 0; k < count_numbers(&r2r->out, (int)r2r->count[1]); k += n / 12 + 1) {
            double sum = 0;
            for (int j = 0; j < count_numbers(&r2r->in, (int)r2r->count[0]); j++)
                sum += in[line][j] * factor_of(r2r->r2r, n, j, k);
            worst = fmax(worst, fabs(sum - out[line][k]));
        }
    return worst;
}

static void check_r2r(int r2r, int n, int variant) {
    static double in[2][2 * MOST], out[2][2 * MOST];
    static double complex points[2 * MOST], roots[4 * MOST];
    struct lines__panels panels;
    if (!lines__panels_shape_r2r(&panels, variant, r2r, n, 1, random_between(0, 1),
                                 (size_t)SHARED_BYTES))
        return;
    for (int side = 0; side < 2 && r2r < LINES__HALVED; side++)
        panels.r2r.count[side] = random_chance(50) ? (unsigned)n : (unsigned)random_between(1, n);
    check_all(lines__panels_roots_bytes(&panels) == 2 * panels.n * sizeof *roots, "bytes");
    lines__panels_roots(&panels, roots);
    for (int i = 0; i < 2 * MOST; i++)
        for (int line = 0; line < 2; line++)
            in[line][i] = random_between(-99, 99);
    read_lines(&panels, in, points);
    change_all(&panels, &panels.r2r.in, LINES__BEFORE, roots + panels.n, points);
    transform_points(&panels, roots, points);
    change_all(&panels, &panels.r2r.out, LINES__AFTER, roots + panels.n, points);
    check_all(write_lines(&panels, points, out) == panels.r2r.count[1],
              "kind %d writes not all of %u", r2r, panels.r2r.count[1]);
    const double error = r2r_error(&panels.r2r, in, out);
    check_all(error < 1e-12 * 100 * n, "kind %d of %d is off by %g", r2r, n, error);
}

START_TEST(r2r_of_all_kinds) {
    for (int i = 0; i < harness_cases(30); i++)
        for (int r2r = LINES__DCT1; r2r <= LINES__UNHALVED; r2r++)
            check_r2r(r2r, random_between(r2r == LINES__DCT1 ? 2 : 1, 300),
                      random_between(-1, LINES__PANEL_VARIANTS - 1));
}
END_TEST

/* The lines of a thread are read at once where they are neighbours, and aligned. */
START_TEST(r2r_lines_at_once) {
    struct lines__panels panels;
    const struct lines__panel_loop side = {64, 1, 1}, by_4 = {60, 64, 64}, by_2 = {60, 66, 66},
                                   odd = {60, 65, 65};
    for (int is_double = 0; is_double < 2; is_double++) {
        check_all(lines__panels_shape_r2r(&panels, LINES__PANEL_GUESS, LINES__DCT2, 60, is_double,
                                          LINES__STRIDED, (size_t)SHARED_BYTES),
                  "60");
        check_all(panels.each == (is_double ? 2 : 4) && panels.lines == panels.each * panels.width,
                  "%u lines of a thread", panels.each);
        check_all(lines__panels_repeat(&panels, &by_4, &side, 0, NULL) && panels.adjacent, "64");
        check_all(lines__panels_repeat(&panels, &by_2, &side, 0, NULL) &&
                      panels.adjacent == is_double,
                  "66");
        check_all(lines__panels_repeat(&panels, &odd, &side, 0, NULL) && !panels.adjacent, "65");
    }
    check_all(lines__panels_shape_r2r(&panels, LINES__PANEL_GUESS, LINES__DCT4, 60, 0,
                                      LINES__STRIDED, (size_t)SHARED_BYTES) &&
                  lines__panels_repeat(&panels, &by_4, &side, 0, NULL) && !panels.adjacent &&
                  panels.each == 2,
              "lines that fold");
    check_all(!lines__panels_shape_r2r(&panels, LINES__PANEL_GUESS, LINES__DCT4, 61, 0,
                                       LINES__STRIDED, (size_t)SHARED_BYTES),
              "an odd line that folds");
}
END_TEST

START_TEST(roots) {
    struct lines__panels panels;
    static float floats[2 * MOST];
    static double doubles[2 * MOST];
    check_all(lines__panels_shape(&panels, LINES__PANEL_GUESS, 12, 0, 0, (size_t)SHARED_BYTES),
              "12");
    check_all(lines__panels_roots_bytes(&panels) == 24 * sizeof(float), "bytes of floats");
    lines__panels_roots(&panels, floats);
    check_all(lines__panels_shape(&panels, LINES__PANEL_GUESS, 12, 1, 0, (size_t)SHARED_BYTES),
              "12");
    check_all(lines__panels_roots_bytes(&panels) == 24 * sizeof(double), "bytes of doubles");
    lines__panels_roots(&panels, doubles);
    check_all(doubles[0] == 1 && fabs(doubles[6]) < 1e-15 && doubles[7] == -1, "a quarter");
    for (int i = 0; i < 24; i++)
        check_all(floats[i] == (float)doubles[i], "root %d", i);
}
END_TEST

/* Pairs of floats are read in one access only where all of them are aligned. */
START_TEST(pairs) {
    struct lines__panels panels;
    const struct lines__panel_loop side = {9, 1, 1}, even = {60, 10, 10}, odd = {60, 9, 10},
                                   outer = {3, 601, 600};
    check_all(lines__panels_shape(&panels, LINES__PANEL_GUESS, 60, 0, 0, (size_t)SHARED_BYTES),
              "60");
    check_all(lines__panels_repeat(&panels, &even, &side, 0, NULL) && panels.adjacent, "even");
    check_all(lines__panels_repeat(&panels, &odd, &side, 0, NULL) && !panels.adjacent, "odd");
    check_all(lines__panels_repeat(&panels, &even, &side, 1, &outer) && !panels.adjacent, "outer");
    check_all(panels.npanels == 3, "%u panels", panels.npanels);
}
END_TEST

/* ---------------------------------------------------------------- direct stores */

/* Lays out lines of `n` elements: their axes in any order, with gaps. Returns the elements of the array. */
static unsigned lay_out(unsigned n, const unsigned counts[4], struct lines__panel_target *target) {
    long long *strides[] = {&target->axis, &target->side, &target->outer[0], &target->outer[1],
                            &target->outer[2]};
    const unsigned extents[] = {n, counts[0], counts[1], counts[2], counts[3]};
    unsigned bytes = 1, first = (unsigned)random_between(0, 4);
    for (unsigned i = 0; i < 5; i++) {
        *strides[(first + i) % 5] = bytes;
        bytes *= extents[(first + i) % 5] + (unsigned)random_between(0, 2);
    }
    return bytes;
}

/* Cuts `n` elements at random. */
static void cut(unsigned n, const unsigned counts[4], char *memory,
                struct lines__panel_targets *targets) {
    unsigned begin = 0, elements = 0;
    for (int i = 0; begin < n; i++) {
        int is_last = i + 1 == LINES__PANEL_TARGETS;
        struct lines__panel_target *target = &targets->target[i];
        target->begin = begin;
        target->end = is_last ? n : (unsigned)random_between((int)begin, (int)n);
        const unsigned used = lay_out(target->end - begin, counts, target);
        target->base = memory + elements;
        elements += used;
        begin = target->end;
    }
}

/* Checks that every element has a place of its own, which is computed here again. */
static void check_line(const struct lines__panel_targets *targets,
                       const struct lines__panel_line *line, unsigned n) {
    const struct lines__panel_target *target = targets->target;
    for (unsigned i = 0; i < n; i++) {
        while (target->end <= i)
            target++;
        check_all(lines__panel_target_of(targets, i) == target, "the target of %u", i);
        const long long at = (i - target->begin) * target->axis + line->side * target->side +
                             line->outer[0] * target->outer[0] + line->outer[1] * target->outer[1] +
                             line->outer[2] * target->outer[2];
        check_all(lines__panel_place(target, line, i) == at && ((char *)target->base)[at]++ == 0,
                  "element %u is where another one is", i);
    }
}

START_TEST(targets_of_lines) {
    static char memory[1 << 22];
    for (int i = 0; i < harness_cases(40); i++) {
        struct lines__panel_targets targets = {{{0}}};
        const unsigned n = (unsigned)random_between(1, 60);
        unsigned counts[4], lines = 1;
        for (int j = 0; j < 4; j++)
            lines *= counts[j] = (unsigned)random_between(1, 4);
        memset(memory, 0, sizeof memory);
        cut(n, counts, memory, &targets);
        for (unsigned j = 0; j < lines; j++) {
            const struct lines__panel_line line = {j % counts[0],
                                                   {j / counts[0] % counts[1],
                                                    j / counts[0] / counts[1] % counts[2],
                                                    j / counts[0] / counts[1] / counts[2]}};
            check_line(&targets, &line, n);
        }
    }
}
END_TEST

/* Pairs of floats in targets, except in those behind the last element. */
START_TEST(pairs_in_targets) {
    struct lines__panels panels;
    _Alignas(16) char array[32];
    const struct lines__panel_loop axis = {60, 10, 10}, side = {9, 1, 1};
    const struct lines__panel_target out = {0, 60, array, 10, 1, {0}};
    struct lines__panel_targets targets = {{out, out, out}}, odd;
    check_all(lines__panels_shape(&panels, LINES__PANEL_GUESS, 60, 0, 0, (size_t)SHARED_BYTES) &&
                  lines__panels_repeat(&panels, &axis, &side, 0, NULL),
              "60");
    targets.target[0].end = targets.target[1].begin = 20;
    check_all(lines__panels_are_adjacent(&panels, &targets), "two targets");
    odd = targets;
    odd.target[1].base = array + 8;
    check_all(!lines__panels_are_adjacent(&panels, &odd), "8 bytes off");
    odd = targets;
    odd.target[1].axis = 9;
    check_all(!lines__panels_are_adjacent(&panels, &odd), "an odd axis");
    odd = targets;
    odd.target[1].outer[2] = 1;
    check_all(!lines__panels_are_adjacent(&panels, &odd), "an odd loop");
    odd = targets;
    odd.target[0].side = 2;
    check_all(!lines__panels_are_adjacent(&panels, &odd), "not side by side");
    odd = targets;
    odd.target[2].side = 2;
    check_all(lines__panels_are_adjacent(&panels, &odd), "behind the last");
    panels.is_double = 1;
    check_all(!lines__panels_are_adjacent(&panels, &targets), "doubles have no pairs");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {shapes,
                                  what_does_not_fit,
                                  divisors,
                                  passes_transform,
                                  pairs_of_butterflies,
                                  r2r_of_all_kinds,
                                  r2r_lines_at_once,
                                  roots,
                                  pairs,
                                  targets_of_lines,
                                  pairs_in_targets,
                                  NULL};
    return harness_run(argc, argv, "test_lines_panels", tests);
}
