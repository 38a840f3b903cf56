/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing is lost: when plans are made and freed again and again, and when memory runs out at any
 * point, which fails on all ranks with the same code. Memory and MPI objects are counted. */
#include <malloc.h>

#include "counters.h"
#include "fft_run.h"
#include "harness.h"

/* ---------------------------------------------------------------- made and freed */

static int make_and_free(const fft_case *given) {
    fftnd_plan *plan = NULL;
    const int code = fft_case_plan(MPI_COMM_WORLD, given, &plan);
    return code == REDIST_OK ? fftnd_plan_free(&plan) : code;
}

/* What is not counted, the serial plans among it, must stay below what MPI's free lists take now
 * and then. */
START_TEST(made_and_freed_with_steady_memory) {
    fft_case given[] = {FFT_CASE(FFTND_C2C, 4, 5, 6), FFT_CASE(FFTND_R2C, 5, 6),
                        FFT_CASE(FFTND_R2R, 3, 4, 5, 2), FFT_CASE(FFTND_C2C, 7, 8)};
    const int nsteady = harness_cases(harness_nranks <= 2 ? 1500 : 150);
    const int ncycles = 4 + nsteady / 3 + nsteady;
    struct counters before = {0};
    size_t heap_before = 0;
    int nfailed = 0;
    given[0].options.fusion = given[3].options.fusion = FFTND_FUSION_NEVER;
    for (int cycle = 0; cycle < ncycles; cycle++) {
        harness_case("cycle %d", cycle);
        if (cycle == ncycles - nsteady) { /* each case has been planned */
            before = counters_taken();
            heap_before = mallinfo2().uordblks;
        }
        nfailed += make_and_free(&given[cycle % 4]) != REDIST_OK;
    }
    const long long grown = (long long)mallinfo2().uordblks - (long long)heap_before;
    check_all(nfailed == 0, "%d of %d plans failed", nfailed, ncycles);
    counters_check(&before, "cycles");
    check_all(grown < 100000 + 16LL * ncycles, "the heap grew by %lld bytes in %d cycles", grown,
              ncycles);
}
END_TEST

/* ---------------------------------------------------------------- memory runs out */

/* The code of the attempt on all ranks, where the n-th allocation of `guilty` may have failed; that may have
 * cost no more than one way of several. Returns whether it has failed. */
static int check_attempt(int code, int guilty) {
    int has_failed = counters_memory_failed();
    counters_fail_memory(0);
    MPI_Bcast(&has_failed, 1, MPI_INT, guilty, MPI_COMM_WORLD);
    int expected = has_failed && code != REDIST_OK ? REDIST_ERR_MEMORY : REDIST_OK;
    check_code(code, expected);
    return has_failed;
}

/* Plans while the n-th allocation of one rank fails, for all n until it works. */
static void check_plan(const fft_case *given, int guilty) {
    int failures = 0, has_failed = 1;
    fftnd_plan *plan = NULL;
    check_ok(make_and_free(given));
    const struct counters before = counters_taken();
    for (int n = 1; has_failed; n++) {
        harness_case("allocation %d of rank %d fails, %s", n, guilty, fft_case_text(given));
        counters_fail_memory(harness_rank == guilty ? n : 0);
        int code = fft_case_plan(MPI_COMM_WORLD, given, &plan);
        has_failed = check_attempt(code, guilty);
        failures += code != REDIST_OK;
        check_all((plan != NULL) == (code == REDIST_OK), "code and plan do not fit");
        check_ok(fftnd_plan_free(&plan));
        counters_check(&before, "a failed plan");
    }
    check_all(failures > 0, "no failure of an allocation was one of the plan");
}

static void check_plan_everywhere(const fft_case *given) {
    check_plan(given, 0);
    if (harness_nranks > 1) {
        check_plan(given, harness_nranks - 1);
    }
}

START_TEST(no_memory_for_a_plan) {
    fft_case given = FFT_CASE(FFTND_R2C, 5, 6, 7);
    given.options.method = "p2p";
    check_plan_everywhere(&given);
}
END_TEST

START_TEST(no_memory_for_a_plan_on_a_grid) {
    fft_case given = FFT_CASE(FFTND_C2C, 9, 10, 11);
    given.options.grid_ndims = 2;
    given.options.alignment = FFTND_ALIGN_INPUT;
    given.options.fusion = FFTND_FUSION_NEVER;
    check_plan_everywhere(&given);
}
END_TEST

START_TEST(no_memory_for_a_joined_plan) {
    const fft_case given = FFT_CASE(FFTND_R2R, 9, 10, 4);
    check_plan_everywhere(&given);
}
END_TEST

START_TEST(no_memory_for_a_plan_with_tiles_on_a_device) {
    fft_case given = FFT_CASE(FFTND_R2C, 9, 10, 11);
    if (harness_nranks > 4) {
        skip_test("takes time: on a few ranks");
    }
    given.options.device_bytes = 4000;
    check_plan_everywhere(&given);
}
END_TEST

/* A plan that got no work space can get one at the next attempt. */
static void check_workspace(const fft_case *given, int guilty) {
    fft_run run;
    int has_failed = 1;
    fft_run_create(MPI_COMM_WORLD, given, &run);
    for (int n = 1; has_failed; n++) {
        harness_case("allocation %d of rank %d fails, %s", n, guilty, fft_case_text(given));
        counters_fail_memory(harness_rank == guilty ? n : 0);
        int code = fftnd_plan_set_workspace(run.plan, run.workspace->data, run.workspace->bytes);
        has_failed = check_attempt(code, guilty);
    }
    fft_run_transform(&run, FFTND_PHYSICAL);
    fft_run_transform(&run, FFTND_SPECTRAL);
    fft_run_free(&run);
}

START_TEST(no_memory_when_work_space_is_given) {
    fft_case given = FFT_CASE(FFTND_R2C, 9, 10, 11);
    given.options.user_workspace = 1;
    given.options.grid_ndims = 2;
    check_workspace(&given, 0);
    given.workspace = FFT_MEMORY_SHARED;
    check_workspace(&given, harness_nranks - 1);
}
END_TEST

/* Transforms take no memory. */
START_TEST(no_memory_for_a_transform) {
    const fft_case given = FFT_CASE(FFTND_R2C, 9, 10, 11);
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    counters_fail_memory(1);
    fft_run_transform(&run, FFTND_PHYSICAL);
    fft_run_transform(&run, FFTND_SPECTRAL);
    check_all(!counters_memory_failed(), "a transform allocates memory");
    counters_fail_memory(0);
    fft_run_free(&run);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {made_and_freed_with_steady_memory,
                                  no_memory_for_a_plan,
                                  no_memory_for_a_plan_on_a_grid,
                                  no_memory_for_a_joined_plan,
                                  no_memory_for_a_plan_with_tiles_on_a_device,
                                  no_memory_when_work_space_is_given,
                                  no_memory_for_a_transform,
                                  NULL};
    counters_begin();
    return harness_run(argc, argv, "test_fftnd_failures", tests);
}
