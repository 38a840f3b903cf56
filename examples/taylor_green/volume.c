/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume.h"
#include "example.h"
#include <fftnd_file.h>
#include <redist_hdf5.h>

enum { LONGEST = 4096 };

const int volume_possible = 1;

static void describe_axes(const struct flow *flow, redist_hdf5_options *options) {
    static const char *const axes[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++) {
        options->axes[i] = axes[i];
        options->spacing[i] = 2 * M_PI / flow->size;
    }
}

/* ParaView has fields of numbers, so each component is one. */
static void describe_components(const struct flow *flow, redist_field fields[COMPONENTS]) {
    static const char *const names[] = {"vorticity_x", "vorticity_y", "vorticity_z"};
    for (int c = 0; c < COMPONENTS; c++) {
        fields[c] = REDIST_FIELD_DEFAULT;
        fields[c].name = names[c];
        check(fftnd_plan_field(flow->component, FFTND_PHYSICAL,
                               flow->vorticity_at_points + c * flow->points.next, &fields[c]));
    }
}

void volume_write(const struct flow *flow, const char *name, int moment, double time) {
    char data[LONGEST], description[LONGEST];
    redist_hdf5 *file;
    redist_hdf5_options options = REDIST_HDF5_OPTIONS_DEFAULT;
    redist_field fields[COMPONENTS];
    snprintf(data, sizeof data, "%s.h5", name);
    snprintf(description, sizeof description, "%s.xdmf", name);
    describe_axes(flow, &options);
    describe_components(flow, fields);
    options.step = moment;
    options.time = time;
    check(redist_hdf5_open(MPI_COMM_WORLD, data,
                           moment == 0 ? REDIST_HDF5_CREATE : REDIST_HDF5_APPEND, NULL, &file));
    check(redist_hdf5_write(file, COMPONENTS, fields, &options));
    check(redist_hdf5_xdmf(file, description));
    check(redist_hdf5_close(&file));
}
