/* SPDX-License-Identifier: BSD-3-Clause */
/* The mesh on CUDA devices, which the ranks of a node take in turn. */
#include "../check_cuda.h"
#include "kernels.h"
#include "space.h"

static void clear(double *mesh, size_t bytes) {
    CHECK(cudaMemset(mesh, 0, bytes));
}

/* Waits, so that the time of the kernel is that of its part of the step. */
static void spread(const struct brick *brick, double *mesh, int n,
                   const struct particle *particles) {
    CHECK(kernel_spread(brick, mesh, n, particles));
    CHECK(cudaStreamSynchronize(NULL));
}

static void gather(const struct brick *brick, const double *mesh, int n,
                   const struct particle *particles, struct sample *samples) {
    CHECK(kernel_gather(brick, mesh, n, particles, samples));
    CHECK(cudaStreamSynchronize(NULL));
}

/* One field each: the outputs are the inputs. */
static int multiply_box(void *influence, const fftnd_box *box) {
    struct modes modes = {.values = box->outputs[0]};
    for (int axis = 0; axis < 3; axis++) {
        modes.count[axis] = box->count[axis];
        modes.stride[axis] = box->output_stride[axis];
        modes.k[axis] = box->k[axis];
    }
    CHECK(kernel_multiply(influence, &modes, box->stream));
    return 0;
}

static void set_function(fftnd_operator_options *options) {
    options->box_function = multiply_box;
}

const struct space space_cuda = {.redist = REDIST_SPACE_CUDA,
                                 .clear = clear,
                                 .spread = spread,
                                 .gather = gather,
                                 .set_function = set_function};
