/* SPDX-License-Identifier: BSD-3-Clause */
#include "plane.h"
#include "example.h"
#include <fftnd_file.h>

/* The vorticity is one array of four axes: component, x, y, z. */
void plane_write(const struct flow *flow, const char *path, int moment) {
    redist_field plane = REDIST_FIELD_DEFAULT;
    redist_file_options options = REDIST_FILE_OPTIONS_DEFAULT;
    check(fftnd_plan_field(flow->plan, FFTND_PHYSICAL, flow->vorticity_at_points, &plane));
    plane.selected_start[1] = flow->size / 8;
    plane.selected_count[1] = 1;
    options.offset =
        moment * plane.sizes[0] * plane.sizes[2] * plane.sizes[3] * (redist_index)sizeof(double);
    check(redist_write(MPI_COMM_WORLD, path, 1, &plane, &options));
}
