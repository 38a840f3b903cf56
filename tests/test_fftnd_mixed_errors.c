/* SPDX-License-Identifier: BSD-3-Clause */
/* Mixtures that mean nothing, and sides that cannot be: the same code and message on all ranks, no plan. */
#include <stdio.h>
#include <string.h>

#include "fftnd.h"
#include "harness.h"

/* A good call of its own arrays, so that any of them can be spoilt. */
typedef struct arguments {
    redist_index sizes[3], modes[3];
    enum fftnd_axis axes[3];
    enum fftnd_r2r r2r[3];
    int grid[2], order[3], split[2][2];
    int memory_order[2][3];
    redist_index padding[2][3], offset[2][3];
    redist_index bounds[2][2][16];
    const redist_index *lists[2][2];
    redist_box box[2];
    fftnd_options options;
} arguments;

static void make_good(arguments *call) {
    const fftnd_options defaults = FFTND_OPTIONS_DEFAULT;
    *call = (arguments){.sizes = {6, 40, 8},
                        .modes = {6, 30, 8},
                        .axes = {FFTND_AXIS_NONE, FFTND_AXIS_R2R, FFTND_AXIS_HALVED},
                        .r2r = {FFTND_DCT1, FFTND_DCT1, FFTND_DCT1},
                        .grid = {1, harness_nranks},
                        .order = {0, 1, 2},
                        .split = {{0, 1}, {0, 2}},
                        .memory_order = {{2, 0, 1}, {1, 2, 0}},
                        .options = defaults};
    for (int side = 0; side < 2; side++) {
        const redist_index extent = side == 0 ? 40 : 5;
        for (int i = 0; i <= harness_nranks; i++) {
            call->bounds[side][1][i] = i == 0 ? 0 : extent;
        }
        call->lists[side][1] = call->bounds[side][1];
        call->box[side] = REDIST_BOX_DEFAULT;
        for (int axis = 0; axis < 3; axis++) {
            const redist_index n = axis == 2 && side == 1 ? 5
                                   : side == 1            ? call->modes[axis]
                                                          : call->sizes[axis];
            call->box[side].count[axis] = harness_rank == 0 ? n : 0;
        }
    }
    call->options.effort = FFTND_ESTIMATE;
    call->options.grid_ndims = 2;
}

static int create(arguments *call, fftnd_plan **plan) {
    fftnd_options *options = &call->options;
    options->grid = call->grid;
    options->order = call->order;
    options->retained_modes = call->modes;
    for (int side = 0; side < 2; side++) {
        options->memory_order[side] = call->memory_order[side];
        options->padding[side] = call->padding[side];
        options->offset[side] = call->offset[side];
        options->split[side] = call->split[side];
        options->bounds[side] = call->lists[side];
        options->box[side] = &call->box[side];
    }
    return fftnd_plan_create(MPI_COMM_WORLD, 3, call->sizes, FFTND_MIXED, FFTND_DOUBLE, options,
                             plan);
}

/* ---------------------------------------------------------------- mistakes */

static int has_no_axes, has_no_r2r, is_open;

static void two_halved(arguments *call) {
    call->axes[1] = FFTND_AXIS_HALVED;
}
static void no_kind(arguments *call) {
    call->axes[0] = (enum fftnd_axis)4;
}
static void no_axes(arguments *call) {
    (void)call;
    has_no_axes = 1;
}
static void no_r2r(arguments *call) {
    (void)call;
    has_no_r2r = 1;
}
static void no_transform(arguments *call) {
    call->r2r[1] = (enum fftnd_r2r)11;
}
static void drops_what_is_not_transformed(arguments *call) {
    call->modes[0] = 3;
}
static void complex_before_halved(arguments *call) {
    call->axes[0] = FFTND_AXIS_COMPLEX;
    call->order[0] = 2;
    call->order[2] = 0;
}
static void no_permutation(arguments *call) {
    call->memory_order[0][1] = 2;
}
static void no_axis(arguments *call) {
    call->memory_order[1][2] = 3;
}
static void negative_padding(arguments *call) {
    call->padding[1][2] = -1;
}
static void negative_offset(arguments *call) {
    call->offset[0][1] = -1;
}
static void offset_beyond_padding(arguments *call) {
    call->padding[0][2] = 2;
    call->offset[0][2] = 3;
}
static void padding_near_the_largest_number(arguments *call) {
    call->padding[0][1] = INT64_MAX;
}
static void padding_of_many(arguments *call) {
    call->padding[1][0] = INT64_MAX / 2;
}
static void box_near_the_largest_number(arguments *call) {
    call->box[1].extent[1] = INT64_MAX;
}
static void no_rule(arguments *call) {
    call->options.blocks[1] = (enum fftnd_blocks)2;
}
static void blocks_that_begin_late(arguments *call) {
    call->bounds[0][1][0] = 1;
}
static void blocks_that_end_early(arguments *call) {
    call->bounds[1][1][harness_nranks] = 4;
}
static void blocks_that_fall(arguments *call) {
    call->bounds[0][1][harness_nranks - 1] = 40;
    call->bounds[0][1][harness_nranks] = 39;
}
static void blocks_without_grid(arguments *call) {
    (void)call;
    is_open = 1;
}
static void split_twice(arguments *call) {
    call->split[1][0] = 2;
}
static void box_outside(arguments *call) {
    call->box[0].start[1] = 41;
}
static void negative_box(arguments *call) {
    call->box[1].count[2] = -1;
}
static void too_short_for_dct1(arguments *call) {
    call->sizes[1] = call->modes[1] = 1;
}
static void more_modes_than_points(arguments *call) {
    call->modes[1] = 41;
}
static void negative_kind(arguments *call) {
    call->axes[2] = (enum fftnd_axis) - 1;
}
static void box_with_offset(arguments *call) {
    call->box[1].offset[0] = 1;
}
static void box_without_room(arguments *call) {
    call->box[0].count[0] = 2;
    call->box[0].extent[0] = 1;
}

static const struct mistake {
    void (*spoil)(arguments *call);
    int code;
    const char *argument;
} mistakes[] = {
    {two_halved, REDIST_ERR_AXIS, "options->axes[2]"},
    {no_kind, REDIST_ERR_ARGUMENT,
     "options->axes[0] = 4 is not in FFTND_AXIS_NONE..FFTND_AXIS_R2R"},
    {no_axes, REDIST_ERR_NULL, "options->axes"},
    {no_r2r, REDIST_ERR_NULL, "options->r2r"},
    {no_transform, REDIST_ERR_ARGUMENT, "options->r2r[1] = 11 is not in FFTND_DCT1..FFTND_DHT"},
    {drops_what_is_not_transformed, REDIST_ERR_SIZE, "options->retained_modes[0] = 3"},
    {complex_before_halved, REDIST_ERR_AXIS, "options->order[0] = 2"},
    {no_permutation, REDIST_ERR_AXIS, "options->memory_order[FFTND_PHYSICAL][1] = 2"},
    {no_axis, REDIST_ERR_AXIS, "options->memory_order[FFTND_SPECTRAL][2] = 3"},
    {negative_padding, REDIST_ERR_SIZE, "options->padding[FFTND_SPECTRAL][2] = -1"},
    {negative_offset, REDIST_ERR_SIZE,
     "options->offset[FFTND_PHYSICAL][1] = -1 is not in 0..0 (options->padding)"},
    {offset_beyond_padding, REDIST_ERR_SIZE,
     "options->offset[FFTND_PHYSICAL][2] = 3 is not in 0..2 (options->padding)"},
    {padding_near_the_largest_number, REDIST_ERR_LIMIT,
     "options->padding[FFTND_PHYSICAL][1] = 9223372036854775807"},
    {padding_of_many, REDIST_ERR_LIMIT,
     "options->padding[FFTND_SPECTRAL][0] = 4611686018427387903"},
    {box_near_the_largest_number, REDIST_ERR_LIMIT,
     "options->box[FFTND_SPECTRAL]->extent[1] = 9223372036854775807"},
    {no_rule, REDIST_ERR_ARGUMENT,
     "options->blocks[FFTND_SPECTRAL] = 2 is not in FFTND_BLOCKS_BALANCED..FFTND_BLOCKS_CEILING"},
    {blocks_that_begin_late, REDIST_ERR_SIZE, "options->bounds[FFTND_PHYSICAL][1][0] = 1"},
    {blocks_that_end_early, REDIST_ERR_SIZE, "options->bounds[FFTND_SPECTRAL][1]"},
    {blocks_that_fall, REDIST_ERR_SIZE, "options->bounds[FFTND_PHYSICAL][1]"},
    {blocks_without_grid, REDIST_ERR_ARGUMENT, "options->bounds"},
    {split_twice, REDIST_ERR_AXIS, "options->split[FFTND_SPECTRAL][1] = 2"},
    {box_outside, REDIST_ERR_SIZE, "options->box[FFTND_PHYSICAL]"},
    {negative_box, REDIST_ERR_SIZE, "options->box[FFTND_SPECTRAL]"},
    {too_short_for_dct1, REDIST_ERR_SIZE, "sizes[1] = 1"},
    {more_modes_than_points, REDIST_ERR_SIZE, "options->retained_modes[1] = 41"},
    {negative_kind, REDIST_ERR_ARGUMENT, "options->axes[2] = -1"},
    {box_with_offset, REDIST_ERR_SIZE,
     "options->box[FFTND_SPECTRAL]->offset[0] = 1 is not in 0..0 (extent - count)"},
    {box_without_room, REDIST_ERR_SIZE, "options->box[FFTND_PHYSICAL]->extent[0] = 1"},
};

static int create_with(arguments *call, fftnd_plan **plan) {
    call->options.axes = has_no_axes ? NULL : call->axes;
    call->options.r2r = has_no_r2r ? NULL : call->r2r;
    if (is_open) {
        call->grid[0] = 0;
    }
    has_no_axes = has_no_r2r = is_open = 0;
    return create(call, plan);
}

START_TEST(the_good_call) {
    arguments call;
    fftnd_plan *plan = NULL;
    make_good(&call);
    check_ok(create_with(&call, &plan));
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

/* On all ranks, and on the last one alone. */
START_TEST(mistakes_are_named) {
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        for (int all = 0; all < 2; all++) {
            arguments call;
            char where[32];
            fftnd_plan *plan = NULL;
            make_good(&call);
            harness_case("mistake %zu (%s)%s", i, mistakes[i].argument, all ? " on all" : "");
            if (all || harness_rank == harness_nranks - 1) {
                mistakes[i].spoil(&call);
            }
            check_code(create_with(&call, &plan), mistakes[i].code);
            snprintf(where, sizeof(where), "(rank %d)", all ? 0 : harness_nranks - 1);
            check_all(plan == NULL, "a plan was made");
            check_all(strstr(redist_error_message(), mistakes[i].argument) != NULL &&
                          strstr(redist_error_message(), where) != NULL,
                      "no '%s' or '%s' in: %s", mistakes[i].argument, where,
                      redist_error_message());
        }
    }
}
END_TEST

/* ---------------------------------------------------------------- what all ranks together have wrong */

START_TEST(boxes_that_overlap) {
    arguments call;
    fftnd_plan *plan = NULL;
    make_good(&call);
    if (harness_rank == harness_nranks - 1) {
        for (int axis = 0; axis < 3; axis++) {
            call.box[FFTND_PHYSICAL].count[axis] = 1;
        }
    }
    check_code(create_with(&call, &plan),
               harness_nranks > 1 ? REDIST_ERR_OVERLAP : REDIST_ERR_SIZE);
    check_all(plan == NULL &&
                  strstr(redist_error_message(), "options->box[FFTND_PHYSICAL]") != NULL &&
                  strstr(redist_error_message(), " along axis 2") != NULL,
              "%s", redist_error_message());
}
END_TEST

START_TEST(boxes_that_leave_holes) {
    arguments call;
    fftnd_plan *plan = NULL;
    make_good(&call);
    if (harness_rank == 0) {
        call.box[FFTND_SPECTRAL].start[1] = 1;
        call.box[FFTND_SPECTRAL].count[1]--;
    }
    check_code(create_with(&call, &plan), REDIST_ERR_SIZE);
    check_all(plan == NULL && strstr(redist_error_message(), "hole") != NULL &&
                  strstr(redist_error_message(), "0 along axis 1") != NULL,
              "%s", redist_error_message());
}
END_TEST

/* Sides that ranks see differently: what both have is in the message. */
START_TEST(sides_that_differ) {
    static const char *const words[] = {
        "options->axes: {FFTND_AXIS_",
        "options->padding[FFTND_PHYSICAL]: {",
        "options->blocks[FFTND_SPECTRAL]: FFTND_BLOCKS_BALANCED on rank 0, FFTND_BLOCKS_CEILING on",
        "options->split[FFTND_SPECTRAL]: {0, 2} on rank 0, {1, 2} on",
        "options->memory_order[FFTND_PHYSICAL]: {2, 0, 1} on rank 0, {0, 2, 1} on",
        "options->offset[FFTND_SPECTRAL]: {0, 0, 0} on rank 0, {0, 0, 1} on"};
    for (int which = 0; which < 6; which++) {
        arguments call;
        fftnd_plan *plan = NULL;
        make_good(&call);
        harness_case("difference %d", which);
        call.padding[1][2] = 1;
        if (harness_rank == harness_nranks - 1) {
            call.axes[0] = which == 0 ? FFTND_AXIS_R2R : call.axes[0];
            call.padding[0][1] = which == 1;
            call.options.blocks[1] = which == 2 ? FFTND_BLOCKS_CEILING : FFTND_BLOCKS_BALANCED;
            call.split[1][0] = which == 3 ? 1 : call.split[1][0];
            call.offset[1][2] = which == 5;
            if (which == 4) {
                call.memory_order[0][0] = 0;
                call.memory_order[0][1] = 2;
            }
        }
        check_code(create_with(&call, &plan), harness_nranks > 1 ? REDIST_ERR_DISAGREE : REDIST_OK);
        check_all(harness_nranks == 1 || strstr(redist_error_message(), words[which]) != NULL, "%s",
                  redist_error_message());
        check_ok(fftnd_plan_free(&plan));
    }
}
END_TEST

/* Products and sums of what is checked one by one. */
START_TEST(more_elements_than_there_are) {
    const redist_index padding[2] = {(redist_index)1 << 40, (redist_index)1 << 40};
    const redist_index few[2] = {8, 6}, many[2] = {INT64_MAX, INT64_MAX};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    options.in_place = 1;
    options.effort = FFTND_ESTIMATE;
    options.blocks[FFTND_PHYSICAL] = options.blocks[FFTND_SPECTRAL] = FFTND_BLOCKS_CEILING;
    check_code(fftnd_plan_create(MPI_COMM_WORLD, 2, many, FFTND_R2C, FFTND_DOUBLE, &options, &plan),
               REDIST_ERR_LIMIT);
    options.padding[FFTND_PHYSICAL] = padding;
    check_code(fftnd_plan_create(MPI_COMM_WORLD, 2, few, FFTND_R2C, FFTND_DOUBLE, &options, &plan),
               REDIST_ERR_LIMIT);
    check_all(strstr(redist_error_message(), "padding") != NULL, "%s", redist_error_message());
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {the_good_call,
                                  mistakes_are_named,
                                  boxes_that_overlap,
                                  boxes_that_leave_holes,
                                  sides_that_differ,
                                  more_elements_than_there_are,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_mixed_errors", tests);
}
