/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays larger than a device that works beside the host, imitated (late_device.h): results are right
 * whatever it does first.
 */

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"
#include "late_device.h"

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};

START_TEST(slabs_and_pencils) {
    for (int i = 0; i < 3; i++) {
        fft_case given = FFT_CASE(kinds[i], 9, 8, 10);
        given.options.device = REDIST_SPACE_CUDA;
        for (int grid_ndims = 1; grid_ndims < 3; grid_ndims++) {
            given.options.grid_ndims = grid_ndims;
            given.options.pin_arrays = grid_ndims == 2;
            fft_run_limit(MPI_COMM_WORLD, &given, 1500);
            given.options.device_bytes *= 3;
            fft_check(MPI_COMM_WORLD, &given);
        }
    }
}
END_TEST

/* Ranks share what is free. */
START_TEST(no_limit_given) {
    fft_case given = FFT_CASE(FFTND_C2C, 24, 12, 20);
    fftnd_plan *plan = NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    given.options.device = REDIST_SPACE_CUDA;
    fft_check(MPI_COMM_WORLD, &given);
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_ok(fftnd_plan_free(&plan));
    const size_t part = (size_t)(1 << 17) / (size_t)harness_nranks;
    check_all(info.device_bytes > 0 && info.device_bytes < part, "%zu bytes of the device",
              info.device_bytes);
}
END_TEST

/* Ranks whose devices have more room than others' join no more axes than these: all have the same steps. */
START_TEST(other_limits) {
    const size_t own = late_device_free_bytes;
    const unsigned long long shared = late_device_identity;
    late_device_identity = 100 + (unsigned long long)harness_rank;
    for (int i = 0; i < 8; i++) {
        fft_case given = FFT_CASE(kinds[i / 4], 24, 12, 20);
        given.options.device = REDIST_SPACE_CUDA;
        late_device_free_bytes = harness_rank == i % 2 * (harness_nranks - 1) ? own : own / 4;
        given.options.grid_ndims = 1 + i / 2 % 2;
        harness_case("limits, case %d", i);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    late_device_free_bytes = own;
    late_device_identity = shared;
}
END_TEST

START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 4); i++) {
        fft_case given;
        do {
            given = fft_random_mixed_case(harness_nranks, 0);
        } while (given.precision == FFTND_LONG_DOUBLE);
        given.options.effort = FFTND_ESTIMATE;
        given.options.local_transpose = FFTND_LOCAL_TRANSPOSE_AUTO;
        given.options.device = REDIST_SPACE_CUDA;
        given.options.pin_arrays = random_chance(70);
        fft_run_limit(MPI_COMM_WORLD, &given, (size_t)random_between(500, 4000));
        given.options.device_bytes *= (size_t)random_between(2, 8);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {slabs_and_pencils, no_limit_given, other_limits, random_cases,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_late", tests);
}
