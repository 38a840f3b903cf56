/* SPDX-License-Identifier: BSD-3-Clause */
#include "plane.h"
#include "example.h"
#include <math.h>
#include <stdlib.h>

/* The vorticity is one array of four axes: component, x, y, z. This rank's part of the plane is a
 * box in it, and lies inside a local array that holds more than that. */
static redist_box part_of_plane(const fftnd_layout *p) {
    redist_box box = REDIST_BOX_DEFAULT;
    box.count[0] = 3;
    box.extent[0] = 3;
    for (int axis = 0; axis < 3; axis++) {
        box.start[axis + 1] = p->start[axis];
        box.count[axis + 1] = p->count[axis];
        box.extent[axis + 1] = p->count[axis];
    }
    int index = plane_index(p->sizes[0]) - p->start[0];
    int here = index >= 0 && index < p->count[0];
    box.start[1] = plane_index(p->sizes[0]);
    box.count[1] = here ? 1 : 0;
    box.offset[1] = here ? index : 0;
    return box;
}

static redist_box whole_plane(int size) {
    redist_box box = REDIST_BOX_DEFAULT;
    if (my_rank() == 0) {
        box.start[1] = plane_index(size);
        box.count[0] = 3;
        box.count[1] = 1;
        box.count[2] = box.count[3] = size;
    }
    return box;
}

double *plane_gather(struct flow *flow) {
    int n = flow->size, sizes[4] = {3, n, n, n};
    redist_box part = part_of_plane(&flow->physical), whole = whole_plane(n);
    size_t bytes = (size_t)(whole.count[0] * whole.count[2]) * (size_t)n * sizeof(double);
    double *gathered = space_allocate(flow->space, bytes), *plane = malloc(bytes + 1);
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.space = flow->space->redist;
    redist_plan *plan;
    check(redist_plan_boxes(MPI_COMM_WORLD, MPI_DOUBLE, 4, sizes, &part, flow->vorticity_at_points,
                            &whole, gathered, &options, &plan));
    check(redist_plan_execute(plan, REDIST_FORWARD));
    check(redist_plan_free(&plan));
    if (plane == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    flow->space->copy(plane, gathered, bytes);
    release(gathered);
    return plane;
}

/* What a value at one grid point adds at a distance. Weighted by this sum of all waves that the grid
 * tells apart (shorter ones the flow does not have), the grid values give the exact field anywhere. */
static double influence(int size, double distance) {
    double half = sin(distance / 2);
    int waves = 2 * ((size - 1) / 2) + 1;
    if (fabs(half) < 1e-9)
        return (double)waves / size;
    return sin(waves * distance / 2) / (size * half);
}

/* The influence of grid point n on place m, for all m and n. */
static double *influences(int size, int resolution) {
    double *table = malloc((size_t)resolution * (size_t)size * sizeof(double));
    for (int m = 0; table != NULL && m < resolution; m++)
        for (int n = 0; n < size; n++)
            table[m * size + n] =
                influence(size, 2 * M_PI * ((m + 0.5) / resolution - (double)n / size));
    return table;
}

/* sums[m][n] = table[m] . rows of values */
static void interpolate_rows(int size, int resolution, const double *table, const double *values,
                             double *sums) {
    for (int m = 0; m < resolution; m++)
        for (int n = 0; n < size; n++) {
            double sum = 0;
            for (int i = 0; i < size; i++)
                sum += table[m * size + i] * values[i * size + n];
            sums[m * size + n] = sum;
        }
}

/* Adds the square of one component, evaluated between the grid points. */
static void add_square(int size, int resolution, const double *table, const double *rows,
                       float *squares) {
    for (int y = 0; y < resolution; y++)
        for (int z = 0; z < resolution; z++) {
            double sum = 0;
            for (int i = 0; i < size; i++)
                sum += rows[y * size + i] * table[z * size + i];
            squares[(resolution - 1 - z) * resolution + y] += (float)(sum * sum);
        }
}

float *plane_magnitude(const double *plane, int size, int resolution) {
    size_t pixels = (size_t)resolution * (size_t)resolution;
    float *result = calloc(pixels, sizeof(float));
    double *table = influences(size, resolution);
    double *rows = malloc((size_t)resolution * (size_t)size * sizeof(double));
    if (result != NULL && table != NULL && rows != NULL) {
        for (int c = 0; c < 3; c++) {
            interpolate_rows(size, resolution, table, plane + c * size * size, rows);
            add_square(size, resolution, table, rows, result);
        }
        for (size_t i = 0; i < pixels; i++)
            result[i] = sqrtf(result[i]);
    } else {
        free(result);
        result = NULL;
    }
    free(table);
    free(rows);
    return result;
}
