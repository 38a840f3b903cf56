/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays in host memory, transformed on a device that may take a part of them at a time: against FFTW on
 * the gathered array, and against a transform that lies on the device as a whole.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"

#define NEEDS_OFFLOAD()                                                                            \
    do {                                                                                           \
        if (!device_begin())                                                                       \
            skip_test("no CUDA device");                                                           \
        fft_array_use(NULL);                                                                       \
        unsetenv("FFTND_CONFIGURATION");                                                           \
    } while (0)

/* From the least limit to one that lets all be done at once, through buffers and without. */
static void check_limits(fft_case given) {
    given.options.device = REDIST_SPACE_CUDA;
    fft_run_limit(MPI_COMM_WORLD, &given, 1000);
    for (int i = 0; i < 2; i++) {
        given.options.pin_arrays = i;
        fft_check(MPI_COMM_WORLD, &given);
        given.options.device_bytes *= 12;
    }
}

START_TEST(slabs_and_pencils) {
    NEEDS_OFFLOAD();
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++) {
        fft_case given = FFT_CASE((enum fftnd_kind)kind, 16, 13, 20);
        for (int grid_ndims = 1; grid_ndims < 3; grid_ndims++) {
            given.options.grid_ndims = grid_ndims;
            given.precision = grid_ndims == 1 ? FFTND_FLOAT : FFTND_DOUBLE;
            check_limits(given);
        }
        check_limits(FFT_CASE((enum fftnd_kind)kind, 64, 33, 40));
    }
}
END_TEST

/* What is free decides. */
START_TEST(no_limit_given) {
    NEEDS_OFFLOAD();
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++) {
        fft_case given = FFT_CASE((enum fftnd_kind)kind, 24, 20, 18);
        given.options.device = REDIST_SPACE_CUDA;
        fft_check(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(random_cases) {
    NEEDS_OFFLOAD();
    for (int i = 0; i < harness_cases(10); i++) {
        fft_case given = fft_random_case(harness_nranks, 0);
        given.kind = given.kind == FFTND_R2R ? FFTND_C2C : given.kind;
        given.options.effort = FFTND_ESTIMATE;
        given.options.local_transpose = FFTND_LOCAL_TRANSPOSE_AUTO;
        given.options.device = REDIST_SPACE_CUDA;
        given.options.pin_arrays = random_chance(50);
        fft_run_limit(MPI_COMM_WORLD, &given, (size_t)random_between(500, 8000));
        given.options.device_bytes *= (size_t)random_between(1, 50);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* ---------------------------------------------------------------- like a transform in the device */

/* A field of one rank, there and back: on the device as a whole, and in host memory. */
struct twins {
    size_t count; /* of numbers */
    float *field, *spectrum, *other;
    void *on_device;
    fftnd_plan *whole, *tiled;
    double tolerance;
};

static void make_plans(struct twins *twins, int n, size_t limit) {
    fft_case given = FFT_CASE(FFTND_C2C, n, n, n);
    given.precision = FFTND_FLOAT;
    given.options.space = REDIST_SPACE_CUDA;
    given.options.in_place = 1;
    harness_case("%s", fft_case_text(&given));
    check_ok(fft_case_plan(MPI_COMM_SELF, &given, &twins->whole));
    given.options.space = REDIST_SPACE_HOST;
    given.options.device = REDIST_SPACE_CUDA;
    given.options.device_bytes = limit;
    given.options.pin_arrays = 1;
    given.options.in_place = 0;
    harness_case("%s", fft_case_text(&given));
    check_ok(fft_case_plan(MPI_COMM_SELF, &given, &twins->tiled));
    twins->tolerance = fft_case_tolerance(&given);
    twins->count = 2 * (size_t)n * (size_t)n * (size_t)n;
    twins->field = aligned_alloc(4096, 3 * twins->count * sizeof(float)); /* pages of its own */
    twins->spectrum = twins->field + twins->count;
    twins->other = twins->spectrum + twins->count;
    twins->on_device = device_memory.allocate(MPI_COMM_SELF, twins->count * sizeof(float), 0);
}

static void fill(float *values, size_t count) {
    uint64_t state = 88172645463325252ULL;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[i] = (float)(state >> 40) * 0x1p-23f - 1;
    }
}

/* Largest difference over the largest value. */
static double difference(const float *values, const float *expected, size_t count) {
    float worst = 0;
    float largest = 0;
    for (size_t i = 0; i < count; i++) {
        const float off = fabsf(values[i] - expected[i]);
        worst = !(off <= worst) ? off : worst; /* not a number stays */
        largest = fabsf(expected[i]) > largest ? fabsf(expected[i]) : largest;
    }
    return isnan(worst) ? INFINITY : (double)(worst / largest);
}

static void compare_twins(struct twins *twins, const char *what, const float *mine) {
    const size_t bytes = twins->count * sizeof(float);
    device_memory.copy(twins->other, twins->on_device, bytes);
    const double off = difference(mine, twins->other, twins->count);
    check_all(off <= twins->tolerance, "%s is off by %g", what, off);
    printf("%s: largest difference %.2g of the largest value\n", what, off);
}

START_TEST(like_a_transform_on_the_device) {
    NEEDS_OFFLOAD();
    struct twins twins = {.count = 0};
    const int is_large = getenv("REDIST_TEST_LARGE") != NULL;
    if (harness_nranks > 1) {
        skip_test("for one rank");
    }
    make_plans(&twins, is_large ? 1024 : 160, is_large ? (size_t)1 << 30 : (size_t)3 << 20);
    const size_t bytes = twins.count * sizeof(float);
    fill(twins.field, twins.count);
    device_memory.copy(twins.on_device, twins.field, bytes);
    check_ok(fftnd_forward(twins.whole, twins.on_device, twins.on_device));
    check_ok(fftnd_forward(twins.tiled, twins.field, twins.spectrum));
    compare_twins(&twins, "forward", twins.spectrum);
    check_ok(fftnd_backward(twins.whole, twins.on_device, twins.on_device));
    check_ok(fftnd_backward(twins.tiled, twins.spectrum, twins.field));
    compare_twins(&twins, "backward", twins.field);
    check_ok(fftnd_plan_free(&twins.whole));
    check_ok(fftnd_plan_free(&twins.tiled));
    device_memory.release(twins.on_device, 0);
    free(twins.field);
}
END_TEST

/* ---------------------------------------------------------------- refusals */

START_TEST(refusals) {
    NEEDS_OFFLOAD();
    fftnd_plan *plan = NULL;
    fft_case given = FFT_CASE(FFTND_C2C, 8, 8);
    given.options.device = REDIST_SPACE_CUDA;
    given.precision = FFTND_LONG_DOUBLE;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
    given.precision = FFTND_DOUBLE;
    given.options.device_bytes = 100;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
    given.options.space = REDIST_SPACE_CUDA;
    given.options.device_bytes = 1 << 20;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
    given.options.device_bytes = 0;
    given.options.device = REDIST_SPACE_HOST;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {slabs_and_pencils, no_limit_given,
                                  random_cases,      like_a_transform_on_the_device,
                                  refusals,          NULL};
    return device_run(argc, argv, "test_gpu_offload", tests);
}
