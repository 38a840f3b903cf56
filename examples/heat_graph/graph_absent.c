/* SPDX-License-Identifier: BSD-3-Clause */
/* A build without CUDA: no graph is possible, and the steps run in host memory. */
#include "graph.h"

void graph_choose_device(void) {
}

int graph_is_possible(void) {
    return 0;
}

void graph_set_options(fftnd_options *options) {
    (void)options;
}

void graph_run(fftnd_plan *plan, const fftnd_options *options, double *u) {
    (void)plan;
    (void)options;
    (void)u;
}

void graph_end(const fftnd_options *options) {
    (void)options;
}
