/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in chunks that are sent in turns, and received in partitions: compared with serial FFTW. */
#include <stdio.h>
#include <stdlib.h>

#include "fft_run.h"
#include "harness.h"
#include "random.h"

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
static const char *const methods[] = {"direct:paced", "direct:lockstep", "direct", "p2p"};
enum { NKINDS = 3, NMETHODS = 4 };

static void dictate(int group, int chunks, int partitions, int realigned) {
    char text[200];
    snprintf(text, sizeof text,
             " fused=0 tiled=0 tile=1000 group=%d nontemporal=%d segments=%d "
             "transposed=%d untiled=0 partitions=%d",
             group, random_chance(50) ? 1 : 1 << 30, chunks, realigned, partitions);
    setenv("FFTND_CONFIGURATION", text, 1);
}

static void choose_sizes(int ndims, int sizes[]) {
    for (int axis = 0; axis < ndims; axis++)
        sizes[axis] = random_between(1, ndims == 2 ? 40 : ndims == 3 ? 14 : 8);
}

/* As many ranks along some axes as there are */
static void choose_grid(fft_case *given) {
    int grid[REDIST_MAX_NDIMS], left = harness_nranks;
    int n = random_between(1, given->ndims - 1);
    for (int i = 0; i < n; i++) {
        grid[i] = i == n - 1 ? left : random_between(1, left);
        while (left % grid[i] != 0)
            grid[i]--;
        left /= grid[i];
    }
    fft_case_grid(given, n, grid);
}

static fft_case random_case(int i) {
    int ndims = random_between(2, 4), sizes[4];
    choose_sizes(ndims, sizes);
    fft_case given = fft_case_make(ndims, sizes, kinds[i % NKINDS]);
    for (int axis = 0; axis < ndims; axis++)
        given.r2r[axis] = FFTND_DST2;
    choose_grid(&given);
    given.precision = fft_case_precision(random_chance(70) ? FFTND_DOUBLE : FFTND_FLOAT);
    given.options.method = methods[i / NKINDS % NMETHODS];
    given.options.scaling = (enum fftnd_scaling)random_between(0, 3);
    given.options.batch = random_chance(70) ? 1 : random_between(2, 4);
    given.options.batch_position = (enum fftnd_batch_position)random_between(0, 1);
    given.options.in_place = random_chance(20);
    given.options.overwrite_input = !given.options.in_place && random_chance(20);
    given.memory[0] = given.memory[1] = FFT_MEMORY_SHARED;
    given.options.mapped_arrays = random_chance(30);
    return given;
}

enum { ENOUGH = 9 };

/* Exchanges that cannot be joined may be none for a method that takes turns. */
static int is_refused(const fft_case *given) {
    fftnd_plan *plan = NULL;
    harness_case("%s", fft_case_text(given));
    int code = fft_case_plan(MPI_COMM_WORLD, given, &plan);
    check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "%s", redist_error_message());
    check_ok(fftnd_plan_free(&plan));
    return code != REDIST_OK;
}

START_TEST(random_cases) {
    int n = 0, refused = 0;
    for (; harness_another(n, ENOUGH); n++) {
        fft_case given = random_case(n);
        dictate(random_chance(50) ? 1 << 30 : 100, random_between(2, 9), random_between(2, 6),
                random_between(0, 1));
        if (is_refused(&given))
            refused++;
        else
            fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
    /* a share of the cases may be all refused */
    check_all(n < ENOUGH || refused <= n / 2, "%d of %d cases were refused", refused, n);
}
END_TEST

static fftnd_plan_info plan_and_ask(const fft_case *given, int partitions) {
    fftnd_plan *plan = NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    dictate(1 << 30, 4, partitions, 0);
    harness_case("%s", fft_case_text(given));
    check_ok(fft_case_plan(MPI_COMM_WORLD, given, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_ok(fftnd_plan_free(&plan));
    return info;
}

/* What has not been sent cannot lie where the next transform writes to: that takes a second work array, or the
 * input; but in place one work array has to do. */
START_TEST(work_arrays) {
    if (harness_nranks == 1)
        skip_test("one rank");
    for (int lean = 0; lean < 3; lean++) {
        fft_case given = FFT_CASE(FFTND_C2C, 16, 16, 8);
        FFT_GRID(&given, harness_nranks);
        given.options.method = "direct";
        given.options.in_place = lean == 1;
        given.options.overwrite_input = lean == 2;
        fftnd_plan_info without = plan_and_ask(&given, 1), with = plan_and_ask(&given, 5);
        check_all(without.partitions == 1 && with.partitions == (lean == 1 ? 1 : 5),
                  "%d and %d partitions", without.partitions, with.partitions);
        check_all(lean ? with.workspace_bytes == without.workspace_bytes
                       : with.workspace_bytes > without.workspace_bytes,
                  "%zu bytes with partitions, %zu without", with.workspace_bytes,
                  without.workspace_bytes);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_cases, work_arrays, NULL};
    return harness_run(argc, argv, "test_fftnd_partitions", tests);
}
