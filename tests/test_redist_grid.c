/* SPDX-License-Identifier: BSD-3-Clause */
/* Process grids and their subgroups. */
#include <string.h>

#include "harness.h"

/* ---------------------------------------------------------------- what a grid must be */

/* This rank's coordinates in rank order, the last dimension fastest */
static void expected_coords(int ndims, const int dims[], int rank, int coords[]) {
    for (int i = ndims - 1; i >= 0; i--) {
        coords[i] = rank % dims[i];
        rank /= dims[i];
    }
}

/* The communicator has `size` ranks, this rank is number `rank` in it, and they are at a distance
 * of `step` ranks of MPI_COMM_WORLD. */
static void check_members(MPI_Comm comm, int size, int rank, int step) {
    int ranks[64], actual_size, actual_rank, ordered = 1;
    MPI_Comm_size(comm, &actual_size);
    MPI_Comm_rank(comm, &actual_rank);
    check_all(actual_size == size, "a subgroup has %d ranks, not %d", actual_size, size);
    check_all(actual_rank == rank, "rank %d in a subgroup is %d", rank, actual_rank);
    MPI_Allgather(&harness_rank, 1, MPI_INT, ranks, 1, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        ordered &= ranks[i] == harness_rank + (i - rank) * step;
    check_all(ordered, "a subgroup has the wrong ranks, or the wrong order");
}

static int steps_of(int ndims, const int dims[], int dim) {
    int step = 1;
    for (int i = dim + 1; i < ndims; i++)
        step *= dims[i];
    return step;
}

static void check_subgroups(const redist_grid *grid, int ndims, const int dims[],
                            const int coords[]) {
    MPI_Comm comm;
    check_ok(redist_grid_comm(grid, &comm));
    check_members(comm, harness_nranks, harness_rank, 1);
    for (int i = 0; i < ndims; i++) {
        check_ok(redist_grid_subcomm(grid, i, &comm));
        check_members(comm, dims[i], coords[i], steps_of(ndims, dims, i));
    }
}

/* Checks shape, place and communicators; `wanted` holds 0 where the library chooses. */
static void check_grid(const redist_grid *grid, int ndims, const int wanted[]) {
    int actual_ndims, dims[REDIST_MAX_NDIMS], coords[REDIST_MAX_NDIMS], expected[REDIST_MAX_NDIMS];
    int product = 1;
    check_ok(redist_grid_get(grid, &actual_ndims, dims, coords));
    check_all(actual_ndims == ndims, "ndims is %d", actual_ndims);
    for (int i = 0; i < ndims; i++) {
        check_all(wanted[i] == 0 || dims[i] == wanted[i], "dims[%d] is %d", i, dims[i]);
        product *= dims[i];
    }
    check_all(product == harness_nranks, "the grid has %d places", product);
    expected_coords(ndims, dims, harness_rank, expected);
    check_all(memcmp(coords, expected, sizeof(int) * (size_t)ndims) == 0, "wrong coordinates");
    check_subgroups(grid, ndims, dims, coords);
}

static void try_grid(int ndims, const int dims[]) {
    redist_grid *grid = NULL;
    check_ok(redist_grid_create(MPI_COMM_WORLD, ndims, dims, &grid));
    check_all(grid != NULL, "no grid");
    check_grid(grid, ndims, dims);
    check_ok(redist_grid_free(&grid));
    check_all(grid == NULL, "the pointer to a freed grid is not NULL");
}

/* ---------------------------------------------------------------- grids */

/* With all dimensions free, the grid is as balanced as MPI_Dims_create makes it. */
START_TEST(chosen_grids) {
    for (int ndims = 1; ndims <= 5; ndims++) {
        int zeros[5] = {0}, dims[5] = {0}, actual[5];
        redist_grid *grid;
        harness_case("%d dimensions", ndims);
        try_grid(ndims, zeros);
        MPI_Dims_create(harness_nranks, ndims, dims);
        check_ok(redist_grid_create(MPI_COMM_WORLD, ndims, zeros, &grid));
        check_ok(redist_grid_get(grid, NULL, actual, NULL));
        check_all(memcmp(actual, dims, sizeof(int) * (size_t)ndims) == 0, "not balanced: %d first",
                  actual[0]);
        check_ok(redist_grid_free(&grid));
    }
}
END_TEST

static void next_dims(int ndims, int most, int dims[]) {
    int i = ndims - 1;
    while (i >= 0 && dims[i] == most)
        dims[i--] = 1;
    if (i >= 0)
        dims[i]++;
}

static int product_of(int ndims, const int dims[]) {
    int product = 1;
    for (int i = 0; i < ndims; i++)
        product *= dims[i];
    return product;
}

static int power(int base, int exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/* Every shape of 2 and 3 dimensions: 1x2, 2x1, 3x2, 2x2x2, ... on as many ranks as there are */
START_TEST(explicit_grids) {
    for (int ndims = 2; ndims <= 3; ndims++) {
        int dims[3] = {1, 1, 1};
        for (int n = power(harness_nranks, ndims); n > 0; n--) {
            harness_case("%dx%dx%d", dims[0], dims[1], ndims == 3 ? dims[2] : 1);
            if (product_of(ndims, dims) == harness_nranks)
                try_grid(ndims, dims);
            next_dims(ndims, harness_nranks, dims);
        }
    }
}
END_TEST

/* Some dimensions given, the others chosen */
START_TEST(half_chosen_grids) {
    for (int fixed = 1; fixed <= harness_nranks; fixed++) {
        const int first[3] = {fixed, 0, 0}, middle[3] = {0, fixed, 0}, only[2] = {0, fixed};
        harness_case("%d of %d", fixed, harness_nranks);
        if (harness_nranks % fixed != 0)
            continue;
        try_grid(3, first);
        try_grid(3, middle);
        try_grid(2, only);
    }
}
END_TEST

START_TEST(most_dimensions) {
    int dims[REDIST_MAX_NDIMS] = {0};
    try_grid(REDIST_MAX_NDIMS, dims);
}
END_TEST

/* Grids of the same shape share their communicators; others do not. */
START_TEST(reused) {
    redist_grid *first, *second, *other;
    MPI_Comm comms[3];
    const int dims[2] = {harness_nranks, 1}, other_dims[2] = {1, harness_nranks};
    int same, different;
    check_ok(redist_grid_create(MPI_COMM_WORLD, 2, dims, &first));
    check_ok(redist_grid_create(MPI_COMM_WORLD, 2, dims, &second));
    check_ok(redist_grid_create(MPI_COMM_WORLD, 2, other_dims, &other));
    check_ok(redist_grid_subcomm(first, 0, &comms[0]));
    check_ok(redist_grid_subcomm(second, 0, &comms[1]));
    check_ok(redist_grid_subcomm(other, 0, &comms[2]));
    MPI_Comm_compare(comms[0], comms[1], &same);
    MPI_Comm_compare(comms[0], comms[2], &different);
    check_all(same == MPI_IDENT, "two grids of one shape have two communicators");
    check_all(different != MPI_IDENT || harness_nranks == 1, "two shapes have one communicator");
    check_ok(redist_grid_free(&first));
    check_grid(second, 2, dims);
    check_grid(other, 2, other_dims);
    check_ok(redist_grid_free(&second));
    check_ok(redist_grid_free(&other));
}
END_TEST

/* ---------------------------------------------------------------- redist_subcomm */

START_TEST(subcomms) {
    for (int ndims = 1; ndims <= 4; ndims++) {
        MPI_Comm comms[4];
        int dims[4] = {0}, coords[4];
        harness_case("%d dimensions", ndims);
        MPI_Dims_create(harness_nranks, ndims, dims);
        expected_coords(ndims, dims, harness_rank, coords);
        check_ok(redist_subcomm(MPI_COMM_WORLD, ndims, comms));
        for (int i = 0; i < ndims; i++)
            check_members(comms[i], dims[i], coords[i], steps_of(ndims, dims, i));
        for (int i = 0; i < ndims; i++)
            MPI_Comm_free(&comms[i]);
    }
}
END_TEST

/* A grid inside a part of the ranks */
START_TEST(part_of_the_ranks) {
    MPI_Comm half;
    redist_grid *grid;
    const int dims[2] = {0, 1};
    int size, actual[2];
    MPI_Comm_split(MPI_COMM_WORLD, harness_rank % 2, harness_rank, &half);
    MPI_Comm_size(half, &size);
    check_ok(redist_grid_create(half, 2, dims, &grid));
    check_ok(redist_grid_get(grid, NULL, actual, NULL));
    check_all(actual[0] == size && actual[1] == 1, "a grid of %dx%d on %d ranks", actual[0],
              actual[1], size);
    check_ok(redist_grid_free(&grid));
    MPI_Comm_free(&half);
}
END_TEST

/* ---------------------------------------------------------------- boxes */

static int elements_of(int ndims, const redist_index sizes[]) {
    int product = 1;
    for (int i = 0; i < ndims; i++)
        product *= (int)sizes[i];
    return product;
}

/* All ranks' boxes cover each element once, and each axis is cut as redist_decompose does. */
static void check_boxes(const redist_grid *grid, int grid_ndims, int ndims,
                        const redist_index sizes[], const int axes[]) {
    int dims[REDIST_MAX_NDIMS], coords[REDIST_MAX_NDIMS];
    redist_box box, expected = REDIST_BOX_DEFAULT;
    memset(&box, 0x77, sizeof(box));
    box.size = sizeof(box);
    check_ok(redist_grid_get(grid, NULL, dims, coords));
    check_ok(redist_grid_box(grid, ndims, sizes, axes, &box));
    memcpy(expected.count, sizes, sizeof(*sizes) * (size_t)ndims);
    for (int i = 0; i < grid_ndims; i++)
        redist_decompose(sizes[axes[i]], dims[i], coords[i], &expected.count[axes[i]],
                         &expected.start[axes[i]]);
    for (int i = 0; i < ndims; i++) {
        check_all(box.start[i] == expected.start[i] && box.count[i] == expected.count[i],
                  "axis %d: %lld from %lld", i, (long long)box.count[i], (long long)box.start[i]);
        check_all(box.extent[i] == 0 && box.offset[i] == 0, "axis %d is padded", i);
    }
    int elements = elements_of(ndims, box.count), sum;
    MPI_Allreduce(&elements, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_all(sum == elements_of(ndims, sizes), "the boxes hold %d elements", sum);
}

START_TEST(boxes) {
    for (int i = 0; harness_another(i, 5); i++) {
        int grid_ndims = random_between(1, 4), ndims = grid_ndims + random_between(0, 2);
        redist_index sizes[6];
        int axes[6];
        const int any[4] = {0};
        redist_grid *grid;
        for (int axis = 0; axis < ndims; axis++)
            sizes[axis] = random_between(0, 9);
        random_permutation(ndims, axes);
        harness_case("%d axes on %d grid dimensions", ndims, grid_ndims);
        check_ok(redist_grid_create(MPI_COMM_WORLD, grid_ndims, any, &grid));
        check_boxes(grid, grid_ndims, ndims, sizes, axes);
        check_ok(redist_grid_free(&grid));
    }
}
END_TEST

/* ---------------------------------------------------------------- bad arguments */

static void check_message(const char *part) {
    check_all(strstr(redist_error_message(), part) != NULL, "no \"%s\" in: %s", part,
              redist_error_message());
}

/* dims on the given rank, (size, 1) on the others */
static void check_bad_dims(int culprit, int ndims, int first, int second, const char *message) {
    int dims[REDIST_MAX_NDIMS + 1] = {harness_nranks, 1};
    redist_grid *grid = NULL;
    int mine = culprit < 0 || culprit == harness_rank;
    harness_case("%d dimensions, %dx%d on rank %d", ndims, first, second, culprit);
    dims[0] = mine ? first : dims[0];
    dims[1] = mine ? second : dims[1];
    check_code(redist_grid_create(MPI_COMM_WORLD, mine ? ndims : 2, dims, &grid), REDIST_ERR_GRID);
    check_all(grid == NULL, "a grid in spite of the error");
    check_message(message);
    check_message("rank");
}

START_TEST(bad_dims) {
    int last = harness_nranks - 1;
    for (int culprit = -1; culprit <= last; culprit += last + 1) {
        check_bad_dims(culprit, 0, 1, 1, "ndims = 0");
        check_bad_dims(culprit, -2, 1, 1, "ndims = -2");
        check_bad_dims(culprit, REDIST_MAX_NDIMS + 1, 1, 1, "ndims = 17");
        check_bad_dims(culprit, 2, -1, 1, "dims");
        check_bad_dims(culprit, 2, harness_nranks + 1, 1, "dims");
        check_bad_dims(culprit, 2, harness_nranks, 2, "dims");
        check_bad_dims(culprit, 2, harness_nranks + 1, 0, "dims");
        check_bad_dims(culprit, 2, 0, 65536 * 16384, "dims");
        check_bad_dims(culprit, 2, 65536, 65536, "dims"); /* 0 in 32 bits */
    }
}
END_TEST

START_TEST(disagreeing_dims) {
    if (harness_nranks < 2)
        skip_test("one rank");
    redist_grid *grid = NULL;
    MPI_Comm comms[3];
    int odd_one = harness_rank == harness_nranks - 1;
    const int dims[3] = {odd_one ? 1 : harness_nranks, odd_one ? harness_nranks : 1, 1};
    const int zeros[3] = {0};
    check_code(redist_grid_create(MPI_COMM_WORLD, 2, dims, &grid), REDIST_ERR_DISAGREE);
    check_message("dims");
    check_code(redist_grid_create(MPI_COMM_WORLD, odd_one ? 3 : 2, zeros, &grid),
               REDIST_ERR_DISAGREE);
    check_message("ndims");
    check_all(grid == NULL, "a grid in spite of the error");
    check_code(redist_subcomm(MPI_COMM_WORLD, odd_one ? 3 : 2, comms), REDIST_ERR_DISAGREE);
    check_message("ndims");
}
END_TEST

START_TEST(bad_pointers) {
    const int dims[1] = {0};
    redist_grid *grid = NULL;
    MPI_Comm comms[2];
    int culprit = harness_rank == harness_nranks - 1;
    check_code(redist_grid_create(MPI_COMM_WORLD, 1, culprit ? NULL : dims, &grid),
               REDIST_ERR_NULL);
    check_message("dims");
    check_code(redist_grid_create(MPI_COMM_WORLD, 1, dims, culprit ? NULL : &grid),
               REDIST_ERR_NULL);
    check_message("grid");
    check_code(redist_grid_create(MPI_COMM_NULL, 1, dims, &grid), REDIST_ERR_COMM);
    check_code(redist_subcomm(MPI_COMM_WORLD, 2, culprit ? NULL : comms), REDIST_ERR_NULL);
    check_message("subcomms");
    check_code(redist_subcomm(MPI_COMM_NULL, 2, comms), REDIST_ERR_COMM);
    check_code(redist_subcomm(MPI_COMM_WORLD, culprit ? 0 : 2, comms), REDIST_ERR_GRID);
    check_code(redist_subcomm(MPI_COMM_WORLD, culprit ? 17 : 2, comms), REDIST_ERR_GRID);
    check_code(redist_grid_free(NULL), REDIST_ERR_NULL);
}
END_TEST

START_TEST(bad_questions) {
    const int any[2] = {0, 0};
    const redist_index sizes[3] = {4, 5, 6}, negative[3] = {4, -5, 6};
    const int axes[2] = {0, 2}, twice[2] = {1, 1}, outside[2] = {0, 3}, below[2] = {-1, 0};
    redist_grid *grid, *copy;
    redist_box box = REDIST_BOX_DEFAULT;
    MPI_Comm comm;
    check_ok(redist_grid_create(MPI_COMM_WORLD, 2, any, &grid));
    check_code(redist_grid_subcomm(grid, 2, &comm), REDIST_ERR_GRID);
    check_message("dim = 2");
    check_code(redist_grid_subcomm(grid, -1, &comm), REDIST_ERR_GRID);
    check_message("dim = -1");
    check_code(redist_grid_subcomm(grid, 0, NULL), REDIST_ERR_NULL);
    check_code(redist_grid_comm(grid, NULL), REDIST_ERR_NULL);
    check_code(redist_grid_box(grid, 3, sizes, axes, NULL), REDIST_ERR_NULL);
    check_code(redist_grid_box(grid, 3, NULL, axes, &box), REDIST_ERR_NULL);
    check_code(redist_grid_box(grid, 3, sizes, NULL, &box), REDIST_ERR_NULL);
    check_code(redist_grid_box(grid, 3, negative, axes, &box), REDIST_ERR_SIZE);
    check_message("-5");
    check_code(redist_grid_box(grid, 3, sizes, twice, &box), REDIST_ERR_AXIS);
    check_code(redist_grid_box(grid, 3, sizes, outside, &box), REDIST_ERR_AXIS);
    check_message("3");
    check_code(redist_grid_box(grid, 3, sizes, below, &box), REDIST_ERR_AXIS);
    check_code(redist_grid_box(grid, 0, sizes, axes, &box), REDIST_ERR_ARGUMENT);
    check_code(redist_grid_box(grid, 17, sizes, axes, &box), REDIST_ERR_ARGUMENT);
    check_code(redist_grid_box(grid, 1, sizes, axes, &box), REDIST_ERR_GRID);
    copy = grid;
    check_ok(redist_grid_free(&grid));
    check_code(redist_grid_get(copy, NULL, NULL, NULL), REDIST_ERR_STATE);
    check_code(redist_grid_comm(copy, &comm), REDIST_ERR_STATE);
    check_code(redist_grid_subcomm(copy, 0, &comm), REDIST_ERR_STATE);
    check_code(redist_grid_box(copy, 3, sizes, axes, &box), REDIST_ERR_STATE);
    check_code(redist_grid_free(&copy), REDIST_ERR_STATE);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        chosen_grids, explicit_grids,   half_chosen_grids, most_dimensions,
        reused,       subcomms,         part_of_the_ranks, boxes,
        bad_dims,     disagreeing_dims, bad_pointers,      bad_questions,
        NULL};
    return harness_run(argc, argv, "test_redist_grid", tests);
}
