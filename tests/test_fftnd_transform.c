/* SPDX-License-Identifier: BSD-3-Clause */
/* Named cases of every kind of transform, compared with serial FFTW on the whole array. */

#include "fft_run.h"
#include "harness.h"
#include "methods.h"

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
enum { NKINDS = 3, NR2R = FFTND_DHT + 1 };

/* Kinds of real transforms, a different one on each axis. */
static void mix_r2r(fft_case *given, int first) {
    for (int axis = 0; axis < given->ndims; axis++) {
        given->r2r[axis] = (enum fftnd_r2r)((first + 3 * axis) % NR2R);
    }
}

/* ---------------------------------------------------------------- grids and shapes */

START_TEST(every_grid_in_two_and_three_dimensions) {
    for (int i = 0; i < NKINDS; i++) {
        fft_check_all_grids(FFT_CASE(kinds[i], 9, 10));
        fft_check_all_grids(FFT_CASE(kinds[i], 8, 9, 10));
    }
}
END_TEST

START_TEST(every_grid_in_four_dimensions) {
    fft_check_all_grids(FFT_CASE(FFTND_C2C, 4, 3, 5, 6));
    fft_check_all_grids(FFT_CASE(FFTND_R2C, 3, 5, 4, 7));
}
END_TEST

START_TEST(dimensions_one_to_six) {
    static const int sizes[] = {5, 4, 3, 6, 2, 7};
    for (int ndims = harness_nranks == 1 ? 1 : 2; ndims <= 6; ndims++) {
        for (int i = 0; i < NKINDS; i++) {
            fft_case given = fft_case_make(ndims, sizes, kinds[i]);
            mix_r2r(&given, ndims);
            fft_check(MPI_COMM_WORLD, &given);
            for (int grid_ndims = 1; grid_ndims < ndims; grid_ndims++) {
                given.options.grid_ndims = grid_ndims;
                fft_check(MPI_COMM_WORLD, &given);
            }
        }
    }
}
END_TEST

START_TEST(partly_chosen_grids) {
    fft_case given = FFT_CASE(FFTND_R2C, 6, 5, 7, 4);
    for (int fixed = 1; fixed <= harness_nranks; fixed++) {
        if (harness_nranks % fixed == 0) {
            FFT_GRID(&given, 0, fixed);
            fft_check(MPI_COMM_WORLD, &given);
            FFT_GRID(&given, fixed, 0, 0);
            fft_check(MPI_COMM_WORLD, &given);
        }
    }
}
END_TEST

START_TEST(extents_of_one_and_fewer_rows_than_ranks) {
    for (int i = 0; i < NKINDS; i++) {
        const fft_case shapes[] = {FFT_CASE(kinds[i], 1, 1),       FFT_CASE(kinds[i], 1, 6, 1),
                                   FFT_CASE(kinds[i], 5, 1, 4),    FFT_CASE(kinds[i], 2, 3, 2),
                                   FFT_CASE(kinds[i], 1, 2, 1, 3), FFT_CASE(kinds[i], 3, 1, 1, 2),
                                   FFT_CASE(kinds[i], 7, 2, 1),    FFT_CASE(kinds[i], 1, 1, 13)};
        for (size_t shape = 0; shape < sizeof(shapes) / sizeof(shapes[0]); shape++) {
            fft_case given = shapes[shape];
            for (given.options.grid_ndims = 1; given.options.grid_ndims < given.ndims;
                 given.options.grid_ndims++) {
                fft_check(MPI_COMM_WORLD, &given);
            }
        }
    }
}
END_TEST

START_TEST(primes) {
    for (int i = 0; i < NKINDS; i++) {
        const fft_case plane = FFT_CASE(kinds[i], 13, 11);
        const fft_case cube = FFT_CASE(kinds[i], 7, 11, 5);
        fft_check(MPI_COMM_WORLD, &plane);
        fft_check(MPI_COMM_WORLD, &cube);
    }
}
END_TEST

/* Three shapes, over whole arrays and in tiles, in these precisions in turn. */
static void check_side_by_side(fft_case given[3], size_t turn, size_t precisions) {
    static const size_t tiles[] = {0, 1, 20000};
    for (size_t shape = 0; shape < 3; shape++) {
        given[shape].precision =
            fft_case_precision((enum fftnd_precision)((shape + turn) % precisions));
        given[shape].options.tile_bytes = tiles[turn];
        given[shape].options.in_place = shape == turn;
        fft_check(MPI_COMM_WORLD, &given[shape]);
    }
}

/* Axes of these lengths are transformed by themselves where their lines lie side by side (primes.c): over whole arrays
 * and in tiles, also shorter ones, with lines that fill no block of rows. */
START_TEST(primes_that_are_convolutions) {
    for (size_t i = 0; i < 6; i++) {
        enum fftnd_kind kind = kinds[i % 2];
        fft_case given[] = {FFT_CASE(kind, 17, 31, 6), FFT_CASE(kind, 3, 19, 29, 9),
                            FFT_CASE(kind, 2, 257, 33)};
        check_side_by_side(given, i / 2, 3);
    }
}
END_TEST

/* Short lines that lie side by side (columns.c): several axes of a tile by themselves, fewer columns than a group has,
 * whole arrays and tiles. */
START_TEST(columns) {
    for (size_t i = 0; i < 6; i++) {
        enum fftnd_kind kind = kinds[i % 2];
        fft_case given[] = {FFT_CASE(kind, 24, 30, 14), FFT_CASE(kind, 5, 18, 20, 9),
                            FFT_CASE(kind, 48, 21, 3)};
        check_side_by_side(given, i / 2, 2);
    }
}
END_TEST

START_TEST(shapes_of_the_paper) {
    const fft_case four = FFT_CASE(FFTND_C2C, 16, 17, 18, 19);
    const fft_case three = FFT_CASE(FFTND_R2C, 42, 127, 256);
    if (harness_nranks != 4) {
        skip_test("takes time: for four ranks only");
    }
    fft_check(MPI_COMM_WORLD, &four);
    fft_check(MPI_COMM_WORLD, &three);
}
END_TEST

/* Lines of 1.5 to 8 KiB are transformed one by one where tiles are read out of an array. */
START_TEST(long_lines) {
    fft_case given[] = {FFT_CASE(FFTND_C2C, 6, 5, 200),    FFT_CASE(FFTND_R2C, 6, 5, 256),
                        FFT_CASE(FFTND_R2C, 5, 4, 255),    FFT_CASE(FFTND_C2C, 3, 4, 5, 128),
                        FFT_CASE(FFTND_C2C, 12, 3, 600),   FFT_CASE(FFTND_R2C, 9, 202),
                        FFT_CASE(FFTND_R2C, 3, 5, 4, 1000)};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        for (int precision = 0; precision < 2; precision++) {
            given[i].precision = fft_case_precision(precision ? FFTND_FLOAT : FFTND_DOUBLE);
            fft_check(MPI_COMM_WORLD, &given[i]);
        }
}
END_TEST

/* ---------------------------------------------------------------- kinds */

START_TEST(every_halved_axis_odd_and_even) {
    for (int longer = 0; longer < 2; longer++) {
        for (int axis = -1; axis < 3; axis++) {
            fft_case given = FFT_CASE(FFTND_R2C, 6 + longer, 5 + longer, 8 + longer);
            given.options.halved_axis = axis;
            for (int align = 0; align < 2; align++) {
                given.options.alignment = (enum fftnd_alignment)align;
                given.options.grid_ndims = 1;
                fft_check(MPI_COMM_WORLD, &given);
                given.options.grid_ndims = 2;
                fft_check(MPI_COMM_WORLD, &given);
            }
        }
    }
}
END_TEST

START_TEST(short_real_lengths) {
    for (int n = 1; n <= 9; n++) {
        const fft_case given = FFT_CASE(FFTND_R2C, 4, 3, n);
        fft_check(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(every_kind_of_real_transform) {
    for (int r2r = 0; r2r < NR2R; r2r++) {
        for (int n = 2; n < 10; n += 7) {
            fft_case given = FFT_CASE(FFTND_R2R, n, n + 3, n + 2);
            for (int axis = 0; axis < given.ndims; axis++) {
                given.r2r[axis] = (enum fftnd_r2r)r2r;
            }
            fft_check(MPI_COMM_WORLD, &given);
            mix_r2r(&given, r2r);
            fft_check(MPI_COMM_WORLD, &given);
        }
    }
}
END_TEST

START_TEST(every_scaling_in_all_precisions) {
    FFT_NEEDS(FFTND_FLOAT);
    FFT_NEEDS(FFTND_LONG_DOUBLE);
    for (int i = 0; i < NKINDS * 4 * 2; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 6, 4, 5);
        mix_r2r(&given, i);
        given.options.scaling = (enum fftnd_scaling)(i / NKINDS % 4);
        given.precision = i < NKINDS * 4 ? FFTND_DOUBLE : i % 2 ? FFTND_FLOAT : FFTND_LONG_DOUBLE;
        given.options.batch = 1 + i % 2;
        fft_check(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(single_precision_on_every_grid) {
    FFT_NEEDS(FFTND_FLOAT);
    for (int i = 0; i < NKINDS; i++) {
        fft_case given = FFT_CASE(kinds[i], 6, 7, 5);
        given.precision = FFTND_FLOAT;
        mix_r2r(&given, 1);
        fft_check_all_grids(given);
    }
}
END_TEST

START_TEST(batches) {
    for (int i = 0; i < NKINDS * 2 * 2; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 4, 5, 6);
        mix_r2r(&given, i);
        given.options.batch_position = (enum fftnd_batch_position)(i / NKINDS % 2);
        given.options.alignment = (enum fftnd_alignment)(i / NKINDS / 2);
        for (given.options.batch = 2; given.options.batch <= 3; given.options.batch++) {
            for (int axis = -1; axis < (given.kind == FFTND_R2C ? 2 : 0); axis++) {
                given.options.halved_axis = axis;
                given.options.grid_ndims = 1 + (i + axis + given.options.batch) % 2;
                fft_check(MPI_COMM_WORLD, &given);
            }
        }
    }
}
END_TEST

START_TEST(aligned_as_the_input) {
    for (int i = 0; i < NKINDS; i++) {
        fft_case given = FFT_CASE(kinds[i], 5, 6, 7);
        given.options.alignment = FFTND_ALIGN_INPUT;
        fft_check_all_grids(given);
    }
    fft_case four = FFT_CASE(FFTND_R2C, 3, 4, 5, 6);
    four.options.alignment = FFTND_ALIGN_INPUT;
    fft_check_all_grids(four);
}
END_TEST

/* ---------------------------------------------------------------- methods and effort */

static void check_method(const char *method) {
    for (int i = 0; i < NKINDS * 2; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 7, 6, 9);
        given.options.method = method;
        given.options.alignment = (enum fftnd_alignment)(i / NKINDS);
        given.memory[0] = given.memory[1] = (enum fft_memory)(i % 3);
        given.options.user_workspace = i % 2;
        given.workspace = i % 4 == 1 ? FFT_MEMORY_SHARED : FFT_MEMORY_HEAP;
        for (given.options.grid_ndims = 1; given.options.grid_ndims < 3;
             given.options.grid_ndims++) {
            fft_check(MPI_COMM_WORLD, &given);
        }
    }
}

START_TEST(every_method) {
    check_method("auto");
    check_method(NULL);
    for (int i = 0; i < host_method_count(); i++) {
        check_method(host_method_name(i));
    }
}
END_TEST

/* Tiles of few elements, so that these arrays have many, of two sizes. */
START_TEST(small_tiles) {
    for (int i = 0; i < NKINDS * 6; i++) {
        if (!harness_draws_case())
            continue;
        fft_case given = FFT_CASE(kinds[i % NKINDS], 18, 17, 19);
        given.options.tile_bytes = (size_t)100 << (i / NKINDS);
        mix_r2r(&given, i);
        given.options.overwrite_input = i % 2;
        given.options.alignment = (enum fftnd_alignment)(i / 2 % 2);
        for (given.options.grid_ndims = 1; given.options.grid_ndims < 3;
             given.options.grid_ndims++) {
            fft_check_once(MPI_COMM_WORLD, &given);
            given.options.batch = 2;
            given.options.batch_position = (enum fftnd_batch_position)(i / 4 % 2);
            given.options.halved_axis = given.kind == FFTND_R2C ? i % 3 : -1;
            fft_check_once(MPI_COMM_WORLD, &given);
        }
    }
}
END_TEST

/* Stores into large arrays bypass the caches, and these arrays are not aligned for it. */
START_TEST(arrays_larger_than_the_caches) {
    fft_case given = FFT_CASE(FFTND_C2C, 66, 257, 128);
    if (harness_nranks != 2) {
        skip_test("takes memory: for two ranks only");
    }
    given.memory[0] = given.memory[1] = FFT_MEMORY_UNALIGNED;
    fft_check_once(MPI_COMM_WORLD, &given);
}
END_TEST

START_TEST(every_effort) {
    fft_case given = FFT_CASE(FFTND_R2C, 8, 6, 10);
    given.options.effort = FFTND_MEASURE;
    given.options.plan_seconds = 0.1;
    given.options.batch = 2;
    fft_check(MPI_COMM_WORLD, &given);
    given.options.batch_position = FFTND_BATCH_LAST;
    given.options.in_place = 1;
    fft_check(MPI_COMM_WORLD, &given);
    given = FFT_CASE(FFTND_C2C, 4, 6);
    given.options.effort = FFTND_PATIENT;
    given.options.plan_seconds = 0.2;
    fft_check(MPI_COMM_WORLD, &given);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {every_grid_in_two_and_three_dimensions,
                                  every_grid_in_four_dimensions,
                                  dimensions_one_to_six,
                                  partly_chosen_grids,
                                  extents_of_one_and_fewer_rows_than_ranks,
                                  primes,
                                  primes_that_are_convolutions,
                                  columns,
                                  shapes_of_the_paper,
                                  long_lines,
                                  every_halved_axis_odd_and_even,
                                  short_real_lengths,
                                  every_kind_of_real_transform,
                                  every_scaling_in_all_precisions,
                                  single_precision_on_every_grid,
                                  batches,
                                  aligned_as_the_input,
                                  every_method,
                                  small_tiles,
                                  arrays_larger_than_the_caches,
                                  every_effort,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_transform", tests);
}
