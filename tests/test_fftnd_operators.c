/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators between transforms in memory of the host: as operator_run.h compares them, and on analytic fields. */
#include <math.h>
#include <stdlib.h>

#include "fft_random.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "operator_run.h"
#include "random.h"

/* In tiles that are transformed apart from the arrays, as on a device beside the host. */
static void offload(fft_case *given) {
    given->options.device_bytes = (size_t)1 << random_between(21, 24);
    given->options.local_transpose = FFTND_LOCAL_TRANSPOSE_AUTO;
}

START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 12); i++) {
        fft_case given = fft_random_mixed_case(harness_nranks, 0);
        given.options.threads = random_chance(30) ? random_between(2, 3) : 1;
        if (random_chance(20)) {
            offload(&given);
        }
        if (random_chance(25)) {
            fft_random_format(&given);
        }
        operator_check(&given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* The shapes that solvers have: three axes, halved the last, on slabs and pencils. */
START_TEST(boxes) {
    for (int i = 0; harness_another(i, 8); i++) {
        fft_case given = FFT_CASE(FFTND_R2C, random_between(4, 14), random_between(4, 14),
                                  random_between(4, 14));
        given.options.grid_ndims = random_between(0, 2);
        given.options.in_place = random_chance(30);
        given.options.tile_bytes = random_chance(50) ? (size_t)random_between(50, 2000) : 0;
        given.precision = fft_case_precision(random_chance(70) ? FFTND_DOUBLE : FFTND_FLOAT);
        if (random_chance(30)) {
            fft_random_kept(&given);
        }
        operator_check(&given);
    }
}
END_TEST

/* Axis 0 is long enough for columns (columns.c), which are transformed there and back where they lie: as many as fill
 * groups, and fewer. */
START_TEST(columns) {
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given =
            FFT_CASE(random_chance(50) ? FFTND_R2C : FFTND_C2C, 6 * random_between(3, 8),
                     random_between(2, 12), random_between(2, 30));
        given.options.grid_ndims = random_between(1, 2);
        given.options.in_place = random_chance(30);
        given.options.overwrite_input = random_chance(50);
        given.precision = fft_case_precision(random_chance(70) ? FFTND_DOUBLE : FFTND_FLOAT);
        operator_check(&given);
    }
}
END_TEST

/* ---------------------------------------------------------------- analytic fields */

static ptrdiff_t place_of(const fftnd_layout *layout, redist_index i, redist_index at[]) {
    ptrdiff_t place = 0;
    for (int axis = layout->ndims - 1; axis >= 0; axis--) {
        at[axis] = i % layout->count[axis];
        i /= layout->count[axis];
        place += (ptrdiff_t)at[axis] * layout->stride[axis];
    }
    return place;
}

/* What is added to 1 in long double without being lost: valgrind computes it in double. */
static long double find_epsilon(void) {
    volatile long double epsilon = 1, sum;
    do {
        epsilon /= 2;
        sum = 1 + epsilon;
    } while (sum > 1);
    return 2 * epsilon;
}

/* An operator on a field in long double, and what it has to be: DCT-II along axis 0 of length 3, Fourier along axis 1
 * of length 2. */
struct wave {
    enum fftnd_operator_kind kind;
    long double factor; /* of the wave in the result */
    double mean;        /* in the result */
};

static long double kx, ky;

static long double wave_at(const fftnd_layout *layout, const redist_index at[]) {
    const long double x = 3 * ((long double)(layout->start[0] + at[0]) + 0.5L) / 12;
    const long double y = 2 * (long double)(layout->start[1] + at[1]) / 10;
    return cosl(kx * x) * sinl(ky * y);
}

/* As many outputs as inputs: they are the same memory. */
static int keep_modes(void *data, const fftnd_box *box) {
    (void)data;
    return box->inputs[0] != box->outputs[0];
}

static void check_wave(fftnd_plan *plan, const fftnd_layout *layout, const struct wave *wave) {
    fftnd_operator *op = NULL;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    const double lengths[2] = {3, 2};
    void *arrays[2] = {NULL, NULL};
    options.lengths = lengths;
    options.zero_mode = 7;
    options.coefficient = -0.5;
    options.shell[1] = 100;
    options.box_function = wave->kind == FFTND_MODES ? keep_modes : NULL;
    check_ok(fftnd_operator_create(plan, wave->kind, &options, &op));
    for (int i = 0; i < 2; i++) {
        check_ok(redist_alloc(MPI_COMM_WORLD, layout->bytes, &arrays[i]));
    }
    long double *in = arrays[0], *out = arrays[1], error = 0;
    const redist_index n = layout->count[0] * layout->count[1];
    for (redist_index i = 0; i < n; i++) {
        redist_index at[2];
        const ptrdiff_t place = place_of(layout, i, at);
        in[place] = wave_at(layout, at) + 0.25L;
    }
    check_ok(fftnd_apply(plan, op, in, out));
    for (redist_index i = 0; i < n; i++) {
        redist_index at[2];
        const ptrdiff_t place = place_of(layout, i, at);
        const long double expected = wave->factor * wave_at(layout, at) + wave->mean;
        const long double off = fabsl(out[place] - expected);
        error = off <= error ? error : off; /* what is no number stays */
    }
    const long double largest = fmaxl(fabsl(wave->factor), 1) + fabsl(wave->mean);
    check_all(error < 500 * find_epsilon() * largest, "operator %d is off by %Lg", (int)wave->kind,
              error);
    check_ok(fftnd_operator_free(&op));
    for (int i = 0; i < 2; i++) {
        check_ok(redist_free(&arrays[i]));
    }
}

START_TEST(precise_waves) {
    fft_case given = FFT_CASE(FFTND_MIXED, 12, 10);
    fftnd_plan *plan = NULL;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    kx = 2 * acosl(-1.0L) / 3;
    ky = 3 * acosl(-1.0L);
    const long double q = kx * kx + ky * ky;
    const struct wave waves[] = {{FFTND_LAPLACIAN, -q, 0},
                                 {FFTND_INVERSE_LAPLACIAN, -1 / q, 7 * 0.25},
                                 {FFTND_HELMHOLTZ, -0.5L - q, -0.125},
                                 {FFTND_INVERSE_HELMHOLTZ, 1 / (-0.5L - q), -0.5},
                                 {FFTND_BIHARMONIC, q * q, 0},
                                 {FFTND_INVERSE_BIHARMONIC, 1 / (q * q), 7 * 0.25},
                                 {FFTND_SHELL, 1, 0.25},
                                 {FFTND_MODES, 1, 0.25}};
    given.axes[0] = FFTND_AXIS_R2R;
    given.axes[1] = FFTND_AXIS_HALVED;
    given.r2r[0] = FFTND_DCT2;
    FFT_NEEDS(FFTND_LONG_DOUBLE);
    given.precision = FFTND_LONG_DOUBLE;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    check_ok(fftnd_plan_layout(plan, FFTND_PHYSICAL, &layout));
    for (size_t i = 0; i < sizeof waves / sizeof *waves; i++) {
        check_wave(plan, &layout, &waves[i]);
    }
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_cases, boxes, columns, precise_waves, NULL};
    return harness_run(argc, argv, "test_fftnd_operators", tests);
}
