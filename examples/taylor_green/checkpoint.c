/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkpoint.h"
#include "example.h"
#include <fftnd_file.h>
#include <redist_checkpoint.h>

/* The amplitudes of all waves, three components. */
static redist_field field_of(const struct flow *flow) {
    redist_field field = REDIST_FIELD_DEFAULT;
    field.name = "velocity";
    check(fftnd_plan_field(flow->plan, FFTND_SPECTRAL, flow->velocity, &field));
    return field;
}

void checkpoint_write(const char *path, const struct flow *flow, struct moment now) {
    redist_field field = field_of(flow);
    redist_checkpoint_options options = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
    options.keep = 1;
    check(redist_checkpoint_write(MPI_COMM_WORLD, path, 1, &field, &now, sizeof now, &options));
}

struct moment checkpoint_read(const char *path, struct flow *flow) {
    redist_field field = field_of(flow);
    struct moment then;
    check(redist_checkpoint_read(MPI_COMM_WORLD, path, 1, &field, &then, sizeof then, NULL));
    return then;
}
