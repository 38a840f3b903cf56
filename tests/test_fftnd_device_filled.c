/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms whose physical side has some of the points, of arrays on a device that stands in for CUDA, or on CUDA's:
 * compared as in test_fftnd_filled.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"
#include "needs_fft_device.h"
#include "random.h"

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void check(fft_case given) {
    fft_use_device(&given);
    fft_check_once(MPI_COMM_WORLD, &given);
}

START_TEST(random_cases) {
    NEEDS_FFT_ARRAYS();
    for (int i = 0; harness_another(i, 12); i++) {
        fft_case given = fft_random_device_case(harness_nranks);
        fft_random_filled(&given);
        given.options.asynchronous = random_chance(50);
        fft_use_chunks(random_between(1, 4), random_between(0, 2), random_between(1, 3),
                       random_between(0, 2));
        if (random_chance(25))
            fft_random_format(&given);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Slabs and pencils of lines that the library fills, whole and in segments, without direct stores and with both kinds;
 * half of the cases drop modes, too, or are filled along some axes only. */
START_TEST(chains) {
    NEEDS_FFT_ARRAYS();
    for (int i = 0; i < 2 * 2 * 3 * 2; i++) {
        fft_case given = FFT_CASE(i % 2 ? FFTND_R2C : FFTND_C2C, 16, 12, 20);
        fft_case_fill(&given, i / 12 ? (const int[]){8, 6, 10} : (const int[]){16, 7, 12});
        if (i / 12 && random_chance(50)) {
            fft_case_retain(&given, (const int[]){11, 12, 14});
        }
        given.precision = random_chance(50) ? FFTND_DOUBLE : fft_case_precision(FFTND_FLOAT);
        given.options.grid_ndims = 1 + i / 2 % 2;
        given.options.in_place = random_chance(20);
        fft_use_chunks(random_between(1, 3), 0, random_between(1, 3), i / 4 % 3);
        check(given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Two axes of a step before an exchange, of which the last one has more modes than the array after it has points. */
START_TEST(shrinking_beside_others) {
    NEEDS_FFT_ARRAYS();
    if (harness_nranks != 4) {
        skip_test("not four ranks");
    }
    for (int i = 0; i < 3; i++) {
        fft_case given = FFT_CASE(FFTND_C2C, 6, 10, 12, 5);
        fft_case_fill(&given, (const int[]){3, 10, 5, 5});
        fft_case_grid(&given, 3, (const int[]){2, 1, 2});
        fft_use_chunks(1, 0, 1, i);
        check(given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Lines of every number of points, in each of the library's variants, which only CUDA's devices have. */
START_TEST(lines) {
    NEEDS_FFT_ARRAYS();
    for (int i = 0; harness_another(i, 6); i++) {
        char variant[20];
        const int n = random_between(5, 200), side = random_between(1, 20);
        fft_case given = FFT_CASE(i % 2 ? FFTND_R2C : FFTND_C2C, side, n, random_between(5, 90));
        fft_case_fill(&given, (const int[]){random_between(1, side), random_between(1, n),
                                            random_between(1, given.sizes[2])});
        given.precision = random_chance(50) ? FFTND_DOUBLE : fft_case_precision(FFTND_FLOAT);
        given.options.batch = random_between(1, 2);
        snprintf(variant, sizeof variant, "panels%d", random_between(0, 5));
        setenv("FFTND_LINES", variant, 1);
        check(given);
    }
    unsetenv("FFTND_LINES");
}
END_TEST

/* Real-to-real axes of every kind and number of points, beside each other and beside complex and halved ones. */
START_TEST(real_axes) {
    NEEDS_FFT_ARRAYS();
    for (int i = 0; harness_another(i, 22); i++) {
        const int last = random_between(5, 90);
        fft_case given = FFT_CASE(i % 2 ? FFTND_R2R : FFTND_MIXED, random_between(4, 9), 8, last);
        fft_case_fill(&given, (const int[]){random_between(1, given.sizes[0]), 8 - i / 2 % 4,
                                            random_between(1, last)});
        given.r2r[0] = (enum fftnd_r2r)random_between(FFTND_DCT1, FFTND_DHT);
        given.r2r[2] = (enum fftnd_r2r)(i / 2 % (FFTND_DHT + 1));
        given.axes[0] = i / 2 % 2 ? FFTND_AXIS_R2R : FFTND_AXIS_COMPLEX;
        given.axes[1] = i / 4 % 2 ? FFTND_AXIS_HALVED : FFTND_AXIS_COMPLEX;
        given.axes[2] = FFTND_AXIS_R2R;
        given.precision = random_chance(50) ? FFTND_DOUBLE : fft_case_precision(FFTND_FLOAT);
        given.options.batch = random_between(1, 2);
        given.options.grid_ndims = random_between(1, 2);
        fft_use_chunks(random_between(1, 3), 0, random_between(1, 3), random_between(0, 2));
        check(given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Segments take turns in half of the memory of their array, or have all of it where the method needs that. */
START_TEST(segments_in_turns) {
    static const char *const methods[] = {"auto", "direct", "p2p"};
    NEEDS_FFT_ARRAYS();
    for (int i = 0; i < 8; i++) {
        fft_case given = FFT_CASE(kinds[i % 2], random_between(14, 24), random_between(14, 24), 18);
        fft_case_fill(&given, (const int[]){random_between(5, given.sizes[0]), 9, 9});
        fft_use_device(&given);
        given.options.asynchronous = i / 2 % 2;
        given.options.method =
            given.options.asynchronous ? "auto" : methods[i / 4 + random_chance(50)];
        given.options.grid_ndims = random_between(1, 2);
        given.options.user_workspace = random_chance(20);
        given.workspace = FFT_MEMORY_SHARED;
        fft_use_chunks(random_between(3, 9), 0, random_between(1, 9), 2 * (i % 2));
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Work memory of a plan of 32^3 points with `filled`, in percent of that with explicit zeros. */
static int work_percent(enum fftnd_kind kind, const int filled[]) {
    fft_case given = FFT_CASE(kind, 32, 32, 32);
    long long bytes[2];
    given.axes[0] = given.axes[2] = FFTND_AXIS_COMPLEX;
    given.axes[1] = FFTND_AXIS_R2R;
    given.options.space = REDIST_SPACE_CUDA;
    given.options.grid_ndims = 1;
    for (int i = 0; i < 2; i++) {
        fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
        fftnd_plan *plan = NULL;
        if (i > 0) {
            fft_case_fill(&given, filled);
        }
        check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
        check_ok(fftnd_plan_get_info(plan, &info));
        bytes[i] = (long long)info.workspace_bytes;
        check_ok(fftnd_plan_free(&plan));
    }
    return (int)(100 * bytes[1] / bytes[0]);
}

/* Zeros are added by the library, each axis after those that stay as they are, and not in chunks of scratch memory. A
 * piece that grows or shrinks along two axes does so in its arrays: two half ones are all, and three ranks round up. Of
 * the array that is sent there is half with four segments. */
START_TEST(no_memory_for_zeros) {
    static const struct {
        enum fftnd_kind kind;
        int filled[3], segments, partitions, most;
    } known[] = {{FFTND_C2C, {8, 8, 32}, 1, 1, 60},   {FFTND_R2R, {8, 8, 32}, 1, 1, 60},
                 {FFTND_MIXED, {8, 8, 32}, 1, 1, 60}, {FFTND_R2C, {16, 16, 16}, 1, 1, 56},
                 {FFTND_R2C, {16, 16, 16}, 4, 1, 46}, {FFTND_R2C, {16, 16, 16}, 4, 2, 46},
                 {FFTND_C2C, {16, 16, 16}, 8, 4, 46}};
    NEEDS_FFT_ARRAYS();
    if (harness_nranks == 1) {
        skip_test("one rank");
    }
    for (int i = 0; i < (int)(sizeof(known) / sizeof(known[0])); i++) {
        fft_use_chunks(known[i].segments, 0, known[i].partitions, 2);
        const int percent = work_percent(known[i].kind, known[i].filled);
        check_all(percent <= known[i].most, "case %d: %d %% of the work memory, above %d", i,
                  percent, known[i].most);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Both sides in boxes of any shape. */
START_TEST(boxes) {
    NEEDS_FFT_ARRAYS();
    for (int i = 0; i < NKINDS * 3; i++) {
        fft_case given = fft_random_filled_boxes(kinds[i % NKINDS]);
        given.precision = fft_case_precision((enum fftnd_precision)(i / NKINDS));
        check(given);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        random_cases,      chains, lines, real_axes, shrinking_beside_others, no_memory_for_zeros,
        segments_in_turns, boxes,  NULL};
    return harness_run(argc, argv, "test_fftnd_device_filled", tests);
}
