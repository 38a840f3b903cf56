/* SPDX-License-Identifier: BSD-3-Clause */
#include "plane.h"
#include "example.h"
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
    redist_index index = plane_index((int)p->sizes[0]) - p->start[0];
    int here = index >= 0 && index < p->count[0];
    box.start[1] = plane_index((int)p->sizes[0]);
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
    int n = flow->size;
    redist_index sizes[4] = {3, n, n, n};
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
