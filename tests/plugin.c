/* SPDX-License-Identifier: BSD-3-Clause */
/* What test_plugin loads: both libraries at work; a plan with threads stays behind. */
#include <stdlib.h>

#include "fftnd.h"

static int exchange(int nranks) {
    redist_index sizes_a[2] = {1, nranks}, sizes_b[2] = {nranks, 1};
    int *a = calloc((size_t)nranks, sizeof *a), *b = calloc((size_t)nranks, sizeof *b);
    int code = redist_exchange(MPI_COMM_WORLD, MPI_INT, 2, sizes_a, a, 1, sizes_b, b, 0);
    free(a);
    free(b);
    return code;
}

/** The code of the first call that failed. */
int run_plugin(int nranks);
int run_plugin(int nranks) {
    const redist_index sizes[3] = {12, 10, 8};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    int code = exchange(nranks);
    options.effort = FFTND_ESTIMATE;
    options.threads = 2;
    if (code == REDIST_OK)
        code =
            fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan);
    return code;
}
