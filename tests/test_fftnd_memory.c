/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays and work space: in place, overwritten input, unaligned or mapped arrays, user's memory. */
#include "fft_run.h"
#include "harness.h"

#include <string.h>

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
enum { NKINDS = 3 };

/* The given case with all alignments, batches and places of the batch. */
static void check_batches(fft_case given) {
    for (int i = 0; i < 6; i++) {
        given.options.alignment = (enum fftnd_alignment)(i % 2);
        given.options.batch = i < 2 ? 1 : 2;
        given.options.batch_position = i < 4 ? FFTND_BATCH_FIRST : FFTND_BATCH_LAST;
        fft_check(MPI_COMM_WORLD, &given);
    }
}

/* ---------------------------------------------------------------- arrays */

static void check_every_halved_axis(fft_case given) {
    for (int axis = 0; axis < 3; axis++) {
        given.options.halved_axis = axis;
        for (given.options.grid_ndims = 1; given.options.grid_ndims < given.ndims;
             given.options.grid_ndims++) {
            check_batches(given);
        }
    }
}

START_TEST(in_place) {
    for (int i = 0; i < NKINDS; i++) {
        fft_case given = FFT_CASE(kinds[i], 6, 7, 5);
        given.options.in_place = 1;
        fft_check_all_grids(given);
    }
}
END_TEST

START_TEST(in_place_padded) {
    fft_case even = FFT_CASE(FFTND_R2C, 4, 3, 6);
    fft_case odd = FFT_CASE(FFTND_R2C, 5, 7, 3);
    even.options.in_place = odd.options.in_place = 1;
    check_every_halved_axis(even);
    odd.precision = fft_case_precision(FFTND_FLOAT);
    check_every_halved_axis(odd);
}
END_TEST

START_TEST(in_place_on_one_axis) {
    for (int n = 1; n < 8; n++) {
        fft_case given = FFT_CASE(kinds[n % NKINDS], n);
        given.options.in_place = 1;
        given.options.batch = 2;
        given.options.batch_position = (enum fftnd_batch_position)(n / 3 % 2);
        fft_check(MPI_COMM_SELF, &given);
    }
}
END_TEST

START_TEST(overwritten_input) {
    for (int i = 0; i < NKINDS; i++) {
        fft_case given = FFT_CASE(kinds[i], 5, 8, 6);
        given.options.overwrite_input = 1;
        fft_check_all_grids(given);
        given.options.grid_ndims = 1 + i % 2;
        check_batches(given);
        given.options.halved_axis = given.kind == FFTND_R2C ? 0 : -1;
        check_batches(given);
    }
}
END_TEST

START_TEST(arrays_of_any_memory) {
    for (int i = 0; i < NKINDS * 9; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 6, 5, 8);
        given.precision = fft_case_precision(i % 2 == 0 ? FFTND_DOUBLE : FFTND_FLOAT);
        given.memory[0] = (enum fft_memory)(i / NKINDS % 3);
        given.memory[1] = (enum fft_memory)(i / NKINDS / 3);
        given.options.in_place = given.memory[0] == given.memory[1] && i % 2 == 0;
        fft_check(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* ---------------------------------------------------------------- arrays that peers map */

static fft_case mapped_case(enum fftnd_kind kind) {
    fft_case given = FFT_CASE(kind, 9, 5, 6);
    given.memory[0] = given.memory[1] = FFT_MEMORY_SHARED;
    given.options.mapped_arrays = 1;
    return given;
}

START_TEST(mapped_arrays) {
    for (int i = 0; i < NKINDS * 3 * 2; i++) {
        fft_case given = mapped_case(kinds[i % NKINDS]);
        given.options.in_place = i / NKINDS % 3 == 1;
        given.options.overwrite_input = i / NKINDS % 3 == 2;
        given.options.fusion = i / NKINDS / 3 ? FFTND_FUSION_NEVER : FFTND_FUSION_AUTO;
        given.options.tile_bytes = 500;
        fft_check_all_grids(given);
    }
}
END_TEST

/* A slab transform whose arrays are all that there is: peers push into the output, and pull from the
 * input. */
START_TEST(mapped_arrays_alone) {
    for (int i = 0; i < 2; i++) {
        fft_case given = mapped_case(FFTND_C2C);
        fft_run run;
        given.options.overwrite_input = 1;
        given.options.grid_ndims = 1;
        given.options.fusion = i ? FFTND_FUSION_NEVER : FFTND_FUSION_AUTO;
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        check_all(run.info.workspace_bytes == 0, "%zu bytes of work space",
                  run.info.workspace_bytes);
        fft_run_free(&run);
    }
}
END_TEST

/* One rank's array is not what was promised: all ranks say so, and arrays are left alone. */
START_TEST(mapped_arrays_promised) {
    const fft_case given = mapped_case(FFTND_R2C);
    for (int side = 0; side < 2; side++) {
        fft_run run;
        fft_array other;
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        check_ok(fft_array_create(MPI_COMM_WORLD, run.layout[side].bytes, FFT_MEMORY_HEAP,
                                  sizeof(double), &other));
        void *arrays[2] = {fft_run_data(&run, FFTND_PHYSICAL), fft_run_data(&run, FFTND_SPECTRAL)};
        if (harness_rank == 0) {
            arrays[side] = fft_array_address(&other);
        }
        fft_run_load(&run, FFTND_PHYSICAL, 1);
        check_code(fftnd_forward(run.plan, arrays[0], arrays[1]), REDIST_ERR_ARGUMENT);
        check_all(strstr(redist_error_message(), side ? "spectral = " : "physical = ") != NULL &&
                      strstr(redist_error_message(), "mapped_arrays") != NULL &&
                      strstr(redist_error_message(), "rank 0") != NULL,
                  "%s", redist_error_message());
        fft_run_transform(&run, FFTND_PHYSICAL);
        check_ok(fft_array_free(&other));
        fft_run_free(&run);
    }
}
END_TEST

/* ---------------------------------------------------------------- the user's work space */

START_TEST(workspace_of_any_memory) {
    for (int i = 0; i < NKINDS * 2 * 3; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 5, 6, 4);
        given.options.user_workspace = 1;
        given.workspace = i / NKINDS % 2 == 0 ? FFT_MEMORY_HEAP : FFT_MEMORY_SHARED;
        given.options.in_place = i / NKINDS / 2 == 1;
        given.options.overwrite_input = i / NKINDS / 2 == 2;
        given.options.grid_ndims = 1 + i % 2;
        check_batches(given);
    }
}
END_TEST

static void alternate(fft_run *first, fft_run *second) {
    for (int round = 0; round < 2; round++) {
        fft_run_transform(first, FFTND_PHYSICAL);
        fft_run_transform(second, FFTND_SPECTRAL);
        fft_run_transform(first, FFTND_SPECTRAL);
        fft_run_transform(second, FFTND_PHYSICAL);
    }
}

START_TEST(workspace_shared_by_two_plans) {
    for (int memory = FFT_MEMORY_HEAP; memory <= FFT_MEMORY_SHARED; memory += FFT_MEMORY_SHARED) {
        fft_case small = FFT_CASE(FFTND_R2C, 6, 4, 5);
        fft_case large = FFT_CASE(FFTND_C2C, 8, 7, 6, 3);
        small.options.user_workspace = large.options.user_workspace = 1;
        small.workspace = large.workspace = (enum fft_memory)memory;
        fft_run runs[2];
        fft_array shared;
        fft_run_create(MPI_COMM_WORLD, &small, &runs[0]);
        fft_run_create(MPI_COMM_WORLD, &large, &runs[1]);
        const size_t bytes = runs[0].info.workspace_bytes + runs[1].info.workspace_bytes;
        check_ok(fft_array_create(MPI_COMM_WORLD, bytes, (enum fft_memory)memory, sizeof(double),
                                  &shared));
        fft_run_set_workspace(&runs[0], &shared);
        fft_run_set_workspace(&runs[1], &shared);
        alternate(&runs[0], &runs[1]);
        fft_run_free(&runs[0]);
        fft_run_transform(&runs[1], FFTND_PHYSICAL);
        fft_run_free(&runs[1]);
        check_ok(fft_array_free(&shared));
    }
}
END_TEST

START_TEST(workspace_replaced) {
    fft_case given = FFT_CASE(FFTND_C2C, 5, 6, 7);
    given.options.user_workspace = 1;
    for (int i = 0; i < 4; i++) {
        const enum fft_memory memory = i % 2 == 0 ? FFT_MEMORY_SHARED : FFT_MEMORY_HEAP;
        fft_run run;
        fft_array other;
        given.workspace = i < 2 ? FFT_MEMORY_SHARED : FFT_MEMORY_HEAP;
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        fft_run_transform(&run, FFTND_PHYSICAL);
        check_ok(fft_array_create(MPI_COMM_WORLD, run.info.workspace_bytes, memory, sizeof(double),
                                  &other));
        fft_run_set_workspace(&run, &other);
        check_ok(fft_array_free(&run.own_workspace));
        fft_run_transform(&run, FFTND_PHYSICAL);
        fft_run_transform(&run, FFTND_SPECTRAL);
        fft_run_free(&run);
        check_ok(fft_array_free(&other));
    }
}
END_TEST

/* A run whose plan still waits for its work space. */
static void create_without_workspace(const fft_case *given, fft_run *run) {
    fft_case plain = *given;
    plain.options.user_workspace = 0;
    fft_run_create(MPI_COMM_WORLD, &plain, run);
    check_ok(fftnd_plan_free(&run->plan));
    check_ok(fft_case_plan(MPI_COMM_WORLD, given, &run->plan));
    check_ok(fftnd_plan_get_info(run->plan, &run->info));
    run->given = given;
}

/* Nonzero if the run's arrays are as after fft_array_keep. */
static int are_kept(const fft_run *run) {
    return fft_array_is_as_kept(run->array[0]) && fft_array_is_as_kept(run->array[1]);
}

static void check_refused(fft_run *run, int code) {
    fft_run_load(run, FFTND_PHYSICAL, 1);
    fft_run_load(run, FFTND_SPECTRAL, 1);
    fft_array_keep(run->array[0]);
    fft_array_keep(run->array[1]);
    check_code(fft_run_execute(run, FFTND_PHYSICAL), code);
    check_all(are_kept(run), "a refused forward changed an array");
    check_code(fft_run_execute(run, FFTND_SPECTRAL), code);
    check_all(are_kept(run), "a refused backward changed an array");
}

START_TEST(workspace_missing) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 9, 10);
    fft_run run;
    given.options.user_workspace = 1;
    create_without_workspace(&given, &run);
    check_all(harness_nranks == 1 || run.info.workspace_bytes > 0, "no work space needed");
    int needs = run.info.workspace_bytes > 0;
    MPI_Allreduce(MPI_IN_PLACE, &needs, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (needs) {
        check_refused(&run, REDIST_ERR_STATE);
    }
    fft_run_free(&run);
}
END_TEST

/* One rank's work space is too small or null: all ranks hear of it. */
START_TEST(workspace_too_small_on_one_rank) {
    fft_case given = FFT_CASE(FFTND_R2C, 8, 9, 10);
    given.options.user_workspace = 1;
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    for (int guilty = 0; guilty < harness_nranks; guilty++) {
        const int is_guilty = harness_rank == guilty && run.info.workspace_bytes > 0;
        const size_t missing = is_guilty ? 1 : 0;
        void *data = run.workspace->data;
        int bad = is_guilty;
        MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        check_code(fftnd_plan_set_workspace(run.plan, data, run.workspace->bytes - missing),
                   bad ? REDIST_ERR_SIZE : REDIST_OK);
        check_code(
            fftnd_plan_set_workspace(run.plan, is_guilty ? NULL : data, run.workspace->bytes),
            bad ? REDIST_ERR_NULL : REDIST_OK);
    }
    fft_run_transform(&run, FFTND_PHYSICAL);
    fft_run_free(&run);
}
END_TEST

START_TEST(workspace_not_asked_for) {
    const fft_case given = FFT_CASE(FFTND_R2C, 8, 9, 10);
    fft_run run;
    fft_array array;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    check_ok(fft_array_create(MPI_COMM_WORLD, run.info.workspace_bytes + 64, FFT_MEMORY_HEAP,
                              sizeof(double), &array));
    check_code(fftnd_plan_set_workspace(run.plan, array.data, array.bytes), REDIST_ERR_STATE);
    check_code(fftnd_plan_set_workspace(NULL, array.data, array.bytes), REDIST_ERR_STATE);
    fft_run_transform(&run, FFTND_PHYSICAL);
    check_ok(fft_array_free(&array));
    fft_run_free(&run);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {in_place,
                                  in_place_padded,
                                  in_place_on_one_axis,
                                  overwritten_input,
                                  arrays_of_any_memory,
                                  mapped_arrays,
                                  mapped_arrays_alone,
                                  mapped_arrays_promised,
                                  workspace_of_any_memory,
                                  workspace_shared_by_two_plans,
                                  workspace_replaced,
                                  workspace_missing,
                                  workspace_too_small_on_one_rank,
                                  workspace_not_asked_for,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_memory", tests);
}
