/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays larger than the device: the host does as if it were a device of few bytes, and every result is
 * compared with serial FFTW on the whole array.
 */
#include <string.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
enum { NKINDS = 3 };

/* ---------------------------------------------------------------- limits */

/* The code of a plan with a limit, and what it takes of the device. */
static int plan_within(const fft_case *given, size_t limit, size_t *taken) {
    fft_case limited = *given;
    fftnd_plan *plan = NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    limited.options.device_bytes = limit;
    harness_case("%s", fft_case_text(&limited));
    const int code = fft_case_plan(MPI_COMM_WORLD, &limited, &plan);
    if (code == REDIST_OK) {
        check_ok(fftnd_plan_get_info(plan, &info));
        check_ok(fftnd_plan_free(&plan));
    }
    *taken = info.device_bytes;
    return code;
}

/* Through buffers and without, joined with the exchanges and not, in tiles of every size. */
static void check_limits(fft_case given) {
    fft_run_limit(MPI_COMM_WORLD, &given, 256);
    for (int i = 0; i < 2; i++) {
        given.options.pin_arrays = i;
        fft_check(MPI_COMM_WORLD, &given);
        given.options.device_bytes *= 8;
    }
}

START_TEST(slabs_and_pencils) {
    for (int i = 0; i < (harness_nranks > 4 ? 2 : NKINDS); i++) {
        fft_case given = FFT_CASE(kinds[i], 9, 8, 10);
        for (int grid_ndims = 1; grid_ndims < 3; grid_ndims++) {
            given.options.grid_ndims = grid_ndims;
            check_limits(given);
        }
    }
}
END_TEST

START_TEST(dimensions_one_to_six) {
    static const int sizes[] = {3, 5, 4, 2, 6, 7};
    for (int ndims = harness_nranks == 1 ? 1 : 2; ndims <= 6; ndims++) {
        const fft_case given = fft_case_make(ndims, sizes, kinds[ndims % NKINDS]);
        check_limits(given);
    }
}
END_TEST

START_TEST(primes_and_extents_of_one) {
    check_limits(FFT_CASE(FFTND_R2C, 13, 1, 11));
    check_limits(FFT_CASE(FFTND_C2C, 1, 1, 1));
    check_limits(FFT_CASE(FFTND_R2R, 1, 29));
}
END_TEST

/* Long rows and many of them: tiles of several axes each. */
START_TEST(axes_joined) {
    fft_case given = FFT_CASE(FFTND_C2C, 3, 2, 4, 5, 64);
    given.options.device_bytes = 1 << 18;
    fft_check(MPI_COMM_WORLD, &given);
    given.precision = fft_case_precision(FFTND_FLOAT);
    given.options.device_bytes = 1 << 16;
    fft_check(MPI_COMM_WORLD, &given);
}
END_TEST

START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 4); i++) {
        fft_case given = random_chance(50) ? fft_random_case(harness_nranks, 0)
                                           : fft_random_mixed_case(harness_nranks, 0);
        given.options.threads = random_between(1, 3);
        given.options.pin_arrays = random_chance(50);
        given.options.effort = FFTND_ESTIMATE;
        given.options.local_transpose = FFTND_LOCAL_TRANSPOSE_AUTO;
        if (random_chance(25)) {
            fft_random_format(&given);
        }
        fft_run_limit(MPI_COMM_WORLD, &given, (size_t)random_between(64, 4000));
        given.options.device_bytes *= (size_t)random_between(1, 20);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(limits_are_kept) {
    const fft_case given = FFT_CASE(FFTND_R2C, 20, 18, 16);
    size_t taken;
    int fits = 0;
    for (size_t bytes = 16; bytes <= 1 << 20; bytes *= 2) {
        const int code = plan_within(&given, bytes, &taken);
        check_all(code == REDIST_OK || code == REDIST_ERR_ARGUMENT, "%s", redist_error_message());
        check_all(code == REDIST_OK || strstr(redist_error_message(), "device_bytes") != NULL,
                  "no device_bytes in: %s", redist_error_message());
        check_all(code == REDIST_OK || !fits, "%zu bytes are too few, half of it were not", bytes);
        check_all(taken <= bytes, "%zu bytes of the device taken, %zu allowed", taken, bytes);
        fits = code == REDIST_OK;
        check_all(bytes > 64 || !fits, "%zu bytes are enough for lines of 20 numbers", bytes);
    }
    check_all(fits, "the array does not fit");
}
END_TEST

/* ---------------------------------------------------------------- use */

/* Other arrays for each transform: access of the device goes from the ones to the others. */
START_TEST(many_arrays) {
    fft_case given = FFT_CASE(FFTND_C2C, 6, 10, 9);
    given.options.device_bytes = 8000;
    given.options.pin_arrays = 1;
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    for (int i = 0; i < 3; i++) {
        fft_array others[2];
        fft_array *before[2] = {run.array[0], run.array[1]};
        for (int side = 0; side < 2; side++) {
            check_ok(fft_array_create(MPI_COMM_WORLD, run.layout[side].bytes, FFT_MEMORY_HEAP, 8,
                                      &others[side]));
            run.array[side] = &others[side];
        }
        fft_run_transform(&run, FFTND_PHYSICAL);
        fft_run_transform(&run, FFTND_SPECTRAL);
        run.array[0] = before[0];
        run.array[1] = before[1];
        fft_run_transform(&run, FFTND_PHYSICAL);
        check_ok(fft_array_free(&others[0]));
        check_ok(fft_array_free(&others[1]));
    }
    fft_run_free(&run);
}
END_TEST

/* Pinned arrays need no buffers, others do. */
START_TEST(buffers) {
    fft_case given = FFT_CASE(FFTND_C2C, 6, 10, 9);
    given.options.device_bytes = 8000;
    for (int pin = 0; pin < 2; pin++) {
        fft_run run;
        fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
        given.options.pin_arrays = pin;
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        check_all(!run.info.buffered, "buffers before any transform");
        fft_run_transform(&run, FFTND_PHYSICAL);
        check_ok(fftnd_plan_get_info(run.plan, &info));
        check_all(run.array[0]->bytes == 0 || info.buffered == !pin, "buffered is %d",
                  info.buffered);
        fft_run_free(&run);
    }
}
END_TEST

START_TEST(bare_transfers) {
    fft_case given = FFT_CASE(FFTND_R2C, 6, 10, 9);
    fft_run run;
    given.options.device_bytes = 8000;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    void *physical = fft_run_data(&run, FFTND_PHYSICAL);
    void *spectral = fft_run_data(&run, FFTND_SPECTRAL);
    check_ok(fftnd_plan_transfer(run.plan, REDIST_FORWARD, physical, spectral));
    check_ok(fftnd_plan_transfer(run.plan, REDIST_BACKWARD, spectral, physical));
    check_code(fftnd_plan_transfer(run.plan, 2, physical, spectral), REDIST_ERR_ARGUMENT);
    fft_run_transform(&run, FFTND_PHYSICAL);
    fft_run_transform(&run, FFTND_SPECTRAL);
    fft_run_free(&run);
    given.options.device_bytes = 0;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    physical = fft_run_data(&run, FFTND_PHYSICAL);
    spectral = fft_run_data(&run, FFTND_SPECTRAL);
    check_code(fftnd_plan_transfer(run.plan, REDIST_FORWARD, physical, spectral), REDIST_ERR_STATE);
    fft_run_free(&run);
}
END_TEST

/* Elements that are one thing on one rank alone come back as they are from a transfer of complex lines. */
START_TEST(transfers_leave_nothing_out) {
    fft_case given = FFT_CASE(FFTND_C2C, 7, 12, 10);
    fft_run run;
    if (harness_nranks > 1) {
        skip_test("between ranks elements change their places");
    }
    given.options.device_bytes = 8000;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    fft_run_load(&run, FFTND_PHYSICAL, 1);
    fft_array_poison(run.array[1]);
    check_ok(fftnd_plan_transfer(run.plan, REDIST_FORWARD, fft_run_data(&run, FFTND_PHYSICAL),
                                 fft_run_data(&run, FFTND_SPECTRAL)));
    check_all(memcmp(run.array[0]->data, run.array[1]->data, run.array[0]->bytes) == 0,
              "the transfers of all tiles are not a copy");
    fft_run_free(&run);
}
END_TEST

/* Three axes of which two fit: each element goes up and down twice. */
START_TEST(no_more_passes_than_needed) {
    fft_case given = FFT_CASE(FFTND_C2C, 32, 16, 16);
    const size_t array = (size_t)32 * 16 * 16 * 2 * sizeof(double);
    fftnd_plan *plan = NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    size_t bytes;
    given.options.device_bytes = array / 2;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_ok(fftnd_plan_free(&plan));
    MPI_Allreduce(MPI_IN_PLACE, &info.transfer_bytes, 1, MPI_UNSIGNED_LONG, MPI_SUM,
                  MPI_COMM_WORLD);
    bytes = info.transfer_bytes;
    check_all(bytes == 4 * array, "%zu bytes for an array of %zu", bytes, array);
}
END_TEST

/* Real lines are as long as complex ones in place, so that one rank needs no other array. */
START_TEST(real_transforms_in_place) {
    for (int ndims = 1; ndims <= 4; ndims++) {
        static const int sizes[] = {9, 6, 10, 7};
        fft_case given = fft_case_make(ndims, sizes + 4 - ndims, FFTND_R2C);
        fft_run run;
        given.options.device_bytes = 4000;
        given.options.in_place = 1;
        fft_run_create(MPI_COMM_SELF, &given, &run);
        check_all(run.info.workspace_bytes == 0, "%zu bytes of work space",
                  run.info.workspace_bytes);
        fft_run_transform(&run, FFTND_PHYSICAL);
        fft_run_transform(&run, FFTND_SPECTRAL);
        fft_run_round_trips(&run);
        fft_run_free(&run);
    }
}
END_TEST

/* Ranks without elements take the same steps as the one that has them, whatever padding makes of these. */
START_TEST(padded_in_place) {
    static const int order[] = {3, 5, 1, 2, 0, 4};
    for (int i = 0; i < 8; i++) {
        fft_case given = FFT_CASE(FFTND_R2C, 8, 16, 13, 1, 1, 1);
        FFT_GRID(&given, harness_nranks);
        given.has_order = 1;
        memcpy(given.order, order, sizeof order);
        given.padding[FFTND_PHYSICAL][0] = i & 1 ? 3 : 0;
        given.padding[FFTND_SPECTRAL][1] = i & 2 ? 2 : 0;
        given.padding[FFTND_SPECTRAL][5] = i & 4 ? 3 : 0;
        given.options.batch = 2;
        given.options.user_workspace = i & 1;
        given.bounds[FFTND_PHYSICAL][0][harness_nranks] = 1;
        given.bounds[FFTND_PHYSICAL][0][harness_nranks - 1] = harness_nranks > 2;
        given.has_bounds[FFTND_PHYSICAL] = 1;
        given.options.device_bytes = 69502;
        given.options.tile_bytes = 300;
        given.options.in_place = 1;
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* ---------------------------------------------------------------- refusals */

static void check_refused(const fft_case *given, const char *argument) {
    fftnd_plan *plan = NULL;
    harness_case("%s", fft_case_text(given));
    check_code(fft_case_plan(MPI_COMM_WORLD, given, &plan), REDIST_ERR_ARGUMENT);
    check_all(plan == NULL, "a plan was made");
    check_all(strstr(redist_error_message(), argument) != NULL, "no %s in: %s", argument,
              redist_error_message());
}

START_TEST(refusals) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 8, 8);
    given.options.device = (enum redist_space)3;
    check_refused(&given, "options->device");
    given.options.device = REDIST_SPACE_AUTO;
    given.options.device_bytes = 1 << 20;
    given.options.local_transpose = FFTND_LOCAL_TRANSPOSE_ALWAYS;
    check_refused(&given, "options->local_transpose");
}
END_TEST

/* One rank's limit is too small: all are told. */
START_TEST(limits_that_differ) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 8, 8);
    fftnd_plan *plan = NULL;
    if (harness_nranks == 1) {
        skip_test("needs two ranks");
    }
    given.options.device_bytes = harness_rank == harness_nranks - 1 ? 10 : 1 << 20;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_DISAGREE);
    check_all(strstr(redist_error_message(), "device_bytes") != NULL, "no device_bytes in: %s",
              redist_error_message());
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {slabs_and_pencils,
                                  dimensions_one_to_six,
                                  primes_and_extents_of_one,
                                  axes_joined,
                                  random_cases,
                                  limits_are_kept,
                                  many_arrays,
                                  buffers,
                                  bare_transfers,
                                  transfers_leave_nothing_out,
                                  no_more_passes_than_needed,
                                  real_transforms_in_place,
                                  padded_in_place,
                                  refusals,
                                  limits_that_differ,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_offload", tests);
}
