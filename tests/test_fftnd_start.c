/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms that are started and waited for, beside other work, in every state of a plan. The argument is MPI's
 * thread level: with "multiple" they run in a thread of the library, else when they are waited for. */
#include <string.h>

#include "fft_run.h"
#include "harness.h"

static fft_case some_case(int i) {
    static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
    fft_case given = FFT_CASE(kinds[i % 3], 6, 7, 8);
    given.options.method = i / 3 % 2 ? "p2p" : NULL;
    given.options.in_place = i / 6 % 2;
    given.options.threads = 1 + i / 2 % 2;
    for (int axis = 0; axis < 3; axis++)
        given.r2r[axis] = (enum fftnd_r2r)((i + axis) % 8);
    return given;
}

static int start(fft_run *run, enum fftnd_side side) {
    return fftnd_start(run->plan, side == FFTND_PHYSICAL ? REDIST_FORWARD : REDIST_BACKWARD,
                       fft_run_data(run, side), fft_run_data(run, fft_case_opposite(side)));
}

/* The result of a transform from that side. */
static void check_result(const fft_run *run, enum fftnd_side side) {
    double error = fft_run_error(run, fft_case_opposite(side), 1);
    check_all(error < fft_case_tolerance(run->given), "the error is %g", error);
}

/* ---------------------------------------------------------------- results */

/* Another plan transforms meanwhile, on a communicator of its own. */
START_TEST(beside_another_transform) {
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int i = 0; i < 12; i++) {
        const fft_case given = some_case(i), beside = some_case(i + 1);
        fft_run run, second;
        harness_case("%s", fft_case_text(&given));
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        fft_run_create(other, &beside, &second);
        fft_run_load(&run, FFTND_PHYSICAL, 1);
        fft_run_load(&second, FFTND_PHYSICAL, 1);
        check_ok(start(&run, FFTND_PHYSICAL));
        check_ok(fft_run_execute(&second, FFTND_PHYSICAL));
        check_ok(fftnd_wait(run.plan));
        check_result(&run, FFTND_PHYSICAL);
        check_result(&second, FFTND_PHYSICAL);
        fft_run_load(&run, FFTND_SPECTRAL, 1);
        check_ok(start(&run, FFTND_SPECTRAL));
        check_ok(fftnd_wait(run.plan));
        check_result(&run, FFTND_SPECTRAL);
        fft_run_free(&run);
        fft_run_free(&second);
    }
    MPI_Comm_free(&other);
}
END_TEST

/* Two that are under way at once, waited for in the other order on some ranks. */
START_TEST(two_at_once) {
    MPI_Comm other;
    int level;
    MPI_Query_thread(&level);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const fft_case given = some_case(0), beside = some_case(1);
    fft_run runs[2];
    fft_run_create(MPI_COMM_WORLD, &given, &runs[0]);
    fft_run_create(other, &beside, &runs[1]);
    for (int i = 0; i < harness_cases(10); i++) {
        int first = level == MPI_THREAD_MULTIPLE ? (i + harness_rank) % 2 : i % 2;
        int codes[2];
        for (int n = 0; n < 2; n++)
            fft_run_load(&runs[n], FFTND_PHYSICAL, 1);
        for (int n = 0; n < 2; n++)
            check_ok(start(&runs[n], FFTND_PHYSICAL));
        for (int n = 0; n < 2; n++)
            codes[n] = fftnd_wait(runs[n == 0 ? first : !first].plan);
        check_all(codes[0] == REDIST_OK && codes[1] == REDIST_OK, "%s", redist_error_message());
        for (int n = 0; n < 2; n++)
            check_result(&runs[n], FFTND_PHYSICAL);
    }
    fft_run_free(&runs[0]);
    fft_run_free(&runs[1]);
    MPI_Comm_free(&other);
}
END_TEST

/* ---------------------------------------------------------------- states */

static void check_busy(int code) {
    check_code(code, REDIST_ERR_STATE);
    check_all(strstr(redist_error_message(), "under way") != NULL, "%s", redist_error_message());
}

START_TEST(refused_while_started) {
    fft_case given = some_case(0);
    given.options.user_workspace = 1;
    given.options.phases = 1;
    fft_run run;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    fftnd_phases phases = FFTND_PHASES_DEFAULT;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    double k[8];
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    void *in = fft_run_data(&run, FFTND_PHYSICAL), *out = fft_run_data(&run, FFTND_SPECTRAL);
    fft_run_load(&run, FFTND_PHYSICAL, 1);
    check_ok(fftnd_start(run.plan, REDIST_FORWARD, in, out));
    check_busy(fftnd_start(run.plan, REDIST_FORWARD, in, out));
    check_busy(fftnd_forward(run.plan, in, out));
    check_busy(fftnd_backward(run.plan, out, in));
    check_busy(fftnd_plan_transfer(run.plan, REDIST_FORWARD, in, out));
    check_busy(fftnd_plan_set_workspace(run.plan, k, sizeof k));
    check_busy(fftnd_plan_get_info(run.plan, &info));
    check_busy(fftnd_plan_get_phases(run.plan, &phases));
    check_ok(fftnd_plan_layout(run.plan, FFTND_SPECTRAL, &layout));
    check_ok(fftnd_plan_wavenumbers(run.plan, 0, k));
    check_ok(fftnd_wait(run.plan));
    check_result(&run, FFTND_PHYSICAL);
    check_ok(fftnd_plan_get_info(run.plan, &info));
    fft_run_round_trips(&run);
    fft_run_free(&run);
}
END_TEST

START_TEST(wait_without_start) {
    const fft_case given = some_case(0);
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    check_code(fftnd_wait(run.plan), REDIST_ERR_STATE);
    fft_run_load(&run, FFTND_PHYSICAL, 1);
    check_ok(start(&run, FFTND_PHYSICAL));
    check_ok(fftnd_wait(run.plan));
    check_code(fftnd_wait(run.plan), REDIST_ERR_STATE);
    check_all(strstr(redist_error_message(), "fftnd_start") != NULL, "%s", redist_error_message());
    check_result(&run, FFTND_PHYSICAL);
    fftnd_plan *freed = run.plan;
    fft_run_free(&run);
    check_code(fftnd_wait(freed), REDIST_ERR_STATE);
    check_code(fftnd_wait(NULL), REDIST_ERR_STATE);
    check_code(fftnd_start(NULL, REDIST_FORWARD, NULL, NULL), REDIST_ERR_STATE);
}
END_TEST

/* What is refused is not started. */
START_TEST(bad_arguments) {
    const fft_case given = some_case(0);
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    void *in = fft_run_data(&run, FFTND_PHYSICAL), *out = fft_run_data(&run, FFTND_SPECTRAL);
    int culprit = harness_rank == harness_nranks - 1;
    check_code(fftnd_start(run.plan, culprit ? 7 : REDIST_FORWARD, in, out), REDIST_ERR_ARGUMENT);
    check_all(strstr(redist_error_message(), "direction = 7") != NULL, "%s",
              redist_error_message());
    check_code(fftnd_start(run.plan, REDIST_FORWARD, in, culprit ? in : out), REDIST_ERR_OVERLAP);
    check_code(fftnd_start(run.plan, REDIST_FORWARD, culprit ? NULL : in, out), REDIST_ERR_NULL);
    check_code(fftnd_wait(run.plan), REDIST_ERR_STATE);
    fft_run_round_trips(&run);
    fft_run_free(&run);
}
END_TEST

START_TEST(freed_while_started) {
    for (int i = 0; i < 6; i++) {
        const fft_case given = some_case(i);
        fft_run run;
        harness_case("%s", fft_case_text(&given));
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        fft_run_load(&run, FFTND_PHYSICAL, 1);
        check_ok(start(&run, FFTND_PHYSICAL));
        check_ok(fftnd_plan_free(&run.plan));
        check_all(run.plan == NULL, "the pointer was left");
        check_result(&run, FFTND_PHYSICAL);
        fft_run_free(&run);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {beside_another_transform,
                                  two_at_once,
                                  refused_while_started,
                                  wait_without_start,
                                  bad_arguments,
                                  freed_while_started,
                                  NULL};
    if (argc > 1) {
        int provided;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    }
    return harness_run(argc, argv, "test_fftnd_start", tests);
}
