/* SPDX-License-Identifier: BSD-3-Clause */
/* Another serial FFT library in the place of FFTW (naive_serial.c): transforms are right with it too. */
#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"

#include <stdlib.h>

extern _Atomic int naive_executions;

START_TEST(every_kind) {
    for (int kind = FFTND_C2C; kind <= FFTND_R2R; kind++)
        for (int precision = FFTND_DOUBLE; precision <= FFTND_FLOAT; precision++) {
            fft_case given = FFT_CASE((enum fftnd_kind)kind, 9, 8, 6);
            given.precision = (enum fftnd_precision)precision;
            for (int axis = 0; axis < 3; axis++)
                given.r2r[axis] = (enum fftnd_r2r)(FFTND_DCT1 + (2 * axis + precision) % 8);
            naive_executions = 0;
            fft_check(MPI_COMM_WORLD, &given);
            check_all(naive_executions > 0, "%d transforms", naive_executions);
        }
}
END_TEST

START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 4); i++) {
        const fft_case given = fft_random_case(harness_nranks, 0);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

int main(int argc, char **argv) {
    unsetenv("REDIST_TEST_SHARE"); /* the tests look at what their cases did, so all of them run */
    const TTest *const tests[] = {every_kind, random_cases, NULL};
    return harness_run(argc, argv, "test_fftnd_serial", tests);
}
