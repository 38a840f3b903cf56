/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each axis has a kind of its own, and sides lie as the user likes: mixtures, memory orders, padding, blocks, boxes;
 * compared with serial FFTW.
 */
#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(random_mixtures) {
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = fft_random_mixed_case(harness_nranks, 0);
        given.options.threads = random_chance(20) ? random_between(2, 3) : 1;
        if (random_chance(25)) {
            fft_random_format(&given);
        }
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(random_mixtures_on_one_rank_each) {
    for (int i = 0; harness_another(i, 2); i++) {
        const fft_case given = fft_random_mixed_case(1, 0);
        fft_check_once(MPI_COMM_SELF, &given);
    }
}
END_TEST

/* ---------------------------------------------------------------- mixtures that solvers use */

static fft_case with_axes(fft_case given, const enum fftnd_axis axes[],
                          const enum fftnd_r2r r2r[]) {
    for (int axis = 0; axis < given.ndims; axis++) {
        given.axes[axis] = axes[axis];
        given.r2r[axis] = r2r[axis];
    }
    return given;
}

/* Cosines between walls, waves along them. */
START_TEST(channel) {
    static const enum fftnd_axis axes[] = {FFTND_AXIS_R2R, FFTND_AXIS_COMPLEX, FFTND_AXIS_HALVED};
    static const enum fftnd_r2r r2r[3] = {FFTND_DCT1};
    fft_case given = with_axes(FFT_CASE(FFTND_MIXED, 9, 8, 10), axes, r2r);
    fft_check_all_grids(given);
    fft_random_kept(&given);
    given.options.batch = 2;
    fft_check_all_grids(given);
}
END_TEST

START_TEST(four_axes) {
    static const enum fftnd_axis axes[] = {FFTND_AXIS_R2R, FFTND_AXIS_HALVED, FFTND_AXIS_COMPLEX,
                                           FFTND_AXIS_NONE};
    static const enum fftnd_r2r r2r[4] = {FFTND_DCT3};
    fft_check_all_grids(with_axes(FFT_CASE(FFTND_MIXED, 5, 6, 17, 4), axes, r2r));
}
END_TEST

static int count_exchanges(const fft_case *given) {
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    fftnd_plan *plan = NULL;
    harness_case("exchanges of %s", fft_case_text(given));
    check_ok(fft_case_plan(MPI_COMM_WORLD, given, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_ok(fftnd_plan_free(&plan));
    return info.nexchanges;
}

/* Wherever it is, an axis that is not transformed is the one that is split, if it is long enough. */
START_TEST(untransformed_axes_cost_nothing) {
    for (int none = 0; none < 3; none++) {
        fft_case given = FFT_CASE(FFTND_MIXED, 12, 12, 12);
        for (int axis = 0; axis < 3; axis++) {
            given.axes[axis] = axis == none ? FFTND_AXIS_NONE : FFTND_AXIS_COMPLEX;
        }
        const int all = count_exchanges(&given);
        check_all(all == 0, "%d exchanges", all);
        fft_check(MPI_COMM_WORLD, &given);
        given.options.grid_ndims = 2;
        const int pencils = count_exchanges(&given);
        check_all(pencils <= 1, "%d exchanges of pencils", pencils);
    }
}
END_TEST

/* The only axis that is transformed is split on both sides, in natural order; the others are too short to be split for
 * all ranks. */
START_TEST(one_axis_split_on_both_sides) {
    static const int shapes[][3] = {{2, 37, 3}, {41, 1, 2}, {1, 3, 30}};
    for (int axis = 0; axis < 3; axis++) {
        const int *shape = shapes[(axis + 2) % 3];
        fft_case given = FFT_CASE(FFTND_MIXED, shape[0], shape[1], shape[2]);
        given.axes[axis] = FFTND_AXIS_COMPLEX;
        given.options.grid_ndims = 1;
        for (int side = 0; side < 2; side++) {
            given.has_split[side] = 1;
            given.split[side][0] = axis;
        }
        fft_check(MPI_COMM_WORLD, &given);
        const int exchanges = count_exchanges(&given);
        check_all(exchanges <= 2, "%d exchanges", exchanges);
    }
}
END_TEST

/* What drops most modes is transformed first. */
START_TEST(the_shortest_spectrum_is_sent) {
    fft_case given = FFT_CASE(FFTND_MIXED, 16, 16, 16);
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    fftnd_plan *plan = NULL;
    given.drops_modes = 1;
    for (int axis = 0; axis < 3; axis++) {
        given.axes[axis] = FFTND_AXIS_COMPLEX;
        given.retained[axis] = axis == 0 ? 4 : 16;
    }
    given.options.grid_ndims = 1;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_all(harness_nranks == 1 || info.order[0] != 0, "axis 0 is split first");
    check_ok(fftnd_plan_free(&plan));
    fft_check(MPI_COMM_WORLD, &given);
}
END_TEST

/* An axis that stays split has the blocks of the spectral side there, also where the physical side is in boxes. */
START_TEST(blocks_behind_boxes) {
    fft_case given = FFT_CASE(FFTND_MIXED, harness_nranks + 1, 4);
    given.axes[0] = FFTND_AXIS_NONE;
    given.axes[1] = FFTND_AXIS_COMPLEX;
    given.has_order = 1;
    given.order[1] = 1;
    given.blocks[FFTND_PHYSICAL] = given.blocks[FFTND_SPECTRAL] = FFTND_BLOCKS_CEILING;
    given.has_box[FFTND_PHYSICAL] = 1;
    FFT_GRID(&given, 0);
    fft_check(MPI_COMM_WORLD, &given);
}
END_TEST

/* The exchanges of a plan with boxes: the parts that the chain has, or those of the neighbours. */
static int run_in_boxes(int is_other, const fftnd_layout layouts[2], double error[]) {
    const redist_index sizes[3] = {9, 8, 10};
    const int source = (harness_rank + is_other) % harness_nranks, grid[1] = {harness_nranks};
    redist_box boxes[2] = {REDIST_BOX_DEFAULT, REDIST_BOX_DEFAULT}, all[2 * 64];
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    fftnd_plan *plan = NULL;
    for (int side = 0; side < 2; side++)
        for (int axis = 0; axis < 3; axis++) {
            boxes[side].start[axis] = layouts[side].start[axis];
            boxes[side].count[axis] = layouts[side].count[axis];
        }
    MPI_Allgather(boxes, sizeof(boxes), MPI_BYTE, all, sizeof(boxes), MPI_BYTE, MPI_COMM_WORLD);
    options.grid_ndims = 1;
    options.grid = grid;
    options.box[0] = &all[2 * source];
    options.box[1] = &all[2 * source + 1];
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    fftnd_layout own[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    double *arrays[2], *first;
    for (int side = 0; side < 2; side++) {
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &own[side]));
        arrays[side] = malloc(own[side].bytes + 16);
    }
    const size_t n = own[0].bytes / sizeof(double);
    first = malloc(own[0].bytes + 16);
    for (size_t i = 0; i < n; i++)
        arrays[0][i] = first[i] = (double)(37 * i % 1999) - 1000;
    check_ok(fftnd_forward(plan, arrays[0], arrays[1]));
    check_ok(fftnd_backward(plan, arrays[1], arrays[0]));
    for (size_t i = 0; i < n; i++)
        *error = fmax(*error, fabs(arrays[0][i] - first[i]));
    check_ok(fftnd_plan_free(&plan));
    free(arrays[0]);
    free(arrays[1]);
    free(first);
    return info.nexchanges;
}

START_TEST(boxes_of_the_chain) {
    fft_case given = FFT_CASE(FFTND_R2C, 9, 8, 10);
    fftnd_plan *plan = NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    fftnd_layout layouts[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    double error = 0;
    FFT_GRID(&given, harness_nranks);
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    for (int side = 0; side < 2; side++)
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layouts[side]));
    check_ok(fftnd_plan_free(&plan));
    const int same = run_in_boxes(0, layouts, &error), other = run_in_boxes(1, layouts, &error);
    check_all(same == info.nexchanges, "%d exchanges instead of %d", same, info.nexchanges);
    check_all(harness_nranks == 1 || other == info.nexchanges + 2, "%d exchanges instead of %d",
              other, info.nexchanges + 2);
    check_all(error < 1e-9, "off by %g", error);
}
END_TEST

/* Behind the last transform, which scales, are an exchange that is begun before all segments of the array are done, and
 * one into boxes. */
START_TEST(segments_scaled_before_exchanges) {
    static const enum fftnd_axis axes[] = {FFTND_AXIS_COMPLEX, FFTND_AXIS_COMPLEX, FFTND_AXIS_NONE,
                                           FFTND_AXIS_NONE, FFTND_AXIS_NONE};
    static const int order[] = {0, 1, 2, 3, 4};
    for (int i = 0; i < 4; i++) {
        fft_case given = FFT_CASE(FFTND_MIXED, 3, 24, 2, 2, 7);
        memcpy(given.axes, axes, sizeof(axes));
        given.options.scaling = FFTND_SCALE_UNITARY;
        given.has_box[0] = given.has_box[1] = given.has_order = 1;
        memcpy(given.order, order, sizeof(order));
        FFT_GRID(&given, 1, 0, 0, 1);
        fft_use_chunks(3, i % 2, i < 2 ? 1 : 4, 0);
        fft_check(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Nothing is transformed, but the copy to the box's order may not take the place of an input that may be
 * overwritten. */
START_TEST(copies_to_another_order) {
    static const int memory_order[] = {2, 1, 0};
    for (int side = 0; side < 2; side++) {
        fft_case given = FFT_CASE(FFTND_MIXED, 12, 8, 6);
        for (int axis = 0; axis < 3; axis++)
            given.axes[axis] = FFTND_AXIS_NONE;
        given.has_box[side] = given.has_memory_order[side] = 1;
        memcpy(given.memory_order[side], memory_order, sizeof(memory_order));
        given.memory[0] = given.memory[1] = FFT_MEMORY_SHARED;
        given.options.mapped_arrays = given.options.overwrite_input = 1;
        fft_check(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* Nothing is transformed either, and in place: the array goes to another order, or another padding, through work
 * space. */
START_TEST(turns_in_place) {
    static const int memory_order[] = {2, 0, 1};
    for (int i = 0; i < 8; i++) {
        fft_case given = FFT_CASE(FFTND_MIXED, 9, 8, 5);
        int side = i % 2;
        for (int axis = 0; axis < 3; axis++)
            given.axes[axis] = FFTND_AXIS_NONE;
        given.has_memory_order[side] = i < 6;
        memcpy(given.memory_order[side], memory_order, sizeof(memory_order));
        given.padding[side][1] = i < 2 ? 0 : 2;
        given.padding[!side][2] = i < 4 ? 0 : 1;
        given.options.in_place = 1;
        given.options.batch = 1 + i % 3;
        fft_check(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* Results that become contiguous lines, an odd number of elements apart: FFTW 3.3.10 crashed. */
START_TEST(lines_turned_to_odd_distances) {
    static const int memory_order[] = {2, 0, 1};
    fft_case given = FFT_CASE(FFTND_MIXED, 11, 32, 8);
    FFT_NEEDS(FFTND_FLOAT);
    given.precision = FFTND_FLOAT;
    given.axes[0] = given.axes[2] = FFTND_AXIS_COMPLEX;
    given.axes[1] = FFTND_AXIS_NONE;
    given.has_memory_order[FFTND_PHYSICAL] = 1;
    memcpy(given.memory_order[FFTND_PHYSICAL], memory_order, sizeof(memory_order));
    given.padding[FFTND_SPECTRAL][2] = 1;
    fft_use_chunks(1, 0, 1, 0);
    fft_check(MPI_COMM_WORLD, &given);
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_mixtures,
                                  random_mixtures_on_one_rank_each,
                                  channel,
                                  four_axes,
                                  untransformed_axes_cost_nothing,
                                  one_axis_split_on_both_sides,
                                  the_shortest_spectrum_is_sent,
                                  blocks_behind_boxes,
                                  boxes_of_the_chain,
                                  segments_scaled_before_exchanges,
                                  copies_to_another_order,
                                  turns_in_place,
                                  lines_turned_to_odd_distances,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_mixed", tests);
}
