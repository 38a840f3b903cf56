/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heFFTe's interface for C: random boxes in random orders, all types, with a workspace and without, in place and not,
 * against serial FFTW; and what is refused.
 */
#include "harness.h"
#include "heffte_c.h"

#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A side of a case: sizes of the array of all ranks, this rank's box of it, the order of the dimensions in memory. */
struct side {
    int n[3], low[3], high[3], order[3];
};

/* direction: the halved dimension, or -1. */
struct random_case {
    struct side sides[2];
    int direction;
};

/* ---------------------------------------------------------------- calls, by type */

/* Functions of both signatures under one, the second one with a workspace. */
#define CALLS(name, in, out)                                                                       \
    static int name(heffte_plan plan, const void *input, void *output, void *workspace,            \
                    int scale) {                                                                   \
        if (workspace != NULL)                                                                     \
            return heffte_##name##_buffered(plan, (const in *)input, (out *)output, workspace,     \
                                            scale);                                                \
        return heffte_##name(plan, (const in *)input, (out *)output, scale);                       \
    }
CALLS(forward_s2c, float, void)
CALLS(forward_c2c, void, void)
CALLS(forward_d2z, double, void)
CALLS(forward_z2z, void, void)
CALLS(backward_c2s, void, float)
CALLS(backward_c2c, void, void)
CALLS(backward_z2d, void, double)
CALLS(backward_z2z, void, void)

typedef int (*call)(heffte_plan plan, const void *input, void *output, void *workspace, int scale);

static const struct {
    const char *name;
    int is_real, is_double;
    call forward, backward;
} types[] = {{"s2c", 1, 0, forward_s2c, backward_c2s},
             {"d2z", 1, 1, forward_d2z, backward_z2d},
             {"c2c", 0, 0, forward_c2c, backward_c2c},
             {"z2z", 0, 1, forward_z2z, backward_z2z}};

/* ---------------------------------------------------------------- cases */

/* Splits ranks into three factors, and each dimension at random places: parts may be empty. Ranks get parts in random
 * order. */
static void draw_box(struct side *side) {
    int parts[3] = {1, 1, 1}, place[64], rest = harness_nranks, mine;
    random_permutation(harness_nranks, place);
    mine = place[harness_rank];
    for (int factor = 2; rest > 1; factor += rest % factor != 0)
        if (rest % factor == 0) {
            parts[random_between(0, 2)] *= factor;
            rest /= factor;
        }
    for (int i = 0; i < 3; i++) {
        int cuts[65] = {0};
        for (int part = 1; part < parts[i]; part++)
            cuts[part] = random_between(cuts[part - 1], side->n[i]);
        cuts[parts[i]] = side->n[i];
        side->low[i] = cuts[mine % parts[i]];
        side->high[i] = cuts[mine % parts[i] + 1] - 1;
        mine /= parts[i];
    }
    random_permutation(3, side->order);
}

static struct random_case draw_case(void) {
    struct random_case result = {.direction = random_between(-1, 2)};
    for (int i = 0; i < 3; i++) {
        const int n = random_between(1, 9);
        result.sides[0].n[i] = n;
        result.sides[1].n[i] = i == result.direction ? n / 2 + 1 : n;
    }
    draw_box(&result.sides[0]);
    draw_box(&result.sides[1]);
    return result;
}

static size_t count(const struct side *side) {
    size_t elements = 1;
    for (int i = 0; i < 3; i++)
        elements *= (size_t)(side->high[i] - side->low[i] + 1);
    return elements;
}

/* Place of an element of a box in the array of all ranks, whose extents are n, dimension 0 the fastest. */
static size_t place_of(const struct side *side, const int n[3], size_t element) {
    int at[3];
    for (int i = 0; i < 3; i++) {
        const int dimension = side->order[i],
                  extent = side->high[dimension] - side->low[dimension] + 1;
        at[dimension] = side->low[dimension] + (int)(element % (size_t)extent);
        element /= (size_t)extent;
    }
    return ((size_t)at[2] * (size_t)n[1] + (size_t)at[1]) * (size_t)n[0] + (size_t)at[0];
}

static double _Complex draw_point(int is_real) {
    const double re = random_between(-1000, 1000) / 1000.0,
                 im = random_between(-1000, 1000) / 1000.0;
    return is_real ? re : re + im * I;
}

/* The array of all ranks, the same on each, and its transform. */
static void make_reference(const int n[3], int is_real, double _Complex *arrays[2]) {
    const size_t elements = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    for (int i = 0; i < 2; i++)
        arrays[i] = fftw_malloc(elements * sizeof(double _Complex));
    fftw_plan plan =
        fftw_plan_dft_3d(n[2], n[1], n[0], arrays[0], arrays[1], FFTW_FORWARD, FFTW_ESTIMATE);
    for (size_t i = 0; i < elements; i++)
        arrays[0][i] = draw_point(is_real);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
}

/* ---------------------------------------------------------------- arrays of a call */

static size_t bytes_of(int is_real, int is_double) {
    return (is_double ? sizeof(double) : sizeof(float)) * (is_real ? 1 : 2);
}

static void store(void *array, size_t i, double _Complex value, int is_real, int is_double) {
    const double parts[2] = {creal(value), cimag(value)};
    const size_t numbers = is_real ? 1 : 2;
    for (size_t part = 0; part < numbers; part++)
        if (is_double)
            ((double *)array)[numbers * i + part] = parts[part];
        else
            ((float *)array)[numbers * i + part] = (float)parts[part];
}

static double _Complex load(const void *array, size_t i, int is_real, int is_double) {
    double parts[2] = {0, 0};
    const size_t numbers = is_real ? 1 : 2;
    for (size_t part = 0; part < numbers; part++)
        parts[part] = is_double ? ((const double *)array)[numbers * i + part]
                                : (double)((const float *)array)[numbers * i + part];
    return parts[0] + parts[1] * I;
}

/* The largest difference between this rank's elements and `factor` times those of the array of all ranks. */
static double compare(const struct side *side, const int n[3], const void *array, int is_real,
                      int is_double, const double _Complex *all, double factor) {
    double error = 0;
    for (size_t i = 0; i < count(side); i++)
        error = fmax(error,
                     cabs(load(array, i, is_real, is_double) - factor * all[place_of(side, n, i)]));
    return error;
}

static double factor_of(int scale, const int n[3]) {
    const double points = (double)n[0] * n[1] * n[2];
    const double factors[] = {1, 1 / points, 1 / sqrt(points)};
    return factors[scale];
}

/* ---------------------------------------------------------------- transforms */

static void create(const struct random_case *trial, heffte_plan *plan) {
    const struct side *in = &trial->sides[0], *out = &trial->sides[1];
    heffte_plan_options options;
    check_ok(heffte_set_default_options(Heffte_BACKEND_FFTW, &options));
    if (trial->direction < 0)
        check_ok(heffte_plan_create(Heffte_BACKEND_FFTW, in->low, in->high, in->order, out->low,
                                    out->high, out->order, MPI_COMM_WORLD, &options, plan));
    else
        check_ok(heffte_plan_create_r2c(Heffte_BACKEND_STOCK, in->low, in->high, in->order,
                                        out->low, out->high, out->order, trial->direction,
                                        MPI_COMM_WORLD, NULL, plan));
    check_all(heffte_size_inbox(*plan) == (int)count(in), "inbox %d, not %zu",
              heffte_size_inbox(*plan), count(in));
    check_all(heffte_size_outbox(*plan) == (int)count(out), "outbox %d, not %zu",
              heffte_size_outbox(*plan), count(out));
    check_all(heffte_is_r2c(*plan) == (trial->direction >= 0), "is_r2c");
    check_all(heffte_get_backend(*plan) ==
                  (trial->direction < 0 ? Heffte_BACKEND_FFTW : Heffte_BACKEND_STOCK),
              "backend %d", heffte_get_backend(*plan));
}

/* Forward against FFTW, and back against the input, with any scales. */
static void run_type(const struct random_case *trial, heffte_plan plan, size_t t) {
    const int *n = trial->sides[0].n, is_real = types[t].is_real, is_double = types[t].is_double;
    const int scales[2] = {random_between(0, 2), random_between(0, 2)};
    const int in_place = random_chance(25), is_buffered = random_chance(50);
    const size_t sizes[2] = {count(&trial->sides[0]), count(&trial->sides[1])};
    const double points = (double)n[0] * n[1] * n[2], tolerance = is_double ? 1e-14 : 6e-6;
    double _Complex *reference[2];
    make_reference(n, is_real, reference);
    void *input = calloc(sizes[0] + sizes[1] + 1, 2 * sizeof(double)),
         *output = in_place ? input : calloc(sizes[1] + 1, 2 * sizeof(double)),
         *workspace = is_buffered
                          ? calloc((size_t)heffte_size_workspace(plan) + 1, 2 * sizeof(double))
                          : NULL;
    harness_case("%s, n = %d %d %d, direction %d, scales %d %d, in place %d, buffered %d",
                 types[t].name, n[0], n[1], n[2], trial->direction, scales[0], scales[1], in_place,
                 is_buffered);
    for (size_t i = 0; i < sizes[0]; i++)
        store(input, i, reference[0][place_of(&trial->sides[0], n, i)], is_real, is_double);
    check_ok(types[t].forward(plan, input, output, workspace, scales[0]));
    const double factor = factor_of(scales[0], n);
    double error = compare(&trial->sides[1], n, output, 0, is_double, reference[1], factor);
    check_all(error <= tolerance * points * factor, "modes differ by %.1e", error);
    if (!in_place) {
        error = compare(&trial->sides[0], n, input, is_real, is_double, reference[0], 1);
        check_all(error <= (is_double ? 0 : 1e-6), "the input has changed by %.1e", error);
        memset(input, 0, bytes_of(is_real, is_double) * sizes[0]);
    }
    check_ok(types[t].backward(plan, output, input, workspace, scales[1]));
    const double back = points * factor * factor_of(scales[1], n);
    error = compare(&trial->sides[0], n, input, is_real, is_double, reference[0], back);
    check_all(error <= 10 * tolerance * back, "points differ by %.1e", error);
    free(workspace);
    free(in_place ? NULL : output);
    free(input);
    fftw_free(reference[0]);
    fftw_free(reference[1]);
}

/* Types by turns on one plan, as programs in mixed precision have it. */
START_TEST(random_boxes) {
    for (int i = 0; harness_another(i, 6); i++) {
        const struct random_case trial = draw_case();
        heffte_plan plan = NULL;
        create(&trial, &plan);
        for (int round = 0; round < 4; round++)
            run_type(&trial, plan, (size_t)random_between(0, trial.direction < 0 ? 3 : 1));
        check_ok(heffte_plan_destroy(plan));
    }
}
END_TEST

/* ---------------------------------------------------------------- errors */

/* Slabs of 4 x 4 x 4 points; the last rank's ends `missing` planes too early. */
static struct side make_slab(int missing) {
    struct side slab = {{4, 4, 4}, {0, 0, 4 * harness_rank / harness_nranks}, {3, 3, 0}, {0, 1, 2}};
    slab.high[2] = 4 * (harness_rank + 1) / harness_nranks - 1;
    slab.high[2] -= harness_rank == harness_nranks - 1 ? missing : 0;
    return slab;
}

static int create_slabs(int backend, int missing, int direction, heffte_plan *plan) {
    const struct side in = make_slab(missing);
    struct side out = make_slab(0);
    out.high[0] = direction == 0 ? 2 : 3;
    if (direction < 0)
        return heffte_plan_create(backend, in.low, in.high, NULL, out.low, out.high, NULL,
                                  MPI_COMM_WORLD, NULL, plan);
    return heffte_plan_create_r2c(backend, in.low, in.high, NULL, out.low, out.high, NULL,
                                  direction, MPI_COMM_WORLD, NULL, plan);
}

#define check_refused(call, wanted, words)                                                         \
    do {                                                                                           \
        const int refused_code = (call);                                                           \
        check_all(refused_code == REDIST_ERR_##wanted, "%s: %s", #call,                            \
                  redist_error_name(refused_code));                                                \
        check_all(strstr(redist_error_message(), words) != NULL, "%s: %s", #call,                  \
                  redist_error_message());                                                         \
    } while (0)

START_TEST(wrong_plans) {
    const int order[3] = {0, 1, 1};
    const struct side slab = make_slab(0);
    heffte_plan_options options;
    heffte_plan plan = NULL;
    check_refused(create_slabs(5, 0, -1, &plan), ARGUMENT, "backend");
    check_all(plan == NULL, "a plan was made");
    check_refused(create_slabs(Heffte_BACKEND_FFTW, 1, -1, &plan), ARGUMENT, "box");
    check_refused(create_slabs(Heffte_BACKEND_FFTW, 0, 3, &plan), ARGUMENT, "direction");
    check_refused(heffte_plan_create(Heffte_BACKEND_FFTW, slab.low, slab.high, order, slab.low,
                                     slab.high, NULL, MPI_COMM_WORLD, NULL, &plan),
                  ARGUMENT, "order");
    check_refused(heffte_plan_create(Heffte_BACKEND_FFTW, slab.low, NULL, NULL, slab.low, slab.high,
                                     NULL, MPI_COMM_WORLD, NULL, &plan),
                  NULL, "inbox_high");
    check_refused(create_slabs(Heffte_BACKEND_FFTW, 0, -1, NULL), NULL, "plan");
    check_refused(heffte_set_default_options(7, &options), ARGUMENT, "backend");
    check_refused(heffte_set_default_options(Heffte_BACKEND_FFTW, NULL), NULL, "options");
    check_all(plan == NULL, "a plan was made");
}
END_TEST

/* One rank's mistake is an error of all. */
START_TEST(wrong_on_one_rank) {
    heffte_plan plan = NULL;
    double _Complex array[64] = {0}, modes[64];
    const int is_last = harness_rank == harness_nranks - 1;
    check_refused(create_slabs(is_last ? 5 : Heffte_BACKEND_FFTW, 0, -1, &plan), ARGUMENT, "");
    check_all(plan == NULL, "a plan was made");
    check_ok(create_slabs(Heffte_BACKEND_FFTW, 0, -1, &plan));
    check_ok(heffte_forward_z2z(plan, array, modes, Heffte_SCALE_NONE));
    check_refused(heffte_forward_z2z(plan, is_last ? NULL : array, modes, Heffte_SCALE_FULL), NULL,
                  "");
    check_ok(heffte_backward_z2z(plan, modes, array, Heffte_SCALE_FULL));
    check_ok(heffte_plan_destroy(plan));
}
END_TEST

START_TEST(wrong_calls) {
    heffte_plan plan = NULL;
    double points[64] = {0};
    double _Complex array[64] = {0};
    check_ok(create_slabs(Heffte_BACKEND_FFTW, 0, 0, &plan));
    check_refused(heffte_forward_z2z(plan, array, array, Heffte_SCALE_NONE), ARGUMENT, "real");
    check_refused(heffte_backward_c2c(plan, array, array, Heffte_SCALE_NONE), ARGUMENT, "real");
    check_refused(heffte_forward_z2z(NULL, array, array, Heffte_SCALE_NONE), NULL, "plan");
    check_refused(heffte_forward_d2z(plan, points, array, 3), ARGUMENT, "scale");
    check_all(heffte_size_inbox(NULL) == -1 && heffte_size_outbox(NULL) == -1 &&
                  heffte_size_workspace(NULL) == -1 && heffte_get_backend(NULL) == -1 &&
                  heffte_is_r2c(NULL) == -1,
              "NULL has properties");
    check_ok(heffte_plan_destroy(plan));
    check_ok(heffte_plan_destroy(NULL));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_boxes, wrong_plans, wrong_on_one_rank, wrong_calls, NULL};
    return harness_run(argc, argv, "test_heffte_c", tests);
}
