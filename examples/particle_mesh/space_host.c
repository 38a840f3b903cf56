/* SPDX-License-Identifier: BSD-3-Clause */
#include "space.h"
#include <string.h>

static void clear(double *mesh, size_t bytes) {
    memset(mesh, 0, bytes);
}

static void spread(const struct brick *brick, double *mesh, int n,
                   const struct particle *particles) {
    for (int i = 0; i < n; i++)
        spread_one(brick, mesh, &particles[i]);
}

static void gather(const struct brick *brick, const double *mesh, int n,
                   const struct particle *particles, struct sample *samples) {
    for (int i = 0; i < n; i++)
        gather_one(brick, mesh, &particles[i], &samples[i]);
}

static int multiply_row(void *influence, const fftnd_row *row) {
    for (int i = 0; i < row->n; i++) {
        double factor = influence_of(influence, row->k[0][i], row->k[1][i], row->k[2][i]);
        row->outputs[0][2 * i] = factor * row->inputs[0][2 * i];
        row->outputs[0][2 * i + 1] = factor * row->inputs[0][2 * i + 1];
    }
    return 0;
}

static void set_function(fftnd_operator_options *options) {
    options->function = multiply_row;
}

const struct space space_host = {.redist = REDIST_SPACE_HOST,
                                 .clear = clear,
                                 .spread = spread,
                                 .gather = gather,
                                 .set_function = set_function};
