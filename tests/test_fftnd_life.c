/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans over time and side by side: repeated, interleaved, on subcommunicators. */
#include "fft_run.h"
#include "harness.h"

START_TEST(repeated_execution) {
    fft_case given = FFT_CASE(FFTND_R2C, 7, 6, 9);
    fft_run run;
    given.options.batch = 2;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    for (int i = 0; i < 20; i++) {
        fft_run_transform(&run, i % 3 == 0 ? FFTND_SPECTRAL : FFTND_PHYSICAL);
    }
    fft_run_free(&run);
}
END_TEST

START_TEST(interleaved_plans) {
    const fft_case given[] = {FFT_CASE(FFTND_C2C, 5, 6, 7), FFT_CASE(FFTND_R2C, 5, 6, 7),
                              FFT_CASE(FFTND_R2R, 9, 4), FFT_CASE(FFTND_C2C, 5, 6, 7)};
    fft_run runs[4];
    for (int i = 0; i < 4; i++) {
        fft_run_create(MPI_COMM_WORLD, &given[i], &runs[i]);
    }
    for (int i = 0; i < 24; i++) {
        fft_run_transform(&runs[i * 3 % 4], i % 2 == 0 ? FFTND_PHYSICAL : FFTND_SPECTRAL);
    }
    for (int i = 0; i < 4; i++) {
        fft_run_free(&runs[(i + 2) % 4]);
    }
}
END_TEST

START_TEST(plans_on_subcommunicators) {
    const int half = harness_rank % 2;
    const fft_case given[] = {FFT_CASE(FFTND_C2C, 6, 5, 4), FFT_CASE(FFTND_R2C, 4, 3, 5, 6)};
    fft_run part;
    fft_run whole;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, half, -harness_rank, &comm);
    fft_run_create(comm, &given[half], &part);
    fft_run_create(MPI_COMM_WORLD, &given[1], &whole);
    for (int i = 0; i < 4; i++) {
        fft_run_transform(&part, i % 2 == 0 ? FFTND_PHYSICAL : FFTND_SPECTRAL);
        fft_run_transform(&whole, i / 2 == 0 ? FFTND_PHYSICAL : FFTND_SPECTRAL);
    }
    fft_run_free(&part);
    fft_run_free(&whole);
    MPI_Comm_free(&comm);
}
END_TEST

START_TEST(reversed_ranks) {
    fft_case given = FFT_CASE(FFTND_R2C, 8, 7, 6);
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -harness_rank, &comm);
    fft_check(comm, &given);
    given.options.halved_axis = 0;
    fft_check(comm, &given);
    MPI_Comm_free(&comm);
}
END_TEST

START_TEST(one_axis_on_every_rank_alone) {
    for (int n = 1; n < 30; n += 4) {
        fft_case given = FFT_CASE((enum fftnd_kind)(n / 4 % 3), n);
        given.options.batch = 1 + n % 3;
        given.options.batch_position = (enum fftnd_batch_position)(n / 8 % 2);
        fft_check(MPI_COMM_SELF, &given);
    }
}
END_TEST

/* Options may be NULL, and a grid of unnamed extents too. */
START_TEST(default_options) {
    static const redist_index sizes[] = {6, 5, 4};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, NULL, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_all(info.scale_forward == 1 && info.scale_backward < 0.01, "factors %g and %g",
              info.scale_forward, info.scale_backward);
    check_ok(fftnd_plan_free(&plan));
    options.grid_ndims = 2;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, fft_case_precision(FFTND_FLOAT),
                               &options, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_all(info.grid_ndims == 2 && info.grid[0] * info.grid[1] == harness_nranks,
              "a grid of %d dimensions, %d x %d", info.grid_ndims, info.grid[0], info.grid[1]);
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {repeated_execution,
                                  interleaved_plans,
                                  plans_on_subcommunicators,
                                  reversed_ranks,
                                  one_axis_on_every_rank_alone,
                                  default_options,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_life", tests);
}
