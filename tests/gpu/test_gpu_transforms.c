/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of arrays on a device: against FFTW on the gathered array, and against cuFFT on one device. */
#include <cuda_runtime_api.h>
#include <cufft.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "exchanges.h"
#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"
#include "wave.h"

#define NEEDS_FFT_DEVICE()                                                                         \
    do {                                                                                           \
        if (!device_begin())                                                                       \
            skip_test("no CUDA device");                                                           \
        fft_array_use(&device_memory);                                                             \
        unsetenv("FFTND_CONFIGURATION");                                                           \
    } while (0)

/* Whole arrays, and cut in chunks that are sent as they are done, and received in pieces. */
static void check_ways(fft_case given) {
    static const int chunks[] = {1, 2, 3, 8}, pieces[] = {1, 1, 4, 3};
    given.options.space = REDIST_SPACE_CUDA;
    for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
        char text[160];
        snprintf(text, sizeof(text),
                 " fused=0 tiled=0 tile=1 group=%zu nontemporal=1 segments=%d "
                 "transposed=0 untiled=0 partitions=%d",
                 SIZE_MAX, chunks[i], pieces[i]);
        setenv("FFTND_CONFIGURATION", text, 1);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}

/* Each number of grid dimensions, on a grid of the library's choice. */
static void check_grids(fft_case given) {
    for (int grid_ndims = 1; grid_ndims < given.ndims; grid_ndims++) {
        given.options.grid_ndims = grid_ndims;
        check_ways(given);
    }
}

START_TEST(slabs_and_pencils) {
    NEEDS_FFT_DEVICE();
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++) {
        check_grids(FFT_CASE((enum fftnd_kind)kind, 16, 12, 20));
        check_grids(FFT_CASE((enum fftnd_kind)kind, 9, 15, 7));
        check_grids(FFT_CASE((enum fftnd_kind)kind, 64, 33, 40));
    }
}
END_TEST

START_TEST(dimensions) {
    NEEDS_FFT_DEVICE();
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++) {
        check_grids(FFT_CASE((enum fftnd_kind)kind, 24, 18));
        check_grids(FFT_CASE((enum fftnd_kind)kind, 8, 6, 10, 7));
        check_grids(FFT_CASE((enum fftnd_kind)kind, 4, 5, 6, 3, 8));
    }
}
END_TEST

/* Each real-to-real transform, alone and beside a complex axis, and modes that are dropped. */
START_TEST(other_kinds) {
    NEEDS_FFT_DEVICE();
    for (int i = 0; i < 11; i++) {
        fft_case given = FFT_CASE(i % 2 ? FFTND_MIXED : FFTND_R2R, 16, 9, 20);
        given.options.space = REDIST_SPACE_CUDA;
        for (int axis = 0; axis < 3; axis++) {
            given.axes[axis] = axis == 1 ? FFTND_AXIS_COMPLEX : FFTND_AXIS_R2R;
            given.r2r[axis] = (enum fftnd_r2r)((i + 4 * axis) % 11);
        }
        fft_check_once(MPI_COMM_WORLD, &given);
        given.drops_modes = 1;
        for (int axis = 0; axis < 3; axis++)
            given.retained[axis] = given.sizes[axis] - (i + axis) % 4;
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* ---------------------------------------------------------------- random cases */

static fft_case choose_case(int nranks) {
    int sizes[REDIST_MAX_NDIMS];
    redist_index extents[REDIST_MAX_NDIMS];
    const int ndims = random_between(nranks == 1 ? 1 : 2, 5);
    random_sizes(ndims, 1, 24, 6000, extents);
    for (int axis = 0; axis < ndims; axis++)
        sizes[axis] = (int)extents[axis];
    fft_case given = fft_case_make(ndims, sizes, random_chance(50) ? FFTND_C2C : FFTND_R2C);
    fftnd_options *options = &given.options;
    given.precision = random_chance(60) ? FFTND_DOUBLE : FFTND_FLOAT;
    options->space = REDIST_SPACE_CUDA;
    fft_random_options(&given);
    options->grid_ndims = random_between(0, ndims - 1);
    if (random_chance(40)) {
        fft_random_order(&given);
    }
    for (int side = 0; side < 2; side++) {
        given.memory[side] = random_chance(50) ? FFT_MEMORY_HEAP : FFT_MEMORY_SHARED;
    }
    given.workspace = random_chance(50) ? FFT_MEMORY_HEAP : FFT_MEMORY_SHARED;
    if (random_chance(20)) {
        options->effort = FFTND_MEASURE;
        options->plan_seconds = 0.05;
    }
    return given;
}

static void choose_chunks(void) {
    if (random_chance(60)) {
        fft_use_chunks(random_between(1, 9), random_between(0, 1), random_between(1, 6),
                       random_between(0, 1));
    } else {
        unsetenv("FFTND_CONFIGURATION");
    }
}

/* How lines are transformed: as it was measured, all in panels of some kernel and width, all by cuFFT, in planes of
 * some number of blocks. */
static void choose_lines(int way) {
    char panels[20], planes[20];
    snprintf(panels, sizeof panels, "panels%d", random_between(0, 5));
    snprintf(planes, sizeof planes, "planes%d", random_between(0, 3));
    const char *const ways[] = {NULL, panels, "cufft", planes};
    if (ways[way] != NULL)
        setenv("FFTND_LINES", ways[way], 1);
    else
        unsetenv("FFTND_LINES");
}

/* On the last rank alone: all of them return the error, which has the text and what may be there. */
START_TEST(nonsense_as_lines) {
    static const char *const values[] = {"fast",    "panels6",  "panels1x",
                                         "planes4", "planes-1", "cufft0"};
    NEEDS_FFT_DEVICE();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        fft_case given = FFT_CASE(FFTND_C2C, 8, 8, 8);
        fftnd_plan *plan = NULL;
        given.options.space = REDIST_SPACE_CUDA;
        harness_case("\"%s\"", values[i]);
        if (harness_rank == harness_nranks - 1)
            setenv("FFTND_LINES", values[i], 1);
        check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
        unsetenv("FFTND_LINES");
        check_all(strstr(redist_error_message(), values[i]) != NULL &&
                      strstr(redist_error_message(), "panels0..panels5, planes") != NULL,
                  "%s", redist_error_message());
    }
}
END_TEST

START_TEST(strided_lengths) {
    NEEDS_FFT_DEVICE();
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++)
        for (int precision = FFTND_DOUBLE; precision <= FFTND_FLOAT; precision++) {
            fft_case cases[] = {FFT_CASE((enum fftnd_kind)kind, 600, 8, 30),
                                FFT_CASE((enum fftnd_kind)kind, 9, 840, 15),
                                FFT_CASE((enum fftnd_kind)kind, 96, 100, 21),
                                FFT_CASE((enum fftnd_kind)kind, 5, 60, 168, 4)};
            for (int i = 0; i < 4; i++) {
                cases[i].precision = (enum fftnd_precision)precision;
                choose_lines(i % 2);
                check_grids(cases[i]);
            }
        }
    choose_lines(0);
}
END_TEST

/* Two axes at once: contiguous planes, neighbours that fill no row of memory, clusters of several blocks; and long
 * lines side by side. */
START_TEST(two_axes_at_once) {
    NEEDS_FFT_DEVICE();
    for (int precision = FFTND_DOUBLE; precision <= FFTND_FLOAT; precision++) {
        fft_case cases[] = {FFT_CASE(FFTND_C2C, 3, 16, 24),     FFT_CASE(FFTND_C2C, 2, 128, 128),
                            FFT_CASE(FFTND_C2C, 3, 96, 96),     FFT_CASE(FFTND_C2C, 64, 80, 5),
                            FFT_CASE(FFTND_C2C, 48, 32, 16),    FFT_CASE(FFTND_R2C, 60, 35, 10),
                            FFT_CASE(FFTND_C2C, 16, 20, 3, 25), FFT_CASE(FFTND_C2C, 18, 16, 16, 20),
                            FFT_CASE(FFTND_C2C, 8192, 9),       FFT_CASE(FFTND_C2C, 2, 1024, 7)};
        for (int i = 0; i < 10; i++) {
            cases[i].precision = (enum fftnd_precision)precision;
            choose_lines(random_chance(80) ? 3 : 0);
            check_grids(cases[i]);
        }
    }
    choose_lines(0);
}
END_TEST

/* 2^a 3^b 5^c 7^d 11^e 13^f, or now and then a prime. */
static int choose_length(int most) {
    static const int primes[] = {2, 3, 5, 7, 11, 13}, large[] = {17, 31, 97, 211};
    int n = 1;
    if (random_chance(5))
        return large[random_between(0, most > 211 ? 3 : 1)];
    for (;;) {
        const int next = n * primes[random_between(0, random_chance(20) ? 5 : 3)];
        if (next > most)
            return n;
        n = next;
    }
}

/* One length is long, so that panels have several passes. */
static fft_case choose_lengths(int nranks) {
    const int ndims = random_between(nranks == 1 ? 1 : 2, 5), chosen = random_between(0, ndims - 1);
    int sizes[REDIST_MAX_NDIMS];
    for (int axis = 0; axis < ndims; axis++)
        sizes[axis] = axis == chosen ? choose_length(1200)
                                     : choose_length(ndims < 3    ? 150
                                                     : ndims == 3 ? 24
                                                                  : 6);
    fft_case given = fft_case_make(ndims, sizes, random_chance(50) ? FFTND_C2C : FFTND_R2C);
    given.precision = random_chance(50) ? FFTND_DOUBLE : FFTND_FLOAT;
    given.options.space = REDIST_SPACE_CUDA;
    given.options.batch = random_chance(70) ? 1 : random_between(2, 5);
    given.options.batch_position = (enum fftnd_batch_position)random_between(0, 1);
    given.options.in_place = random_chance(30);
    given.options.grid_ndims = random_between(0, ndims - 1);
    return given;
}

/* Cases of a kind, cut and transformed in random ways: so many in a hundred all by cuFFT. */
static void check_cases(int count, fft_case (*choose)(int nranks), int by_cufft) {
    for (int i = 0; i < harness_cases(count); i++) {
        const fft_case given = choose(harness_nranks);
        choose_chunks();
        choose_lines(random_chance(by_cufft) ? 2 : random_chance(30) ? 3 : random_between(0, 1));
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
    choose_lines(0);
}

START_TEST(random_lengths) {
    NEEDS_FFT_DEVICE();
    check_cases(60, choose_lengths, 0);
}
END_TEST

/* Lengths whose extensions by symmetry have small factors too; beside complex axes, and a halved one. */
static fft_case choose_r2r_lengths(int nranks) {
    fft_case given = choose_lengths(nranks);
    given.kind = random_chance(50) ? FFTND_R2R : FFTND_MIXED;
    for (int axis = 0; axis < given.ndims; axis++) {
        given.r2r[axis] = (enum fftnd_r2r)random_between(0, 10);
        given.axes[axis] = random_chance(60) ? FFTND_AXIS_R2R : FFTND_AXIS_COMPLEX;
        if (given.r2r[axis] == FFTND_DCT1)
            given.sizes[axis]++;
        else if (given.r2r[axis] == FFTND_DST1 && given.sizes[axis] > 1)
            given.sizes[axis]--;
    }
    given.axes[0] = FFTND_AXIS_R2R;
    if (given.ndims > 1 && random_chance(40))
        given.axes[given.ndims - 1] = FFTND_AXIS_HALVED;
    return given;
}

START_TEST(random_r2r_lengths) {
    NEEDS_FFT_DEVICE();
    check_cases(60, choose_r2r_lengths, 10);
}
END_TEST

/* Odd, even, most and few modes of each axis. */
static fft_case choose_retained_modes(int nranks) {
    fft_case given = random_chance(50) ? choose_lengths(nranks) : choose_case(nranks);
    fft_random_kept(&given);
    given.options.tile_bytes = random_chance(50) ? (size_t)random_between(1000, 100000) : 0;
    return given;
}

START_TEST(random_retained_modes) {
    NEEDS_FFT_DEVICE();
    check_cases(80, choose_retained_modes, 0);
}
END_TEST

START_TEST(random_cases) {
    NEEDS_FFT_DEVICE();
    check_cases(60, choose_case, 33);
}
END_TEST

START_TEST(random_cases_on_one_rank_each) {
    NEEDS_FFT_DEVICE();
    for (int i = 0; i < harness_cases(20); i++) {
        const fft_case given = choose_case(1);
        fft_check_once(MPI_COMM_SELF, &given);
    }
}
END_TEST

/* ---------------------------------------------------------------- methods */

START_TEST(methods) {
    NEEDS_FFT_DEVICE();
    for (int i = 0; i < redist_method_count(); i++) {
        fft_case given = FFT_CASE(FFTND_C2C, 12, 10, 16);
        fftnd_plan *plan = NULL;
        given.options.space = REDIST_SPACE_CUDA;
        given.options.method = redist_method_name(i);
        harness_case("%s", fft_case_text(&given));
        const int code = fft_case_plan(MPI_COMM_WORLD, &given, &plan);
        check_ok(fftnd_plan_free(&plan));
        check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "%s", redist_error_message());
        if (code == REDIST_OK) {
            fft_check_once(MPI_COMM_WORLD, &given);
        }
    }
}
END_TEST

/* ---------------------------------------------------------------- one device */

enum { LARGE = 96 };

static double component(int x, int y, int z, int which) {
    return sin(0.7 * x + 1.3 * y * y + 0.3 * z + which) + 0.01 * ((x * 31 + y * 17 + z * 7) % 23);
}

static void fill(const fftnd_layout *layout, double *values) {
    for (int x = 0; x < layout->count[0]; x++)
        for (int y = 0; y < layout->count[1]; y++)
            for (int z = 0; z < layout->count[2]; z++)
                for (int which = 0; which < 2; which++)
                    *values++ = component((int)layout->start[0] + x, (int)layout->start[1] + y,
                                          (int)layout->start[2] + z, which);
}

/* The whole array, transformed by cuFFT on this rank's device. */
static double *transform_alone(void) {
    const fftnd_layout all = {.count = {LARGE, LARGE, LARGE}};
    const size_t bytes = sizeof(double) * 2 * LARGE * LARGE * LARGE;
    double *values = malloc(bytes);
    void *memory = device_memory.allocate(MPI_COMM_WORLD, bytes, 0);
    cufftHandle plan;
    fill(&all, values);
    device_memory.copy(memory, values, bytes);
    int good = cufftPlan3d(&plan, LARGE, LARGE, LARGE, CUFFT_Z2Z) == CUFFT_SUCCESS &&
               cufftExecZ2Z(plan, memory, memory, CUFFT_FORWARD) == CUFFT_SUCCESS &&
               cufftDestroy(plan) == CUFFT_SUCCESS;
    device_memory.copy(values, memory, bytes);
    device_memory.release(memory, 0);
    check_all(good, "cuFFT failed");
    return values;
}

static double compare(const fftnd_layout *layout, const double *mine, const double *all) {
    double worst = 0;
    for (int x = 0; x < layout->count[0]; x++)
        for (int y = 0; y < layout->count[1]; y++)
            for (int z = 0; z < layout->count[2]; z++)
                for (int which = 0; which < 2; which++) {
                    const size_t at =
                        (((size_t)(layout->start[0] + x) * LARGE + (size_t)(layout->start[1] + y)) *
                             LARGE +
                         (size_t)(layout->start[2] + z)) *
                            2 +
                        (size_t)which;
                    const double error = fabs(*mine++ - all[at]);
                    worst = isnan(error) ? INFINITY : fmax(worst, error);
                }
    return worst;
}

START_TEST(like_one_device) {
    NEEDS_FFT_DEVICE();
    fft_case given = FFT_CASE(FFTND_C2C, LARGE, LARGE, LARGE);
    fftnd_plan *plan = NULL;
    fftnd_layout layouts[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    void *arrays[2];
    given.options.space = REDIST_SPACE_CUDA;
    harness_case("%s", fft_case_text(&given));
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    for (int side = 0; side < 2; side++) {
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layouts[side]));
        arrays[side] = device_memory.allocate(MPI_COMM_WORLD, layouts[side].bytes + 1, side);
    }
    double *mine = malloc(layouts[0].bytes + layouts[1].bytes + 1), *all = transform_alone();
    fill(&layouts[0], mine);
    device_memory.copy(arrays[0], mine, layouts[0].bytes);
    check_ok(fftnd_forward(plan, arrays[0], arrays[1]));
    device_memory.copy(mine, arrays[1], layouts[1].bytes);
    const double error = compare(&layouts[1], mine, all);
    check_all(error <= 1e-13 * LARGE * LARGE * LARGE, "off by %g", error);
    check_ok(fftnd_plan_free(&plan));
    for (int side = 0; side < 2; side++)
        device_memory.release(arrays[side], side);
    free(mine);
    free(all);
}
END_TEST

/* ---------------------------------------------------------------- large arrays */

static wave_block block_of(const fftnd_plan *plan, enum fftnd_side side) {
    static const int k[3] = {1999, 3, 1024};
    wave_block block = {.is_spectral = side == FFTND_SPECTRAL};
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    check_ok(fftnd_plan_layout(plan, side, &layout));
    for (int axis = 0; axis < 3; axis++) {
        block.size[axis] = layout.sizes[axis];
        block.start[axis] = layout.start[axis];
        block.count[axis] = layout.count[axis];
        block.k[axis] = k[axis];
    }
    return block;
}

/* Transforms from one side to the other and looks at the result only. */
static void check_wave(fftnd_plan *plan, void *const arrays[2], enum fftnd_side from) {
    const enum fftnd_side to = fft_case_opposite(from);
    float error = 1;
    check_all(wave_fill(arrays[from], block_of(plan, from)) == cudaSuccess, "no kernel");
    check_ok(from == FFTND_PHYSICAL ? fftnd_forward(plan, arrays[0], arrays[1])
                                    : fftnd_backward(plan, arrays[1], arrays[0]));
    check_all(wave_error(arrays[to], block_of(plan, to), &error) == cudaSuccess, "no kernel");
    check_all(error < 1e-4F, "off by %g on the %s side", (double)error,
              to == FFTND_PHYSICAL ? "physical" : "spectral");
}

/* More than 2^31 elements in one rank's array, and on two ranks in the global one. */
START_TEST(large) {
    NEEDS_FFT_DEVICE();
    size_t free_bytes = 0, total = 0;
    if (harness_nranks > 2 || getenv("REDIST_TEST_LARGE") == NULL)
        skip_test("only on 1 or 2 ranks, with REDIST_TEST_LARGE set");
    int enough = cudaMemGetInfo(&free_bytes, &total) == cudaSuccess && total >> 30 >= 75;
    MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!enough)
        skip_test("a device has less than 75 GiB");
    fft_case given = FFT_CASE(FFTND_C2C, 2048, 1024, 1025);
    fftnd_plan *plan = NULL;
    void *arrays[2];
    given.precision = FFTND_FLOAT;
    given.options.space = REDIST_SPACE_CUDA;
    given.options.scaling = FFTND_SCALE_FORWARD;
    harness_case("%s", fft_case_text(&given));
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    for (int side = 0; side < 2; side++) {
        fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layout));
        arrays[side] = device_memory.allocate(MPI_COMM_WORLD, layout.bytes, 1);
    }
    check_wave(plan, arrays, FFTND_PHYSICAL);
    check_wave(plan, arrays, FFTND_SPECTRAL);
    check_ok(fftnd_plan_free(&plan));
    for (int side = 0; side < 2; side++)
        device_memory.release(arrays[side], 1);
}
END_TEST

/* ---------------------------------------------------------------- refusals */

START_TEST(refusals) {
    NEEDS_FFT_DEVICE();
    fftnd_plan *plan = NULL;
    fft_case given = FFT_CASE(FFTND_C2C, 8, 8);
    given.options.space = REDIST_SPACE_CUDA;
    given.precision = FFTND_LONG_DOUBLE;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
    given.precision = FFTND_DOUBLE;
    given.options.fusion = FFTND_FUSION_ALWAYS;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_METHOD);
    given.options.fusion = FFTND_FUSION_AUTO;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    double on_host[512];
    check_code(fftnd_forward(plan, on_host, on_host + 256), REDIST_ERR_ARGUMENT);
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {slabs_and_pencils,
                                  dimensions,
                                  other_kinds,
                                  nonsense_as_lines,
                                  strided_lengths,
                                  two_axes_at_once,
                                  random_lengths,
                                  random_r2r_lengths,
                                  random_retained_modes,
                                  random_cases,
                                  random_cases_on_one_rank_each,
                                  methods,
                                  like_one_device,
                                  large,
                                  refusals,
                                  NULL};
    return device_run(argc, argv, "test_gpu_transforms", tests);
}
