/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of transforms goes: what plans say with options.phases. */
#include <string.h>

#include "fft_run.h"
#include "harness.h"

static fftnd_phases read_phases(const fftnd_plan *plan) {
    fftnd_phases phases = FFTND_PHASES_DEFAULT;
    check_ok(fftnd_plan_get_phases(plan, &phases));
    return phases;
}

static void check_sum(const fftnd_phases *phases, double seconds) {
    const double parts[] = {phases->transform,   phases->pack,   phases->first_message,
                            phases->communicate, phases->unpack, phases->own_part,
                            phases->rest};
    double sum = 0, least = 0;
    for (int i = 0; i < 7; i++) {
        sum += parts[i];
        least = parts[i] < least ? parts[i] : least;
    }
    check_all(sum - phases->total < 1e-9 && phases->total - sum < 1e-9,
              "the phases are %g, the total is %g", sum, phases->total);
    check_all(least > -1e-9, "a phase is %g", least);
    check_all(phases->total > 0 && phases->total <= seconds, "total %g of %g s", phases->total,
              seconds);
    check_all(phases->transform > 0, "no transform took any time");
}

static void check_case(const fft_case *given) {
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, given, &run);
    double begin = MPI_Wtime();
    for (int turn = 0; turn < 3; turn++) {
        fft_run_transform(&run, FFTND_PHYSICAL);
        fft_run_transform(&run, FFTND_SPECTRAL);
    }
    double seconds = MPI_Wtime() - begin;
    fftnd_phases phases = read_phases(run.plan);
    check_all(phases.executions >= 6, "%lld executions", phases.executions);
    check_sum(&phases, seconds);
    double moved = phases.first_message + phases.communicate + phases.own_part;
    check_all((moved > 0) == (run.info.nexchanges > 0), "%g s in %d exchanges", moved,
              run.info.nexchanges);
    if (given->options.user_workspace) { /* exchanges are planned again, and nothing is forgotten */
        fft_run_set_workspace(&run, run.workspace);
        fftnd_phases after = read_phases(run.plan);
        check_all(after.communicate == phases.communicate, "%g s, then %g s", phases.communicate,
                  after.communicate);
    }
    fft_run_free(&run);
}

/* Joined, one after the other, on several threads, with work space of the user. */
START_TEST(sums) {
    fft_case given = FFT_CASE(FFTND_R2C, 16, 18, 20);
    given.options.phases = 1;
    check_case(&given);
    given.options.fusion = FFTND_FUSION_NEVER;
    check_case(&given);
    given.options.method = "p2p";
    given.options.grid_ndims = 2;
    given.options.user_workspace = 1;
    check_case(&given);
    given.options.user_workspace = 0;
    given.options.fusion = FFTND_FUSION_AUTO;
    given.options.threads = 2;
    check_case(&given);
}
END_TEST

START_TEST(off) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 8, 8);
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    fft_run_transform(&run, FFTND_PHYSICAL);
    fftnd_phases phases = read_phases(run.plan);
    check_all(phases.executions == 0 && phases.total == 0, "%lld executions, %g s",
              phases.executions, phases.total);
    fft_run_free(&run);
}
END_TEST

START_TEST(refused) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 8, 8);
    fftnd_phases phases = FFTND_PHASES_DEFAULT, wrong = {0};
    fftnd_plan *plan = NULL;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    check_code(fftnd_plan_get_phases(plan, NULL), REDIST_ERR_NULL);
    check_code(fftnd_plan_get_phases(plan, &wrong), REDIST_ERR_ARGUMENT);
    check_all(strstr(redist_error_message(), "phases->size = 0") != NULL, "%s",
              redist_error_message());
    check_ok(fftnd_plan_free(&plan));
    check_code(fftnd_plan_get_phases(NULL, &phases), REDIST_ERR_STATE);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {sums, off, refused, NULL};
    return harness_run(argc, argv, "test_fftnd_phases", tests);
}
