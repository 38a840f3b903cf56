/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms and operators of arrays whose padding is full of signalling NaNs, on processors that trap: nothing of it
 * is read as a number, in any thread, or changed. fft_run.h compares the bytes.
 */
#include <fenv.h>
#include <signal.h>
#include <stdio.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"
#include "operator_run.h"

static void say_where(int number) {
    fprintf(stderr, "rank %d: an exception of the processor in %s\n", harness_rank,
            harness_current_case());
    signal(number, SIG_DFL);
    raise(number);
}

/* Where the C library, or the processor, has no traps, the flags that fft_run.h looks at remain. */
static void set_traps(int on) {
#ifdef __GLIBC__
    signal(SIGFPE, say_where);
    feclearexcept(FE_ALL_EXCEPT);
    (void)(on ? feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW)
              : fedisableexcept(FE_ALL_EXCEPT));
#else
    (void)on;
    (void)say_where;
#endif
}

static void check(MPI_Comm comm, const fft_case *given) {
    set_traps(1);
    fft_check_once(comm, given);
    set_traps(0);
}

/* Two ghost elements at each end of rows, as a code with halos has them. */
START_TEST(ghosts) {
    for (int in_place = 0; in_place < 2; in_place++)
        for (int kind = FFTND_C2C; kind <= FFTND_R2R; kind++)
            for (int precision = FFTND_DOUBLE; precision <= FFTND_LONG_DOUBLE; precision++) {
                fft_case given = FFT_CASE((enum fftnd_kind)kind, 64, 126);
                given.precision = fft_case_precision((enum fftnd_precision)precision);
                given.padding[FFTND_PHYSICAL][1] = 4;
                given.offset[FFTND_PHYSICAL][1] = 2;
                given.padding[FFTND_SPECTRAL][0] = given.offset[FFTND_SPECTRAL][0] = 1;
                given.options.in_place = in_place;
                given.options.scaling = FFTND_SCALE_UNITARY;
                if (harness_draws_case())
                    check(MPI_COMM_WORLD, &given);
            }
}
END_TEST

/* An array with ghosts around its interior is transformed where it is. */
START_TEST(no_work_space) {
    const redist_index sizes[2] = {6, 10}, padding[2] = {3, 4}, offset[2] = {1, 2};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    fftnd_plan *plan = NULL;
    options.effort = FFTND_ESTIMATE;
    options.in_place = 1;
    for (int side = 0; side < 2; side++) {
        options.padding[side] = padding;
        options.offset[side] = offset;
    }
    check_ok(fftnd_plan_create(MPI_COMM_SELF, 2, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_all(info.workspace_bytes == 0, "%zu bytes of work space", info.workspace_bytes);
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = fft_random_padded_case(harness_nranks);
        given.options.threads = random_chance(30) ? random_between(2, 3) : 1;
        check(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(random_cases_on_one_rank_each) {
    for (int i = 0; harness_another(i, 4); i++) {
        const fft_case given = fft_random_padded_case(1);
        check(MPI_COMM_SELF, &given);
    }
}
END_TEST

/* In tiles, for which the host acts as a device. */
START_TEST(larger_than_device) {
    for (int i = 0; harness_another(i, 4); i++) {
        fft_case given = fft_random_padded_case(harness_nranks);
        given.options.local_transpose = FFTND_LOCAL_TRANSPOSE_NEVER;
        fft_run_limit(MPI_COMM_WORLD, &given, (size_t)1 << random_between(12, 18));
        check(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(operators) {
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = fft_random_padded_case(harness_nranks);
        given.options.threads = random_chance(30) ? random_between(2, 3) : 1;
        operator_check(&given);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        ghosts,    no_work_space, random_cases, random_cases_on_one_rank_each, larger_than_device,
        operators, NULL};
    return harness_run(argc, argv, "test_fftnd_padding", tests);
}
