/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms that keep fewer modes than points: compared with serial FFTW on the whole array, whose
 * spectrum is then cut or filled with zeros axis by axis.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* ---------------------------------------------------------------- values */

START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 4); i++) {
        fft_case given = fft_random_case(harness_nranks, 0);
        fft_random_kept(&given);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

START_TEST(random_cases_on_one_rank_each) {
    for (int i = 0; harness_another(i, 4); i++) {
        fft_case given = fft_random_case(1, 0);
        fft_random_kept(&given);
        fft_check_once(MPI_COMM_SELF, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

START_TEST(every_grid) {
    static const int retained[][3] = {{4, 5, 6}, {7, 2, 5}, {6, 6, 7}, {1, 3, 2}};
    for (int i = 0; i < NKINDS * 4; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 7, 6, 9);
        fft_case_retain(&given, retained[i / NKINDS]);
        fft_check_all_grids(given);
    }
}
END_TEST

/* All numbers of modes of all short axes, even and odd; of some axes where tests are slowed down. */
START_TEST(every_number_of_modes) {
    int step = harness_cases(100) < 10 ? 3 : 1;
    for (int n = 1; n <= 8; n += step) {
        for (int modes = 1; modes <= n; modes++) {
            for (int i = 0; i < NKINDS; i++) {
                fft_case given = FFT_CASE(kinds[i], 3, 9 - n, n);
                fft_case_retain(&given, (const int[]){2, 9 - n, modes});
                fft_check_once(MPI_COMM_WORLD, &given);
                given = FFT_CASE(kinds[i], n, 5, n);
                fft_case_retain(&given, (const int[]){modes, 4, modes});
                fft_check_once(MPI_COMM_WORLD, &given);
            }
        }
    }
}
END_TEST

START_TEST(in_place_and_on_other_arrays) {
    for (int i = 0; i < NKINDS * 8; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 8, 9, 10);
        fft_case_retain(&given, (const int[]){6, 6, i / NKINDS % 2 == 0 ? 6 : 10});
        given.options.in_place = i / NKINDS / 2 % 2;
        given.options.overwrite_input = !given.options.in_place;
        given.options.alignment = (enum fftnd_alignment)(i / NKINDS / 4);
        for (given.options.grid_ndims = 1; given.options.grid_ndims < 3;
             given.options.grid_ndims++) {
            fft_check(MPI_COMM_WORLD, &given);
        }
    }
}
END_TEST

/* An error if transforms and exchanges are not joined, and tiles of few elements. */
START_TEST(joined_with_exchanges) {
    static const char *const methods[] = {"auto", "direct", "p2p"};
    if (harness_nranks == 1) {
        skip_test("one rank");
    }
    for (int i = 0; i < NKINDS * 6; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 17, 18, 20);
        fft_case_retain(&given, (const int[]){12, 11, 12});
        given.options.fusion = FFTND_FUSION_ALWAYS;
        given.options.method = methods[i / NKINDS % 3];
        given.options.tile_bytes = 3000;
        given.options.alignment = (enum fftnd_alignment)(i / NKINDS / 3);
        for (given.options.grid_ndims = 1; given.options.grid_ndims < 3;
             given.options.grid_ndims++) {
            fft_check_once(MPI_COMM_WORLD, &given);
        }
    }
}
END_TEST

/* Lines of a file with `text`, on all ranks. */
static int count_in_file(const char *path, const char *text) {
    char line[1024];
    int count = 0;
    FILE *file = harness_rank == 0 ? fopen(path, "r") : NULL;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        count += strstr(line, text) != NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return count;
}

START_TEST(remembered_for_these_modes_only) {
    char path[] = "/tmp/fftnd_kept_XXXXXX";
    fft_case given = FFT_CASE(FFTND_C2C, 14, 9, 11);
    if (harness_nranks == 1)
        skip_test("configurations are measured on several nodes");
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    setenv("REDIST_NODE_SIZE", "1", 1); /* for the new communicator */
    const int file = harness_rank == 0 ? mkstemp(path) : -1;
    if (harness_rank == 0) {
        close(file);
    }
    MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
    given.options.effort = FFTND_MEASURE;
    given.options.plan_seconds = 0.2;
    given.options.wisdom_file = path;
    fft_check_once(comm, &given);
    fft_case_retain(&given, (const int[]){10, 6, 7});
    fft_check_once(comm, &given);
    fft_check_once(comm, &given);
    check_all(count_in_file(path, "sizes=14x9x11") == 2, "not one line for each");
    check_all(count_in_file(path, "retained=10x6x7") == 1, "not one line with these modes");
    if (harness_rank == 0) {
        remove(path);
    }
    unsetenv("REDIST_NODE_SIZE");
    MPI_Comm_free(&comm);
}
END_TEST

START_TEST(measured_plans) {
    fft_case given = FFT_CASE(FFTND_R2C, 12, 9, 10);
    fft_case_retain(&given, (const int[]){8, 6, 6});
    given.options.effort = FFTND_MEASURE;
    given.options.plan_seconds = 0.2;
    fft_check_once(MPI_COMM_WORLD, &given);
    given.drops_modes = 0;
    fft_check_once(MPI_COMM_WORLD, &given);
    given.options.effort = FFTND_PATIENT;
    fft_case_retain(&given, (const int[]){8, 9, 5});
    fft_check_once(MPI_COMM_WORLD, &given);
}
END_TEST

/* ---------------------------------------------------------------- all modes retained */

START_TEST(keeping_all_is_the_same_as_no_choice) {
    for (int i = 0; i < NKINDS; i++) {
        fft_case given = FFT_CASE(kinds[i], 6, 8, 10), all = given;
        fft_case_retain(&all, given.sizes);
        fft_check_same(&given, &all);
    }
}
END_TEST

/* ---------------------------------------------------------------- refused */

static void check_refusal(const int retained[], int code, const char *words, int rank) {
    fft_case given = FFT_CASE(FFTND_R2C, 6, 7, 8);
    fftnd_plan *plan = NULL;
    char where[32];
    snprintf(where, sizeof(where), "(rank %d)", rank);
    fft_case_retain(&given, retained);
    given.options.grid_ndims = 0;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), code);
    check_all(plan == NULL, "a plan was made");
    const char *message = redist_error_message();
    check_all(strstr(message, words) != NULL && strstr(message, where) != NULL,
              "no '%s' or '%s' in: %s", words, where, message);
}

START_TEST(numbers_of_modes_that_do_not_fit) {
    check_refusal((const int[]){6, 7, 0}, REDIST_ERR_SIZE, "options->retained_modes[2] = 0", 0);
    check_refusal((const int[]){7, 7, 8}, REDIST_ERR_SIZE, "options->retained_modes[0] = 7", 0);
    check_refusal((const int[]){6, -2, 8}, REDIST_ERR_SIZE, "options->retained_modes[1] = -2", 0);
    const int last = harness_nranks - 1;
    const int is_last = harness_rank == last;
    check_refusal((const int[]){6, is_last ? 9 : 7, 8}, REDIST_ERR_SIZE,
                  "options->retained_modes[1] = 9", last);
    if (harness_nranks > 1) {
        check_refusal((const int[]){6, 7, is_last ? 5 : 4}, REDIST_ERR_DISAGREE,
                      "options->retained_modes: {6, 7, 4} on rank 0, {6, 7, 5} on rank", last);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_cases,
                                  random_cases_on_one_rank_each,
                                  every_grid,
                                  every_number_of_modes,
                                  in_place_and_on_other_arrays,
                                  joined_with_exchanges,
                                  remembered_for_these_modes_only,
                                  measured_plans,
                                  keeping_all_is_the_same_as_no_choice,
                                  numbers_of_modes_that_do_not_fit,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_retained", tests);
}
