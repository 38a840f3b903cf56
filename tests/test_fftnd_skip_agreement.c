/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms that do not ask the other ranks about their arguments, counted through MPI's profiling interface. */
#include <stddef.h>

#include "collectives.h"
#include "fft_run.h"
#include "harness.h"

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
enum { NKINDS = 3 };

static fft_case direct_case(enum fftnd_kind kind, int skip_agreement) {
    fft_case given = FFT_CASE(kind, 9, 8, 10);
    given.memory[0] = given.memory[1] = FFT_MEMORY_SHARED;
    given.options.method = "direct";
    given.options.mapped_arrays = 1;
    given.options.skip_agreement = skip_agreement;
    return given;
}

/* Exchanges by `direct` make no collective call, so that what is left is the agreement. */
START_TEST(collectives_of_a_transform) {
    for (int i = 0; i < NKINDS * 4; i++) {
        int skip_agreement = i % 2;
        fft_case given = direct_case(kinds[i / 4], skip_agreement);
        fft_run run;
        given.options.fusion = i / 2 % 2 ? FFTND_FUSION_NEVER : FFTND_FUSION_AUTO;
        harness_case("%s, skip_agreement %d", fft_case_text(&given), skip_agreement);
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        fft_run_round_trips(&run);
        fft_run_load(&run, FFTND_PHYSICAL, 1);
        long expected = skip_agreement || harness_nranks == 1 ? 0 : 1, before = collectives;
        int code = fft_run_execute(&run, FFTND_PHYSICAL);
        long taken = collectives - before;
        check_ok(code);
        check_all(taken == expected, "forward takes %ld collectives instead of %ld", taken,
                  expected);
        before = collectives;
        code = fft_run_execute(&run, FFTND_SPECTRAL);
        taken = collectives - before;
        check_ok(code);
        check_all(taken == expected, "backward takes %ld collectives instead of %ld", taken,
                  expected);
        fft_run_free(&run);
    }
}
END_TEST

START_TEST(right) {
    for (int i = 0; i < NKINDS * 2 * 3; i++) {
        fft_case given = direct_case(kinds[i % NKINDS], 1);
        given.options.method = i / NKINDS % 2 ? "p2p" : NULL;
        given.options.in_place = i / NKINDS / 2 == 1;
        given.options.overwrite_input = i / NKINDS / 2 == 2;
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* A program that was built before there was the option */
START_TEST(earlier_options) {
    fft_case given = direct_case(FFTND_R2C, 1);
    given.options.size = offsetof(fftnd_options, threads); /* and behind it */
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    fft_run_round_trips(&run);
    fft_run_load(&run, FFTND_PHYSICAL, 1);
    long before = collectives;
    int code = fft_run_execute(&run, FFTND_PHYSICAL);
    long taken = collectives - before;
    check_ok(code);
    check_all(taken == (harness_nranks > 1), "%ld collectives", taken);
    fft_run_free(&run);
}
END_TEST

/* With one rank, and on all ranks alike, bad arguments are refused all the same. */
START_TEST(refused) {
    fft_case given = direct_case(FFTND_C2C, 1);
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    void *physical = fft_run_data(&run, FFTND_PHYSICAL);
    check_code(fftnd_forward(run.plan, physical, physical), REDIST_ERR_OVERLAP);
    check_code(fftnd_forward(run.plan, NULL, physical), REDIST_ERR_NULL);
    fft_run_round_trips(&run);
    fft_run_free(&run);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {collectives_of_a_transform, right, earlier_options, refused,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_skip_agreement", tests);
}
