/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A series of time steps in an HDF5 file: a wave in a periodic box, in pencils of a process grid, and a plane of it.
 * The file is read again in another distribution, as another number of ranks would.
 *
 *     11_series [NAME]     writes NAME.h5, for h5py and readers of NetCDF, and NAME.xdmf, for ParaView
 */
#include "example.h"
#include "periodic_box.h"
#include <redist_hdf5.h>
#include <stdlib.h>

enum { STEPS = 5 };

static const redist_index sizes[3] = {12, 10, 16};

static double wave(redist_index i, redist_index j, redist_index k, int step) {
    double phase = box_coordinate(sizes[0], i) + box_coordinate(sizes[1], j) - 0.1 * step;
    return sin(phase) * cos(2 * box_coordinate(sizes[2], k));
}

/* This rank's part of the wave, with one axis whole. */
static redist_field make_field(const char *name, const redist_grid *grid, const int axes[2]) {
    redist_field field = REDIST_FIELD_DEFAULT;
    redist_box box = REDIST_BOX_DEFAULT;
    check(redist_grid_box(grid, 3, sizes, axes, &box));
    check(redist_field_set_box(&field, 3, sizes, &box));
    field.name = name;
    field.datatype = MPI_DOUBLE;
    field.array = allocate((size_t)(box.count[0] * box.count[1] * box.count[2]) * sizeof(double));
    return field;
}

static void set_values(const redist_field *field, int step) {
    double *next = field->array;
    for (redist_index i = 0; i < field->count[0]; i++)
        for (redist_index j = 0; j < field->count[1]; j++)
            for (redist_index k = 0; k < field->count[2]; k++)
                *next++ = wave(field->start[0] + i, field->start[1] + j, field->start[2] + k, step);
}

static double find_error(const redist_field *field, int step) {
    const double *next = field->array;
    double error = 0;
    for (redist_index i = 0; i < field->count[0]; i++)
        for (redist_index j = 0; j < field->count[1]; j++)
            for (redist_index k = 0; k < field->count[2]; k++, next++)
                error = larger(error, fabs(*next - wave(field->start[0] + i, field->start[1] + j,
                                                        field->start[2] + k, step)));
    return largest_of_all(error);
}

static void write_steps(redist_hdf5 *file, const redist_field *field) {
    redist_hdf5_options options = REDIST_HDF5_OPTIONS_DEFAULT;
    static const char *const names[] = {"x", "y", "z"};
    redist_field plane = *field;
    plane.name = "planes/y0";
    plane.selected_count[1] = 1;
    options.step = REDIST_HDF5_NEXT_STEP;
    for (int i = 0; i < 3; i++) {
        options.axes[i] = names[i];
        options.spacing[i] = box_coordinate(sizes[i], 1);
    }
    for (int step = 0; step < STEPS; step++) {
        const redist_field fields[2] = {*field, plane};
        set_values(field, step);
        options.time = 0.1 * step;
        check(redist_hdf5_write(file, 2, fields, &options));
    }
}

int main(int argc, char *argv[]) {
    MPI_Init(&argc, &argv);
    char path[2][400];
    const int any[2] = {0, 0}, written[2] = {0, 1}, read[2] = {1, 2};
    redist_grid *grid;
    redist_hdf5 *file;
    redist_hdf5_options last = REDIST_HDF5_OPTIONS_DEFAULT;
    const char *name = argc > 1 ? argv[1] : "series";
    snprintf(path[0], sizeof path[0], "%s.h5", name);
    snprintf(path[1], sizeof path[1], "%s.xdmf", name);

    check(redist_grid_create(MPI_COMM_WORLD, 2, any, &grid));
    redist_field field = make_field("wave", grid, written), other = make_field("wave", grid, read);
    check(redist_hdf5_open(MPI_COMM_WORLD, path[0], REDIST_HDF5_CREATE, NULL, &file));
    write_steps(file, &field);
    check(redist_hdf5_set_text(file, NULL, "title", "a wave in a periodic box"));
    check(redist_hdf5_xdmf(file, path[1]));
    last.step = REDIST_HDF5_LAST_STEP;
    check(redist_hdf5_read(file, 1, &other, &last));
    check(redist_hdf5_close(&file));

    double error = find_error(&other, STEPS - 1);
    if (my_rank() == 0)
        printf("%d steps in %s, the last one read with an error of %g\n", STEPS, path[0], error);
    release(field.array);
    release(other.array);
    check(redist_grid_free(&grid));
    MPI_Finalize();
    return error > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
