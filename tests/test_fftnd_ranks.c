/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains on some of the ranks, between sides on all of them (options.ranks); compared with serial FFTW. */
#include <stdlib.h>
#include <string.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"
#include "operator_run.h"

/* Ignores configurations of the environment, which are for a chain on all ranks. */
static fft_case random_case(int mixed) {
    fft_case given =
        mixed ? fft_random_mixed_case(harness_nranks, 0) : fft_random_case(harness_nranks, 0);
    unsetenv("FFTND_CONFIGURATION");
    return given;
}

START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 8); i++) {
        fft_case given = random_case(random_chance(50));
        if (given.ndims == 1)
            continue;
        given.options.ranks = random_between(1, harness_nranks);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* Every number of ranks, also more than there are rows. */
START_TEST(all_numbers) {
    for (int ranks = 1; ranks <= harness_nranks; ranks++)
        for (int kind = 0; kind < 3; kind++) {
            fft_case given = FFT_CASE((enum fftnd_kind)kind, 6, 3, 5);
            given.options.ranks = ranks;
            fft_check(MPI_COMM_WORLD, &given);
        }
}
END_TEST

START_TEST(operators) {
    for (int i = 0; harness_another(i, 8); i++) {
        fft_case given = random_case(1);
        if (given.ndims == 1)
            continue;
        given.options.ranks = random_between(1, harness_nranks);
        operator_check(&given);
    }
}
END_TEST

START_TEST(chosen) {
    for (int i = 0; i < 4; i++) {
        fft_case given = FFT_CASE(i % 2 ? FFTND_R2C : FFTND_C2C, 8, 6, 5);
        given.options.ranks = FFTND_CHOOSE_RANKS;
        given.options.effort = i < 2 ? FFTND_MEASURE : FFTND_ESTIMATE;
        redist_forget_wisdom();
        fft_check_once(MPI_COMM_WORLD, &given);
        fft_check_once(MPI_COMM_WORLD, &given); /* as remembered */
    }
}
END_TEST

static redist_index ranks_of(const fft_case *given) {
    fftnd_plan *plan = NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    check_ok(fft_case_plan(MPI_COMM_WORLD, given, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_ok(fftnd_plan_free(&plan));
    return info.ranks;
}

/* A configuration names the ranks as text. */
START_TEST(dictated) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 6, 5);
    if (harness_nranks == 1)
        skip_test("there is one rank");
    given.options.ranks = FFTND_CHOOSE_RANKS;
    setenv("FFTND_CONFIGURATION", "ranks=1 fused=1 tiled=1 tile=4096 group=unlimited nontemporal=9",
           1);
    check_all(ranks_of(&given) == 1, "the text is not followed");
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Bad numbers are an error on all ranks, whoever has them. */
START_TEST(refused) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 6, 5), line = FFT_CASE(FFTND_C2C, 64);
    const redist_index bad[] = {-2, harness_nranks + 1, ((redist_index)1 << 32) + 1};
    fftnd_plan *plan = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        given.options.ranks = bad[i];
        check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
        check_all(strstr(redist_error_message(), "options->ranks") != NULL, "%s",
                  redist_error_message());
    }
    if (harness_nranks == 1)
        return;
    given.options.ranks = harness_rank == 0 ? 1 : 2;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_DISAGREE);
    line.options.ranks = 1;
    check_code(fft_case_plan(MPI_COMM_WORLD, &line, &plan), REDIST_ERR_ARGUMENT);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_cases, all_numbers, operators, chosen,
                                  dictated,     refused,     NULL};
    return harness_run(argc, argv, "test_fftnd_ranks", tests);
}
