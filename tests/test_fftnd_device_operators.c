/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators between transforms on a device: arrays there, and arrays of the host that are transformed there in tiles.
 * On a device that stands in for CUDA, or on CUDA's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fft_random.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "operator_run.h"
#include "random.h"
#include "stream_device.h"

#define NEEDS_DEVICE()                                                                             \
    NEEDS_STREAM_DEVICE();                                                                         \
    operator_use(stream_device_memory(), 0);                                                       \
    unsetenv("FFTND_CONFIGURATION")

static void configure(void) {
    fft_use_chunks(random_between(1, 4), random_between(0, 1), random_between(1, 4),
                   random_between(0, 1));
}

START_TEST(random_cases) {
    NEEDS_DEVICE();
    for (int i = 0; harness_another(i, 5); i++) {
        fft_case given = fft_random_device_case(harness_nranks);
        given.options.asynchronous = random_chance(50);
        configure();
        if (random_chance(25))
            fft_random_format(&given);
        operator_check(&given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* The shapes that solvers have, in several chunks; with retained modes too. */
START_TEST(boxes) {
    NEEDS_DEVICE();
    for (int i = 0; harness_another(i, 4); i++) {
        fft_case given = FFT_CASE(FFTND_R2C, random_between(4, 14), random_between(4, 14),
                                  random_between(4, 14));
        given.options.space = REDIST_SPACE_CUDA;
        given.options.grid_ndims = random_between(0, 2);
        given.options.in_place = random_chance(30);
        given.options.asynchronous = random_chance(50);
        given.options.tile_bytes = random_chance(70) ? (size_t)random_between(500, 9000) : 0;
        given.precision = fft_case_precision(random_chance(70) ? FFTND_DOUBLE : FFTND_FLOAT);
        if (random_chance(40)) {
            fft_random_kept(&given);
        }
        configure();
        operator_check(&given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Several fields of larger arrays that come and go in many parts, cut in as many chunks or in others. */
START_TEST(arriving) {
    NEEDS_DEVICE();
    for (int i = 0; harness_another(i, 4); i++) {
        const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
        fft_case given = FFT_CASE(kinds[random_between(0, 2)], random_between(9, 20),
                                  random_between(9, 20), random_between(9, 20));
        given.options.space = REDIST_SPACE_CUDA;
        given.options.grid_ndims = random_between(1, 2);
        given.options.overwrite_input = random_chance(30);
        given.options.asynchronous = random_chance(50);
        given.options.tile_bytes = random_chance(40) ? (size_t)random_between(2000, 40000) : 0;
        given.precision = fft_case_precision(random_chance(70) ? FFTND_DOUBLE : FFTND_FLOAT);
        for (int axis = 0; axis < 3; axis++)
            given.r2r[axis] = FFTND_DST2;
        fft_use_chunks(random_between(2, 6), 0, random_between(2, 9), 0);
        operator_check(&given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Applies an operator to a field; returns its results in memory of the host. */
static double *apply_on_device(fftnd_plan *plan, enum fftnd_operator_kind kind, const int orders[],
                               const double *field) {
    const test_device *device = stream_device_memory();
    fftnd_operator *op = NULL;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_layout layouts[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    void *arrays[2];
    options.orders = orders;
    check_ok(fftnd_operator_create(plan, kind, &options, &op));
    for (int i = 0; i < 2; i++) {
        check_ok(fftnd_operator_layout(op, i, &layouts[i]));
        arrays[i] = device->allocate(MPI_COMM_WORLD, layouts[i].bytes, 1);
    }
    double *result = malloc(layouts[1].bytes + 1);
    device->copy(arrays[0], field, layouts[0].bytes);
    check_ok(fftnd_apply(plan, op, arrays[0], arrays[1]));
    device->copy(result, arrays[1], layouts[1].bytes);
    check_ok(fftnd_operator_free(&op));
    for (int i = 0; i < 2; i++)
        device->release(arrays[i], 1);
    return result;
}

/* Fields of an odd number of real numbers begin between complex elements, where devices take no lines. */
START_TEST(odd_fields) {
    NEEDS_DEVICE();
    const redist_index sizes[2] = {9, 11};
    fftnd_plan *plan = NULL;
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    choice.space = REDIST_SPACE_CUDA;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 2, sizes, FFTND_R2C, FFTND_DOUBLE, &choice, &plan));
    check_ok(fftnd_plan_layout(plan, FFTND_PHYSICAL, &layout));
    const size_t n = layout.bytes / sizeof(double);
    double *field = malloc(layout.bytes + 1), difference = 0;
    for (size_t i = 0; i < n; i++)
        field[i] = random_between(-100, 100) / 100.0;
    double *gradient = apply_on_device(plan, FFTND_GRADIENT, NULL, field);
    for (int axis = 0; axis < 2; axis++) {
        const int orders[2] = {axis == 0, axis == 1};
        double *derivative = apply_on_device(plan, FFTND_DERIVATIVE, orders, field);
        for (size_t i = 0; i < n; i++)
            difference = fmax(difference, fabs(derivative[i] - gradient[(size_t)axis * n + i]));
        free(derivative);
    }
    check_all(difference < 1e-11, "gradient and derivatives differ by %g", difference);
    check_ok(fftnd_plan_free(&plan));
    free(gradient);
    free(field);
}
END_TEST

static int count_box(void *data, const fftnd_box *box) {
    (void)box;
    ++*(int *)data;
    return 0;
}

/* How many chunks an operator has where its input comes in so many partitions. */
static int count_chunks(int segments, int partitions) {
    const redist_index sizes[3] = {16, 18, 20};
    int calls = 0;
    fftnd_plan *plan = NULL;
    fftnd_operator *op = NULL;
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    fft_use_chunks(segments, 0, partitions, 0);
    choice.space = REDIST_SPACE_CUDA;
    choice.grid_ndims = 1;
    choice.effort = FFTND_ESTIMATE;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &choice, &plan));
    options.box_function = count_box;
    options.data = &calls;
    check_ok(fftnd_operator_create(plan, FFTND_MODES, &options, &op));
    check_ok(fftnd_operator_layout(op, 0, &layout));
    const test_device *device = stream_device_memory();
    void *arrays[2];
    for (int i = 0; i < 2; i++)
        arrays[i] = device->allocate(MPI_COMM_WORLD, layout.bytes, 1);
    check_ok(fftnd_apply(plan, op, arrays[0], arrays[1]));
    check_ok(fftnd_operator_free(&op));
    check_ok(fftnd_plan_free(&plan));
    for (int i = 0; i < 2; i++)
        device->release(arrays[i], 1);
    unsetenv("FFTND_CONFIGURATION");
    return calls;
}

/* The operator begins with each partition of the exchange before it. */
START_TEST(chunks_of_partitions) {
    NEEDS_DEVICE();
    if (harness_nranks == 1)
        skip_test("one rank");
    const int alone = count_chunks(2, 1), few = count_chunks(2, 3), many = count_chunks(2, 5);
    check_all(alone == 2 && few == 3 && many == 5, "%d, %d and %d chunks", alone, few, many);
}
END_TEST

/* Arrays of the host, in tiles on the device. */
START_TEST(larger_than_device) {
    NEEDS_DEVICE();
    operator_use(stream_device_memory(), 1);
    for (int i = 0; harness_another(i, 4); i++) {
        fft_case given = fft_random_device_case(harness_nranks);
        given.options.space = REDIST_SPACE_HOST;
        given.options.device = REDIST_SPACE_CUDA;
        given.options.device_bytes = (size_t)1 << random_between(21, 24);
        operator_check(&given);
    }
}
END_TEST

/* Ranks without any point, whose arrays are padding alone. */
START_TEST(padding_alone) {
    NEEDS_DEVICE();
    operator_use(stream_device_memory(), 1);
    for (int i = 0; i < 6; i++) {
        fft_case given = FFT_CASE(FFTND_MIXED, 8, 1, 6);
        given.axes[0] = given.axes[2] = FFTND_AXIS_COMPLEX;
        given.has_order = 1;
        given.order[0] = 1;
        given.order[2] = 2;
        FFT_GRID(&given, harness_nranks);
        given.padding[FFTND_PHYSICAL][1] = given.padding[FFTND_SPECTRAL][1] = 2;
        given.options.device = REDIST_SPACE_CUDA;
        given.options.device_bytes = 1 << 21;
        operator_check(&given);
    }
}
END_TEST

/* ---------------------------------------------------------------- refusals */

static int do_nothing(void *data, const fftnd_row *row) {
    (void)data, (void)row;
    return 0;
}

static void refuse(const fftnd_options *choice, enum fftnd_operator_kind kind, const char *part) {
    const redist_index sizes[3] = {6, 12, 10};
    fftnd_plan *plan = NULL;
    fftnd_operator *op = NULL;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    options.function = do_nothing;
    harness_case("operator %d, \"%s\"", (int)kind, part);
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, choice, &plan));
    check_code(fftnd_operator_create(plan, kind, &options, &op), REDIST_ERR_ARGUMENT);
    check_all(strstr(redist_error_message(), part) != NULL, "the message is \"%s\"",
              redist_error_message());
    check_all(op == NULL, "there is an operator all the same");
    check_ok(fftnd_plan_free(&plan));
}

START_TEST(refusals) {
    NEEDS_DEVICE();
    fftnd_options there = FFTND_OPTIONS_DEFAULT, tiles = FFTND_OPTIONS_DEFAULT;
    there.effort = tiles.effort = FFTND_ESTIMATE;
    there.space = tiles.device = REDIST_SPACE_CUDA;
    tiles.device_bytes = 1 << 20;
    refuse(&there, FFTND_MODES, "options->box_function");
    refuse(&there, FFTND_MODES, "FFTND_SYMBOLS");
    refuse(&there, FFTND_POINTS, "options->box_function");
    refuse(&tiles, FFTND_MODES, "options->box_function");
}
END_TEST

/* ---------------------------------------------------------------- kernels, and a sheet of charge */

/* A point by its global indices. */
typedef double value_of(redist_index i, redist_index j, redist_index k);

static double delta(redist_index i, redist_index j, redist_index k) {
    return i == 1 && j == 2 && k == 0;
}

static double field(redist_index i, redist_index j, redist_index k) {
    return (double)((i + 8) % 8) + 0.1 * (double)((j + 6) % 6) * (double)(k + 1);
}

static double moved(redist_index i, redist_index j, redist_index k) {
    return field(i - 1, j - 2, k);
}

static double sheet(redist_index i, redist_index j, redist_index k) {
    (void)j, (void)k;
    return i < 4;
}

/* Points along the first axis are 1/2 apart. */
static double potential(redist_index i, redist_index j, redist_index k) {
    double sum = 0.125 / 4;
    (void)j, (void)k;
    for (redist_index other = 0; other < 4; other++) {
        sum += 0.125 * (double)llabs(i - other);
    }
    return sum;
}

/* Fills an array of the host, or returns how far its points with i < n are off. */
static double visit(const fftnd_layout *layout, double *array, value_of *value, redist_index n) {
    double error = 0;
    for (redist_index i = 0; i < layout->count[0]; i++) {
        for (redist_index j = 0; j < layout->count[1]; j++) {
            for (redist_index k = 0; k < layout->count[2]; k++) {
                double *at =
                    &array[i * layout->stride[0] + j * layout->stride[1] + k * layout->stride[2]];
                const double expected =
                    value(layout->start[0] + i, layout->start[1] + j, layout->start[2] + k);
                if (n == 0) {
                    *at = expected;
                } else if (layout->start[0] + i < n && !(fabs(*at - expected) <= error)) {
                    error = fabs(*at - expected);
                }
            }
        }
    }
    return error;
}

START_TEST(kernels) {
    NEEDS_DEVICE();
    const test_device *device = stream_device_memory();
    for (int i = 0; i < 4; i++) {
        const redist_index sizes[3] = {8, 6, 10};
        const double lengths[3] = {4, 1, 1};
        const int free_axes[3] = {1, 0, 0}, convolves = i % 2;
        fftnd_options choice = FFTND_OPTIONS_DEFAULT;
        fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
        fftnd_plan *plan = NULL;
        fftnd_operator *op = NULL;
        fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
        choice.effort = FFTND_ESTIMATE;
        choice.space = device->space;
        choice.asynchronous = i / 2;
        options.lengths = lengths;
        options.free_axes = free_axes;
        options.green = FFTND_GREEN_INTEGRATED;
        check_ok(
            fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &choice, &plan));
        check_ok(fftnd_plan_layout(plan, FFTND_PHYSICAL, &layout));
        double *host = calloc(layout.bytes + 1, 1);
        void *in = device->allocate(MPI_COMM_WORLD, layout.bytes, 1);
        void *out = device->allocate(MPI_COMM_WORLD, layout.bytes, 1);
        visit(&layout, host, delta, 0);
        device->copy(in, host, layout.bytes);
        check_ok(convolves ? fftnd_operator_from_kernel(plan, in, NULL, &op)
                           : fftnd_operator_create(plan, FFTND_OPEN_POISSON, &options, &op));
        visit(&layout, host, convolves ? field : sheet, 0);
        device->copy(in, host, layout.bytes);
        check_ok(fftnd_apply(plan, op, in, out));
        device->copy(host, out, layout.bytes);
        const double error = visit(&layout, host, convolves ? moved : potential, convolves ? 8 : 4);
        check_all(error < 1e-12, "%s is off by %g", convolves ? "a convolution" : "a potential",
                  error);
        check_ok(fftnd_plan_query(plan));
        check_ok(fftnd_operator_free(&op));
        check_ok(fftnd_plan_free(&plan));
        device->release(in, 1);
        device->release(out, 1);
        free(host);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        random_cases,       boxes,         odd_fields, arriving, chunks_of_partitions,
        larger_than_device, padding_alone, refusals,   kernels,  NULL};
    return harness_run(argc, argv, "test_fftnd_device_operators", tests);
}
