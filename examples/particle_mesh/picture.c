/* SPDX-License-Identifier: BSD-3-Clause */
#include "picture.h"
#include <errno.h>
#include <sys/stat.h>

enum { PIXELS = 128, POINTS = PIXELS * PIXELS };

/* The plane's points: the splines give the potential at any position, as at particles. */
static void set_positions(struct particle points[]) {
    for (int i = 0; i < POINTS; i++) {
        points[i] = (struct particle){.charge = 0};
        points[i].position[0] = (double)(i / PIXELS) / PIXELS;
        points[i].position[1] = (double)(i % PIXELS) / PIXELS;
        points[i].position[2] = 0.5;
    }
}

/* The potential at all points, on rank 0. */
static void gather_plane(struct mesh *mesh, const struct particle points[], double plane[]) {
    struct residents residents;
    residents_create(&residents, mesh, POINTS);
    residents_find(&residents, mesh, POINTS, points);
    mesh_gather(mesh, &residents);
    const struct sample *samples = (const struct sample *)residents.samples.host;
    for (int i = 0; i < residents.count; i++)
        plane[residents.index[i]] = samples[i].potential;
    MPI_Reduce(my_rank() == 0 ? MPI_IN_PLACE : plane, plane, POINTS, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    residents_free(&residents);
}

/* The point that follows the last one is the first one: with it the picture reaches its right and upper edge. */
static void write_points(FILE *file, const double plane[]) {
    for (int i = 0; i <= PIXELS; i++) {
        for (int j = 0; j <= PIXELS; j++)
            fprintf(file, "%.5f %.5f %.6g\n", (double)i / PIXELS, (double)j / PIXELS,
                    plane[i % PIXELS * PIXELS + j % PIXELS]);
        fputc('\n', file);
    }
}

static int write_plane(const char *folder, const double plane[]) {
    char path[4096];
    snprintf(path, sizeof path, "%s/potential.dat", folder);
    FILE *file = mkdir(folder, 0777) == 0 || errno == EEXIST ? fopen(path, "w") : NULL;
    if (file != NULL) {
        write_points(file, plane);
        if (fclose(file) == 0)
            return 0;
    }
    fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
    return 1;
}

int draw_potential(struct mesh *mesh, const char *folder) {
    struct particle *points = malloc(POINTS * sizeof(*points));
    double *plane = calloc(POINTS, sizeof(*plane));
    int failed = 0;
    if (points == NULL || plane == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    set_positions(points);
    gather_plane(mesh, points, plane);
    if (my_rank() == 0)
        failed = write_plane(folder, plane);
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(points);
    free(plane);
    return failed;
}
