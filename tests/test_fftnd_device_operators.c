/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators between transforms on a device: arrays there, and arrays of the host that are transformed there in tiles.
 * On a device that stands in for CUDA, or on CUDA's.
 */
#include <stdint.h>
#include <stdio.h>
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
    fft_use_chunks(random_between(1, 4), random_between(0, 1), random_between(0, 1),
                   random_between(1, 4), random_between(0, 1));
}

START_TEST(random_cases) {
    NEEDS_DEVICE();
    for (int i = 0; harness_another(i, 5); i++) {
        fft_case given = fft_random_device_case(harness_nranks);
        given.options.asynchronous = random_chance(50);
        configure();
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
        given.precision = random_chance(70) ? FFTND_DOUBLE : FFTND_FLOAT;
        if (random_chance(40)) {
            fft_random_kept(&given);
        }
        configure();
        operator_check(&given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Arrays of the host, in tiles on the device. */
START_TEST(larger_than_device) {
    NEEDS_DEVICE();
    operator_use(stream_device_memory(), 1);
    for (int i = 0; harness_another(i, 4); i++) {
        fft_case given;
        do
            given = fft_random_device_case(harness_nranks);
        while (given.drops_modes);
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

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_cases,  boxes,    larger_than_device,
                                  padding_alone, refusals, NULL};
    return harness_run(argc, argv, "test_fftnd_device_operators", tests);
}
