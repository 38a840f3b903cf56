/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every function before MPI_Init and after MPI_Finalize: refused with REDIST_ERR_STATE, without a
 * call of MPI; and what needs no MPI works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redist.h"

static int failures;
static const char *when;

static void expect(int code, int expected, const char *call) {
    if (code == expected)
        return;
    printf("FAILED %s %s: %s instead of %s\n", call, when, redist_error_name(code),
           redist_error_name(expected));
    failures++;
}

#define EXPECT(call, expected) expect(call, expected, #call)

static void try_plans(void) {
    const redist_index sizes[2] = {4, 4};
    const redist_box box = {.size = sizeof(redist_box), .count = {4, 4}};
    double a[16] = {0}, b[16] = {0};
    redist_plan *plan = NULL, *copy = (redist_plan *)(void *)a;
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    EXPECT(redist_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes, a, 0, sizes, b, 1),
           REDIST_ERR_STATE);
    EXPECT(
        redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes, a, 0, sizes, b, 1, NULL, &plan),
        REDIST_ERR_STATE);
    EXPECT(redist_plan_boxes(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes, &box, a, &box, b, NULL, &plan),
           REDIST_ERR_STATE);
    EXPECT(redist_plan_execute(copy, REDIST_FORWARD), REDIST_ERR_STATE);
    EXPECT(redist_plan_execute_arrays(copy, REDIST_FORWARD, a, b), REDIST_ERR_STATE);
    EXPECT(redist_plan_start(copy, REDIST_FORWARD), REDIST_ERR_STATE);
    EXPECT(redist_plan_start_arrays(copy, REDIST_FORWARD, a, b), REDIST_ERR_STATE);
    EXPECT(redist_plan_wait(copy), REDIST_ERR_STATE);
    EXPECT(redist_plan_get_info(copy, &info), REDIST_ERR_STATE);
    EXPECT(redist_plan_free(&copy), REDIST_ERR_STATE);
    EXPECT(redist_plan_free(&plan), REDIST_OK);
}

static void try_grids(void) {
    const int dims[1] = {0};
    const redist_index sizes[1] = {4};
    int number;
    redist_grid *grid = NULL, *copy = (redist_grid *)(void *)&number;
    redist_box box = REDIST_BOX_DEFAULT;
    MPI_Comm comms[1];
    EXPECT(redist_subcomm(MPI_COMM_WORLD, 1, comms), REDIST_ERR_STATE);
    EXPECT(redist_grid_create(MPI_COMM_WORLD, 1, dims, &grid), REDIST_ERR_STATE);
    EXPECT(redist_grid_get(copy, NULL, NULL, NULL), REDIST_ERR_STATE);
    EXPECT(redist_grid_comm(copy, comms), REDIST_ERR_STATE);
    EXPECT(redist_grid_subcomm(copy, 0, comms), REDIST_ERR_STATE);
    EXPECT(redist_grid_box(copy, 1, sizes, dims, &box), REDIST_ERR_STATE);
    EXPECT(redist_grid_free(&copy), REDIST_ERR_STATE);
}

static void try_arrays(void) {
    int number;
    void *array = NULL, *copy = &number;
    EXPECT(redist_alloc(MPI_COMM_WORLD, 10, &array), REDIST_ERR_STATE);
    EXPECT(redist_free(&copy), REDIST_ERR_STATE);
    EXPECT(redist_free(&array), REDIST_OK);
}

/* These need no MPI. */
static void try_others(void) {
    redist_index count = 0, start = 0;
    EXPECT(redist_decompose(10, 3, 1, &count, &start), REDIST_OK);
    EXPECT(redist_decompose(10, 3, 3, &count, &start), REDIST_ERR_ARGUMENT);
    expect(count == 3 && start == 4, 1, "the block");
    expect(strstr(redist_error_message(), "part = 3") != NULL, 1, "the message");
    expect(redist_method_count() > 0 && redist_method_name(0) != NULL, 1, "the methods");
    redist_forget_wisdom();
}

static void try_all(const char *name) {
    when = name;
    try_plans();
    try_grids();
    try_arrays();
    try_others();
}

/* Handles that live when MPI ends are refused afterwards. */
static void outlive(redist_plan *plan, redist_grid *grid, void *array) {
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    int failed = redist_plan_execute(plan, REDIST_FORWARD) == REDIST_OK;
    expect(failed, 0, "the execution of a plan that outlives MPI");
    EXPECT(redist_plan_start(plan, REDIST_FORWARD), REDIST_ERR_STATE);
    EXPECT(redist_plan_get_info(plan, &info), REDIST_ERR_STATE);
    EXPECT(redist_plan_execute(plan, REDIST_FORWARD), REDIST_ERR_STATE);
    EXPECT(redist_plan_free(&plan), REDIST_OK);
    expect(plan == NULL, 1, "the handle of a freed plan");
    EXPECT(redist_grid_free(&grid), REDIST_ERR_STATE);
    EXPECT(redist_free(&array), REDIST_ERR_STATE);
}

int main(int argc, char **argv) {
    static redist_plan *plan; /* static: left behind, but not lost */
    static redist_grid *grid;
    static void *array;
    int size, rank;
    redist_index sizes_a[2] = {4, 4}, sizes_b[2] = {4, 4}, start;
    const int dims[1] = {0};
    double a[16] = {0}, b[16] = {0};
    try_all("before MPI_Init");
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    when = "between them";
    redist_decompose(4, size, rank, &sizes_a[1], &start);
    redist_decompose(4, size, rank, &sizes_b[0], &start);
    EXPECT(redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes_a, a, 0, sizes_b, b, 1, NULL,
                                &plan),
           REDIST_OK);
    EXPECT(redist_grid_create(MPI_COMM_WORLD, 1, dims, &grid), REDIST_OK);
    EXPECT(redist_alloc(MPI_COMM_WORLD, 100, &array), REDIST_OK);
    MPI_Finalize();
    try_all("after MPI_Finalize");
    outlive(plan, grid, array);
    if (rank == 0)
        printf("test_redist_outside on %d ranks: %s\n", size, failures ? "failed" : "passed");
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
