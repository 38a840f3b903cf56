/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms along contiguous lines, with all registers that this processor has, against the sum that defines them. */
#include "../../liblines/host/columns.h"
#include "../harness.h"
#include "../random.h"

#include <complex.h>
#include <math.h>
#include <string.h>
#include <time.h>

enum { MOST = 90000, MOST_POINTS = 2 * LINES__LONGEST };

/* Numbers, two for a complex element. */
static double input[MOST], expected[MOST], found[MOST];
static const double GAP = 77; /* between lines */
static double _Complex roots[MOST_POINTS];

/* Complex elements of a line, half of the points of a real one. */
static const int lengths[] = {8,   9,   12,  16,  20,  25,  32,  35,  42,   48,   49,   64,
                              72,  81,  96,  98,  100, 120, 125, 128, 144,  175,  192,  210,
                              243, 256, 320, 343, 384, 448, 500, 729, 1000, 1024, 2048, 4096};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Lines in two loops, whose strides are numbers here. */
struct lines {
    struct lines__problem problem;
    int n, is_real, backward, in_place; /* n points */
    int count[2];
    ptrdiff_t stride[2][2]; /* of a loop; in and out */
};

static ptrdiff_t begin_of(const struct lines *lines, int line, int out) {
    return line / lines->count[1] * lines->stride[0][out] +
           line % lines->count[1] * lines->stride[1][out];
}

static int is_complex(const struct lines *lines, int out) {
    return !lines->is_real || out == !lines->backward;
}

static double _Complex element(const struct lines *lines, const double *line, int i) {
    if (!lines->is_real)
        return line[2 * i] + I * line[2 * i + 1];
    if (!lines->backward)
        return line[i];
    int mirrored = 2 * i > lines->n, at = mirrored ? lines->n - i : i;
    double im = at == 0 || 2 * at == lines->n ? 0 : line[2 * at + 1];
    return line[2 * at] + I * (mirrored ? -im : im);
}

static void transform_plainly(const struct lines *lines) {
    int n = lines->n, results = lines->is_real && !lines->backward ? n / 2 + 1 : n;
    for (int i = 0; i < n; i++)
        roots[i] = (double _Complex)cexpl((lines->backward ? 2 : -2) * acosl(-1) * I * i / n);
    for (int line = 0; line < lines->count[0] * lines->count[1]; line++)
        for (int k = 0; k < results; k++) {
            double _Complex sum = 0;
            double *to = expected + begin_of(lines, line, 1);
            for (int j = 0, turn = 0; j < n; j++, turn = (turn + k) % n)
                sum += element(lines, input + begin_of(lines, line, 0), j) * roots[turn];
            if (is_complex(lines, 1)) {
                to[2 * k] = creal(sum);
                to[2 * k + 1] = cimag(sum);
            } else
                to[k] = creal(sum);
        }
}

static struct lines random_lines(int elements) {
    struct lines lines = {
        .is_real = random_chance(70),
        .backward = random_chance(50),
        .in_place = random_chance(50),
        .count = {random_between(1, elements > 512 ? 1 : 3),
                  random_between(1, elements > 512 ? MOST / elements / 2 - 2 : 13)}};
    lines.n = elements * (lines.is_real ? 2 : 1);
    int numbers = 2 * elements + (lines.is_real ? 2 : 0);
    for (int out = 0; out < 2; out++) {
        lines.stride[1][out] = numbers + 2 * random_between(0, 3);
        lines.stride[0][out] = lines.count[1] * lines.stride[1][out] + 2 * random_between(0, 5);
        if (lines.in_place)
            lines.stride[0][1] = lines.stride[0][0], lines.stride[1][1] = lines.stride[1][0];
    }
    lines.problem =
        (struct lines__problem){.kind = lines.is_real ? FFTND_R2C : FFTND_C2C,
                                .precision = random_chance(50) ? FFTND_DOUBLE : FFTND_FLOAT,
                                .direction = lines.backward ? REDIST_BACKWARD : REDIST_FORWARD,
                                .naxes = 1,
                                .nloops = 2};
    lines.problem.axes[0] = (struct lines__loop){lines.n, 1, 1};
    for (int i = 0; i < 2; i++)
        lines.problem.loops[i] =
            (struct lines__loop){lines.count[i], lines.stride[i][0] / (1 + is_complex(&lines, 0)),
                                 lines.stride[i][1] / (1 + is_complex(&lines, 1))};
    return lines;
}

/* Transforms input to found, which has the former output. */
static void run(const struct lines__column_loops *loops, const struct lines *lines,
                const struct lines__radices *radices) {
    static float from[MOST], to[MOST];
    int single = lines->problem.precision == FFTND_FLOAT;
    void *plan, *source = single ? (void *)from : input, *target = single ? (void *)to : found;
    for (int i = 0; i < MOST; i++) {
        from[i] = (float)input[i];
        to[i] = (float)found[i];
    }
    check_code(lines__contiguous_create(loops, &lines->problem, radices, &plan), REDIST_OK);
    check_code(lines__library_contiguous.execute(plan, lines->in_place ? target : source, target),
               REDIST_OK);
    lines__library_contiguous.destroy(plan);
    for (int i = 0; i < MOST && single; i++)
        found[i] = to[i];
}

/* Checks results, and that all else is unchanged, except numbers of a line in place. */
static void check_way(int kind, const struct lines *lines, const struct lines__radices *radices) {
    double most = (lines->problem.precision == FFTND_FLOAT ? 4e-6 : 8e-15) * lines->n;
    int wrong = 0, all = lines->count[0] * lines->count[1];
    for (int i = 0; i < MOST; i++)
        found[i] = lines->in_place ? input[i] : GAP;
    run(lines__column_loops[kind], lines, radices);
    for (int line = 0; line < all && lines->in_place && !is_complex(lines, 1); line++)
        memcpy(found + begin_of(lines, line, 1) + lines->n,
               expected + begin_of(lines, line, 1) + lines->n, 2 * sizeof *found);
    while (wrong < MOST && fabs(found[wrong] - expected[wrong]) <= most)
        wrong++;
    check_all(wrong == MOST, "registers %d, %d passes, first %d: number %d is %g, not %g", kind,
              radices->n, radices->radix[0], wrong, found[wrong % MOST], expected[wrong % MOST]);
}

static void check_registers(int kind, const struct lines *lines) {
    const struct lines__column_loops *loops = lines__column_loops[kind];
    struct lines__radices radices;
    int n = lines->is_real ? lines->n / 2 : lines->n;
    for (int way = 0; lines__radices_at(loops, n, way, &radices); way++)
        check_way(kind, lines, &radices);
}

START_TEST(all_registers) {
    int first = random_between(0, LENGTHS - 1);
    for (int i = 0; harness_another(i, LENGTHS); i++) {
        const struct lines lines = random_lines(lengths[(first + i) % LENGTHS]);
        harness_case("%d %s points, %d x %d lines%s, %s, %s", lines.n,
                     lines.is_real ? "real" : "complex", lines.count[0], lines.count[1],
                     lines.in_place ? ", in place" : "",
                     lines.problem.precision == FFTND_FLOAT ? "float" : "double",
                     lines.backward ? "backward" : "forward");
        for (int j = 0; j < MOST; j++) { /* exact in single precision */
            input[j] = random_between(-512, 512) / 512.0;
            expected[j] = lines.in_place ? input[j] : GAP;
        }
        transform_plainly(&lines);
        for (int kind = 0; lines__column_loops[kind] != NULL; kind++)
            if (lines__column_loops[kind]->runs_here())
                check_registers(kind, &lines);
    }
}
END_TEST

/* Whole groups of real floats are expected to be faster, unmeasured, where registers hold more than a complex number.
 * Lengths without radix passes are unsuited, and so are lines that are not contiguous, or whose results are elsewhere
 * in place. */
START_TEST(which_suit) {
    const struct lines__library library = {.yields_lines = 1};
    struct lines__problem problem = {.general = &library,
                                     .effort = FFTND_ESTIMATE,
                                     .kind = FFTND_R2C,
                                     .precision = FFTND_FLOAT,
                                     .direction = REDIST_FORWARD,
                                     .naxes = 1,
                                     .nloops = 1};
    static const struct {
        redist_index n, lines;
        ptrdiff_t stride, in, out;
        int in_place, suits;
    } cases[] = {{96, 64, 1, 98, 49, 1, 1},    {96, 64, 1, 96, 49, 0, 1}, {96, 64, 1, 96, 49, 1, 0},
                 {96, 64, 2, 200, 49, 0, 0},   {96, 1, 1, 96, 49, 0, 0},  {95, 64, 1, 96, 49, 0, 0},
                 {202, 64, 1, 202, 102, 0, 0}, {32, 64, 1, 32, 17, 0, 0}};
    int wide = lines__column_loops_here()->register_bytes > 16;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        problem.axes[0] = (struct lines__loop){cases[i].n, cases[i].stride, 1};
        problem.loops[0] = (struct lines__loop){cases[i].lines, cases[i].in, cases[i].out};
        int percent =
            lines__library_contiguous.percent(&problem, input, cases[i].in_place ? input : found);
        check_all((percent > 0 && percent < 100) == (cases[i].suits && wide),
                  "case %zu: %d percent", i, percent);
    }
}
END_TEST

/* A general library whose estimated plans take no time, the time of lines, or long; its other plans take none. */
enum { NO_TIME, TIME_OF_LINES, LONG_TIME };
static int estimated_takes, is_estimated;
static double measured_seconds; /* of planning, 0 = estimated only */

static int plan_general(const struct lines__problem *problem, void *in, void *out, void **plan) {
    is_estimated = problem->effort == FFTND_ESTIMATE;
    *plan = input;
    if (!is_estimated)
        measured_seconds = problem->seconds;
    else if (estimated_takes == TIME_OF_LINES)
        return lines__library_contiguous.create(problem, in, out, plan);
    return REDIST_OK;
}

static int run_general(void *plan, void *in, void *out) {
    if (is_estimated && estimated_takes == TIME_OF_LINES)
        return lines__library_contiguous.execute(plan, in, out);
    if (is_estimated && estimated_takes == LONG_TIME)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return REDIST_OK;
}

static void destroy_general(void *plan) {
    if (plan != input)
        lines__library_contiguous.destroy(plan);
}

/* A trial beside an estimated plan decides where lines take a small part of its time, or more. Else the general library
 * has as long to plan as plans have: what FFTW planned in 0.05 s took twice as long, and slower lines were chosen. */
START_TEST(time_to_plan) {
    const struct lines__library library = {.yields_lines = 1,
                                           .create = plan_general,
                                           .execute = run_general,
                                           .destroy = destroy_general};
    static const struct {
        redist_index points;
        int takes;
    } cases[] = {{96, NO_TIME},        {128, LONG_TIME},     {100, TIME_OF_LINES},
                 {120, TIME_OF_LINES}, {144, TIME_OF_LINES}, {192, TIME_OF_LINES}};
    int measured = 0;
    struct lines__problem problem = {.general = &library,
                                     .effort = FFTND_MEASURE,
                                     .seconds = 1,
                                     .kind = FFTND_R2C,
                                     .precision = FFTND_FLOAT,
                                     .direction = REDIST_BACKWARD,
                                     .naxes = 1,
                                     .nloops = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        redist_index n = cases[i].points;
        problem.axes[0] = (struct lines__loop){n, 1, 1};
        problem.loops[0] = (struct lines__loop){64, n / 2 + 1, n};
        measured_seconds = 0;
        estimated_takes = cases[i].takes;
        int percent = lines__library_contiguous.percent(&problem, input, found);
        measured += measured_seconds >= problem.seconds;
        if (estimated_takes == TIME_OF_LINES) /* about: it may seem to take less, or more */
            continue;
        check_all((percent > 0 && percent < 100) == (estimated_takes == LONG_TIME),
                  "%lld points: %d percent", (long long)n, percent);
        check_all(measured_seconds == 0, "%lld points: measured in vain", (long long)n);
    }
    check_all(measured > 0, "no plan was measured, or in less time than plans have");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {all_registers, which_suit, time_to_plan, NULL};
    return harness_run(argc, argv, "test_lines_contiguous", tests);
}
