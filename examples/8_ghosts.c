/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Laplacian by differences of second order on a periodic square, in blocks of a process grid: the ghosts around
 * each block are filled while its inner points are computed.
 *
 * Prints the error against the exact Laplacian of sin(x) cos(2 y), which falls with the square of the points' distance.
 */
#include "example.h"
#include "periodic_box.h"
#include <redist_halo.h>
#include <stdlib.h>

enum { POINTS = 96 };

static const double pi = 3.14159265358979323846;

static double function_at(redist_index i, redist_index j) {
    return sin(box_coordinate(POINTS, i)) * cos(2 * box_coordinate(POINTS, j));
}

/* This rank's block, the array around it, and the largest error so far. */
struct field {
    redist_box box;
    double *values, error;
};

static double *value(const struct field *field, redist_index i, redist_index j) {
    const redist_box *box = &field->box;
    return &field->values[(i + box->offset[0]) * box->extent[1] + j + box->offset[1]];
}

static void set_values(const struct field *field) {
    const redist_box *box = &field->box;
    for (redist_index i = 0; i < box->count[0]; i++)
        for (redist_index j = 0; j < box->count[1]; j++)
            *value(field, i, j) = function_at(box->start[0] + i, box->start[1] + j);
}

static void compare(struct field *field, redist_index i, redist_index j) {
    double h = 2 * pi / POINTS;
    double laplacian =
        (*value(field, i - 1, j) + *value(field, i + 1, j) + *value(field, i, j - 1) +
         *value(field, i, j + 1) - 4 * *value(field, i, j)) /
        (h * h);
    double exact = -5 * function_at(field->box.start[0] + i, field->box.start[1] + j);
    field->error = larger(field->error, fabs(laplacian - exact));
}

/* The points at the rim of the block, which need ghosts, or those inside. */
static void compare_points(struct field *field, int at_rim) {
    const redist_index *count = field->box.count;
    for (redist_index i = 0; i < count[0]; i++)
        for (redist_index j = 0; j < count[1]; j++) {
            int is_at_rim = i == 0 || j == 0 || i == count[0] - 1 || j == count[1] - 1;
            if (is_at_rim == at_rim)
                compare(field, i, j);
        }
}

int main(int argc, char *argv[]) {
    MPI_Init(&argc, &argv);
    const redist_index sizes[2] = {POINTS, POINTS};
    const int any[2] = {0, 0}, axes[2] = {0, 1};
    redist_grid *grid;
    redist_plan *plan;
    struct field field = {.box = REDIST_BOX_DEFAULT, .error = 0};
    redist_halo halo = REDIST_HALO_DEFAULT;

    check(redist_grid_create(MPI_COMM_WORLD, 2, any, &grid));
    check(redist_grid_box(grid, 2, sizes, axes, &field.box));
    for (int i = 0; i < 2; i++) { /* one ghost on each side */
        halo.low[i] = halo.high[i] = halo.periodic[i] = 1;
        field.box.offset[i] = 1;
        field.box.extent[i] = field.box.count[i] + 2;
    }
    field.values = allocate((size_t)(field.box.extent[0] * field.box.extent[1]) * sizeof(double));
    check(redist_plan_halo(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes, &field.box, field.values, &halo,
                           NULL, &plan));

    set_values(&field);
    check(redist_plan_start(plan, REDIST_FILL));
    compare_points(&field, 0);
    check(redist_plan_wait(plan));
    compare_points(&field, 1);

    double error = largest_of_all(field.error), expected = 17.0 / 12 * pow(2 * pi / POINTS, 2);
    if (my_rank() == 0)
        printf("error %.2e, at most %.2e by theory\n", error, expected);
    check(redist_plan_free(&plan));
    release(field.values);
    check(redist_grid_free(&grid));
    MPI_Finalize();
    return error <= expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
