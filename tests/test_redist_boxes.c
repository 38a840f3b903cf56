/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans between arbitrary box distributions. */
#include <stdio.h>
#include <string.h>

#include "exchanges.h"
#include "harness.h"
#include "methods.h"

/* ---------------------------------------------------------------- distributions */

/* Room around the boxes in the local arrays, on some sides of some axes */
static void set_padding(exchange *given, int side) {
    for (int rank = 0; rank < given->nranks; rank++) {
        redist_box *box = &given->boxes[side][rank];
        for (int i = 0; i < given->ndims; i++) {
            int before = random_between(0, 2), after = random_between(0, 2);
            box->offset[i] = before;
            box->extent[i] = before + box->count[i] + after;
        }
    }
}

/* Takes elements from some boxes, so that nobody has them */
static void set_holes(exchange *given, int side) {
    given->is_complete = 0;
    for (int rank = 0; rank < given->nranks; rank++) {
        redist_box *box = &given->boxes[side][rank];
        int axis = random_between(0, given->ndims - 1);
        int less = random_chance(60) ? random_between(0, (int)box->count[axis]) : 0;
        box->count[axis] -= less;
        box->start[axis] += random_chance(50) ? less : 0;
        if (box->start[axis] == given->sizes[axis]) /* an empty box lies anywhere, but inside */
            box->start[axis] = 0;
    }
}

enum kind { BRICKS, BLOCKS, KINDS };

static void set_boxes(exchange *given, int side, enum kind kind) {
    if (kind == BRICKS)
        exchange_set_bricks(given, side);
    else
        exchange_set_blocks(given, side, random_between(1, given->ndims));
}

static exchange random_exchange(const test_element *element, int ndims, enum kind a, enum kind b) {
    redist_index sizes[REDIST_MAX_NDIMS];
    random_sizes(ndims, 1, ndims == 1 ? 200 : 60 / ndims, 800, sizes);
    exchange made = exchange_between_boxes(MPI_COMM_WORLD, element, ndims, sizes);
    made.is_complete = 1;
    set_boxes(&made, 0, a);
    set_boxes(&made, 1, b);
    return made;
}

/* ---------------------------------------------------------------- exchanges */

static void try_kinds(enum kind a, enum kind b, int least) {
    for (int i = 0; harness_another(i, least); i++) {
        test_element element = element_create(random_between(0, element_count() - 1));
        exchange given = random_exchange(&element, i % 5 + 1, a, b);
        exchange_try_methods(&given);
        element_free(&element);
    }
}

START_TEST(bricks_to_bricks) {
    try_kinds(BRICKS, BRICKS, 3);
}
END_TEST

START_TEST(bricks_to_blocks) {
    try_kinds(BRICKS, BLOCKS, 2);
}
END_TEST

START_TEST(blocks_to_bricks) {
    try_kinds(BLOCKS, BRICKS, 2);
}
END_TEST

START_TEST(blocks_to_blocks) {
    try_kinds(BLOCKS, BLOCKS, 2);
}
END_TEST

START_TEST(padded) {
    for (int i = 0; harness_another(i, 3); i++) {
        test_element element = element_create(random_between(0, element_count() - 1));
        exchange given = random_exchange(&element, i % 4 + 1, BRICKS, (enum kind)(i % KINDS));
        if (i % 3 != 0)
            set_padding(&given, 0);
        if (i % 3 != 1)
            set_padding(&given, 1);
        exchange_try_methods(&given);
        element_free(&element);
    }
}
END_TEST

START_TEST(partly_covered) {
    for (int i = 0; harness_another(i, 4); i++) {
        test_element element = element_create(random_between(0, element_count() - 1));
        exchange given = random_exchange(&element, i % 4 + 1, BRICKS, BRICKS);
        if (i % 3 != 0)
            set_holes(&given, 0);
        if (i % 3 != 1)
            set_holes(&given, 1);
        if (i % 2)
            set_padding(&given, i % 4 / 2);
        exchange_try_methods(&given);
        element_free(&element);
    }
}
END_TEST

/* One rank has all, the others have parts or nothing. */
START_TEST(gather_and_scatter) {
    for (int i = 0; harness_another(i, 2); i++) {
        test_element element = element_create(random_between(0, element_count() - 1));
        exchange given = random_exchange(&element, i % 3 + 1, BRICKS, BLOCKS);
        exchange_empty(&given, 1);
        memcpy(given.boxes[1][random_between(0, given.nranks - 1)].count, given.sizes,
               sizeof(given.sizes));
        exchange_try_methods(&given);
        element_free(&element);
    }
}
END_TEST

enum { HELD = 3 };

/* Gathers what all ranks have on rank 0, and scatters it. Elsewhere array B is empty, and lies where A is. */
static void gather_by(const char *method) {
    double own[HELD], all[HELD * EXCHANGE_MOST_RANKS];
    const redist_index size = (redist_index)HELD * harness_nranks;
    redist_box a = REDIST_BOX_DEFAULT, b = REDIST_BOX_DEFAULT;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    options.method = method;
    a.start[0] = (redist_index)HELD * harness_rank;
    a.count[0] = HELD;
    b.count[0] = harness_rank == 0 ? size : 0;
    int code = redist_plan_boxes(MPI_COMM_WORLD, MPI_DOUBLE, 1, &size, &a, own, &b,
                                 harness_rank == 0 ? all : own, &options, &plan);
    if (code == REDIST_ERR_METHOD) /* on too few nodes */
        return;
    check_ok(code);
    for (int i = 0; i < HELD; i++)
        own[i] = HELD * harness_rank + i;
    check_ok(redist_plan_execute(plan, REDIST_FORWARD));
    int wrong = 0;
    for (int i = 0; i < b.count[0]; i++) {
        wrong += all[i] != i;
        all[i] = -i;
    }
    check_ok(redist_plan_execute(plan, REDIST_BACKWARD));
    for (int i = 0; i < HELD; i++)
        wrong += own[i] != -(HELD * harness_rank + i);
    check_ok(redist_plan_free(&plan));
    check_all(wrong == 0, "%d elements are wrong", wrong);
}

START_TEST(empty_arrays_where_others_lie) {
    for (int i = 0; i < host_method_count(); i++) {
        harness_case("method %s", host_method_name(i));
        gather_by(host_method_name(i));
    }
}
END_TEST

/* ---------------------------------------------------------------- overlapping boxes */

static void set_any_boxes(exchange *given, int side) {
    for (int rank = 0; rank < given->nranks; rank++)
        for (int i = 0; i < given->ndims; i++) {
            redist_box *box = &given->boxes[side][rank];
            box->start[i] = random_between(0, (int)given->sizes[i] - 1);
            box->count[i] = random_between(0, (int)(given->sizes[i] - box->start[i]));
        }
}

START_TEST(several_readers) {
    for (int i = 0; harness_another(i, 4); i++) {
        test_element element = element_create(random_between(0, element_count() - 1));
        exchange given = random_exchange(&element, i % 4 + 1, BRICKS, BRICKS);
        given.overlap = REDIST_OVERLAP_READ;
        given.is_complete = 0;
        set_any_boxes(&given, 1);
        if (i % 2)
            set_holes(&given, 0);
        exchange_try_methods(&given);
        element_free(&element);
    }
}
END_TEST

/* ---------------------------------------------------------------- the library's own grids */

static void boxes_of_grid(exchange *given, int side, const redist_grid *grid, const int axes[]) {
    redist_box mine = REDIST_BOX_DEFAULT;
    check_ok(redist_grid_box(grid, given->ndims, given->sizes, axes, &mine));
    MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, given->boxes[side], sizeof(mine), MPI_BYTE,
                  MPI_COMM_WORLD);
}

/* A different grid on each side, over the same axes in another order */
START_TEST(grid_to_grid) {
    for (int i = 0; harness_another(i, 2); i++) {
        redist_grid *grids[2];
        const int any[3] = {0, 0, 0};
        redist_index sizes[3];
        int order[3];
        test_element element = element_create(random_between(0, element_count() - 1));
        random_sizes(3, 1, 12, 800, sizes);
        exchange given = exchange_between_boxes(MPI_COMM_WORLD, &element, 3, sizes);
        given.is_complete = 1;
        for (int side = 0; side < 2; side++) {
            check_ok(redist_grid_create(MPI_COMM_WORLD, random_between(1, 3), any, &grids[side]));
            random_permutation(3, order);
            boxes_of_grid(&given, side, grids[side], order);
        }
        exchange_try_methods(&given);
        check_ok(redist_grid_free(&grids[0]));
        check_ok(redist_grid_free(&grids[1]));
        element_free(&element);
    }
}
END_TEST

/* A plan between boxes that are those of an exchange between axes does the same. */
START_TEST(boxes_like_axes) {
    for (int i = 0; harness_another(i, 3); i++) {
        test_element element = element_create(random_between(0, element_count() - 1));
        redist_index sizes[3];
        random_sizes(3, 1, 12, 800, sizes);
        exchange given =
            exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, i % 3, (i + 1) % 3);
        given.axes[0] = given.axes[1] = -1;
        exchange_try_methods(&given);
        element_free(&element);
    }
}
END_TEST

/* ---------------------------------------------------------------- refused boxes */

/* The exchange with one box changed on one rank: refused on all, and nothing touched. */
static void check_refused(const exchange *given, int expected, const char *argument, int culprit) {
    exchange_way way = random_way("alltoallw");
    test_array arrays[2];
    redist_plan *plan = NULL;
    char text[512], rank[32];
    way.use = USE_EXECUTE;
    exchange_say(given, &way);
    exchange_arrays(given, way.memory, arrays);
    exchange_prepare(given, arrays, REDIST_FORWARD, 3);
    check_code(exchange_plan(given, &way, arrays, &plan), expected);
    const char *message = redist_error_message();
    snprintf(rank, sizeof(rank), "rank %d", culprit);
    check_all(strstr(message, argument) != NULL, "the message lacks \"%s\": %s", argument, message);
    check_all(culprit < 0 || strstr(message, rank) != NULL, "the message lacks \"%s\": %s", rank,
              message);
    test_place places[2] = {exchange_place(given, 0), exchange_place(given, 1)};
    size_t wrong = array_wrong(&arrays[0], &places[0], CONTENTS_VALUES, 3, sizeof(text), text) +
                   array_wrong(&arrays[1], &places[1], CONTENTS_BLANK, 3, sizeof(text), text);
    check_all(wrong == 0, "a refused call touched an array: %s", text);
    exchange_free_arrays(arrays);
}

static exchange bricks_of(const test_element *element) {
    static const redist_index sizes[] = {8, 6, 5};
    exchange made = exchange_between_boxes(MPI_COMM_WORLD, element, 3, sizes);
    exchange_set_blocks(&made, 0, 1);
    exchange_set_bricks(&made, 1);
    return made;
}

START_TEST(overlapping_boxes) {
    if (harness_nranks < 2)
        skip_test("one rank");
    for (int side = 0; side < 2; side++) {
        test_element element = element_create(2);
        exchange given = bricks_of(&element);
        int first = random_between(0, harness_nranks - 1);
        int second = (first + random_between(1, harness_nranks - 1)) % harness_nranks;
        exchange_empty(&given, side);
        given.boxes[side][first] =
            (redist_box){.size = sizeof(redist_box), .start = {1, 2, 0}, .count = {3, 2, 5}};
        given.boxes[side][second] =
            (redist_box){.size = sizeof(redist_box), .start = {3, 3, 4}, .count = {4, 3, 1}};
        check_refused(&given, REDIST_ERR_OVERLAP,
                      side ? "3 along axis 0, 3 along axis 1, 4 along axis 2 (options->overlap"
                           : "box_a",
                      -1);
        given.boxes[side][second].start[1] = 4; /* one step apart: accepted */
        given.boxes[side][second].count[1] = 2;
        exchange_way way = random_way("alltoallw");
        exchange_try(&given, 1, &way);
        element_free(&element);
    }
}
END_TEST

/* Arrays of a whole box on the culprit, so that they are large enough for whatever the box says. */
static void check_bad_box(int side, int culprit, const redist_box *bad) {
    static const redist_box whole = {.size = sizeof(redist_box), .count = {8, 6, 5}};
    exchange_way way = {"auto", {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};
    test_element element = element_create(2);
    exchange given = bricks_of(&element);
    test_array arrays[2];
    redist_plan *plan = NULL;
    exchange_empty(&given, side);
    given.boxes[side][culprit] = whole;
    exchange_arrays(&given, way.memory, arrays);
    given.boxes[side][culprit] = *bad;
    check_code(exchange_plan(&given, &way, arrays, &plan), REDIST_ERR_SIZE);
    check_all(strstr(redist_error_message(), side ? "box_b" : "box_a") != NULL,
              "the message does not name the box: %s", redist_error_message());
    exchange_free_arrays(arrays);
    element_free(&element);
}

START_TEST(bad_boxes) {
    static const struct {
        int start, count, extent, offset;
    } bad[] = {{-1, 2, 0, 0}, {0, -1, 0, 0}, {4, 3, 0, 0},  {6, 1, 0, 0},
               {0, 3, 2, 0},  {0, 3, 5, 3},  {0, 3, 5, -1}, {0, 3, -4, 0}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        redist_box box = {.size = sizeof(redist_box),
                          .start = {0, bad[i].start, 0},
                          .count = {8, bad[i].count, 5},
                          .extent = {0, bad[i].extent, 0},
                          .offset = {0, bad[i].offset, 0}};
        int side = random_between(0, 1), culprit = random_between(0, harness_nranks - 1);
        harness_case("axis 1: start %d, count %d, extent %d, offset %d of box %c on rank %d",
                     bad[i].start, bad[i].count, bad[i].extent, bad[i].offset, 'a' + side, culprit);
        check_bad_box(side, culprit, &box);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {bricks_to_bricks,
                                  bricks_to_blocks,
                                  blocks_to_bricks,
                                  blocks_to_blocks,
                                  padded,
                                  partly_covered,
                                  gather_and_scatter,
                                  several_readers,
                                  grid_to_grid,
                                  boxes_like_axes,
                                  overlapping_boxes,
                                  bad_boxes,
                                  empty_arrays_where_others_lie,
                                  NULL};
    return harness_run(argc, argv, "test_redist_boxes", tests);
}
