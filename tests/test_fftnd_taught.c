/* SPDX-License-Identifier: BSD-3-Clause */
/* Serial transforms that some ranks measure for all: whatever their FFTW knows, that of the others knows afterwards. */
#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

#include "fft_run.h"
#include "harness.h"

enum { POINTS = 1155, SMALL = 12, LARGE = 64 };

/* Plans with FFTW alone, measured or only as it knows; returns whether there is a plan. */
static int plan_line(unsigned flags) {
    fftw_complex *line = fftw_malloc(POINTS * sizeof *line);
    fftw_plan plan = fftw_plan_dft_1d(POINTS, line, line, FFTW_FORWARD, FFTW_MEASURE | flags);
    int made = plan != NULL;
    if (made)
        fftw_destroy_plan(plan);
    fftw_free(line);
    return made;
}

/* Returns whether the ranks from the teacher on know its line after a transform of n x 64 x 32 points was planned. */
static int is_known_after(int n, enum fftnd_effort effort, int teacher) {
    fft_case given = FFT_CASE(FFTND_C2C, n, 64, 32);
    fftnd_plan *plan = NULL;
    given.options.effort = effort;
    fftw_forget_wisdom();
    if (harness_rank == teacher)
        plan_line(0);
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    check_ok(fftnd_plan_free(&plan));
    int known = plan_line(FFTW_WISDOM_ONLY) || harness_rank < teacher;
    MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return known;
}

static int has_one_thread(void) {
    int level;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_SINGLE;
}

START_TEST(small) {
    check_all(is_known_after(SMALL, FFTND_MEASURE, 0) == has_one_thread(),
              "ranks %s what rank 0 has found", has_one_thread() ? "lack" : "have");
}
END_TEST

/* Behind the ranks that have one element more than others, of which rank 0 is one, the first of the others teaches. Of
 * ranks of one shape the second one teaches, too, and no other one. */
START_TEST(another_shape) {
    if (harness_nranks < 3)
        skip_test("no two ranks but rank 0 have one shape");
    int other = (SMALL + 1) % harness_nranks;
    check_all(is_known_after(SMALL + 1, FFTND_MEASURE, other) == has_one_thread(),
              "ranks %s what rank %d has found", has_one_thread() ? "lack" : "have", other);
    check_all(is_known_after(SMALL, FFTND_MEASURE, 1) == has_one_thread(),
              "ranks %s what rank 1 has found", has_one_thread() ? "lack" : "have");
    check_all(harness_nranks < 4 || !is_known_after(SMALL, FFTND_MEASURE, 2),
              "ranks of one shape have three teachers");
}
END_TEST

/* Nothing is measured, or all ranks measure. */
START_TEST(not_taught) {
    if (harness_nranks == 1)
        skip_test("rank 0 is alone");
    check_all(!is_known_after(SMALL, FFTND_ESTIMATE, 0), "ranks know more after an estimate");
    check_all(!is_known_after(LARGE * harness_nranks, FFTND_MEASURE, 0), "ranks know large plans");
}
END_TEST

/* Returns what FFTW knows after a transform of n x n x n points was planned on this rank alone; free() it. */
static char *known_after(int n, enum fftnd_effort effort) {
    fft_case given = FFT_CASE(FFTND_C2C, n, n, n);
    fftnd_plan *plan = NULL;
    given.options.effort = effort;
    fftw_forget_wisdom();
    check_ok(fft_case_plan(MPI_COMM_SELF, &given, &plan));
    check_ok(fftnd_plan_free(&plan));
    return fftw_export_wisdom_to_string();
}

/* Lines of one codelet are not measured, since that takes long and finds nothing better; others are. */
START_TEST(codelets) {
    static const int points[] = {12, 16, 11,
                                 15, 17, 26}; /* fewer than 17 are not for the host's own loops */
    for (int i = 0; i < 6; i++) {
        char *estimated = known_after(points[i], FFTND_ESTIMATE);
        char *measured = known_after(points[i], FFTND_MEASURE);
        harness_case("%d points", points[i]);
        check_all((strcmp(estimated, measured) == 0) == (points[i] <= 16), "%s and %s", estimated,
                  measured);
        free(estimated);
        free(measured);
    }
}
END_TEST

/* Results are right with plans of another rank's making, of equal and of different parts. */
START_TEST(correct) {
    for (int n = SMALL; n < SMALL + 4; n++) {
        fft_case given = FFT_CASE(n % 2 ? FFTND_C2C : FFTND_R2C, n, n + 1, n);
        fftw_forget_wisdom();
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {small, another_shape, not_taught, codelets, correct, NULL};
    return harness_run(argc, argv, "test_fftnd_taught", tests);
}
