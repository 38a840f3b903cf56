/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh.h"
#include <fftnd_operators.h>

static const double pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- plans */

/* This rank's brick in an array with room for the ghosts behind it. */
static redist_box create_brick(struct mesh *mesh, const redist_index shape[3]) {
    static const int any[3] = {0, 0, 0}, axes[3] = {0, 1, 2};
    redist_box box = REDIST_BOX_DEFAULT;
    check(redist_grid_create(MPI_COMM_WORLD, 3, any, &mesh->grid));
    check(redist_grid_box(mesh->grid, 3, shape, axes, &box));
    ptrdiff_t stride = 1;
    for (int axis = 2; axis >= 0; axis--) {
        box.extent[axis] = box.count[axis] + SUPPORT - 1;
        mesh->brick.points[axis] = (int)shape[axis];
        mesh->brick.start[axis] = (int)box.start[axis];
        mesh->brick.count[axis] = (int)box.count[axis];
        mesh->brick.stride[axis] = stride;
        stride *= box.extent[axis];
    }
    return box;
}

/* The transform works on the bricks where they are, between the ghosts, which it adds to their owners before it begins
 * and fills when it ends. */
static void plan_transform(struct mesh *mesh, const redist_index shape[3], const redist_box *box) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    redist_halo ghosts = REDIST_HALO_DEFAULT;
    for (int axis = 0; axis < 3; axis++) {
        ghosts.high[axis] = SUPPORT - 1;
        ghosts.periodic[axis] = 1;
    }
    ghosts.corners = 1;
    options.ghosts = &ghosts;
    options.accumulate_ghosts = 1;
    options.space = mesh->space->redist;
    options.scaling = FFTND_SCALE_NONE;
    options.in_place = 1;
    options.box[FFTND_PHYSICAL] = box;
    check(fftnd_plan_create(MPI_COMM_WORLD, 3, shape, FFTND_R2C, FFTND_DOUBLE, &options,
                            &mesh->transform));
    check(fftnd_plan_layout(mesh->transform, FFTND_PHYSICAL, &layout));
    mesh->bytes = layout.bytes;
}

/* The transform of the Gaussian, over the square of that of the spline: once for spreading, once for gathering. */
static double factor_of(int k, int points, double alpha) {
    double spline = (2 + cos(2 * pi * k / points)) / 3;
    return exp(-pow(pi * k / alpha, 2)) / (spline * spline);
}

static void create_influence(struct mesh *mesh, const redist_index shape[3], double alpha) {
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    size_t total = 0;
    for (int axis = 0; axis < 3; axis++)
        total += (size_t)shape[axis] / 2 + 1;
    mesh->factors = create_field(mesh->space->redist, total * sizeof(double));
    double *factor = mesh->factors.host;
    for (int axis = 0; axis < 3; axis++) {
        mesh->influence.factor[axis] = mesh->factors.array + (factor - mesh->factors.host);
        for (int k = 0; k <= shape[axis] / 2; k++)
            *factor++ = factor_of(k, (int)shape[axis], alpha);
    }
    upload(&mesh->factors);
    options.data = &mesh->influence;
    mesh->space->set_function(&options);
    check(fftnd_operator_create(mesh->transform, FFTND_MODES, &options, &mesh->multiply));
}

void mesh_create(struct mesh *mesh, const struct space *space, const redist_index shape[3],
                 double alpha) {
    mesh->space = space;
    redist_box box = create_brick(mesh, shape);
    plan_transform(mesh, shape, &box);
    mesh->values = allocate_in(space->redist, mesh->bytes);
    create_influence(mesh, shape, alpha);
}

void mesh_free(struct mesh *mesh) {
    check(fftnd_operator_free(&mesh->multiply));
    check(fftnd_plan_free(&mesh->transform));
    check(redist_grid_free(&mesh->grid));
    free_field(&mesh->factors);
    release(mesh->values);
}

/* ---------------------------------------------------------------- particles */

void residents_create(struct residents *residents, const struct mesh *mesh, int most) {
    size_t n = (size_t)most;
    residents->count = 0;
    residents->index = malloc(n * sizeof(*residents->index) + 1);
    if (residents->index == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    residents->particles = create_field(mesh->space->redist, n * sizeof(struct particle));
    residents->samples = create_field(mesh->space->redist, n * sizeof(struct sample));
}

void residents_free(struct residents *residents) {
    free(residents->index);
    free_field(&residents->particles);
    free_field(&residents->samples);
}

static int is_in(const struct brick *brick, const struct particle *particle) {
    for (int axis = 0; axis < 3; axis++) {
        int cell = cell_of(brick, axis, particle->position) - brick->start[axis];
        if (cell < 0 || cell >= brick->count[axis])
            return 0;
    }
    return 1;
}

void residents_find(struct residents *residents, const struct mesh *mesh, int n,
                    const struct particle particles[]) {
    struct particle *chosen = (struct particle *)residents->particles.host;
    residents->count = 0;
    for (int i = 0; i < n; i++)
        if (is_in(&mesh->brick, &particles[i])) {
            chosen[residents->count] = particles[i];
            residents->index[residents->count++] = i;
        }
    residents->particles.bytes = (size_t)residents->count * sizeof(struct particle);
    residents->samples.bytes = (size_t)residents->count * sizeof(struct sample);
    upload(&residents->particles);
}

/* ---------------------------------------------------------------- a step */

void mesh_solve(struct mesh *mesh, const struct residents *charges, struct times *times) {
    begin_parts(times);
    mesh->space->clear(mesh->values, mesh->bytes);
    mesh->space->spread(&mesh->brick, mesh->values, charges->count,
                        (const struct particle *)charges->particles.array);
    end_part(times, SPREAD);
    check(fftnd_apply(mesh->transform, mesh->multiply, mesh->values, mesh->values));
    end_part(times, TRANSFORM);
}

void mesh_gather(struct mesh *mesh, const struct residents *residents) {
    mesh->space->gather(&mesh->brick, mesh->values, residents->count,
                        (const struct particle *)residents->particles.array,
                        (struct sample *)residents->samples.array);
    download(&residents->samples);
}

void mesh_time_transforms(struct mesh *mesh, double seconds[2]) {
    double begin = MPI_Wtime();
    check(fftnd_forward(mesh->transform, mesh->values, mesh->values));
    seconds[0] = MPI_Wtime() - begin;
    check(fftnd_backward(mesh->transform, mesh->values, mesh->values));
    seconds[1] = MPI_Wtime() - begin - seconds[0];
}
