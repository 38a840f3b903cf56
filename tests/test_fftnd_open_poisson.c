/* SPDX-License-Identifier: BSD-3-Clause */
/* Potentials of Gaussian charges in free space along some axes, against the analytic ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fft_array.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "needs_fft_device.h"
#include "random.h"

static const double pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- potentials of a charge of 1 in 1, 2, 3 dimensions */

/* The exponential integral of x > 0: a series, or a continued fraction. */
static double exponential_integral(double x) {
    double sum = -0.57721566490153286061 - log(x), term = 1;
    for (int n = 1; n < 60 && x < 2; n++) {
        term *= -x / n;
        sum -= term / n;
    }
    double fraction = x + 121;
    for (int n = 60; n > 0 && x >= 2; n--) {
        fraction = x + 2 * n - 1 - (double)n * n / fraction;
    }
    return x < 2 ? sum : exp(-x) / fraction;
}

/* Solves Laplacian(u) = exp(-r^2 / 2) / sqrt(2 pi)^ndims. */
static double potential(int ndims, double r) {
    const double close = 1e-4;
    if (ndims == 1) {
        return (r * erf(r / sqrt(2)) + sqrt(2 / pi) * exp(-r * r / 2)) / 2;
    }
    if (ndims == 2) {
        const double q = r * r / 2;
        return r < close ? (log(2) - 0.57721566490153286061 + q) / (4 * pi)
                         : (2 * log(r) + exponential_integral(q)) / (4 * pi);
    }
    return r < close ? -sqrt(2 / pi) * (1 - r * r / 6) / (4 * pi)
                     : -erf(r / sqrt(2)) / (4 * pi * r);
}

/* ---------------------------------------------------------------- a problem */

/* Along free axes a Gaussian of width 1 in the middle of the domain, along others a constant and the mode 1. */
struct problem {
    fft_case given;
    enum fftnd_green green;
    int free_axes[REDIST_MAX_NDIMS];
    double lengths[REDIST_MAX_NDIMS], centre[REDIST_MAX_NDIMS], k[REDIST_MAX_NDIMS];
    int nfree, has_constant;
};

static int is_r2r(const struct problem *problem, int axis) {
    return problem->given.kind == FFTND_MIXED && problem->given.axes[axis] == FFTND_AXIS_R2R;
}

static int takes_part(const struct problem *problem, int axis) {
    return problem->given.kind != FFTND_MIXED || problem->given.axes[axis] != FFTND_AXIS_NONE;
}

/* The coordinate of a point; those of DCT-II and DST-II are between the grid points. */
static double coordinate(const struct problem *problem, int axis, int i) {
    return (i + (is_r2r(problem, axis) ? 0.5 : 0)) * problem->lengths[axis] /
           problem->given.sizes[axis];
}

static void finish(struct problem *problem) {
    problem->nfree = 0;
    problem->has_constant = 1;
    for (int axis = 0; axis < problem->given.ndims; axis++) {
        const int dst = is_r2r(problem, axis) && problem->given.r2r[axis] == FFTND_DST2;
        problem->nfree += problem->free_axes[axis];
        problem->has_constant &= !dst;
        problem->k[axis] = (is_r2r(problem, axis) ? pi : 2 * pi) / problem->lengths[axis];
        problem->centre[axis] = problem->lengths[axis] * (0.25 + 0.003 * random_between(-2, 2));
    }
}

/* The mode 1 along an axis that is not free. */
static double mode_of(const struct problem *problem, int axis, double x) {
    return is_r2r(problem, axis) && problem->given.r2r[axis] == FFTND_DST2
               ? sin(problem->k[axis] * x)
               : cos(problem->k[axis] * x);
}

/* The charge and the potential at a point; returns nonzero in the domain. */
static int evaluate(const struct problem *problem, const int at[], double *charge, double *u) {
    double square = 0, kappa = 0, weight = 1, mode = 1;
    int others = 0, is_inside = 1;
    for (int axis = 0; axis < problem->given.ndims; axis++) {
        const double x = coordinate(problem, axis, at[axis]);
        if (problem->free_axes[axis]) {
            square += (x - problem->centre[axis]) * (x - problem->centre[axis]);
            is_inside &= 2 * at[axis] < problem->given.sizes[axis];
        } else if (takes_part(problem, axis)) {
            mode *= mode_of(problem, axis, x);
            kappa += problem->k[axis] * problem->k[axis];
            others++;
        } else {
            weight += at[axis];
        }
    }
    const double bell = exp(-square / 2), n = problem->nfree;
    *charge = problem->has_constant ? bell / pow(2 * pi, n / 2) : 0;
    *u = problem->has_constant ? potential(problem->nfree, sqrt(square)) : 0;
    if (others > 0) {
        *charge += (square - n - kappa) * bell * mode;
        *u += bell * mode;
    }
    *charge *= is_inside ? weight : 0;
    *u *= weight;
    return is_inside;
}

/* ---------------------------------------------------------------- its solution */

static void write_charge(const struct problem *problem, const fftnd_layout *layout, char *array) {
    const fft_walk walk = fft_walk_make(layout, 1);
    for (size_t i = 0; i < walk.nelements; i++) {
        const fft_place place = fft_walk_place(&walk, i);
        double charge, u;
        evaluate(problem, place.index, &charge, &u);
        fft_number_set(&problem->given, array + place.offset, charge);
    }
}

/* The largest error in the domain, relative to the largest potential. */
static double find_error(const struct problem *problem, const fftnd_layout *layout,
                         const char *array) {
    const fft_walk walk = fft_walk_make(layout, 1);
    double largest[2] = {0, 0};
    for (size_t i = 0; i < walk.nelements; i++) {
        const fft_place place = fft_walk_place(&walk, i);
        double charge, u;
        if (evaluate(problem, place.index, &charge, &u)) {
            const double off =
                fabs((double)fft_number_get(&problem->given, array + place.offset) - u);
            largest[0] = off <= largest[0] ? largest[0] : off;
            largest[1] = fmax(largest[1], fabs(u));
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest[0] / largest[1];
}

static double solve(const struct problem *problem) {
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    fftnd_operator *op = NULL;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    fft_array arrays[2];
    harness_case("%d free axes, %d, %s", problem->nfree, (int)problem->green,
                 fft_case_text(&problem->given));
    options.lengths = problem->lengths;
    options.free_axes = problem->free_axes;
    options.green = problem->green;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &problem->given, &plan));
    check_ok(fftnd_operator_create(plan, FFTND_OPEN_POISSON, &options, &op));
    check_ok(fftnd_plan_layout(plan, FFTND_PHYSICAL, &layout));
    for (int i = 0; i < 2; i++) {
        check_ok(fft_array_create(MPI_COMM_WORLD, layout.bytes, FFT_MEMORY_SHARED,
                                  fft_case_number_bytes(&problem->given), &arrays[i]));
        memset(arrays[i].data, 0, layout.bytes);
    }
    write_charge(problem, &layout, arrays[0].data);
    fft_array_upload(&arrays[0]);
    check_ok(fftnd_apply(plan, op, fft_array_address(&arrays[0]), fft_array_address(&arrays[1])));
    fft_array_download(&arrays[1]);
    const double error = find_error(problem, &layout, arrays[1].data);
    check_ok(fftnd_operator_free(&op));
    check_ok(fftnd_plan_free(&plan));
    for (int i = 0; i < 2; i++) {
        check_ok(fft_array_free(&arrays[i]));
    }
    return error;
}

/* ---------------------------------------------------------------- cases */

/* All axes free: a domain of so many widths, and some more along each further axis, `points` along it. */
static struct problem free_problem(int ndims, int widths, int points) {
    const int sizes[3] = {2 * points, 2 * points, 2 * points};
    struct problem problem = {.given = fft_case_make(ndims, sizes, FFTND_R2C)};
    for (int axis = 0; axis < ndims; axis++) {
        problem.free_axes[axis] = 1;
        problem.lengths[axis] = 2 * (widths + axis);
    }
    finish(&problem);
    return problem;
}

START_TEST(spectral_accuracy) {
    for (int ndims = harness_nranks > 1 ? 2 : 1; ndims <= 3; ndims++) {
        const struct problem problem = free_problem(ndims, 16, 46);
        const double error = solve(&problem);
        check_all(error < 1e-11, "the error is %g", error);
    }
}
END_TEST

START_TEST(second_order) {
    for (int ndims = harness_nranks > 1 ? 2 : 1; ndims <= 3; ndims++) {
        for (int green = FFTND_GREEN_INTEGRATED; green <= FFTND_GREEN_POINT; green++) {
            double errors[2];
            for (int i = 0; i < 2; i++) {
                struct problem problem = free_problem(ndims, 10, 18 << i);
                problem.green = (enum fftnd_green)green;
                for (int axis = 0; axis < ndims; axis++) { /* on grid points of both */
                    problem.centre[axis] = problem.lengths[axis] / 4;
                }
                errors[i] = solve(&problem);
            }
            check_all(errors[1] < 0.05, "the error is %g", errors[1]);
            check_all(errors[0] > 3.4 * errors[1] && errors[0] < 6 * errors[1],
                      "errors of %g and %g are not of second order", errors[0], errors[1]);
        }
    }
}
END_TEST

/* Other axes are periodic, have walls of either kind, or take no part. */
static struct problem random_problem(void) {
    const enum fftnd_r2r walls[] = {FFTND_DCT2, FFTND_DST2};
    const int sizes[3] = {0, 0, 0}, ndims = random_between(2, 3);
    struct problem problem = {.given = fft_case_make(ndims, sizes, FFTND_MIXED)};
    fft_case *given = &problem.given;
    const int first = random_between(0, ndims - 1);
    int nfree = 0, has_halved = random_chance(30);
    for (int axis = 0; axis < ndims; axis++) {
        const int is_free = axis == first || (nfree == 0 && random_chance(40));
        problem.free_axes[axis] = is_free;
        problem.lengths[axis] = is_free ? 32 + random_between(0, 8) : 3 + random_between(0, 60);
        given->sizes[axis] = is_free ? 2 * random_between(50, 60) : random_between(4, 9);
        given->axes[axis] = is_free ? FFTND_AXIS_COMPLEX : (enum fftnd_axis)random_between(0, 3);
        given->r2r[axis] = walls[random_between(0, 1)];
        nfree += is_free && axis != first;
        if (given->axes[axis] == FFTND_AXIS_HALVED ||
            (given->axes[axis] == FFTND_AXIS_COMPLEX && !has_halved)) {
            given->axes[axis] = has_halved ? FFTND_AXIS_COMPLEX : FFTND_AXIS_HALVED;
            has_halved = 1;
        }
    }
    given->precision = fft_case_precision((enum fftnd_precision)random_between(0, 2));
    given->options.in_place = 0;
    given->options.grid_ndims = random_between(0, ndims - 1);
    given->drops_points = random_chance(50);
    for (int axis = 0; axis < ndims; axis++) {
        given->filled[axis] = given->sizes[axis] / (problem.free_axes[axis] ? 2 : 1);
    }
    problem.green = (enum fftnd_green)random_between(0, 2);
    finish(&problem);
    return problem;
}

START_TEST(mixed_axes) {
    NEEDS_FFT_ARRAYS();
    for (int i = 0; harness_another(i, 4); i++) {
        struct problem problem = random_problem();
        fft_use_device(&problem.given);
        const double error = solve(&problem);
        /* other functions than the truncated one are those of the constant alone */
        const double bound = problem.green != FFTND_GREEN_TRUNCATED && problem.has_constant ? 0.02
                             : problem.given.precision == FFTND_FLOAT                       ? 3e-5
                                                                                            : 1e-11;
        check_all(error < bound, "the error is %g, above %g", error, bound);
    }
}
END_TEST

/* ---------------------------------------------------------------- bad input */

static void check_refused(fftnd_plan *plan, const fftnd_operator_options *options, int code,
                          const char *text) {
    fftnd_operator *op = NULL;
    check_code(fftnd_operator_create(plan, FFTND_OPEN_POISSON, options, &op), code);
    check_all(strstr(redist_error_message(), text) != NULL, "the message is \"%s\"",
              redist_error_message());
    check_all(op == NULL, "an operator was made");
}

START_TEST(bad_input) {
    const enum fftnd_r2r r2r[3] = {FFTND_DCT2, FFTND_DCT2, FFTND_DCT2};
    const enum fftnd_axis axes[3] = {FFTND_AXIS_R2R, FFTND_AXIS_COMPLEX, FFTND_AXIS_HALVED};
    const redist_index sizes[3] = {6, 4, 7};
    const int none[3] = {0, 0, 0}, middle[3] = {0, 1, 0}, last[3] = {0, 0, 1};
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    choice.axes = axes;
    choice.r2r = r2r;
    choice.effort = FFTND_ESTIMATE;
    check_ok(
        fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_MIXED, FFTND_DOUBLE, &choice, &plan));
    check_refused(plan, &options, REDIST_ERR_AXIS, "has axis 0, which is of FFTND_AXIS_R2R");
    options.free_axes = last;
    check_refused(plan, &options, REDIST_ERR_AXIS, "its 7 points");
    options.free_axes = none;
    check_refused(plan, &options, REDIST_ERR_AXIS, "names 0 axes");
    options.free_axes = middle;
    options.axes = last;
    check_refused(plan, &options, REDIST_ERR_AXIS, "options->free_axes[1] is set");
    options.axes = NULL;
    options.green = (enum fftnd_green)3;
    check_refused(plan, &options, REDIST_ERR_ARGUMENT, "options->green = 3");
    options.green = harness_rank == 0 ? FFTND_GREEN_POINT : FFTND_GREEN_TRUNCATED;
    if (harness_nranks > 1) {
        check_refused(plan, &options, REDIST_ERR_DISAGREE, "options->green");
    }
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

/* Modes and points that a free axis may lack. */
START_TEST(bad_sides) {
    const redist_index sizes[3] = {6, 4, 7}, half[3] = {6, 2, 7}, most[3] = {6, 3, 7};
    const int middle[3] = {0, 1, 0};
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    choice.effort = FFTND_ESTIMATE;
    options.free_axes = middle;
    const struct {
        const redist_index *retained, *filled;
        const char *text; /* NULL = taken */
    } sides[] = {{most, sizes, "retains 3 modes of its 4 points"},
                 {half, half, "retains 2 modes of its 4 points"},
                 {sizes, most, "has 3 filled"},
                 {sizes, sizes, NULL},
                 {sizes, half, NULL}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        fftnd_operator *op = NULL;
        choice.retained_modes = sides[i].retained;
        choice.filled = sides[i].filled;
        check_ok(
            fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &choice, &plan));
        if (sides[i].text != NULL) {
            check_refused(plan, &options, REDIST_ERR_AXIS, sides[i].text);
        } else {
            check_ok(fftnd_operator_create(plan, FFTND_OPEN_POISSON, &options, &op));
            check_ok(fftnd_operator_free(&op));
        }
        check_ok(fftnd_plan_free(&plan));
    }
}
END_TEST

/* The longer axes are bounded, and only those in use. */
START_TEST(bad_lengths) {
    const redist_index sizes[3] = {8, 8, 8};
    const double lengths[][3] = {{1e13, 1, 1}, {1, 1e300, 1}};
    const int first_two[3] = {1, 1, 0};
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    choice.effort = FFTND_ESTIMATE;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &choice, &plan));
    for (int i = 0; i < 2; i++) {
        fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
        fftnd_operator *op = NULL;
        options.lengths = lengths[i];
        check_refused(plan, &options, REDIST_ERR_LIMIT, i == 0 ? "axis 1 has" : "axis 0 has");
        options.green = FFTND_GREEN_POINT;
        options.free_axes = first_two;
        check_refused(plan, &options, REDIST_ERR_LIMIT, i == 0 ? "axis 1 has" : "axis 0 has");
        options.free_axes = NULL;
        check_ok(fftnd_operator_create(plan, FFTND_OPEN_POISSON, &options, &op));
        check_ok(fftnd_operator_free(&op));
    }
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {spectral_accuracy, second_order, mixed_axes, bad_input,
                                  bad_sides,         bad_lengths,  NULL};
    const TTest *const with_device[] = {mixed_axes, NULL};
    return harness_run(argc, argv, "test_fftnd_open_poisson",
                       has_fft_device() ? with_device : tests);
}
